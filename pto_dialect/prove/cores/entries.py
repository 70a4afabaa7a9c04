"""The entries of queues, as the objects that handles name. Source: docs/reference/order-proof.md, "Other cores"."""

from __future__ import annotations

from collections.abc import Hashable

from xdsl.ir import Operation, SSAValue

from pto_dialect.analysis.queues import action_of, initialization_of_handle, is_pop, queue_id, queue_of, slot_count
from pto_dialect.analysis.type_facts import integer_attribute
from pto_dialect.ir.core.operands import find
from pto_dialect.ir.core.roles import Role, enclosing
from pto_dialect.ir.core.walk import walk
from pto_dialect.ir.sync.pipes import DeclareGlobalOp, DeclareTileOp


def is_entry(op: Operation) -> bool:
    """Returns whether the handle that an operation defines is an entry of a queue, or will be one."""
    return isinstance(op, (DeclareTileOp, DeclareGlobalOp)) or action_of(op) is not None


def object_of(value: SSAValue, arch: str) -> Hashable:
    """Returns the object that an entry is. On a2a3 pops load entries into a few local slots in turn: those of one queue
    are one object, unless each has a slot of its own."""
    pop = _pop_of(value)
    if pop is None or arch != "a2a3":
        return value
    function = enclosing(pop, Role.FUNCTION)
    key, alike, slots = _queue(pop), 0, 0
    for op in walk(function) if function is not None else ():
        action = action_of(op)
        if action is None:
            continue
        if action.role == "init" and (op is initialization_of_handle(pop) or _is_numbered(op, pop)):
            slots = integer_attribute(op, "local_slot_num") or slot_count(op)
        elif is_pop(op) and _queue(op) == key:
            alike += 1 if op.parent is pop.parent else slots + 1
    return value if alike <= max(slots, 1) else key


def _pop_of(value: SSAValue) -> Operation | None:
    """Returns the pop that gives an entry."""
    op = value.owner
    if isinstance(op, Operation) and is_pop(op):
        return op
    return next((use.operation for use in value.uses if is_pop(use.operation)), None)


def _queue(pop: Operation) -> Hashable:
    action = action_of(pop)
    if action is None or action.core is None:
        return ("entries", find(pop, "pipe_handle"))
    return ("entries", action.core, action.direction, queue_id(pop))


def _is_numbered(init: Operation, pop: Operation) -> bool:
    action = action_of(init)
    return (
        action is not None and action.core is not None and queue_of(pop, {(action.core, queue_id(init)): init}) is init
    )
