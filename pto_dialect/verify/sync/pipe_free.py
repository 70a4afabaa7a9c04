"""Rules of popped queue entries: freed in their block, not used after the free, nor after a later pop has overwritten
their slot. Source: docs/reference/constraints.md, "Queues and communication"."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping

from xdsl.ir import Block, Operation, OpResult, SSAValue

from pto_dialect.analysis.queues import action_of, entry, is_freed_by_pop, queue_id, queue_of, slot_count
from pto_dialect.analysis.type_facts import integer_attribute
from pto_dialect.diagnostics.diagnostic import Note, notes_at
from pto_dialect.ir.core.location import span_of
from pto_dialect.ir.core.operands import find
from pto_dialect.ir.core.types import TileBufType
from pto_dialect.ir.core.walk import walk
from pto_dialect.ir.sync.pipes import TAllocOp, TFreeFromAicOp, TFreeFromAivOp, TFreeOp, TPopOp

from ..engine.context import Context
from ..engine.functions import FunctionScan, function_check

_FREES = frozenset((TFreeOp, TFreeFromAicOp, TFreeFromAivOp))
_INITS = ("pto.aic_initialize_pipe", "pto.aiv_initialize_pipe")
_POPS = ("pto.tpop", "pto.tpop_from_aic", "pto.tpop_from_aiv")
QueueId = Mapping[tuple[str, int], Operation]


@function_check("pipes")
def check_pops_and_frees(scan: FunctionScan, ctx: Context) -> None:
    """Checks that popped entries are freed in their block after their last use, where a pop does not free them already,
    and that they are used before another entry overwrites them."""
    pops = dict.fromkeys(scan.named(*_POPS))
    numbered: dict[tuple[str, int], Operation] = {}
    for init in scan.named(*_INITS) if pops else ():
        action = action_of(init)
        assert action is not None
        numbered[action.core or "", queue_id(init)] = init
    blocks = {op.parent: None for op in pops if op.parent is not None}
    freed = {op for op in pops if not _owns_slot(op, numbered, ctx)}
    for block in blocks:
        _free_block(block, freed, numbered, ctx)
        _overwritten(block, [op for op in pops if op.parent is block and op not in freed], numbered, ctx)


def _owns_slot(pop: Operation, numbered: QueueId, ctx: Context, everywhere: bool = False) -> bool:
    """Returns whether the popped tile has a local slot of its own, and its entry is free: on some target, or on every
    target if ``everywhere``."""
    init, moved = queue_of(pop, numbered), entry(pop)
    if init is None or moved is None or not isinstance(moved.type, TileBufType):
        return False
    found = [is_freed_by_pop(init, profile.arch) for profile in ctx.candidates]
    return all(found) if everywhere else any(found)


def _queue(op: Operation) -> object:
    """Returns the key that identifies the queue and direction of a pop or free."""
    action = action_of(op)
    if action is not None and action.direction:
        return queue_id(op), action.direction
    return find(op, "pipe_handle")


def _free_block(block: Block, pops: set[Operation], numbered: QueueId, ctx: Context) -> None:
    outstanding: dict[object, deque[Operation]] = {}
    spans: list[tuple[Operation, int, int]] = []
    order: dict[Operation, int] = {}
    for position, op in enumerate(block.ops):
        order[op] = position
        if op in pops:
            waiting = outstanding.setdefault(_queue(op), deque())
            _outstanding(waiting, op, numbered, ctx)
            waiting.append(op)
        elif type(op) in _FREES:
            waiting = outstanding.get(_queue(op))
            if waiting:
                pop = waiting.popleft()
                spans.append((pop, order[pop], position))
        elif op.regions and any(outstanding.values()):
            for inner in walk(op):
                if inner in pops and outstanding.get(_queue(inner)):
                    _outstanding(outstanding[_queue(inner)], inner, numbered, ctx)
    for waiting in outstanding.values():
        for pop in waiting:
            hint = f"{FREE_OF.get(pop.name, 'pto.tfree')} after the last use"
            message = "the popped entry is not freed in this block"
            ctx.report("pipe-free", pop, message, help=hint)
    for pop, start, end in spans:
        _uses(pop, start, end, block, order, ctx)


FREE_OF = {"pto.tpop_from_aic": "pto.tfree_from_aic", "pto.tpop_from_aiv": "pto.tfree_from_aiv"}
"""The operation that frees the entry of a pop by id."""


def _outstanding(waiting: deque[Operation], second: Operation, numbered: QueueId, ctx: Context) -> None:
    """Reports more outstanding entries than the queue has slots for."""
    init = queue_of(second, numbered)
    slots = slot_count(init) if init is not None else 1
    if len(waiting) < slots:
        return
    place = span_of(second)
    notes = notes_at("the next pop is here", place)
    message = f"the popped entry is not freed before the pop that needs its slot: the queue has {slots}"
    ctx.report("pipe-free", waiting[0], message, notes=notes)


def _overwritten(block: Block, pops: list[Operation], numbered: QueueId, ctx: Context) -> None:
    """Reports tiles that are used after the pop that loads another entry into their local slot."""
    if len(pops) < 2:
        return
    order = {op: position for position, op in enumerate(block.ops)}
    seen: Counter[object] = Counter(map(_queue, pops))
    for pop in pops if max(seen.values()) > 1 else ():
        init = queue_of(pop, numbered)
        assert init is not None
        later = [op for op in pops if _queue(op) == _queue(pop) and order[op] > order[pop]]
        slots = integer_attribute(init, "local_slot_num") or slot_count(init)
        if len(later) >= slots and _owns_slot(pop, numbered, ctx, everywhere=True):
            _late_use(pop, later[slots - 1], block, order, ctx)


def _late_use(pop: Operation, second: Operation, block: Block, order: dict[Operation, int], ctx: Context) -> None:
    moved = entry(pop)
    assert moved is not None
    bound = _next_binding(moved, order[pop], block, order)
    for use in moved.uses:
        place: Operation | None = use.operation
        while place is not None and place.parent is not block:
            place = place.parent_op()
        if place is not None and order[second] < order[place] < bound:
            spans = (("it is used here", span_of(use.operation)), ("the other pop is here", span_of(second)))
            notes = tuple(Note(text, span) for text, span in spans if span is not None)
            message = "the popped tile is used after another pop has loaded into its local slot"
            hint = "use or copy it before that pop, or give the queue more local slots (local_slot_num)"
            ctx.report("pipe-overwritten", pop, message, notes=notes, help=hint)
            return


def _uses(pop: Operation, start: int, end: int, block: Block, order: dict[Operation, int], ctx: Context) -> None:
    moved = entry(pop)
    if moved is None:
        return
    bound = _next_binding(moved, end, block, order)
    for use in moved.uses:
        place: Operation | None = use.operation
        while place is not None and place.parent is not block:
            place = place.parent_op()
        if place is None:
            if isinstance(moved, OpResult) and moved.op is pop:
                message = "the popped entry is used outside the block of its pop"
                ctx.report("pipe-free", pop, message)
                return
        elif end < order[place] < bound and order[place] > start:
            spot = span_of(use.operation)
            notes = notes_at("it is used here", spot)
            message = "the popped entry is used after it is freed"
            ctx.report("pipe-free", pop, message, notes=notes)
            return


def _next_binding(moved: SSAValue, end: int, block: Block, order: dict[Operation, int]) -> int:
    """Returns the position of the next operation after ``end`` that binds the same entry handle, or contains one that
    does."""
    later = [len(order)]
    for use in moved.uses:
        place: Operation | None = use.operation
        if not isinstance(place, (TPopOp, TAllocOp)):
            continue
        while place is not None and place.parent is not block:
            place = place.parent_op()
        if place is not None and order[place] > end:
            later.append(order[place])
    return min(later)
