"""Which value a valid size has where a tile is used. Source: docs/reference/layouts.md, "Valid region"."""

import cProfile

import pytest

import pto_dialect
from pto_dialect.analysis.constants import constant_of
from pto_dialect.passes.instructions.valid_sizes import ValidSizes

TILE = "!pto.tile_buf<vec, 8x64xf32, valid=?x?>"
HEAD = f"""\
module attributes {{pto.target_arch = "a5"}} {{
  func.func @f(%flag: i1, %o: f32) {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %c64 = arith.constant 64 : index
    %x = pto.alloc_tile valid_row = %c1 valid_col = %c64 : {TILE}
"""
USE = f"    pto.texpands ins(%o : f32) outs(%x : {TILE})\n"
FOOT = "    return\n  }\n}\n"


def changed(rows: int, tile: str = "%x") -> str:
    return f"    pto.set_validshape {tile}, %c{rows}, %c64 : {TILE}\n"


def loop(*lines: str) -> str:
    return "    scf.for %i = %c0 to %c4 step %c1 {\n" + "".join(lines) + "    }\n"


def branch(first: str, second: str = "") -> str:
    otherwise = f"    }} else {{\n{second}" if second else ""
    return f"    scf.if %flag {{\n{first}{otherwise}    }}\n"


OTHER_HANDLE = (
    f"    %y = scf.for %i = %c0 to %c4 step %c1 iter_args(%z = %x) -> ({TILE}) {{\n"
    + changed(2, "%z")
    + f"      scf.yield %z : {TILE}\n    }}\n"
)
SAME_HANDLE = OTHER_HANDLE.replace(changed(2, "%z"), "")


@pytest.mark.parametrize(
    ("body", "rows"),
    [
        (USE, 1),
        (changed(2) + USE, 2),
        (changed(2) + changed(3) + USE, 3),
        # What follows does not matter, unless it comes round again.
        (USE + changed(2), 1),
        (changed(3) + USE + changed(2), 3),
        (changed(3) + loop(USE), 3),
        (loop(changed(2), USE, changed(3)), 2),
        (loop(USE, changed(2)), None),
        (loop(changed(2)) + USE, None),
        (branch(changed(2)) + USE, None),
        (branch(USE, changed(2)), None),
        (changed(3) + branch(changed(2) + USE), 2),
        (changed(3) + branch(USE), 3),
        (loop(changed(2), branch(changed(3)), USE), None),
        # The loop has a handle of its own to the same tile.
        (changed(3) + OTHER_HANDLE + USE, None),
        (OTHER_HANDLE + USE, None),
        (SAME_HANDLE + USE, 1),
        (SAME_HANDLE + changed(2) + USE, 2),
    ],
)
def test_the_last_size_before_a_use(body: str, rows: int | None) -> None:
    module = pto_dialect.parse(HEAD + body + FOOT, filename="sizes.pto")
    (use,) = [op for op in module.walk() if op.name == "pto.texpands"]
    size = ValidSizes(module).stated(use.operands[-1], "valid_row", use)
    assert (None if size is None else constant_of(size)) == rows


def calls_for(uses: int) -> int:
    """The calls of Python that finding the sizes of one tile takes in so many uses, each after a change."""
    module = pto_dialect.parse(HEAD + (changed(2) + USE) * uses + FOOT, filename="sizes.pto")
    operations = [op for op in module.walk() if op.name == "pto.texpands"]
    sizes = ValidSizes(module)
    with cProfile.Profile() as profile:
        found = [sizes.stated(op.operands[-1], "valid_row", op) for op in operations]
    assert [constant_of(size) for size in found if size is not None] == [2] * uses
    return sum(entry.callcount for entry in profile.getstats())


def test_work_grows_with_the_number_of_uses() -> None:
    assert calls_for(800) < 2.5 * calls_for(400)
