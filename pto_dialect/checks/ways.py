"""Every way through a function at once: the states that it can be in, split where a condition is open and put together
again where they have become equal.

Conditions over known numbers are decided; for others every answer is tried, the same one for equal questions. Loops
with known bounds run as often as they say (long ones leave out a middle part), others one to three times. The work is
bounded by the size of the function; where that is not enough, some ways are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic

from xdsl.ir import Block, Operation, SSAValue

from ..ir.base import Effect, PtoOp, op_spec
from ..ir.types import MultiTileBufType, PtrType, TileBufType
from ..ir.walk import walk
from ..verify.symbols import Symbols
from .questions import FOREVER, Questions
from .symbols import Number, Unknown, pointer_at, result_of, unknown
from .world import Answer, M, Step, World, joined

MAX_WORLDS = 8
MAX_DEPTH = 16
MAX_NESTING = 100
VISITS = 12
"""Visits for each operation of the function that are spent on its different ways; then only one is followed on."""
FEW_VISITS = 600
"""What a short function may spend beside them."""
MAX_VISITS = 20_000
"""Visits of one function after which nothing more is said about it."""
_WHOLE = 16
_KEPT = 4
_SKIP = 12
"""Of loops longer than ``_WHOLE`` some ``_KEPT`` to ``_WHOLE`` iterations are followed; what is left out is a multiple
of ``_SKIP``, so that buffers used in turn stay in turn."""
_TRIPS = 3
_SIDES = {"pto.section.cube": "cube", "pto.section.vector": "vector"}
_SAME_BYTES = frozenset(("pto.treshape", "pto.bitcast"))
_ALLOCATIONS = frozenset(("pto.alloc_tile", "pto.alloc_multi_tile"))
_HANDLES = (TileBufType, MultiTileBufType, PtrType)
_TERMINATORS = frozenset(("scf.yield", "scf.condition", "func.return"))


class TooMuch(Exception):
    """A function that this analysis cannot follow to its end."""


class Walk(Generic[M]):
    """Follows a function from its beginning to its end.

    ``side`` (cube, vector) leaves out the other's sections. Raises ``TooMuch`` for functions with several blocks and
    for loops that are too long.
    """

    def __init__(self, function: Operation, side: str | None, machine: M) -> None:
        self.function = function
        self.side = side
        self.symbols = Symbols()
        self.worlds: list[World[M]] = [World(machine)]
        self.aside = 0
        self.partial = False
        self.open_loops = 0
        self.depth = 0
        self.nesting = 0
        self.order = 0
        self.questions = Questions(function)
        self.position = 0
        self.visits = 0
        self.budget = FEW_VISITS
        self.ways: dict[Operation, Callable[[Walk[M], Operation], None]] = {}
        self.texts: dict[Operation, int] = {}
        self.alike: dict[Hashable, int] = {}
        """Numbers of what the text of operations says that make handles; equal texts have one."""
        self.known: set[Operation] = set()
        self.concerned: set[Operation] = set()
        """Operations that the machine is concerned with, and all that such ones stand in."""
        self._know(function, machine)

    def _know(self, function: Operation, machine: M) -> None:
        if function in self.known:
            return
        self.known.add(function)
        for op in walk(function):
            self.budget += VISITS
            if op.name == "func.call" or (not op.regions and machine.concerns(op)):
                place: Operation | None = op
                while place is not None and place not in self.concerned:
                    self.concerned.add(place)
                    place = place.parent_op()

    def run(self) -> None:
        """All ways to their ends."""
        if len(self.function.regions[0].blocks) != 1:
            raise TooMuch
        self.block(self.function.regions[0].blocks[0])
        for world in self.worlds:
            world.machine.finish(self.certain)

    @property
    def certain(self) -> bool:
        """True where every run comes, whatever the answers."""
        return len(self.worlds) + self.aside == 1 and not self.partial and not self.open_loops

    # ------------------------------------------------------------ operations

    def block(self, block: Block) -> None:
        """All operations of a block; worlds keep what its terminator passes on."""
        self.nesting += 1
        if self.nesting > MAX_NESTING:
            raise TooMuch
        inner: list[SSAValue] = list(block.args)
        begin = self.order
        for op in block.ops:
            if not self.worlds:
                break
            if op.name in _TERMINATORS:
                for world in self.worlds:
                    world.given = [world.number(value) for value in op.operands]
                break
            self.operation(op)
            if op.regions or op.name in ("func.call", "arith.select"):
                inner += op.results
        else:
            for world in self.worlds:
                world.given = []
        for world in self.worlds:
            for value in inner:
                world.differing.pop(value, None)
            world.forget(begin)
        self.nesting -= 1

    def operation(self, op: Operation) -> None:
        """One operation in every world."""
        self.order += 1
        if not self.depth:
            self.position = self.questions.position[op]
        self.visits += len(self.worlds)
        if self.visits > self.budget:
            if self.visits > max(self.budget, MAX_VISITS):
                raise TooMuch
            self.keep(1)
        follow = self.ways.get(op)
        if follow is None:
            follow = self.ways[op] = self._way(op)
        follow(self, op)

    def _way(self, op: Operation) -> Callable[[Walk[M], Operation], None]:
        """How an operation is followed, which its text decides."""
        if op.regions and not op.results and op not in self.concerned:
            return Walk.pass_by
        handler = _HANDLERS.get(op.name)
        if handler is not None:
            return handler
        if op.name in _SIDES and self.side not in (None, _SIDES[op.name]):
            return Walk.pass_by
        if op.name == "arith.select" and isinstance(op.results[0].type, _HANDLES):
            return Walk.choice
        if op.name.startswith(("arith.", "index.")):
            return Walk.compute if op.results else Walk.pass_by
        if op.regions:
            return Walk.enter
        if isinstance(op, PtoOp) and op_spec(type(op)).effect is Effect.HANDLE:
            return Walk.make_and_take if op in self.concerned else Walk.make
        if not op.results:
            return Walk.take if op in self.concerned else Walk.pass_by
        return Walk.define_and_take if op in self.concerned else Walk.define

    def pass_by(self, op: Operation) -> None:
        """An operation that changes nothing that is followed."""

    def compute(self, op: Operation) -> None:
        """Scalar arithmetic."""
        operands, result = op._operands, op.results[0]  # the property makes a view of them each time
        for world in self.worlds:
            world.values[result] = result_of(op, [world.number(value) for value in operands], self.order)

    def enter(self, op: Operation) -> None:
        """A region that is executed once."""
        regions = [region for region in op.regions if region.blocks]
        for world in self.worlds:
            for argument, value in zip(regions[0].blocks[0].args if regions else (), op.operands, strict=False):
                world.values[argument] = world.number(value)
        for region in regions:
            if len(region.blocks) != 1:
                raise TooMuch
            self.block(region.block)

    def make(self, op: Operation) -> None:
        """Buffers, views and pointers."""
        for world in self.worlds:
            for result in op.results:
                world.values[result] = self.handle(op, result, world)

    def define(self, op: Operation) -> None:
        """The results of an operation that computes no number."""
        for result in op.results:
            for world in self.worlds:
                world.values[result] = unknown(result, self.order)

    def make_and_take(self, op: Operation) -> None:
        """An operation that makes a handle and concerns the machines."""
        self.make(op)
        self.take(op)

    def define_and_take(self, op: Operation) -> None:
        """An operation with results that concerns the machines."""
        self.define(op)
        self.take(op)

    def handle(self, op: Operation, result: SSAValue, world: World[M]) -> Number:
        """A buffer, view or pointer: equal ones are equal, wherever they were made."""
        numbers = tuple([world.number(value) for value in op._operands])
        if op.name in _SAME_BYTES:
            return numbers[0]
        found = pointer_at(op, result.type, numbers)
        if found is not None:
            return found
        if op.name in _ALLOCATIONS:
            return (id(result), *numbers)
        text = self.texts.get(op)
        if text is None:
            said = (result.type, *sorted(op.attributes.items()), *op.properties.values())
            text = self.texts[op] = self.alike.setdefault(said, len(self.alike))
        return (op.name, text, *numbers)

    def take(self, op: Operation) -> None:
        """Gives an operation to the machines; worlds end where nothing can follow."""
        certain = self.certain
        order = self.order
        operands = op._operands
        self.worlds = [
            world
            for world in self.worlds
            if world.machine.take(Step(op, tuple([world.number(value) for value in operands]), order), certain)
        ]

    # ------------------------------------------------------------ several worlds

    def decided(
        self, asked: Callable[[World[M]], Number], count: int, op: Operation | None = None
    ) -> list[list[World[M]]]:
        """The worlds by their answer to a question; those that have none yet go all ways."""
        found: list[list[World[M]]] = [[] for _ in range(count)]
        expiry = FOREVER if op is None or self.depth else self.questions.expiry(op)
        for world in self.worlds:
            question, turned = _turned(asked(world))
            if isinstance(question, int):
                which = (1 - question if turned else question) if count == 2 else question
                found[which if 0 <= which < count else count - 1].append(world)
            elif question in world.answers:
                which = world.answers[question].which
                found[1 - which if turned else which].append(world)
            else:
                for which in range(count):
                    fork = world.fork() if which + 1 < count else world
                    fork.answers[question] = Answer(which, count, expiry)
                    found[1 - which if turned else which].append(fork)
        return found

    def in_turn(self, groups: list[list[World[M]]], work: Callable[[int], None]) -> None:
        """``work`` with each group of worlds alone, then all of them together."""
        done: list[World[M]] = []
        outside = self.aside
        for number, group in enumerate(groups):
            if not group:
                continue
            self.worlds = group
            self.aside = outside + len(done) + sum(len(other) for other in groups[number + 1 :])
            work(number)
            done += self.worlds
        self.aside = outside
        self.worlds = done
        self.join()

    def join(self) -> None:
        """Puts worlds together that no longer differ."""
        if len(self.worlds) < 2:
            return
        alike: dict[Hashable, list[World[M]]] = {}
        for world in self.worlds:
            for question in [q for q, answer in world.answers.items() if answer.expiry <= self.position]:
                del world.answers[question]
            differing = frozenset(world.differing.items())
            alike.setdefault((world.machine.key(), differing, tuple(world.given)), []).append(world)
        self.worlds = [world for group in alike.values() for world in joined(group)]
        self.keep(MAX_WORLDS)

    def keep(self, most: int) -> None:
        """Leaves out what is too much."""
        if len(self.worlds) > most:
            del self.worlds[most:]
            self.partial = True

    # ------------------------------------------------------------ control flow

    def condition(self, op: Operation) -> None:
        """``scf.if``"""
        groups = self.decided(lambda world: world.number(op.operands[0]), 2, op)

        def branch(number: int) -> None:
            region = op.regions[1 - number]
            if region.blocks:
                self.block(region.block)
            else:
                for world in self.worlds:
                    world.given = []
            for world in self.worlds:
                world.give(op.results)

        self.in_turn(groups, branch)

    def choice(self, op: Operation) -> None:
        """``arith.select`` between two handles"""
        groups = self.decided(lambda world: world.number(op.operands[0]), 2, op)

        def choose(number: int) -> None:
            for world in self.worlds:
                world.vary(op.results, [world.number(op.operands[2 - number])])

        self.in_turn(groups, choose)

    def switch(self, op: Operation) -> None:
        """``scf.index_switch``: any of its cases."""
        groups = self.decided(lambda world: ("case", world.number(op.operands[0])), len(op.regions), op)

        def case(number: int) -> None:
            self.block(op.regions[number].block)
            for world in self.worlds:
                world.give(op.results)

        self.in_turn(groups, case)

    def loop(self, op: Operation) -> None:
        """``scf.for``"""
        by_bounds: dict[tuple[Number, ...], list[World[M]]] = {}
        for world in self.worlds:
            by_bounds.setdefault(tuple(world.number(value) for value in op.operands[:3]), []).append(world)
        bounds = list(by_bounds)
        self.in_turn(list(by_bounds.values()), lambda number: self.counted(op, bounds[number]))

    def counted(self, op: Operation, bounds: tuple[Number, ...]) -> None:
        """A loop whose bounds are the same in all worlds."""
        body = op.regions[0].block
        for world in self.worlds:
            world.given = [world.number(value) for value in list(op.operands)[3:]]
        turns = _turns(bounds)
        if turns is not None:
            for index in turns:
                self.turn(body, index)
        else:
            self.uncounted(body, bounds)
        for world in self.worlds:
            world.give(op.results)

    def turn(self, body: Block, index: Number) -> None:
        for world in self.worlds:
            world.values[body.args[0]] = index
            world.vary(body.args[1:], world.given)
        self.block(body)
        self.join()

    def uncounted(self, body: Block, bounds: tuple[Number, ...]) -> None:
        """One to three turns; which is a question that other loops with the same bounds have the same answer to."""
        low, _, step = bounds
        question: Unknown = ("trips", *bounds)
        left: list[World[M]] = []
        self.open_loops += 1
        for turn in range(_TRIPS):
            known = isinstance(low, int) and isinstance(step, int)
            self.turn(body, low + step * turn if known else ("turn", low, step, turn))  # pyright: ignore
            going: list[World[M]] = []
            for world in self.worlds:
                answer = world.answers.get(question)
                if answer is None and turn + 1 < _TRIPS:
                    fork = world.fork()
                    fork.answers[question] = Answer(turn, _TRIPS)
                    left.append(fork)
                    self.aside += 1
                    going.append(world)
                elif answer is None or answer.which <= turn:
                    world.answers[question] = answer or Answer(turn, _TRIPS)
                    left.append(world)
                    self.aside += 1
                else:
                    going.append(world)
            self.worlds = going
        self.open_loops -= 1
        self.aside -= len(left)
        self.worlds = left
        self.join()

    def repeat(self, op: Operation) -> None:
        """``scf.while``: its body once or twice."""
        before, after = op.regions[0].block, op.regions[1].block
        for world in self.worlds:
            world.given = [world.number(value) for value in op.operands]
        groups = self.decided(lambda _: ("while", unknown(op, self.order)), 2)
        self.open_loops += 1

        def passed() -> None:
            for world in self.worlds:
                world.vary(before.args, world.given)
            self.block(before)
            for world in self.worlds:
                world.given = world.given[1:]

        def turns(number: int) -> None:
            for _ in range(1 + number):
                passed()
                for world in self.worlds:
                    world.vary(after.args, world.given)
                self.block(after)
            passed()
            for world in self.worlds:
                world.give(op.results)

        self.in_turn(groups, turns)
        self.open_loops -= 1

    def call(self, op: Operation) -> None:
        """``func.call``: the body of a function of the module."""
        callee = self.symbols.callee(op)
        if callee is None or not callee.regions or not callee.regions[0].blocks:
            return
        if self.depth >= MAX_DEPTH or len(callee.regions[0].blocks) != 1:
            raise TooMuch
        self.depth += 1
        if self.worlds:
            self._know(callee, self.worlds[0].machine)
        body = callee.regions[0].blocks[0]
        for world in self.worlds:
            world.vary(body.args, [world.number(value) for value in op.operands])
        self.block(body)
        for world in self.worlds:
            world.give(op.results)
        self.depth -= 1


def _turned(number: Number) -> tuple[Number, bool]:
    """The question behind negations, and whether their number is odd."""
    turned = False
    while isinstance(number, tuple) and number[0] == "not" and isinstance(number[1], tuple):
        number, turned = number[1], not turned
    return number, turned


def _turns(bounds: tuple[Number, ...]) -> list[Number] | None:
    """The values of a loop index that are followed; ``None`` for bounds that only a run knows."""
    low, high, step = bounds
    if not (isinstance(low, int) and isinstance(high, int) and isinstance(step, int) and step > 0):
        return None
    every = range(low, high, step)
    # The length of a range of index values may be no machine word.
    count = max(0, -(-(high - low) // step))
    if count <= _WHOLE:
        return list(every)
    skipped = (count - _KEPT) // _SKIP * _SKIP
    half = _KEPT // 2
    return [*every[:half], *every[half + skipped :]]


_HANDLERS: dict[str, Callable[[Walk, Operation], None]] = {
    "scf.if": Walk.condition,
    "scf.index_switch": Walk.switch,
    "scf.for": Walk.loop,
    "scf.while": Walk.repeat,
    "func.call": Walk.call,
}
