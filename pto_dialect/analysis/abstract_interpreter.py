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

from .abstract_state import AbstractState, Decision, M, Step, join_states
from .abstract_values import AbstractValue, ExpressionTable, evaluate, fresh_unknown, pointer_value
from .assumptions import evaluate_under
from .path_conditions import NEVER, PathConditions, case_index
from .program_slice import compute_slice
from .symbols import Symbols

MAX_STATES = 8
MAX_DEPTH = 16
MAX_NESTING = 100
VISITS_PER_OPERATION = 12
"""Visits for each operation that matters that are spent on its different ways; then only one is followed on."""
BASE_VISITS = 600
"""What a short function may spend beside them."""
MAX_VISITS = 20_000
"""Visits of one function after which nothing more is said about it."""
_MAX_FULL_TRIP_COUNT = 16
_MIN_SAMPLED = 4
_SKIPPED_MULTIPLE = 12
"""Of loops longer than ``_WHOLE`` some ``_KEPT`` to ``_WHOLE`` iterations are followed; what is left out is a multiple
of ``_SKIP``, so that buffers used in turn stay in turn."""
_MAX_UNKNOWN_TRIPS = 3
_OTHER_SIDE = {"cube": "vector", "vector": "cube"}
_HANDLES = (TileBufType, MultiTileBufType, PtrType)
Assumed = Mapping[int, int]
_NO_ASSUMPTION: Assumed = MappingProxyType({})
_TERMINATORS = Role.YIELD | Role.CONDITION | Role.RETURN


class AnalysisLimitExceeded(Exception):
    """A function that this analysis cannot follow to its end."""


class OperationPlan(NamedTuple):
    """What the text says of an operation: its number, its operands and results by ``id``; how it is followed, or how
    its results come about (``None``: it has none) and whether the machine takes it."""

    op: Operation
    position: int
    operands: tuple[int, ...]
    results: tuple[int, ...]
    visit: Callable[[AbstractInterpreter[Any], Operation], None] | None
    define: Callable[[AbstractInterpreter[Any], OperationPlan], None] | None
    is_transferred: bool


