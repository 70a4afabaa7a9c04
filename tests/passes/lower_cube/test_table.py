"""The table of lower-cube: what the guide says, and what is always a multiple."""

import re
from pathlib import Path

import pytest
from cube_programs import Program

from pto_dialect import parse
from pto_dialect.ir.core.walk import walk
from pto_dialect.passes.instructions.geometry import is_multiple
from pto_dialect.passes.instructions.writer import Function
from pto_dialect.passes.lower_cube.table import ROWS

GUIDE = (Path(__file__).parents[3] / "docs" / "lower-cube.md").read_text(encoding="utf-8")


def test_the_guide_names_every_instruction():
    named = {name for row in ROWS.values() for name in re.findall(r"\bm(?:te|ad)\w*", row.instructions)}
    assert len(named) > 10
    assert {name for name in named if f"`{name}`" not in GUIDE} == set()


EXPRESSIONS = {
    "arith.muli %n, %c16 : index": 16,
    "arith.addi %i, %c32 : index": 32,
    "arith.maxsi %i, %c0 : index": 32,
    "arith.divui %i, %c2 : index": 16,
    "arith.addi %i, %c1 : index": 1,
    "arith.addi %i, %n : index": 1,
    "arith.maxsi %i, %c1 : index": 1,
}
"""A computation of an index %i that begins at 0 and continues by 32, and of any %n; the largest power of 2 up to 32
that its result is always a multiple of."""


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_multiples_are_seen_through_arithmetic(text: str):
    found = Program(n="=index")
    found.lines += ["scf.for %i = %c0 to %n step %c32 {", f"%at = {text}", "}"]
    for number in (2, 16, 32):
        found.index(number)
    module = parse(str(found))
    (function,) = [op for op in walk(module) if op.name == "func.func"]
    (value,) = [result for op in walk(module) for result in op.results if result.name_hint == "at"]
    known = Function(function)
    assert max(unit for unit in (1, 2, 4, 8, 16, 32) if is_multiple(known, value, unit)) == EXPRESSIONS[text]
