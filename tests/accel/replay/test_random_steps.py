"""Plans of random steps: what they leave in arguments is, bit for bit, what the steps leave one after the other."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from pto_dialect.accel.replay import batch
from pto_dialect.accel.replay.batch import Layout
from pto_dialect.accel.replay.demand import demanded
from pto_dialect.accel.replay.graph import Graph
from pto_dialect.accel.replay.plan import Plan
from pto_dialect.accel.replay.steps import EXACT, Between, Box, Constant, Foreign, Step, Style, assign, widened

F32 = np.dtype(np.float32)
ROWS, COLS = 16, 16


@dataclass(frozen=True)
class Blocks:
    """How a tile in blocks lies, for steps that do not look inside: here row after row."""

    rows: int
    cols: int
    nbytes: int


SHAPES = ((4, 8), (4, 8), (4, 8), (8, 8), (4, 16))
KINDS = ("load", "load", "two", "two", "one", "number", "rows", "store", "store", "same", "product", "constant")
BOXES = (Blocks(8, 16, 512), Blocks(16, 8, 512))


def doubled(values: Any, out: Any) -> None:
    """A function that is called for one array at a time."""
    np.add(values, values, out=out)


def joined(values: Any, other: Any, out: Any) -> None:
    """A function of single elements that may not write over its operands, and writes only to elements in order."""
    line = out.reshape(-1)
    line[...] = 0
    line[...] = (values - other).reshape(-1)


class Writer:
    """Random steps on three arguments and the memory of one core, which has plain tiles in front and boxes after."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        rng = np.random.default_rng(seed)
        self.given = [rng.integers(-8, 9, ROWS * COLS).astype(F32) for _ in range(3)]
        self.memory = np.zeros(4096, np.uint8)
        self.start = self.memory.__array_interface__["data"][0]
        self.between = 0
        self.stored = self.random.choice(SHAPES)
        self.steps: list[Step] = []

    def array(self, offset: int, shape: tuple[int, ...], strides: tuple[int, ...]) -> Any:
        """A part of the memory of the core."""
        return np.ndarray(shape, F32, self.memory, offset, strides)

    def argument(self, rows: int, cols: int, turn: int, targets: bool) -> Any:
        """A rectangle of an argument; where ``targets``, of one that is mostly written only."""
        number = self.random.choice((2, 2, 2, 1) if targets else (0, 0, 1, 2))
        grid = self.given[number].reshape(ROWS, COLS)
        row = turn * rows if self.random.random() < 0.8 else self.random.choice((0, 4, 8))
        col = self.random.choice((0, 8)) if cols <= 8 else 0
        row = row % ROWS // rows * rows if targets else min(row, ROWS - rows)
        return grid[row : row + rows, col : col + cols]

    def tile(self, rows: int, cols: int) -> Any:
        """A plain tile, whole or a part of rows of a wider one."""
        number, wide = self.random.choice((0, 0, 0, 1, 1, 2, 3)), self.random.random() < 0.1
        if wide:
            return self.array(number * 512 + self.random.choice((0, 32)) * (cols <= 8), (rows, cols), (64, 4))
        return self.array(number * 512 + self.random.choice((0, 0, 0, 0, 0, 128)), (rows, cols), (4 * cols, 4))

    def box(self, rows: int, cols: int) -> Box:
        """A rectangle of a tile in blocks."""
        number = self.random.randrange(3 if cols <= 8 else 2)
        layout = BOXES[number == 2]
        row = self.random.choice((0, 0, 4)) if rows + 4 <= layout.rows else 0
        col = self.random.choice((0, 8)) if cols + 8 <= layout.cols else 0
        start = self.start + 2048 + number * 512
        return Box(start, layout, row, col, rows, cols, F32)  # pyright: ignore[reportArgumentType]

    def place(self, rows: int, cols: int, turn: int, targets: bool = False) -> Any:
        """Memory of one shape."""
        kind = self.random.random()
        if kind < 0.25 and (not targets or (rows, cols) == self.stored):
            return self.argument(rows, cols, turn, targets)
        return (
            self.box(rows, cols) if kind < 0.5 and (rows, cols) in ((4, 8), (8, 8), (4, 16)) else self.tile(rows, cols)
        )

    def statement(self, kind: str) -> Callable[[int], list[Step]]:
        """Something to do, in every iteration of a loop."""
        shape = self.stored if kind == "store" or self.random.random() < 0.7 else self.random.choice(SHAPES)
        seed = self.random.random()

        def made(turn: int) -> list[Step]:
            # The same choices in every iteration.
            self.random = random.Random(seed)
            one, two = self.place(*shape, turn), self.place(*shape, turn)
            target = self.place(*shape, turn, True)
            if kind == "load":
                return [Step(Style.SAME, None, [self.argument(*shape, turn, False)], target)]
            if kind == "store":
                return [Step(Style.SAME, None, [one], self.argument(*shape, turn, True))]
            if kind == "same":
                return [Step(Style.SAME, None, [one], target)]
            if kind == "two":
                return [Step(Style.EACH, self.random.choice((np.add, np.subtract, joined)), [one, two], target)]
            if kind == "one":
                style, function = self.random.choice(((Style.EACH, np.negative), (Style.ONE, doubled)))
                return [Step(style, function, [one], target)]
            if kind == "number":
                return [Step(Style.EACH, np.multiply, [one, self.random.choice((0.5, -0.0, 0.0))], target)]
            if kind == "rows":
                return [Step(Style.ROWS, np.maximum, [one], self.place(shape[0], 1, turn, True))]
            if kind == "constant":
                values = np.arange(shape[0] * shape[1], dtype=F32).reshape(shape)
                return [Step(Style.EACH, assign, [Constant(values)], target)]
            return self.product(one, self.place(shape[1], 4, turn), self.place(shape[0], 4, turn, True), shape)

        return made

    def product(self, lhs: Any, rhs: Any, target: Any, shape: tuple[int, int]) -> list[Step]:
        """A product of two matrices, with its operands between its steps."""
        self.between += 2
        operands = [Between(self.between, *shape), Between(self.between + 1, shape[1], 4)]
        widening = [Step(Style.EACH, widened, [x], out) for x, out in zip((lhs, rhs), operands, strict=True)]
        return [*widening, Step(Style.ONE, EXACT, list(operands), target)]

    def program(self) -> list[Step]:
        """Loops of several statements."""
        found: list[Step] = []
        if self.random.random() < 0.8:
            # All tiles have something in them.
            places = [self.array(number * 512, (8, 16), (64, 4)) for number in range(4)]
            boxes: Any = [(0, BOXES[0]), (1, BOXES[0]), (2, BOXES[1])]
            places += [Box(self.start + 2048 + n * 512, one, 0, 0, one.rows, one.cols, F32) for n, one in boxes]
            for number, place in enumerate(places):
                shape = (16, 8) if number == 6 else (8, 16)
                found.append(Step(Style.SAME, None, [self.given[number % 2][:128].reshape(shape)], place))
        for _ in range(self.random.choice((1, 2, 3))):
            outer = self.random
            kinds = ["load", *(self.random.choice(KINDS) for _ in range(self.random.choice((1, 3, 6)))), "store"]
            statements = [self.statement(kind) for kind in kinds]
            for turn in range(self.random.choice((1, 3, 4, 4))):
                for statement in statements:
                    found += statement(turn)
            self.random = outer
        return found


