"""Which numbers are always multiples: what is reported is one in every run, and what the text shows is seen."""

from __future__ import annotations

import random
from typing import Any

import pytest
from groups import in_groups

from pto_dialect import parse
from pto_dialect.analysis.affine import AffineAnalysis
from pto_dialect.passes.instructions import geometry

OPERATIONS: dict[str, Any] = {
    "addi": lambda a, b: a + b, "subi": lambda a, b: a - b, "muli": lambda a, b: a * b, "maxsi": max, "minsi": min,
    "maxui": max, "minui": min, "divui": lambda a, b: a // b, "divsi": lambda a, b: a // b,
}  # fmt: skip
NUMBERS = (0, 1, 2, 3, 4, 8, 16, 24, 32, 48)


def judged(lines: list[str], unit: int, name: str = "r") -> bool:
    """Whether %r is reported as a multiple."""
    constants = [f"%c{number} = arith.constant {number} : index" for number in NUMBERS]
    text = "func.func @f(%x: index, %y: index) {\n" + "\n".join([*constants, *lines]) + "\nreturn\n}\n"
    (value,) = [result for op in parse(text).walk() for result in op.results if result.name_hint == name]
    sums = AffineAnalysis()
    return geometry._multiple(sums, sums.expression_of(value), unit)


@pytest.mark.parametrize(
    ("lines", "units"),
    [
        (["%r = arith.muli %x, %c16 : index"], {16, 8, 4, 2}),
        (["%p = arith.muli %x, %c16 : index", "%r = arith.muli %p, %y : index"], {16, 8, 4, 2}),
        (["%p = arith.muli %x, %c16 : index", "%r = arith.muli %y, %p : index"], {16, 8, 4, 2}),
        (["%r = arith.muli %x, %y : index"], set()),
        (["%p = arith.muli %x, %c16 : index", "%r = arith.addi %p, %c8 : index"], {8, 4, 2}),
        (["%p = arith.muli %x, %c16 : index", "%r = arith.maxsi %p, %c24 : index"], {8, 4, 2}),
        (["%p = arith.muli %x, %c16 : index", "%r = arith.minsi %p, %y : index"], set()),
        (["%p = arith.muli %x, %c48 : index", "%r = arith.divui %p, %c3 : index"], {16, 8, 4, 2}),
        (["%p = arith.muli %x, %c16 : index", "%r = arith.divui %p, %y : index"], set()),
        (["%p = arith.muli %x, %c16 : index", "%r = arith.subi %p, %x : index"], set()),
    ],
)
def test_what_the_text_shows(lines: list[str], units: set[int]) -> None:
    assert {unit for unit in (16, 8, 4, 2) if judged(lines, unit)} == units


@pytest.mark.parametrize(
    ("low", "step", "units"), [(0, 16, {16, 8}), (8, 16, {8}), (16, 8, {8}), (16, 16, {16, 8}), (1, 16, set())]
)
def test_the_index_of_a_loop(low: int, step: int, units: set[int]) -> None:
    lines = ["%c1_ = arith.constant 1 : index", f"scf.for %i = %c{low} to %x step %c{step} {{",
             "%r = arith.muli %i, %c1_ : index", "}"]  # fmt: skip
    assert {unit for unit in (16, 8) if judged(lines, unit)} == units


@in_groups("seed", range(60))
def test_statements_of_the_page_hold(seed: int) -> None:
    """Random computations: every multiple that is claimed is one for all numbers that are tried."""
    rng = random.Random(seed)
    names, lines, steps = ["x", "y", "c2", "c8", "c16", "c24", "c48"], [], []
    for number in range(5):
        name, op = ("r" if number == 4 else f"v{number}"), rng.choice(sorted(OPERATIONS))
        left, right = rng.choice(names), rng.choice(names)
        if op.startswith("div"):
            right = rng.choice(["c2", "c3", "c8"])
        lines.append(f"%{name} = arith.{op} %{left}, %{right} : index")
        steps.append((name, op, left, right))
        names.append(name)
    for unit in (2, 8, 16):
        if judged(lines, unit):
            for x in (0, 1, 5, 16, 37):
                for y in (0, 2, 3, 8, 11):
                    values: dict[str, int] = {"x": x, "y": y, **{f"c{n}": n for n in NUMBERS}}
                    for name, op, left, right in steps:
                        values[name] = OPERATIONS[op](values[left], values[right])
                    if min(values.values()) >= 0:
                        assert values["r"] % unit == 0, (lines, unit, x, y)


@pytest.mark.parametrize(("levels", "seen"), [(1, True), (7, True), (8, False)])
def test_how_deep_it_is_looked(levels: int, seen: bool) -> None:
    """Through seven minima, in any of which the number could be another one."""
    lines = ["%v0 = arith.muli %x, %c16 : index"]
    lines += [
        f"%v{level} = arith.minsi %v{level - 1}, %c{(16, 32, 48)[level % 3]} : index" for level in range(1, levels + 1)
    ]
    assert judged(lines, 16, f"v{levels}") is seen


def test_a_number_that_goes_round_in_a_loop_is_no_index() -> None:
    lines = ["%e = scf.for %i = %c0 to %x step %c16 iter_args(%a = %c1) -> (index) {",
             "%r = arith.muli %a, %c2 : index", "%b = arith.addi %r, %c1 : index",
             "scf.yield %b : index", "}"]  # fmt: skip
    assert {unit for unit in (16, 8, 4, 2) if judged(lines, unit)} == {2}
