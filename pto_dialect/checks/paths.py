"""Paths through a function: the operations in the order in which they would run, for each way that conditions can fall.

Conditions over known numbers are decided; for others every answer is tried, the same one for equal questions. Loops
with known bounds run as often as they say (long ones leave out a middle part), others one to three times.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from xdsl.ir import Block, Operation, SSAValue

from ..ir.base import Effect, PtoOp, op_spec
from ..ir.types import PtrType
from ..verify.symbols import Symbols
from .symbols import Number, Unknown, result_of

MAX_PATHS = 256
MAX_STEPS = 20_000
ALL_STEPS = 200_000
"""Steps of one path, and of all paths of a function together."""
MAX_DEPTH = 16
_WHOLE = 40
_KEPT = 16
_SKIP = 12
"""Longer loops than ``_WHOLE`` run some ``_KEPT`` iterations; what is left out is a multiple of ``_SKIP``, so that
buffers used in turn stay in turn."""
_TRIPS = (2, 1, 3)
_SIDES = {"pto.section.cube": "cube", "pto.section.vector": "vector"}


class TooMuch(Exception):
    """A function that this analysis cannot follow to its end."""


@dataclass
class Step:
    """One operation on a path, with the numbers of its operands."""

    op: Operation
    numbers: tuple[Number, ...]


@dataclass
class Path:
    """The operations of one path. ``assumed`` tells that it rests on answers that only a run knows."""

    steps: list[Step] = field(default_factory=list)
    assumed: bool = False


@dataclass
class _Choices:
    """Answers so far: one index for each open question, in the order of the questions."""

    taken: list[int] = field(default_factory=list)
    options: list[int] = field(default_factory=list)
    asked: int = 0

    def choose(self, count: int) -> int:
        """The answer to the next question, which has ``count`` answers."""
        if self.asked == len(self.taken):
            self.taken.append(0)
            self.options.append(count)
        self.asked += 1
        return self.taken[self.asked - 1]

    def advance(self) -> bool:
        """Goes on to the next combination of answers; False after the last one."""
        self.asked = 0
        while self.taken:
            if self.taken[-1] + 1 < self.options[-1]:
                self.taken[-1] += 1
                return True
            self.taken.pop()
            self.options.pop()
        return False


def paths(function: Operation, side: str | None = None) -> Iterator[Path]:
    """The paths through a function, as many as ``MAX_PATHS`` and ``ALL_STEPS`` allow.

    ``side`` (cube, vector) leaves out the other's sections.

    Raises :class:`TooMuch` for functions with several blocks and for very long paths.
    """
    choices, symbols = _Choices(), Symbols()
    steps = 0
    for _ in range(MAX_PATHS):
        walk = _Walk(choices, side, symbols)
        walk.block(function.regions[0].blocks[0] if _single(function) else _refuse())
        yield walk.path
        steps += walk.count
        if steps > ALL_STEPS or not choices.advance():
            return


def _single(op: Operation) -> bool:
    return len(op.regions[0].blocks) == 1


def _refuse() -> Block:
    raise TooMuch


class _Walk:
    """One path while it is followed."""

    def __init__(self, choices: _Choices, side: str | None, symbols: Symbols) -> None:
        self.choices = choices
        self.symbols = symbols
        self.side = side
        self.path = Path()
        self.values: dict[SSAValue, Number] = {}
        self.answers: dict[Unknown, int] = {}
        self.count = 0
        self.depth = 0

    def number(self, value: SSAValue) -> Number:
        """What is known about a value."""
        known = self.values.get(value)
        return (id(value),) if known is None else known

    def answer(self, asked: Number, count: int = 2) -> int:
        """The answer to a question, one of ``count``."""
        if isinstance(asked, int):
            return asked
        if asked[0] == "not" and isinstance(asked[1], tuple):
            return 1 - self.answer(asked[1])
        if asked not in self.answers:
            self.path.assumed = True
            self.answers[asked] = self.choices.choose(count)
        return self.answers[asked]

    # ------------------------------------------------------------ operations

    def block(self, block: Block) -> list[Number]:
        """All operations of a block; the numbers that its terminator passes on."""
        for op in block.ops:
            if op.name in ("scf.yield", "scf.condition", "func.return"):
                return [self.number(value) for value in op.operands]
            self.operation(op)
        return []

    def operation(self, op: Operation) -> None:
        """One operation."""
        self.count += 1
        if self.count > MAX_STEPS:
            raise TooMuch
        handler = _HANDLERS.get(op.name)
        if handler is not None:
            handler(self, op)
        elif op.name in _SIDES:
            if self.side in (None, _SIDES[op.name]):
                self.block(op.regions[0].block)
        elif op.name.startswith(("arith.", "index.")):
            if op.results:
                self.values[op.results[0]] = result_of(op, [self.number(v) for v in op.operands], self.count)
        elif op.regions:
            self.path.steps.append(self.step(op))
            regions = [region for region in op.regions if region.blocks]
            for argument, value in zip(regions[0].blocks[0].args if regions else (), op.operands, strict=False):
                self.values[argument] = self.number(value)
            for region in regions:
                if len(region.blocks) != 1:
                    raise TooMuch
                self.block(region.block)
        else:
            if isinstance(op, PtoOp) and op_spec(type(op)).effect is Effect.HANDLE:
                for result in op.results:
                    self.values[result] = self.handle(op, result)
            else:
                for result in op.results:
                    self.values[result] = (id(result), self.count)
            self.path.steps.append(self.step(op))

    def handle(self, op: Operation, result: SSAValue) -> Number:
        """A buffer, view or pointer: equal ones are equal, wherever they were made."""
        numbers = tuple(self.number(value) for value in op.operands)
        if op.name == "pto.castptr" and isinstance(result.type, PtrType) and isinstance(numbers[0], int):
            return ("at", result.type.space, numbers[0])
        if op.name == "pto.castptr":
            return numbers[0]
        return (id(result), *numbers)

    def step(self, op: Operation) -> Step:
        """``op`` as a step."""
        return Step(op, tuple(self.number(value) for value in op.operands))

    def condition(self, op: Operation) -> None:
        """``scf.if``"""
        taken = self.answer(self.number(op.operands[0]))
        region = op.regions[0 if taken else 1]
        given = self.block(region.block) if region.blocks else []
        self.values.update(zip(op.results, given, strict=False))

    def switch(self, op: Operation) -> None:
        """``scf.index_switch``: any of its cases."""
        which = self.answer(("case", self.number(op.operands[0])), len(op.regions))
        given = self.block(op.regions[which].block)
        self.values.update(zip(op.results, given, strict=False))

    def loop(self, op: Operation) -> None:
        """``scf.for``"""
        bounds = [self.number(value) for value in op.operands[:3]]
        carried = [self.number(value) for value in list(op.operands)[3:]]
        body = op.regions[0].block
        for index in self.indices(bounds):
            self.values[body.args[0]] = index
            self.values.update(zip(body.args[1:], carried, strict=False))
            carried = self.block(body)
        self.values.update(zip(op.results, carried, strict=False))

    def indices(self, bounds: list[Number]) -> list[Number]:
        """The values of a loop index that are followed."""
        low, high, step = bounds
        if isinstance(low, int) and isinstance(high, int) and isinstance(step, int) and step > 0:
            every = range(low, high, step)
            if len(every) <= _WHOLE:
                return list(every)
            skipped = (len(every) - _KEPT) // _SKIP * _SKIP
            half = _KEPT // 2
            return [*every[:half], *every[half + skipped :]]
        trips = _TRIPS[self.answer(("trips", low, high, step), len(_TRIPS))]
        if isinstance(low, int) and isinstance(step, int):
            return [low + step * turn for turn in range(trips)]
        return [("turn", low, step, turn) for turn in range(trips)]

    def repeat(self, op: Operation) -> None:
        """``scf.while``: its body once or twice."""
        before, after = op.regions[0].block, op.regions[1].block
        carried = [self.number(value) for value in op.operands]
        for _ in range(1 + self.answer(("while", id(op), self.count))):
            self.values.update(zip(before.args, carried, strict=False))
            passed = self.block(before)[1:]
            self.values.update(zip(after.args, passed, strict=False))
            carried = self.block(after)
        self.values.update(zip(before.args, carried, strict=False))
        self.values.update(zip(op.results, self.block(before)[1:], strict=False))

    def call(self, op: Operation) -> None:
        """``func.call``: the body of a function of the module."""
        callee = self.symbols.callee(op)
        if callee is None or not callee.regions or not callee.regions[0].blocks:
            return
        if self.depth >= MAX_DEPTH or not _single(callee):
            raise TooMuch
        self.depth += 1
        body = callee.regions[0].blocks[0]
        for argument, value in zip(body.args, op.operands, strict=False):
            self.values[argument] = self.number(value)
        given = self.block(body)
        self.values.update(zip(op.results, given, strict=False))
        self.depth -= 1


_HANDLERS = {
    "scf.if": _Walk.condition,
    "scf.index_switch": _Walk.switch,
    "scf.for": _Walk.loop,
    "scf.while": _Walk.repeat,
    "func.call": _Walk.call,
}
