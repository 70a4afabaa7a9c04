"""Abstract interpreter of one function: visits all control-flow paths at once, splits the abstract state where a
condition is unknown, and joins states that have become equal.

Conditions over known values are decided; for others every choice is tried, the same one for equal conditions. Loops
with known trip counts run that often (long ones skip iterations in the middle); others run one to three iterations, or
none under an assumption about the caller. The work is bounded by the size of the function; beyond the bound, some paths
are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Generic, NamedTuple

from xdsl.ir import Block, Operation, SSAValue

from pto_dialect.ir.buffers.views import BitcastOp, TReshapeOp
from pto_dialect.ir.core.base import Effect, PtoOp, op_spec, section_of
from pto_dialect.ir.core.operands import named
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.types import MultiTileBufType, PtrType, TileBufType

from .abstract_state import NO_ASSUMPTION, AbstractState, AnalysisLimitExceeded, Assumed, Decision, M, Step, join_states
from .abstract_values import AbstractValue, ExpressionTable, evaluate, fresh_unknown, pointer_value
from .assumptions import evaluate_under
from .path_conditions import NEVER, PathConditions, case_index
from .program_slice import compute_slice
from .symbols import Symbols
from .trip_counts import compared_bounds, visited_indices

MAX_STATES = 8
MAX_DEPTH = 16
MAX_NESTING = 100
VISITS_PER_OPERATION = 12
"""Visits per operation of the slice that are spent on distinct states; beyond them, one state is continued."""
BASE_VISITS = 600
"""Visits that a function may spend in addition."""
MAX_VISITS = 20_000
"""Visits of one function after which the analysis gives up."""
_MAX_UNKNOWN_TRIPS = 3
_OTHER_SIDE = {"cube": "vector", "vector": "cube"}
_HANDLES = (TileBufType, MultiTileBufType, PtrType)
_TERMINATORS = Role.YIELD | Role.CONDITION | Role.RETURN


class OperationPlan(NamedTuple):
    """Static facts of an operation: its position, the ``id`` of its operands and results, how to visit it, or how to
    define its results (``None``: it has none), and whether the domain's transfer function applies."""

    op: Operation
    position: int
    operands: tuple[int, ...]
    results: tuple[int, ...]
    visit: Callable[[AbstractInterpreter[Any], Operation], None] | None
    define: Callable[[AbstractInterpreter[Any], OperationPlan], None] | None
    is_transferred: bool


