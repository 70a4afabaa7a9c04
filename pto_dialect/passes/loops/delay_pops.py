"""``delay-pops``: an iteration takes the result of the other kind of core after the next one has sent its request.

Source: docs/reference/execution.md, "Queues between cores".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from xdsl.dialects.arith import CmpiOp
from xdsl.dialects.builtin import AnyFloat, IndexType, IntegerType, ModuleOp
from xdsl.dialects.scf import ForOp, IfOp, YieldOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from pto_dialect.analysis.constants import constant_of
from pto_dialect.analysis.queues import action_of, is_pop, is_push, queue_id
from pto_dialect.diagnostics.engine import DiagnosticEngine
from pto_dialect.ir.buffers.views import AllocTileOp, TReshapeOp
from pto_dialect.ir.core.base import PtoOp, op_spec, operand_groups
from pto_dialect.ir.core.location import share_location, span_of
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.types import TileBufType
from pto_dialect.ir.core.walk import walk
from pto_dialect.ir.core_dialects.structured import is_unsigned
from pto_dialect.passes.base import ObstacleError, PtoPass
from pto_dialect.passes.insert_sync.insert import ordered
from pto_dialect.passes.instructions.writer import is_handle
from pto_dialect.verify.engine.rule import read_rules

UNCHANGED = read_rules("passes")["delay-pops-unchanged"]


class NotDelayedError(ObstacleError):
    """Why the pops of a loop stay where they are."""


@dataclass(frozen=True)
class DelayPopsPass(PtoPass):
    """Moves the pop at the end of an iteration, with what depends on it, after the last push of the next iteration, so
    that the other kind of core works for one iteration while this one works for the next."""

    name: ClassVar[str] = "delay-pops"

    def run(self, module: ModuleOp, engine: DiagnosticEngine) -> None:
        """Changes ``module``; each loop with a pop after a push that stays as it is gets a remark, and so does a module
        without such loops."""
        functions = [op for op in walk(module) if has_role(op, Role.FUNCTION) and op.regions[0].blocks]
        queues = _Queues(module)
        found: list[_Delay] = []
        kept = False
        for loop in [op for function in functions if not ordered(function) for op in walk(function)]:
            if not isinstance(loop, ForOp):
                continue
            try:
                delay = _delay_of(loop, queues)
                found += [delay] if delay is not None else []
            except NotDelayedError as error:
                kept = True
                message = f"the pop stays before the next push: {error.reason}"
                engine.report(UNCHANGED.at(error.op, message))
        if not found and not kept:
            message = "delay-pops changes nothing: no loop pops after a push in a function without flags of its own"
            engine.report(UNCHANGED.at(module, message))
        # All loops are judged as the text has them: those of both kinds of cores may change.
        for delay in found:
            delay.write()


class _Queues:
    """The transfers of a module by queue."""

    def __init__(self, module: ModuleOp) -> None:
        self.transfers: dict[tuple[int, int], list[Operation]] = {}
        self.frees: dict[tuple[int, int], list[Operation]] = {}
        for op in walk(module):
            action = action_of(op)
            if action is not None and action.transfers:
                found = self.frees if action.role == "free" else self.transfers
                found.setdefault(_queue(op), []).append(op)

    def other_end(self, op: Operation) -> Operation:
        """Returns the only transfer on the other end of the queue of ``op``, which is the only one on its own."""
        action = action_of(op)
        others = [one for one in self.transfers[_queue(op)] if one is not op]
        if action is None or action.core is None or len(others) != 1 or not (is_push(others[0]) or is_pop(others[0])):
            raise NotDelayedError(op, "its queue has more than a push and a pop in the text, or is known by a handle")
        return others[0]


def _queue(op: Operation) -> tuple[int, int]:
    action = action_of(op)
    assert action is not None
    return action.direction, queue_id(op)


class _Delay(NamedTuple):
    """Operations of a loop that run after ``push``, the last one of the next iteration."""

    loop: ForOp
    push: Operation
    late: Sequence[Operation]

    def write(self) -> None:
        """Changes the loop."""
        loop, late = self.loop, self.late
        unsigned = is_unsigned(loop)
        later = CmpiOp(loop.body.block.args[0], loop.lb, "ugt" if unsigned else "sgt")
        runs = CmpiOp(loop.lb, loop.ub, "ult" if unsigned else "slt")
        _put((later, _guarded(later.result, late)), InsertPoint.after(self.push), late[0])
        after = InsertPoint.after(loop)
        low, high = constant_of(loop.lb), constant_of(loop.ub)
        if isinstance(low, int) and isinstance(high, int) and low < high:
            _put(_copies(late), after, late[0])
        else:
            _put((runs, _guarded(runs.result, late)), after, late[0])
        for op in reversed(late):
            op.detach()
            op.erase()


def _guarded(condition: SSAValue, late: Sequence[Operation]) -> IfOp:
    block = Block([*_copies(late), YieldOp()])
    return IfOp(condition, [], Region(block))


def _copies(ops: Sequence[Operation]) -> list[Operation]:
    known: dict[SSAValue, SSAValue] = {}
    made = [op.clone(known) for op in ops]
    for one, other in zip(made, ops, strict=True):
        share_location(one, other)
        for result, named in zip(one.results, other.results, strict=True):
            result.name_hint = named.name_hint
    return made


def _put(ops: Iterable[Operation], point: InsertPoint, near: Operation) -> None:
    for op in ops:
        Rewriter.insert_op(op, point)
        if span_of(op) is None:
            share_location(op, near)


def _delay_of(loop: ForOp, queues: _Queues) -> _Delay | None:
    """Returns what a loop may delay; ``None`` where no iteration pops something after a push."""
    ops = list(loop.body.block.ops)
    pushes = [number for number, op in enumerate(ops) if is_push(op)]
    pop = next((number for number, op in enumerate(ops) if is_pop(op) and pushes and number > pushes[0]), None)
    if pop is None:
        return None
    last = max(number for number in pushes if number < pop)
    if loop.iter_args:
        raise NotDelayedError(loop, "the loop hands on values")
    for op in walk(loop):
        if (isinstance(op, PtoOp) and _sets_state(op)) or has_role(op, Role.CALL):
            raise NotDelayedError(op, f"{op.name} may change what operations of other iterations do")
    _check_queues(ops[last], ops[pop], queues)
    late = _late(ops[pop:-1])
    _check_late(late, ops, last)
    _check_pushes([op for op in late if is_push(op)], ops[: last + 1], queues)
    return _Delay(loop, ops[last], late)


def _check_queues(push: Operation, pop: Operation, queues: _Queues) -> None:
    """Checks that the other core pushes what is popped only after it has popped what is pushed: it then waits for the
    next push anyway, however many entries the queues hold."""
    taken, given = queues.other_end(push), queues.other_end(pop)
    if taken.parent is None or taken.parent is not given.parent or not taken.is_before_in_block(given):
        raise NotDelayedError(pop, "the other core may push it before it has popped the last push of this iteration")


def _check_pushes(late: Sequence[Operation], first: Sequence[Operation], queues: _Queues) -> None:
    """Checks that the other core frees what ``first`` pushes before it pops what is pushed ``late``: the next iteration
    may then push without it."""
    for op in first if late else ():
        if is_pop(op):
            raise NotDelayedError(op, "the other core may wait for a push that would follow it")
        if not is_push(op):
            continue
        queues.other_end(op)
        frees = queues.frees.get(_queue(op), [])
        for push in late:
            pop = queues.other_end(push)
            if len(frees) != 1 or frees[0].parent is not pop.parent or not frees[0].is_before_in_block(pop):
                raise NotDelayedError(push, "the other core may need it to free an entry for the next push")


def _late(ops: Sequence[Operation]) -> list[Operation]:
    """Returns the first operation and those that have to follow it."""
    late = [ops[0]]
    for op in ops[1:]:
        if any(_follows(one, op) for one in late):
            late.append(op)
    return late


def _follows(one: Operation, other: Operation) -> bool:
    """Returns whether ``other``, which follows ``one``, has to."""
    if any(value in one.results for inner in walk(other) for value in inner.operands):
        return True
    queues = [{_queue(op) for op in walk(each) if _transfers(op)} for each in (one, other)]
    if queues[0] & queues[1]:
        return True
    first, second = _touched(one), _touched(other)
    return any(root in second.all for root in first.written) or any(root in first.all for root in second.written)


def _transfers(op: Operation) -> bool:
    action = action_of(op)
    return action is not None and action.transfers


def _check_late(late: Sequence[Operation], ops: Sequence[Operation], last: int) -> None:
    """Checks that what is late may follow the first operations of the next iteration and needs nothing of its own."""
    inside = {op for op in ops if op not in late}
    for op in late:
        if not isinstance(op, PtoOp) or op.regions:
            raise NotDelayedError(op, f"{op.name} cannot follow the operations of another iteration")
        if op is not late[0] and is_pop(op):
            raise NotDelayedError(op, "another pop depends on it")
        for value in op.operands:
            if value.owner in inside or (isinstance(value.owner, Block) and value.owner is ops[0].parent):
                raise NotDelayedError(op, "what follows it depends on numbers of its iteration")
            if not isinstance(value.type, TileBufType) and not _is_number(value):
                raise NotDelayedError(op, f"{op.name} accesses global memory")
    for op in ops[: last + 1]:
        if any(_follows(op, one) or _follows(one, op) for one in late):
            raise NotDelayedError(op, f"{op.name} of the next iteration has to follow it")


def _sets_state(op: PtoOp) -> bool:
    """Returns whether an operation changes more than tiles and its queue."""
    return not _transfers(op) and bool(op_spec(type(op)).state_writes)


def _is_number(value: SSAValue) -> bool:
    return isinstance(value.type, (IndexType, IntegerType, AnyFloat))


class _Touched(NamedTuple):
    """Memory that an operation touches: allocations of tiles and tiles that were popped; ``None`` for any."""

    all: frozenset[object]
    written: frozenset[object]


def _touched(op: Operation) -> _Touched:
    found: set[object] = set()
    written: set[object] = set()
    for inner in walk(op):
        if is_handle(inner) or not isinstance(inner, PtoOp):
            continue
        spec, groups = op_spec(type(inner)), operand_groups(inner)
        for value in inner.operands:
            if isinstance(value.type, TileBufType):
                found.add(_root(value, inner))
        for name in (*spec.writes, *spec.in_place):
            written.update(_root(value, inner) for value in groups.get(name, ()) if isinstance(value.type, TileBufType))
    return _Touched(frozenset(found), frozenset(written))


def _root(value: SSAValue, op: Operation) -> object:
    """Returns the allocation or the pop that a tile comes from. Raises :class:`NotDelayedError` where nobody knows what
    else has its bytes."""
    while isinstance(value.owner, TReshapeOp):
        value = value.owner.src
    owner = value.owner
    if isinstance(owner, Operation) and (is_pop(owner) or (isinstance(owner, AllocTileOp) and owner.addr is None)):
        return owner
    raise NotDelayedError(op, "a tile has an address already, or is a part of another tile")
