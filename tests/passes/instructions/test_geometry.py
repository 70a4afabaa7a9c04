"""How large tiles are, as passes know it that write instructions for them.

Source: docs/reference/layouts.md, "Valid region".
"""

import numpy as np
import pytest
from cube_programs import Program, lowered
from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import IndexType, IntegerAttr, i32, i64

from pto_dialect import print_module
from pto_dialect.passes.instructions.geometry import constant_bits

A = np.arange(512, dtype=np.float32).reshape(8, 64)
VALID = {"8x64": (8, 64), "?x64": (5, 64), "8x?": (8, 40), "?x?": (5, 40)}
"""Valid parts of types, with the one that a run has."""


def added(valid: str, changed: bool) -> Program:
    """Adds 1 to a part of an array; with ``changed`` the tile is allocated with another valid part."""
    rows, cols = VALID[valid]
    found = Program(a="f32", c="f32", one="=f32")
    stated = {"valid_row": 3 if changed else rows, "valid_col": 32 if changed else cols}
    open_sizes = [size for size, written in zip(stated, valid.split("x"), strict=True) if written == "?"]
    sizes = " ".join(f"{name} = {found.index(stated[name])}" for name in open_sizes)
    found.tile("x", "vec", 8, 64, "f32", sizes, valid=valid)
    if changed:
        found.lines.append(f"pto.set_validshape %x, {found.index(rows)}, {found.index(cols)} : {found.types['x']}")
    for name in "ac":
        found.view(f"v{name}", name, (rows, cols), (64, 1))
    found.op("tload", "va", to="x")
    found.op("tadds", "x", to="x", extra=", %one", extra_types=", f32")
    found.op("tstore", "x", to="vc")
    return found


@pytest.mark.parametrize(("valid", "changed"), [*((valid, False) for valid in VALID), ("?x?", True)])
def test_the_valid_part_of_a_tile(valid: str, changed: bool) -> None:
    module, result = lowered(added(valid, changed), "lower-vector", a=A, c=np.zeros_like(A), one=np.float32(1))
    rows, cols = VALID[valid]
    expected = np.zeros_like(A)
    expected[:rows, :cols] = A[:rows, :cols] + 1
    assert np.array_equal(result["c"], expected)
    # The text says what the sizes are, also where they change.
    assert "pto.tile_valid" not in print_module(module)


@pytest.mark.parametrize("number", [0, 1, 5, (1 << 63) - 1, -1, -2, -(1 << 63)])
def test_bits_of_a_constant(number: int) -> None:
    assert constant_bits(ConstantOp(IntegerAttr(number, i64)).result) == number % 2**64


def test_what_has_no_bits_that_are_known() -> None:
    assert constant_bits(ConstantOp(IntegerAttr(7, i32)).result) == 7
    assert constant_bits(ConstantOp(IntegerAttr(7, IndexType())).result) is None
