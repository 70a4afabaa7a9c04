"""Every way through a function at once: the states that it can be in, split where a condition is open and put together
again where they have become equal.

Conditions over known numbers are decided; for others every answer is tried, the same one for equal questions. Loops
with known bounds run as often as they say (long ones leave out a middle part), others one to three times, or zero times
where callers are assumed to say so. The work is bounded by the size of the function; where that is not enough, some
ways are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from types import MappingProxyType
from typing import Any, Generic, NamedTuple

from xdsl.ir import Block, Operation, SSAValue

from pto_dialect.ir.buffers.views import BitcastOp, TReshapeOp
from pto_dialect.ir.core.base import Effect, PtoOp, op_spec, section_of
from pto_dialect.ir.core.operands import named
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.types import MultiTileBufType, PtrType, TileBufType

from .assumptions import settled
from .numbers import Expressions, Number, pointer_at, result_of, unknown
from .questions import FOREVER, Questions, case_of
from .slices import followed
from .symbols import Symbols
from .world import Answer, M, Step, World, joined

MAX_WORLDS = 8
MAX_DEPTH = 16
MAX_NESTING = 100
VISITS = 12
"""Visits for each operation that matters that are spent on its different ways; then only one is followed on."""
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
_OTHER_SIDE = {"cube": "vector", "vector": "cube"}
_HANDLES = (TileBufType, MultiTileBufType, PtrType)
Given = Mapping[int, int]
_NOTHING: Given = MappingProxyType({})
_ENDS = Role.YIELD | Role.CONDITION | Role.RETURN


class TooMuch(Exception):
    """A function that this analysis cannot follow to its end."""


class Plan(NamedTuple):
    """What the text says of an operation: its number, its operands and results by ``id``; how it is followed, or how
    its results come about (``None``: it has none) and whether the machine takes it."""

    op: Operation
    position: int
    operands: tuple[int, ...]
    results: tuple[int, ...]
    follow: Callable[[Walk[Any], Operation], None] | None
    result: Callable[[Walk[Any], Plan], None] | None
    taken: bool


class Walk(Generic[M]):
    """Follows a function from its beginning to its end.

    ``side`` (cube, vector) leaves out the other's sections; ``given`` decides about conditions and loops, not about
    places. Raises ``TooMuch`` for functions with several blocks and for loops that are too long.
    """

    def __init__(self, function: Operation, side: str | None, machine: M, given: Given = _NOTHING) -> None:
        self.function = function
        self.side, self.given = side, given
        self.opened: dict[Operation, tuple[Number, ...]] = {}
        """Loops that run as often as only a run knows, with their bounds."""
        self.symbols = Symbols()
        self.numbers = Expressions()
        self.worlds: list[World[M]] = [World(machine)]
        self.partial = False
        self.aside = self.open_loops = self.depth = self.nesting = self.order = 0
        self.turns: tuple[tuple[Operation, int], ...] = ()
        self.questions = Questions(function)
        self.position = 0
        self.visits = 0
        self.budget = FEW_VISITS
        self.plans: dict[int, Plan] = {}
        self.texts: dict[int, int] = {}
        self.alike: dict[Hashable, int] = {}
        """Numbers of what operations that make handles say; equal texts have one."""
        self.known: set[Operation] = set()
        self.concerned: set[Operation] = set()
        """Operations that the machine is concerned with, and all that such ones stand in."""
        self.followed: set[Operation] = set()
        self.steps: dict[int, list[Operation]] = {}
        self._know(function, machine)

    def _know(self, function: Operation, machine: M) -> None:
        if function in self.known:
            return
        self.known.add(function)
        found, around = followed(function, machine.concerns, machine.uses)
        self.followed |= found
        self.concerned |= around
        self.budget += VISITS * len(found)

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
        inner = [id(value) for value in block.args]
        begin = self.order
        steps = self.steps.get(id(block))
        if steps is None:
            steps = self.steps[id(block)] = [op for op in block.ops if op in self.followed]
        for op in steps:
            if not self.worlds:
                break
            if has_role(op, _ENDS):
                for world in self.worlds:
                    world.given = [world.number(value) for value in op.operands]
                break
            self.operation(op)
            if op.regions or has_role(op, Role.CALL | Role.SELECT):
                inner += [id(value) for value in op.results]
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
        plan = self.plans.get(id(op))
        if plan is None:
            plan = self.plans[id(op)] = self._plan(op)
        if not self.depth:
            self.position = plan.position
        self.visits += len(self.worlds)
        if self.visits > self.budget:
            if self.visits > max(self.budget, MAX_VISITS):
                raise TooMuch
            self.keep(1)
        if plan.follow is not None:
            plan.follow(self, op)
            return
        if plan.result is not None:
            plan.result(self, plan)
        if plan.taken:
            self.take(plan)

    def _plan(self, op: Operation) -> Plan:
        position = self.questions.position.get(op, 0)
        operands, results = (tuple(map(id, values)) for values in (op.operands, op.results))
        way = self._way(op)
        if way is not None:
            return Plan(op, position, operands, results, way, None, False)
        taken = op in self.concerned
        result = Walk.define
        if has_role(op, Role.SCALAR):
            result = Walk.compute
        elif isinstance(op, PtoOp) and op_spec(type(op)).effect is Effect.HANDLE:
            result = Walk.make
        return Plan(op, position, operands, results, None, result if results else None, taken)

    def _way(self, op: Operation) -> Callable[[Walk[M], Operation], None] | None:
        """How an operation with a way of its own is followed, which its text decides; ``None`` for others."""
        handler = _HANDLERS.get(op.name)
        if handler is not None:
            return handler
        if self.side is not None and section_of(op) == _OTHER_SIDE[self.side]:
            return Walk.pass_by
        if has_role(op, Role.SELECT) and isinstance(op.results[0].type, _HANDLES):
            return Walk.choice
        computes = has_role(op, Role.SCALAR)
        return Walk.enter if op.regions and not computes else None

    def pass_by(self, op: Operation) -> None:
        """An operation that changes nothing that is followed."""

    def compute(self, plan: Plan) -> None:
        """Scalar arithmetic."""
        for world in self.worlds:
            found = result_of(plan.op, [world.of(value) for value in plan.operands], self.order)
            world.values[plan.results[0]] = self.numbers.one(found)

    def enter(self, op: Operation) -> None:
        """A region that is executed once."""
        regions = [region for region in op.regions if region.blocks]
        for world in self.worlds:
            for argument, value in zip(regions[0].blocks[0].args if regions else (), op.operands, strict=False):
                world.values[id(argument)] = world.number(value)
        for region in regions:
            if len(region.blocks) != 1:
                raise TooMuch
            self.block(region.block)

    def make(self, plan: Plan) -> None:
        """Buffers, views and pointers."""
        for world in self.worlds:
            numbers = tuple([world.of(value) for value in plan.operands])
            for result in plan.op.results:
                world.values[id(result)] = self.numbers.one(self.handle(plan.op, result, numbers))

    def define(self, plan: Plan) -> None:
        """The results of an operation that computes no number."""
        for result in plan.op.results:
            for world in self.worlds:
                world.values[id(result)] = unknown(result, self.order)

    def handle(self, op: Operation, result: SSAValue, numbers: tuple[Number, ...]) -> Number:
        """A buffer, view or pointer: equal ones are equal, wherever they were made."""
        if isinstance(op, (TReshapeOp, BitcastOp)):
            return numbers[0]
        found = pointer_at(op, result.type, numbers)
        if found is not None:
            return found
        if has_role(op, Role.TILE_ALLOCATION):
            return (id(result), *numbers)
        text = self.texts.get(id(result))
        if text is None:
            said = (result.type, *sorted(op.attributes.items()), *op.properties.values())
            text = self.texts[id(result)] = self.alike.setdefault(said, len(self.alike))
        return (op.name, text, *numbers)

    def take(self, plan: Plan) -> None:
        """Gives an operation to the machines; worlds end where nothing can follow."""
        certain, here = self.certain, (self.order, self.turns)
        self.worlds = [
            world
            for world in self.worlds
            if world.machine.take(Step(plan.op, tuple([world.of(value) for value in plan.operands]), *here), certain)
        ]

    # ------------------------------------------------------------ several worlds

    def decided(
        self, asked: Callable[[World[M]], Number], count: int, op: Operation | None = None
    ) -> list[list[World[M]]]:
        """The worlds by their answer to a question; those that have none yet go all ways."""
        found: list[list[World[M]]] = [[] for _ in range(count)]
        expiry = FOREVER if op is None or self.depth else self.questions.expiry(op)
        for world in self.worlds:
            number, turned = _turned(settled(asked(world), self.given))
            question = self.numbers.one(number)
            if isinstance(question, int):
                # Truth values are numbers of one bit, and as such 1 or -1.
                found[question % count].append(world)
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
        condition = named(op, "cond")
        groups = self.decided(lambda world: world.number(condition), 2, op)

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
        condition, lhs, rhs = (named(op, name) for name in ("cond", "lhs", "rhs"))
        groups = self.decided(lambda world: world.number(condition), 2, op)

        def choose(number: int) -> None:
            for world in self.worlds:
                world.vary(op.results, [world.number(lhs if number else rhs)])

        self.in_turn(groups, choose)

    def switch(self, op: Operation) -> None:
        """``scf.index_switch``: any of its cases, or the one that a known number chooses."""
        chosen = named(op, "arg")
        groups = self.decided(lambda world: case_of(op, settled(world.number(chosen), self.given)), len(op.regions), op)

        def case(number: int) -> None:
            self.block(op.regions[number].block)
            for world in self.worlds:
                world.give(op.results)

        self.in_turn(groups, case)

    def loop(self, op: Operation) -> None:
        """``scf.for``"""
        by_bounds: dict[tuple[Number, ...], list[World[M]]] = {}
        limits = [named(op, name) for name in ("lb", "ub", "step")]
        for world in self.worlds:
            by_bounds.setdefault(tuple(world.number(value) for value in limits), []).append(world)
        bounds = list(by_bounds)
        self.in_turn(list(by_bounds.values()), lambda number: self.counted(op, bounds[number]))

    def counted(self, op: Operation, bounds: tuple[Number, ...]) -> None:
        """A loop whose bounds are the same in all worlds."""
        for world in self.worlds:
            world.given = [world.number(value) for value in list(op.operands)[3:]]
        bounds = tuple(settled(number, self.given) for number in bounds)
        turns = _turns(bounds)
        if turns is not None:
            for index in turns:
                self.turn(op, index, (index - bounds[0]) // bounds[2])  # pyright: ignore[reportOperatorIssue]
        else:
            self.uncounted(op, bounds)
        for world in self.worlds:
            world.give(op.results)

    def turn(self, op: Operation, index: Number, number: int) -> None:
        """One turn of a loop, with the value of its index; ``number`` turns come before it."""
        body = op.regions[0].block
        outside, self.turns = self.turns, (*self.turns, (op, number + 1))
        for world in self.worlds:
            world.values[id(body.args[0])] = index
            world.vary(body.args[1:], world.given)
        self.block(body)
        self.turns = outside
        self.join()

    def uncounted(self, op: Operation, bounds: tuple[Number, ...]) -> None:
        """One to three turns; which is a question that other loops with the same bounds have the same answer to."""
        low, _, step = self.opened[op] = bounds
        question = self.numbers.expression(("trips", *bounds))
        left: list[World[M]] = []
        self.open_loops += 1
        for turn in range(_TRIPS):
            known = isinstance(low, int) and isinstance(step, int)
            other = ("turn", low, step, turn)
            self.turn(op, low + step * turn if known else self.numbers.one(other), turn)  # pyright: ignore
            going: list[World[M]] = []
            for world in self.worlds:
                answer = world.answers.get(question)
                if answer is None and turn + 1 < _TRIPS:
                    fork = world.fork()
                    fork.answers[question] = Answer(turn, _TRIPS)
                    left.append(fork)
                    going.append(world)
                elif answer is None or answer.which <= turn:
                    world.answers[question] = Answer(turn, _TRIPS)
                    left.append(world)
                else:
                    going.append(world)
            self.worlds = going
        self.open_loops -= 1
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
            outside = self.turns
            for turn in range(1 + number):
                self.turns = (*outside, (op, turn + 1))
                passed()
                for world in self.worlds:
                    world.vary(after.args, world.given)
                self.block(after)
            self.turns = outside
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
    """The question behind a negation, and whether there is one."""
    if isinstance(number, tuple) and number[0] == "not":
        return number[1], True  # pyright: ignore[reportReturnType]
    return number, False


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
