"""Value forms of operations that keep what their destination held: the old tile is an operand and stays as it is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pto_dialect
from pto_dialect.api import ParseError
from pto_dialect.runtime.errors import ProgramError

TILE = "!pto.tile<2x8xf32>"
SOURCE = np.linspace(-3, 3, 16, dtype=np.float32).reshape(2, 8)
OLD = np.arange(16, dtype=np.float32).reshape(2, 8)


def program(statement: str, old: str = TILE) -> str:
    return f"""\
func.func @f(%s: {TILE}, %d0: {old}, %x: f32) -> ({old}, {TILE}) {{
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %d1 = {statement} -> {TILE}
  return %d0, %d1 : {old}, {TILE}
}}
"""


AXPY = f"pto.taxpy %s, %x, %d0 : ({TILE}, f32, {TILE})"
SET = f"pto.tsetval %c3, %x, %d0 : (index, f32, {TILE})"
INSERT = f"pto.tinsert %s, %c0, %c0, %d0 : ({TILE}, index, index, {TILE})"


def run(statement: str) -> tuple[Any, Any]:
    return pto_dialect.compile(pto_dialect.parse(program(statement)))(SOURCE, OLD.copy(), 2.0)


def with_element(array: np.ndarray, index: int, value: float) -> np.ndarray:
    changed = array.copy()
    changed.reshape(-1)[index] = value
    return changed


@pytest.mark.parametrize(
    ("statement", "expected"),
    [(AXPY, OLD + np.float32(2) * SOURCE), (SET, with_element(OLD, 3, 2.0)), (INSERT, SOURCE)],
    ids=["taxpy", "tsetval", "tinsert"],
)
def test_the_new_tile_starts_from_the_old_one(statement: str, expected: np.ndarray) -> None:
    old, new = run(statement)
    np.testing.assert_array_equal(old, OLD)
    np.testing.assert_array_equal(new, expected)


@pytest.mark.parametrize("statement", [AXPY, SET, INSERT])
@pytest.mark.parametrize("generic", [False, True])
def test_printed_form_is_read_back(statement: str, generic: bool) -> None:
    module = pto_dialect.parse(program(statement))
    text = pto_dialect.print_module(module, generic)
    assert generic or statement in text
    assert pto_dialect.parse(text).is_structurally_equivalent(module)


def test_without_an_old_tile_there_is_one_operand_less() -> None:
    module = pto_dialect.parse(program(f"pto.taxpy %s, %x : ({TILE}, f32)"))
    (op,) = (op for op in module.walk() if op.name == "pto.taxpy")
    assert len(op.operands) == 2


def test_an_old_tile_of_another_type_is_refused() -> None:
    other = "!pto.tile<4x8xf32>"
    module = pto_dialect.parse(program(f"pto.taxpy %s, %x, %d0 : ({TILE}, f32, {other})", other))
    with pytest.raises(ProgramError, match=r"the old tile of pto\.taxpy has type !pto\.tile<4x8xf32>"):
        pto_dialect.compile(module, verify=False)


def test_other_operations_have_no_such_operand() -> None:
    with pytest.raises(ParseError, match="op-operand-count"):
        pto_dialect.parse(program(f"pto.tadd %s, %s, %d0 : ({TILE}, {TILE}, {TILE})"))