class AbstractInterpreter(Generic[M]):
    """Interprets a function from its entry to its end.

    ``side`` (cube, vector) skips sections of the other core kind. ``assumed`` gives values to arguments in conditions
    and loop bounds, not in addresses. Raises ``AnalysisLimitExceeded`` for functions with several blocks and for loops
    that are too long.
    """

    def __init__(self, function: Operation, side: str | None, machine: M, assumed: Assumed = NO_ASSUMPTION) -> None:
        self.function = function
        self.side, self.assumed = side, assumed
        self.unknown_trip_counts: dict[Operation, tuple[AbstractValue, ...]] = {}
        """Bounds of the loops with unknown trip counts."""
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
        """Ids of the handle-making operations by their type and attributes; equal ones share an id."""
        self.functions: set[Operation] = set()
        self.relevant: set[Operation] = set()
        """Operations that are relevant to the domain, and their ancestors."""
        self.sliced: set[Operation] = set()
        self.steps: dict[int, list[Operation]] = {}
        self._slice_function(function, machine)

    def _slice_function(self, function: Operation, machine: M) -> None:
        if function in self.functions:
            return
        self.functions.add(function)
        relevant, around = compute_slice(function, machine.is_relevant, machine.relevant_operands)
        self.sliced |= relevant
        self.relevant |= around
        self.budget += VISITS_PER_OPERATION * len(relevant)

    def run(self) -> None:
        """Interprets all paths to their ends."""
        if len(self.function.regions[0].blocks) != 1:
            raise AnalysisLimitExceeded
        self.visit_block(self.function.regions[0].blocks[0])
        for state in self.states:
            state.domain.finish(self.is_must_execute)

    @property
    def is_must_execute(self) -> bool:
        """Whether every execution reaches this point, whatever the conditions."""
        return len(self.states) + self.other_states == 1 and not self.partial and not self.open_loops

    # ------------------------------------------------------------ operations

    def visit_block(self, block: Block) -> None:
        """Visits all operations of a block; each state retains the operands of the terminator in ``passed``."""
        self.nesting += 1
        if self.nesting > MAX_NESTING:
            raise AnalysisLimitExceeded
        inner = [id(value) for value in block.args]
        start = self.execution
        steps = self.steps.get(id(block))
        if steps is None:
            steps = self.steps[id(block)] = [op for op in block.ops if op in self.sliced]
        for op in steps:
            if not self.states:
                break
            if has_role(op, _TERMINATORS):
                for state in self.states:
                    state.passed = [state.value_of(value) for value in op.operands]
                break
            self.visit_operation(op)
            if op.regions or has_role(op, Role.CALL | Role.SELECT):
                inner += [id(value) for value in op.results]
        else:
            for state in self.states:
                state.passed = []
        for state in self.states:
            for value in inner:
                state.path_dependent.pop(value, None)
            state.drop_stale_decisions(start)
        self.nesting -= 1

    def visit_operation(self, op: Operation) -> None:
        """Visits one operation in every state."""
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
        visit = self._visitor(op)
        if visit is not None:
            return OperationPlan(op, position, operands, results, visit, None, False)
        taken = op in self.relevant
        result = AbstractInterpreter.define_unknown
        if has_role(op, Role.SCALAR):
            result = AbstractInterpreter.evaluate_scalar
        elif isinstance(op, PtoOp) and op_spec(type(op)).effect is Effect.HANDLE:
            result = AbstractInterpreter.make_handles
        return OperationPlan(op, position, operands, results, None, result if results else None, taken)

    def _visitor(self, op: Operation) -> Callable[[AbstractInterpreter[M], Operation], None] | None:
        """Returns the visit method of an operation with regions or control flow; ``None`` for others."""
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
        """Skips an operation that has no effect on the states."""

    def evaluate_scalar(self, plan: OperationPlan) -> None:
        """Evaluates scalar arithmetic."""
        for state in self.states:
            result = evaluate(plan.op, [state.value_by_id(value) for value in plan.operands], self.execution)
            state.values[plan.results[0]] = self.expressions.intern(result)

    def visit_region(self, op: Operation) -> None:
        """Visits a region that is executed once."""
        regions = [region for region in op.regions if region.blocks]
        for state in self.states:
            for argument, value in zip(regions[0].blocks[0].args if regions else (), op.operands, strict=False):
                state.values[id(argument)] = state.value_of(value)
        for region in regions:
            if len(region.blocks) != 1:
                raise AnalysisLimitExceeded
            self.visit_block(region.block)

    def make_handles(self, plan: OperationPlan) -> None:
        """Defines buffers, views and pointers."""
        for state in self.states:
            operands = tuple([state.value_by_id(value) for value in plan.operands])
            for result in plan.op.results:
                state.values[id(result)] = self.expressions.intern(self.handle_value(plan.op, result, operands))

    def define_unknown(self, plan: OperationPlan) -> None:
        """Defines results whose values are unknown."""
        for result in plan.op.results:
            for state in self.states:
                state.values[id(result)] = fresh_unknown(result, self.execution)

    def handle_value(self, op: Operation, result: SSAValue, operands: tuple[AbstractValue, ...]) -> AbstractValue:
        """Returns the value of a buffer, view or pointer; equal handles have equal values."""
        if isinstance(op, (TReshapeOp, BitcastOp)):
            return operands[0]
        value = pointer_value(op, result.type, operands)
        if value is not None:
            return value
        if has_role(op, Role.TILE_ALLOCATION):
            return (id(result), *operands)
        text = self.handle_ids.get(id(result))
        if text is None:
            key = (result.type, *sorted(op.attributes.items()), *op.properties.values())
            text = self.handle_ids[id(result)] = self.interned_handles.setdefault(key, len(self.interned_handles))
        return (op.name, text, *operands)

    def transfer(self, plan: OperationPlan) -> None:
        """Applies the transfer function of the domain; drops states from which execution cannot continue."""
        is_must, here = self.is_must_execute, (self.execution, self.iterations)
        self.states = [
            state
            for state in self.states
            if state.domain.transfer(
                Step(plan.op, tuple([state.value_by_id(value) for value in plan.operands]), *here), is_must
            )
        ]

    # ------------------------------------------------------------ sets of states

    def split_states(
        self, condition_of: Callable[[AbstractState[M]], AbstractValue], count: int, op: Operation | None = None
    ) -> list[list[AbstractState[M]]]:
        """Splits the states by the value of a condition with ``count`` choices; states without a decision take every
        choice."""
        groups: list[list[AbstractState[M]]] = [[] for _ in range(count)]
        expiry = NEVER if op is None or self.depth else self.path_conditions.last_use(op)
        for state in self.states:
            number, negated = _strip_negation(evaluate_under(condition_of(state), self.assumed))
            condition = self.expressions.intern(number)
            if isinstance(condition, int):
                # A truth value is an integer of one bit, and as such 1 or -1.
                groups[condition % count].append(state)
            elif condition in state.decisions:
                choice = state.decisions[condition].choice
                groups[1 - choice if negated else choice].append(state)
            else:
                for choice in range(count):
                    fork = state.fork() if choice + 1 < count else state
                    fork.decisions[condition] = Decision(choice, count, expiry)
                    groups[1 - choice if negated else choice].append(fork)
        return groups

    def visit_each_group(self, groups: list[list[AbstractState[M]]], work: Callable[[int], None]) -> None:
        """Calls ``work`` with each group of states separately, then joins all of them."""
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
        """Joins equal states."""
        if len(self.states) < 2:
            return
        groups: dict[Hashable, list[AbstractState[M]]] = {}
        for state in self.states:
            for condition in [q for q, decision in state.decisions.items() if decision.last_use <= self.position]:
                del state.decisions[condition]
            differing = frozenset(state.path_dependent.items())
            groups.setdefault((state.domain.key(), differing, tuple(state.passed)), []).append(state)
        self.states = [state for group in groups.values() for state in join_states(group)]
        self.limit_states(MAX_STATES)

    def limit_states(self, most: int) -> None:
        """Retains at most this many states."""
        if len(self.states) > most:
            del self.states[most:]
            self.partial = True

    # ------------------------------------------------------------ control flow

    def visit_if(self, op: Operation) -> None:
        """Visits ``scf.if``."""
        condition = named(op, "cond")
        groups = self.split_states(lambda state: state.value_of(condition), 2, op)

        def branch(number: int) -> None:
            region = op.regions[1 - number]
            if region.blocks:
                self.visit_block(region.block)
            else:
                for state in self.states:
                    state.passed = []
            for state in self.states:
                state.bind_results(op.results)

        self.visit_each_group(groups, branch)

    def visit_select(self, op: Operation) -> None:
        """Visits an ``arith.select`` of two handles."""
        condition, lhs, rhs = (named(op, name) for name in ("cond", "lhs", "rhs"))
        groups = self.split_states(lambda state: state.value_of(condition), 2, op)

        def choose(number: int) -> None:
            for state in self.states:
                state.bind(op.results, [state.value_of(lhs if number else rhs)])

        self.visit_each_group(groups, choose)

    def visit_switch(self, op: Operation) -> None:
        """Visits ``scf.index_switch``: every case, or the one that a known value selects."""
        chosen = named(op, "arg")
        groups = self.split_states(
            lambda state: case_index(op, evaluate_under(state.value_of(chosen), self.assumed)), len(op.regions), op
        )

        def case(number: int) -> None:
            self.visit_block(op.regions[number].block)
            for state in self.states:
                state.bind_results(op.results)

        self.visit_each_group(groups, case)

    def visit_for(self, op: Operation) -> None:
        """Visits ``scf.for``."""
        by_bounds: dict[tuple[AbstractValue, ...], list[AbstractState[M]]] = {}
        limits = [named(op, name) for name in ("lb", "ub", "step")]
        for state in self.states:
            by_bounds.setdefault(tuple(state.value_of(value) for value in limits), []).append(state)
        bounds = list(by_bounds)
        self.visit_each_group(list(by_bounds.values()), lambda number: self.visit_loop(op, bounds[number]))

    def visit_loop(self, op: Operation, bounds: tuple[AbstractValue, ...]) -> None:
        """Visits a loop whose bounds are the same in all states."""
        for state in self.states:
            state.passed = [state.value_of(value) for value in list(op.operands)[3:]]
        bounds = tuple(evaluate_under(number, self.assumed) for number in bounds)
        indices = visited_indices(bounds)
        if indices is not None:
            for index in indices:
                self.visit_iteration(op, index, (index - bounds[0]) // bounds[2])  # pyright: ignore[reportOperatorIssue]
        else:
            self.visit_unknown_trip_count(op, bounds)
        for state in self.states:
            state.bind_results(op.results)

    def visit_iteration(self, op: Operation, index: AbstractValue, number: int) -> None:
        """Visits one iteration with this value of the induction variable, after ``number`` earlier ones."""
        body = op.regions[0].block
        outside, self.iterations = self.iterations, (*self.iterations, (op, number + 1))
        for state in self.states:
            state.values[id(body.args[0])] = index
            state.bind(body.args[1:], state.passed)
        self.visit_block(body)
        self.iterations = outside
        self.join()

    def visit_unknown_trip_count(self, op: Operation, bounds: tuple[AbstractValue, ...]) -> None:
        """Visits one to three iterations; loops with the same bounds share the decision on the trip count."""
        low, _, step = self.unknown_trip_counts[op] = bounds
        condition = self.expressions.intern_parts(("trips", *bounds))
        finished: list[AbstractState[M]] = []
        self.open_loops += 1
        for iteration in range(_MAX_UNKNOWN_TRIPS):
            known = isinstance(low, int) and isinstance(step, int)
            other = ("turn", low, step, iteration)
            self.visit_iteration(op, low + step * iteration if known else self.expressions.intern(other), iteration)  # pyright: ignore
            continuing: list[AbstractState[M]] = []
            for state in self.states:
                decision = state.decisions.get(condition)
                if decision is None and iteration + 1 < _MAX_UNKNOWN_TRIPS:
                    fork = state.fork()
                    fork.decisions[condition] = Decision(iteration, _MAX_UNKNOWN_TRIPS)
                    finished.append(fork)
                    continuing.append(state)
                elif decision is None or decision.choice <= iteration:
                    state.decisions[condition] = Decision(iteration, _MAX_UNKNOWN_TRIPS)
                    finished.append(state)
                else:
                    continuing.append(state)
            self.states = continuing
        self.open_loops -= 1
        self.states = finished
        self.join()

    def visit_while(self, op: Operation) -> None:
        """Visits ``scf.while``: its body runs once and twice; not at all if an assumption decides so."""
        before, after = op.regions[0].block, op.regions[1].block
        for state in self.states:
            state.passed = [state.value_of(value) for value in op.operands]
        groups = self.split_states(lambda _: ("while", fresh_unknown(op, self.execution)), 2)
        self.open_loops += 1

        def visit_before() -> list[AbstractValue]:
            for state in self.states:
                state.bind(before.args, state.passed)
            self.visit_block(before)
            conditions = [state.passed[0] for state in self.states]
            for state in self.states:
                state.passed = state.passed[1:]
            return conditions

        def visit_iterations(number: int) -> None:
            outside = self.iterations
            skipped: list[AbstractState[M]] = []
            for iteration in range(1 + number):
                self.iterations = (*outside, (op, iteration + 1))
                conditions = visit_before()
                if iteration == 0:
                    for bounds in filter(None, map(compared_bounds, conditions)):
                        self.unknown_trip_counts[op] = bounds
                    ends = [evaluate_under(one, self.assumed) == 0 if self.assumed else False for one in conditions]
                    skipped = [state for state, end in zip(self.states, ends, strict=True) if end]
                    self.states = [state for state, end in zip(self.states, ends, strict=True) if not end]
                for state in self.states:
                    state.bind(after.args, state.passed)
                self.visit_block(after)
            self.iterations = outside
            visit_before()
            self.states += skipped
            for state in self.states:
                state.bind_results(op.results)

        self.visit_each_group(groups, visit_iterations)
        self.open_loops -= 1

    def visit_call(self, op: Operation) -> None:
        """Visits ``func.call``: interprets the body of a function of the module."""
        callee = self.symbols.callee(op)
        if callee is None or not callee.regions or not callee.regions[0].blocks:
            return
        if self.depth >= MAX_DEPTH or len(callee.regions[0].blocks) != 1:
            raise AnalysisLimitExceeded
        self.depth += 1
        if self.states:
            self._slice_function(callee, self.states[0].domain)
        body = callee.regions[0].blocks[0]
        for state in self.states:
            state.bind(body.args, [state.value_of(value) for value in op.operands])
        self.visit_block(body)
        for state in self.states:
            state.bind_results(op.results)
        self.depth -= 1


def _strip_negation(number: AbstractValue) -> tuple[AbstractValue, bool]:
    """Returns the condition below a negation, and whether there is a negation."""
    if isinstance(number, tuple) and number[0] == "not":
        return number[1], True  # pyright: ignore[reportReturnType]
    return number, False


_HANDLERS: dict[str, Callable[[AbstractInterpreter, Operation], None]] = {
    "scf.if": AbstractInterpreter.visit_if,
    "scf.index_switch": AbstractInterpreter.visit_switch,
    "scf.for": AbstractInterpreter.visit_for,
    "scf.while": AbstractInterpreter.visit_while,
    "func.call": AbstractInterpreter.visit_call,
}
