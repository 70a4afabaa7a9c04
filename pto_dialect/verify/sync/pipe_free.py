"""Popped entries of queues: freed in their block, not used afterwards. Source: docs/reference/constraints.md, "Queues
and communication".
"""

from __future__ import annotations

from collections import deque

from xdsl.ir import Block, Operation, OpResult, SSAValue

from pto_dialect.analysis.queues import action_of, entry, number
from pto_dialect.diagnostics.diagnostic import Note
from pto_dialect.ir.core.location import span_of
from pto_dialect.ir.core.operands import find
from pto_dialect.ir.core.walk import walk
from pto_dialect.ir.sync.pipes import TAllocOp, TFreeFromAicOp, TFreeFromAivOp, TFreeOp, TPopOp

from ..engine.context import Context
from ..engine.functions import FunctionScan, function_check
from ..engine.rule import STRUCTURE, WARNING, rule

FREE = rule(
    "pipe-free",
    WARNING,
    STRUCTURE,
    "a popped entry is not used after it is freed; it is freed in its block and before the next pop",
    source='docs/reference/constraints.md, "Queues and communication"',
)


_FREES = frozenset((TFreeOp, TFreeFromAicOp, TFreeFromAivOp))


@function_check("pipes")
def pops_and_frees(scan: FunctionScan, ctx: Context) -> None:
    """One outstanding pop for each queue, freed in its block behind the last use."""
    pops = {op for op in scan.named("pto.tpop", "pto.tpop_from_aic", "pto.tpop_from_aiv")}
    for block in {op.parent: None for op in pops if op.parent is not None}:
        _free_block(block, pops, ctx)


def _queue(op: Operation) -> object:
    """What tells the queue and direction of a pop or free from others."""
    action = action_of(op)
    if action is not None and action.direction:
        return number(op), action.direction
    return find(op, "pipe_handle")


def _free_block(block: Block, pops: set[Operation], ctx: Context) -> None:
    outstanding: dict[object, deque[Operation]] = {}
    spans: list[tuple[Operation, int, int]] = []
    order: dict[Operation, int] = {}
    for position, op in enumerate(block.ops):
        order[op] = position
        if op in pops:
            waiting = outstanding.setdefault(_queue(op), deque())
            if waiting:
                _outstanding(waiting[0], op, ctx)
            waiting.append(op)
        elif type(op) in _FREES:
            waiting = outstanding.get(_queue(op))
            if waiting:
                pop = waiting.popleft()
                spans.append((pop, order[pop], position))
        elif op.regions and any(outstanding.values()):
            for inner in walk(op):
                if inner in pops and outstanding.get(_queue(inner)):
                    _outstanding(outstanding[_queue(inner)][0], inner, ctx)
    for waiting in outstanding.values():
        for pop in waiting:
            hint = f"{FREE_OF.get(pop.name, 'pto.tfree')} after the last use"
            message = "the popped entry is not freed in this block"
            ctx.report(FREE, pop, message, help=hint)
    for pop, start, end in spans:
        _uses(pop, start, end, block, order, ctx)


FREE_OF = {"pto.tpop_from_aic": "pto.tfree_from_aic", "pto.tpop_from_aiv": "pto.tfree_from_aiv"}
"""Operation that frees what a numbered pop yields."""


def _outstanding(pop: Operation, second: Operation, ctx: Context) -> None:
    place = span_of(second)
    notes = (Note("the next pop is here", place),) if place is not None else ()
    message = "the popped entry is not freed before the next pop of its queue"
    ctx.report(FREE, pop, message, notes=notes)


def _uses(pop: Operation, start: int, end: int, block: Block, order: dict[Operation, int], ctx: Context) -> None:
    moved = entry(pop)
    if moved is None:
        return
    bound = _bound_again(moved, end, block, order)
    for use in moved.uses:
        place: Operation | None = use.operation
        while place is not None and place.parent is not block:
            place = place.parent_op()
        if place is None:
            if isinstance(moved, OpResult) and moved.op is pop:
                message = "the popped entry is used outside the block of its pop"
                ctx.report(FREE, pop, message)
                return
        elif end < order[place] < bound and order[place] > start:
            spot = span_of(use.operation)
            notes = (Note("it is used here", spot),) if spot is not None else ()
            message = "the popped entry is used after it is freed"
            ctx.report(FREE, pop, message, notes=notes)
            return


def _bound_again(moved: SSAValue, end: int, block: Block, order: dict[Operation, int]) -> int:
    """Position of the next operation that binds the same entry handle, or contains one that does, after ``end``."""
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