def carried_out(steps: list[Step], memory: Any, start: int) -> None:
    """The steps one after the other, on the memory that they name."""
    between: dict[int, Any] = {}

    def view(place: Any) -> Any:
        if isinstance(place, Box):
            layout: Any = place.layout
            offset = place.start - start + (place.row * layout.cols + place.col) * 4
            return np.ndarray((place.rows, place.cols), F32, memory, offset, (layout.cols * 4, 4))
        if isinstance(place, Between):
            return between.setdefault(place.number, np.zeros((place.rows, place.cols), F32))
        return place.values if isinstance(place, Constant) else place

    for step in steps:
        values = [x if isinstance(x, float) else view(x).copy() for x in step.inputs]
        target = view(step.target)
        if step.style is Style.SAME:
            target[...] = values[0]
        elif step.style is Style.ROWS:
            target[...] = step.function.reduce(values[0], -1, keepdims=True)
        else:
            out = np.empty(target.shape, F32)
            step.function(*values, out)
            target[...] = out


def replayed(seed: int) -> bool:
    """Whether the steps can be replayed; the arguments are compared with those of the steps themselves."""
    writer = Writer(seed)
    first = [values.copy() for values in writer.given]
    steps = writer.program()
    contents = [values.view(np.uint8) for values in writer.given]
    with np.errstate(all="ignore"):
        try:
            plan = Plan(Layout(Graph(contents, [writer.memory], demanded(steps, contents))))
        except Foreign:
            return False
        assert all((a == b).all() for a, b in zip(first, writer.given, strict=True)) and not writer.memory.any()
        carried_out(steps, writer.memory, writer.start)
        for _ in range(2):
            fresh = [values.copy() for values in first]
            plan.run([values.view(np.uint8) for values in fresh])
            for one, other in zip(fresh, writer.given, strict=True):
                assert one.tobytes() == other.tobytes()
    return True


@pytest.mark.parametrize("part", range(6))
def test_plans_leave_what_the_steps_leave(part: int, monkeypatch: pytest.MonkeyPatch) -> None:
    if part % 2:
        # Groups of one to a few values.
        monkeypatch.setattr(batch, "MOST_BYTES", 300)
    accepted = sum(replayed(seed) for seed in range(part * 50, part * 50 + 50))
    assert accepted >= 12
