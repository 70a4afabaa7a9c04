"""Plans of launches whose every value has memory of its own: nothing is refused, and memory is used again.

Source: docs/performance.md, "Repeated launches".
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from pto_dialect.accel.replay import batch, plan
from pto_dialect.accel.replay.batch import Layout
from pto_dialect.accel.replay.demand import demanded
from pto_dialect.accel.replay.graph import Graph
from pto_dialect.accel.replay.plan import Plan
from pto_dialect.accel.replay.steps import Constant, Foreign, Step, Style, assign

F32 = np.dtype(np.float32)
ROWS, COLS, TURNS = 4, 8, 4
NBYTES = ROWS * COLS * 4


def doubled(values: Any, out: Any) -> None:
    """A function that is called for one array at a time."""
    np.add(values, values, out=out)


def taken_apart(values: Any, other: Any, out: Any) -> None:
    """A function of single elements that may not write over its operands, and writes only to elements in order."""
    line = out.reshape(-1)
    line[...] = 0
    line[...] = (values - 3 * other).reshape(-1)


class Values:
    """Values of several iterations of a loop, from two arguments; some of them go to a third and a fourth one."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        rng = np.random.default_rng(seed)
        self.first = [rng.integers(-4, 5, (TURNS * ROWS, 2 * COLS)).astype(F32) for _ in range(4)]
        self.given = [values.copy() for values in self.first]
        self.memory = np.zeros(64 * TURNS * NBYTES, np.uint8)
        self.steps: list[Step] = []
        self.expected = [values.copy() for values in self.first]
        """Arguments in the end."""
        self.known: list[list[Any]] = []
        """Content of each value in each iteration."""

    def place(self, number: int, turn: int) -> Any:
        """Memory of a value, iterations one after the other."""
        return np.ndarray((ROWS, COLS), F32, self.memory, (number * TURNS + turn) * NBYTES, (COLS * 4, 4))

    def part(self, arrays: list[Any], number: int, turn: int, half: int) -> Any:
        """A part of an argument."""
        return arrays[number][turn * ROWS : turn * ROWS + ROWS, half * COLS : half * COLS + COLS]

    def value(self) -> None:
        """One more value."""
        pick = self.random.choice
        kind = pick(("load", "two", "two", "two", "one", "number", "apart", "alone", "constant", "rows"))
        if not self.known:
            kind = "load"
        source, half = pick((0, 1)), pick((0, 1))
        one, other = (self.random.randrange(max(0, len(self.known) - 4), len(self.known) or 1) for _ in range(2))
        factor, found = pick((0.5, -2.0, 0.0)), []
        for turn in range(TURNS):
            target = self.place(len(self.known), turn)
            if kind == "load":
                values = self.part(self.first, source, turn, half)
                step = Step(Style.SAME, None, [self.part(self.given, source, turn, half)], target)
            elif kind == "constant":
                values = np.full((ROWS, COLS), factor + 1, F32)
                step = Step(Style.EACH, assign, [Constant(values)], target)
            else:
                a, b = self.known[one][turn], self.known[other][turn]
                mine, second = self.place(one, turn), self.place(other, turn)
                values, step = {
                    "two": (a + b, Step(Style.EACH, np.add, [mine, second], target)),
                    "one": (-a, Step(Style.EACH, np.negative, [mine], target)),
                    "number": (a * np.float32(factor), Step(Style.EACH, np.multiply, [mine, factor], target)),
                    "apart": (a - 3 * b, Step(Style.EACH, taken_apart, [mine, second], target)),
                    "alone": (a + a, Step(Style.ONE, doubled, [mine], target)),
                    "rows": (np.broadcast_to(a.sum(1, keepdims=True), a.shape), Step(Style.SAME, None, [], None)),
                }[kind]
                if kind == "rows":
                    sums = np.ndarray((ROWS, 1), F32, self.memory, (63 * TURNS + turn) * NBYTES, (4, 4))
                    self.steps.append(Step(Style.ROWS, np.add, [mine], sums))
                    step = Step(Style.EACH, assign, [sums], target)
            self.steps.append(step)
            found.append(np.array(values))
        self.known.append(found)

    def store(self, number: int, half: int, value: int) -> None:
        """A value of all iterations goes to a half of an argument."""
        for turn in range(TURNS):
            target = self.part(self.given, number, turn, half)
            self.steps.append(Step(Style.SAME, None, [self.place(value, turn)], target))
            self.part(self.expected, number, turn, half)[...] = self.known[value][turn]

    def write(self) -> None:
        """All steps: iterations are written one after the other, as a loop has them, or value by value."""
        for _ in range(self.random.randrange(2, 24)):
            self.value()
        for number, half in ((2, 0), (2, 1), (3, 0), (3, 1), (0, 1)):
            if self.random.random() < (0.2 if number == 0 else 0.7):
                self.store(number, half, self.random.randrange(len(self.known)))
        if self.random.random() < 0.5:
            # Two iterations at once.
            value = self.random.randrange(len(self.known))
            both = np.ndarray((2 * ROWS, COLS), F32, self.memory, value * TURNS * NBYTES, (COLS * 4, 4))
            target = self.given[1][: 2 * ROWS, :COLS]
            self.steps.append(Step(Style.EACH, np.negative, [both], target))
            self.expected[1][: 2 * ROWS, :COLS] = -np.concatenate(self.known[value][:2])