class AbstractInterpreter(Generic[M]):
    """Follows a function from its beginning to its end.

    ``side`` (cube, vector) leaves out the other's sections; ``given`` decides about conditions and loops, not about
    places. Raises ``TooMuch`` for functions with several blocks and for loops that are too long.
    """

    def __init__(self, function: Operation, side: str | None, machine: M, given: Assumed = _NO_ASSUMPTION) -> None:
        self.function = function
        self.side, self.assumed = side, given
        self.unknown_trip_counts: dict[Operation, tuple[AbstractValue, ...]] = {}
        """Loops that run as often as only a run knows, with their bounds."""
        self.symbols = Symbols()
        self.expressions = ExpressionTable()
        self.states: list[AbstractState[M]] = [AbstractState(machine)]
        self.partial = False
        self.other_states = self.open_loops = self.depth = self.nesting = self.execution = 0
        self.iterations: tuple[tuple[Operation, int], ...] = ()
        self.path_conditions = PathConditions(function)
        self.position = 0
        self.visits = 0
        self.budget = BASE_VISITS
        self.plans: dict[int, OperationPlan] = {}
        self.handle_ids: dict[int, int] = {}
        self.interned_handles: dict[Hashable, int] = {}
        """Numbers of what operations that make handles say; equal texts have one."""
        self.functions: set[Operation] = set()
        self.relevant: set[Operation] = set()
        """Operations that the machine is concerned with, and all that such ones stand in."""
        self.sliced: set[Operation] = set()
        self.steps: dict[int, list[Operation]] = {}
        self._slice_function(function, machine)

    def _slice_function(self, function: Operation, machine: M) -> None:
        if function in self.functions:
            return
        self.functions.add(function)
        found, around = compute_slice(function, machine.is_relevant, machine.relevant_operands)
        self.sliced |= found
        self.relevant |= around
        self.budget += VISITS_PER_OPERATION * len(found)

    def run(self) -> None:
        """All ways to their ends."""
        if len(self.function.regions[0].blocks) != 1:
            raise AnalysisLimitExceeded
        self.visit_block(self.function.regions[0].blocks[0])
        for world in self.states:
            world.domain.finish(self.is_must_execute)

    @property
    def is_must_execute(self) -> bool:
        """True where every run comes, whatever the answers."""
        return len(self.states) + self.other_states == 1 and not self.partial and not self.open_loops

    # ------------------------------------------------------------ operations

    def visit_block(self, block: Block) -> None:
        """All operations of a block; worlds keep what its terminator passes on."""
        self.nesting += 1
        if self.nesting > MAX_NESTING:
            raise AnalysisLimitExceeded
        inner = [id(value) for value in block.args]
        begin = self.execution
        steps = self.steps.get(id(block))
        if steps is None:
            steps = self.steps[id(block)] = [op for op in block.ops if op in self.sliced]
        for op in steps:
            if not self.states:
                break
            if has_role(op, _TERMINATORS):
                for world in self.states:
                    world.passed = [world.value_of(value) for value in op.operands]
                break
            self.visit_operation(op)
            if op.regions or has_role(op, Role.CALL | Role.SELECT):
                inner += [id(value) for value in op.results]
        else:
            for world in self.states:
                world.passed = []
        for world in self.states:
            for value in inner:
                world.path_dependent.pop(value, None)
            world.drop_stale_decisions(begin)
        self.nesting -= 1

    def visit_operation(self, op: Operation) -> None:
        """One operation in every world."""
        self.execution += 1
        plan = self.plans.get(id(op))
        if plan is None:
            plan = self.plans[id(op)] = self._plan(op)
        if not self.depth:
            self.position = plan.position
        self.visits += len(self.states)
        if self.visits > self.budget:
            if self.visits > max(self.budget, MAX_VISITS):
                raise AnalysisLimitExceeded
            self.limit_states(1)
        if plan.visit is not None:
            plan.visit(self, op)
            return
        if plan.define is not None:
            plan.define(self, plan)
        if plan.is_transferred:
            self.transfer(plan)

    def _plan(self, op: Operation) -> OperationPlan:
        position = self.path_conditions.positions.get(op, 0)
        operands, results = (tuple(map(id, values)) for values in (op.operands, op.results))
        way = self._visitor(op)
        if way is not None:
            return OperationPlan(op, position, operands, results, way, None, False)
        taken = op in self.relevant
        result = AbstractInterpreter.define_unknown
        if has_role(op, Role.SCALAR):
            result = AbstractInterpreter.evaluate_scalar
        elif isinstance(op, PtoOp) and op_spec(type(op)).effect is Effect.HANDLE:
            result = AbstractInterpreter.make_handles
        return OperationPlan(op, position, operands, results, None, result if results else None, taken)

    def _visitor(self, op: Operation) -> Callable[[AbstractInterpreter[M], Operation], None] | None:
        """How an operation with a way of its own is followed, which its text decides; ``None`` for others."""
        handler = _HANDLERS.get(op.name)
        if handler is not None:
            return handler
        if self.side is not None and section_of(op) == _OTHER_SIDE[self.side]:
            return AbstractInterpreter.skip
        if has_role(op, Role.SELECT) and isinstance(op.results[0].type, _HANDLES):
            return AbstractInterpreter.visit_select
        computes = has_role(op, Role.SCALAR)
        return AbstractInterpreter.visit_region if op.regions and not computes else None

    def skip(self, op: Operation) -> None:
        """An operation that changes nothing that is followed."""

    def evaluate_scalar(self, plan: OperationPlan) -> None:
        """Scalar arithmetic."""
        for world in self.states:
            found = evaluate(plan.op, [world.value_by_id(value) for value in plan.operands], self.execution)
            world.values[plan.results[0]] = self.expressions.intern(found)

    def visit_region(self, op: Operation) -> None:
        """A region that is executed once."""
        regions = [region for region in op.regions if region.blocks]
        for world in self.states:
            for argument, value in zip(regions[0].blocks[0].args if regions else (), op.operands, strict=False):
                world.values[id(argument)] = world.value_of(value)
        for region in regions:
            if len(region.blocks) != 1:
                raise AnalysisLimitExceeded
            self.visit_block(region.block)

    def make_handles(self, plan: OperationPlan) -> None:
        """Buffers, views and pointers."""
        for world in self.states:
            numbers = tuple([world.value_by_id(value) for value in plan.operands])
            for result in plan.op.results:
                world.values[id(result)] = self.expressions.intern(self.handle_value(plan.op, result, numbers))

    def define_unknown(self, plan: OperationPlan) -> None:
        """The results of an operation that computes no number."""
        for result in plan.op.results:
            for world in self.states:
                world.values[id(result)] = fresh_unknown(result, self.execution)

    def handle_value(self, op: Operation, result: SSAValue, numbers: tuple[AbstractValue, ...]) -> AbstractValue:
        """A buffer, view or pointer: equal ones are equal, wherever they were made."""
        if isinstance(op, (TReshapeOp, BitcastOp)):
            return numbers[0]
        found = pointer_value(op, result.type, numbers)
        if found is not None:
            return found
        if has_role(op, Role.TILE_ALLOCATION):
            return (id(result), *numbers)
        text = self.handle_ids.get(id(result))
        if text is None:
            said = (result.type, *sorted(op.attributes.items()), *op.properties.values())
            text = self.handle_ids[id(result)] = self.interned_handles.setdefault(said, len(self.interned_handles))
        return (op.name, text, *numbers)

    def transfer(self, plan: OperationPlan) -> None:
        """Gives an operation to the machines; worlds end where nothing can follow."""
        certain, here = self.is_must_execute, (self.execution, self.iterations)
        self.states = [
            world
            for world in self.states
            if world.domain.transfer(
                Step(plan.op, tuple([world.value_by_id(value) for value in plan.operands]), *here), certain
            )
        ]

    # ------------------------------------------------------------ several worlds

    def split_states(
        self, asked: Callable[[AbstractState[M]], AbstractValue], count: int, op: Operation | None = None
    ) -> list[list[AbstractState[M]]]:
        """The worlds by their answer to a question; those that have none yet go all ways."""
        found: list[list[AbstractState[M]]] = [[] for _ in range(count)]
        expiry = NEVER if op is None or self.depth else self.path_conditions.last_use(op)
        for world in self.states:
            number, turned = _strip_negation(evaluate_under(asked(world), self.assumed))
            question = self.expressions.intern(number)
            if isinstance(question, int):
                # Truth values are numbers of one bit, and as such 1 or -1.
                found[question % count].append(world)
            elif question in world.decisions:
                which = world.decisions[question].choice
                found[1 - which if turned else which].append(world)
            else:
                for which in range(count):
                    fork = world.fork() if which + 1 < count else world
                    fork.decisions[question] = Decision(which, count, expiry)
                    found[1 - which if turned else which].append(fork)
        return found

    def visit_each_group(self, groups: list[list[AbstractState[M]]], work: Callable[[int], None]) -> None:
        """``work`` with each group of worlds alone, then all of them together."""
        done: list[AbstractState[M]] = []
        outside = self.other_states
        for number, group in enumerate(groups):
            if not group:
                continue
            self.states = group
            self.other_states = outside + len(done) + sum(len(other) for other in groups[number + 1 :])
            work(number)
            done += self.states
        self.other_states = outside
        self.states = done
        self.join()

    def join(self) -> None:
        """Puts worlds together that no longer differ."""
        if len(self.states) < 2:
            return
        alike: dict[Hashable, list[AbstractState[M]]] = {}
        for world in self.states:
            for question in [q for q, answer in world.decisions.items() if answer.last_use <= self.position]:
                del world.decisions[question]
            differing = frozenset(world.path_dependent.items())
            alike.setdefault((world.domain.key(), differing, tuple(world.passed)), []).append(world)
        self.states = [world for group in alike.values() for world in join_states(group)]
        self.limit_states(MAX_STATES)

    def limit_states(self, most: int) -> None:
        """Leaves out what is too much."""
        if len(self.states) > most:
            del self.states[most:]
            self.partial = True

    # ------------------------------------------------------------ control flow

    def visit_if(self, op: Operation) -> None:
        """``scf.if``"""
        condition = named(op, "cond")
        groups = self.split_states(lambda world: world.value_of(condition), 2, op)

        def branch(number: int) -> None:
            region = op.regions[1 - number]
            if region.blocks:
                self.visit_block(region.block)
            else:
                for world in self.states:
                    world.passed = []
            for world in self.states:
                world.bind_results(op.results)

        self.visit_each_group(groups, branch)

    def visit_select(self, op: Operation) -> None:
        """``arith.select`` between two handles"""
        condition, lhs, rhs = (named(op, name) for name in ("cond", "lhs", "rhs"))
        groups = self.split_states(lambda world: world.value_of(condition), 2, op)

        def choose(number: int) -> None:
            for world in self.states:
                world.bind(op.results, [world.value_of(lhs if number else rhs)])

        self.visit_each_group(groups, choose)

    def visit_switch(self, op: Operation) -> None:
        """``scf.index_switch``: any of its cases, or the one that a known number chooses."""
        chosen = named(op, "arg")
        groups = self.split_states(
            lambda world: case_index(op, evaluate_under(world.value_of(chosen), self.assumed)), len(op.regions), op
        )

        def case(number: int) -> None:
            self.visit_block(op.regions[number].block)
            for world in self.states:
                world.bind_results(op.results)

        self.visit_each_group(groups, case)

    def visit_for(self, op: Operation) -> None:
        """``scf.for``"""
        by_bounds: dict[tuple[AbstractValue, ...], list[AbstractState[M]]] = {}
        limits = [named(op, name) for name in ("lb", "ub", "step")]
        for world in self.states:
            by_bounds.setdefault(tuple(world.value_of(value) for value in limits), []).append(world)
        bounds = list(by_bounds)
        self.visit_each_group(list(by_bounds.values()), lambda number: self.visit_loop(op, bounds[number]))

    def visit_loop(self, op: Operation, bounds: tuple[AbstractValue, ...]) -> None:
        """A loop whose bounds are the same in all worlds."""
        for world in self.states:
            world.passed = [world.value_of(value) for value in list(op.operands)[3:]]
        bounds = tuple(evaluate_under(number, self.assumed) for number in bounds)
        turns = _visited_indices(bounds)
        if turns is not None:
            for index in turns:
                self.visit_iteration(op, index, (index - bounds[0]) // bounds[2])  # pyright: ignore[reportOperatorIssue]
        else:
            self.visit_unknown_trip_count(op, bounds)
        for world in self.states:
            world.bind_results(op.results)

    def visit_iteration(self, op: Operation, index: AbstractValue, number: int) -> None:
        """One turn of a loop, with the value of its index; ``number`` turns come before it."""
        body = op.regions[0].block
        outside, self.iterations = self.iterations, (*self.iterations, (op, number + 1))
        for world in self.states:
            world.values[id(body.args[0])] = index
            world.bind(body.args[1:], world.passed)
        self.visit_block(body)
        self.iterations = outside
        self.join()

    def visit_unknown_trip_count(self, op: Operation, bounds: tuple[AbstractValue, ...]) -> None:
        """One to three turns; which is a question that other loops with the same bounds have the same answer to."""
        low, _, step = self.unknown_trip_counts[op] = bounds
        question = self.expressions.intern_parts(("trips", *bounds))
        left: list[AbstractState[M]] = []
        self.open_loops += 1
        for turn in range(_MAX_UNKNOWN_TRIPS):
            known = isinstance(low, int) and isinstance(step, int)
            other = ("turn", low, step, turn)
            self.visit_iteration(op, low + step * turn if known else self.expressions.intern(other), turn)  # pyright: ignore
            going: list[AbstractState[M]] = []
            for world in self.states:
                answer = world.decisions.get(question)
                if answer is None and turn + 1 < _MAX_UNKNOWN_TRIPS:
                    fork = world.fork()
                    fork.decisions[question] = Decision(turn, _MAX_UNKNOWN_TRIPS)
                    left.append(fork)
                    going.append(world)
                elif answer is None or answer.choice <= turn:
                    world.decisions[question] = Decision(turn, _MAX_UNKNOWN_TRIPS)
                    left.append(world)
                else:
                    going.append(world)
            self.states = going
        self.open_loops -= 1
        self.states = left
        self.join()

    def visit_while(self, op: Operation) -> None:
        """``scf.while``: its body once or twice."""
        before, after = op.regions[0].block, op.regions[1].block
        for world in self.states:
            world.passed = [world.value_of(value) for value in op.operands]
        groups = self.split_states(lambda _: ("while", fresh_unknown(op, self.execution)), 2)
        self.open_loops += 1

        def passed() -> None:
            for world in self.states:
                world.bind(before.args, world.passed)
            self.visit_block(before)
            for world in self.states:
                world.passed = world.passed[1:]

        def turns(number: int) -> None:
            outside = self.iterations
            for turn in range(1 + number):
                self.iterations = (*outside, (op, turn + 1))
                passed()
                for world in self.states:
                    world.bind(after.args, world.passed)
                self.visit_block(after)
            self.iterations = outside
            passed()
            for world in self.states:
                world.bind_results(op.results)

        self.visit_each_group(groups, turns)
        self.open_loops -= 1

    def visit_call(self, op: Operation) -> None:
        """``func.call``: the body of a function of the module."""
        callee = self.symbols.callee(op)
        if callee is None or not callee.regions or not callee.regions[0].blocks:
            return
        if self.depth >= MAX_DEPTH or len(callee.regions[0].blocks) != 1:
            raise AnalysisLimitExceeded
        self.depth += 1
        if self.states:
            self._slice_function(callee, self.states[0].domain)
        body = callee.regions[0].blocks[0]
        for world in self.states:
            world.bind(body.args, [world.value_of(value) for value in op.operands])
        self.visit_block(body)
        for world in self.states:
            world.bind_results(op.results)
        self.depth -= 1


def _strip_negation(number: AbstractValue) -> tuple[AbstractValue, bool]:
    """The question behind a negation, and whether there is one."""
    if isinstance(number, tuple) and number[0] == "not":
        return number[1], True  # pyright: ignore[reportReturnType]
    return number, False


def _visited_indices(bounds: tuple[AbstractValue, ...]) -> list[AbstractValue] | None:
    """The values of a loop index that are followed; ``None`` for bounds that only a run knows."""
    low, high, step = bounds
    if not (isinstance(low, int) and isinstance(high, int) and isinstance(step, int) and step > 0):
        return None
    every = range(low, high, step)
    # The length of a range of index values may be no machine word.
    count = max(0, -(-(high - low) // step))
    if count <= _MAX_FULL_TRIP_COUNT:
        return list(every)
    skipped = (count - _MIN_SAMPLED) // _SKIPPED_MULTIPLE * _SKIPPED_MULTIPLE
    half = _MIN_SAMPLED // 2
    return [*every[:half], *every[half + skipped :]]


_HANDLERS: dict[str, Callable[[AbstractInterpreter, Operation], None]] = {
    "scf.if": AbstractInterpreter.visit_if,
    "scf.index_switch": AbstractInterpreter.visit_switch,
    "scf.for": AbstractInterpreter.visit_for,
    "scf.while": AbstractInterpreter.visit_while,
    "func.call": AbstractInterpreter.visit_call,
}
