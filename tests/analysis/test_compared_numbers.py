"""Comparisons of numbers: answers for known ones, one question for each pair of opposites."""

from __future__ import annotations

from typing import Any

import pytest
from xdsl.dialects.arith import CmpiOp

from pto_dialect import parse
from pto_dialect.analysis.abstract_values import evaluate, offset_pointer, unknown_leaves
from pto_dialect.ir.core.types import PtrType

PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
HOLDS = {
    "eq": lambda a, b: a == b, "ne": lambda a, b: a != b, "lt": lambda a, b: a < b, "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b,
}  # fmt: skip
OPPOSITES = {"ne": "eq", "sle": "sgt", "sge": "slt", "ule": "ugt", "uge": "ult"}
UNKNOWN: Any = ("new", 5, 0)


def comparison(predicate: str) -> CmpiOp:
    module = parse(f"func.func @f(%a: i32) {{\n%r = arith.cmpi {predicate}, %a, %a : i32\nreturn\n}}")
    return next(op for op in module.walk() if isinstance(op, CmpiOp))


@pytest.mark.parametrize("predicate", PREDICATES)
def test_known_numbers(predicate: str) -> None:
    op = comparison(predicate)
    for a, b in ((1, 2), (2, 2), (3, 2)):
        assert evaluate(op, [a, b], 0) == int(HOLDS[predicate[-2:]](a, b))


@pytest.mark.parametrize("predicate", PREDICATES)
def test_questions(predicate: str) -> None:
    """An opposite is the same question, negated."""
    found = evaluate(comparison(predicate), [UNKNOWN, 2], 0)
    if predicate in OPPOSITES:
        assert found == ("not", evaluate(comparison(OPPOSITES[predicate]), [UNKNOWN, 2], 0))
    else:
        assert isinstance(found, tuple) and found[1:] == (UNKNOWN, 2) and found[0] != "not"
    assert unknown_leaves(found) == {(5, 0)}


def test_different_questions_differ() -> None:
    asked = [evaluate(comparison(predicate), [UNKNOWN, 2], 0) for predicate in PREDICATES]
    assert len(set(asked)) == len(PREDICATES)


@pytest.mark.parametrize(
    ("base", "distance", "expected"),
    [
        (("at", "ub", 64), 0, ("at", "ub", 64)), (("at", "ub", 64), 3, ("at", "ub", 76)),
        (("x",), 2, ("behind", ("x",), 8)), (("behind", ("x",), 8), -2, ("behind", ("x",), 0)),
        (("x",), UNKNOWN, None), (7, 2, None),
    ],
)  # fmt: skip
def test_locations_after_others(base: Any, distance: Any, expected: Any) -> None:
    module = parse("func.func @f(%p: !pto.ptr<f32, ub>) {\nreturn\n}")
    function = next(op for op in module.walk() if op.name == "func.func")
    type_ = function.regions[0].block.args[0].type
    assert isinstance(type_, PtrType)
    assert offset_pointer(base, distance, type_) == expected