def check(seed: int) -> Plan | None:
    """The plan of some values, whose results are compared; ``None`` where values would move inside of an argument."""
    values = Values(seed)
    values.write()
    contents = [array.reshape(-1).view(np.uint8) for array in values.given]
    try:
        made = Plan(Layout(Graph(contents, [values.memory], demanded(values.steps, contents))))
    except Foreign as reason:
        assert str(reason) == "moved inside of an argument"
        return None
    for _ in range(2):
        arrays = [array.copy() for array in values.first]
        made.run([array.reshape(-1).view(np.uint8) for array in arrays])
        for found, expected in zip(arrays, values.expected, strict=True):
            assert found.tolist() == expected.tolist()
    return made


@pytest.mark.parametrize("part", range(4))
def test_plans_of_values(part: int, monkeypatch: pytest.MonkeyPatch) -> None:
    if part % 2:
        monkeypatch.setattr(batch, "MOST_BYTES", 300)
    plans = [check(seed) for seed in range(part * 60, part * 60 + 60)]
    assert sum(made is not None for made in plans) > 40


def chain(length: int) -> tuple[list[Step], Any, Any, Any]:
    """Values one after the other, and the memory of the arguments and of the core."""
    outer, inner = np.zeros(2 * NBYTES, np.uint8), np.zeros((length + 2) * NBYTES, np.uint8)
    places: list[Any] = [inner[n * NBYTES : (n + 1) * NBYTES].view(F32) for n in range(length + 1)]
    steps = [Step(Style.SAME, None, [outer[:NBYTES].view(F32)], places[0])]
    functions = (taken_apart, doubled)
    for number in range(length):
        function = functions[number % 2]
        inputs = [places[number]] * (2 if function is taken_apart else 1)
        style = Style.EACH if function is taken_apart else Style.ONE
        steps.append(Step(style, function, inputs, places[number + 1]))
    steps.append(Step(Style.EACH, np.exp, [places[length]], outer[NBYTES:].view(F32)))
    return steps, outer, inner, places


def memories(made: Plan) -> int:
    """How many memories of its own a plan has."""
    bases = [x.__array_interface__["data"][0] for _, values in made._calls for x in values if isinstance(x, np.ndarray)]
    return len(set(bases))


@pytest.mark.parametrize("length", [3, 4, 9, 16])
def test_memory_of_values_that_nobody_reads_is_used_again(length: int) -> None:
    steps, outer, inner, _ = chain(length)
    made = Plan(Layout(Graph([outer], [inner], steps)))
    assert made.count == length + 1 and memories(made) <= 2


def test_a_launch_may_not_keep_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    steps, outer, inner, _ = chain(4)
    monkeypatch.setattr(plan, "MOST_BYTES", 2 * NBYTES)
    Plan(Layout(Graph([outer], [inner], steps)))
    monkeypatch.setattr(plan, "MOST_BYTES", NBYTES - 1)
    with pytest.raises(Foreign, match="too much memory"):
        Plan(Layout(Graph([outer], [inner], steps)))


def test_arguments_that_a_plan_fits() -> None:
    """What is written shares memory with nothing else; what is only read may be given twice."""
    arrays = [np.zeros(NBYTES, np.uint8) for _ in range(3)]
    a, b, y = (array.view(F32) for array in arrays)
    made = Plan(Layout(Graph(arrays, [], [Step(Style.EACH, np.add, [a, b], y)])))
    whole = np.zeros(2 * NBYTES, np.uint8)
    one, two, three = whole[:NBYTES], whole[NBYTES:], np.zeros(NBYTES, np.uint8)
    middle = whole[NBYTES // 2 :][:NBYTES]
    for given, fits in [
        ((one, two, three), True), ((one, one, three), True), ((one, middle, three), True), ((one, three, two), True),
        ((one, two, one), False), ((one, two, two), False), ((one, three, middle), False),
        ((middle, three, two), False),
    ]:  # fmt: skip
        assert made.fits(given) is fits
