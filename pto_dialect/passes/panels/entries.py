"""The queues whose entries are panels: their slots have the size of the panels.

Source: docs/reference/execution.md, "Queues between cores".
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.ir import Operation, SSAValue

from pto_dialect.analysis.queues import action_of, queue_id
from pto_dialect.analysis.type_facts import enumerator, integer_attribute
from pto_dialect.ir.buffers.pointers import AddptrOp
from pto_dialect.ir.core.base import PtoOp
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.walk import ancestors, walk
from pto_dialect.ir.sync.pipes import CorePipeOp, ImportReservedBufferOp, ReserveBufferOp

from .links import Queue
from .loops import NotResizedError, Panels


class Slots(NamedTuple):
    """What makes the queues of panels: their initialisations, the local buffers of their slots, and the pointers to
    those in global memory."""

    inits: Sequence[CorePipeOp]
    buffers: Sequence[ReserveBufferOp]
    pointers: Sequence[AddptrOp]


def slots_of(module: ModuleOp, queues: Collection[Queue], loops: Sequence[Panels]) -> Slots:
    """Returns what makes ``queues``. Raises :class:`NotResizedError` where their slots cannot have another size."""
    inits: list[CorePipeOp] = []
    bodies = [panels.loop for panels in loops]
    ids = {number for _, number in queues}
    for op in walk(module):
        action = action_of(op)
        if action is None or queue_id(op) not in ids:
            continue
        if isinstance(op, CorePipeOp):
            inits.append(op)
        elif not action.core or not action.transfers:
            raise NotResizedError(op, "a queue of panels is known by a handle")
        elif not any(body in ancestors(op) for body in bodies):
            raise NotResizedError(op, "an entry of a queue of panels is no panel")
    for op in inits:
        mask = integer_attribute(op, "dir_mask") or 0
        if any(mask & way and (way, queue_id(op)) not in queues for way in (1, 2)):
            raise NotResizedError(op, "the queue has entries that are no panels")
        if op.gm_slot_tensor is not None:
            raise NotResizedError(op, "its slots in global memory are those of a view")
    if queues:
        _check_alike(loops)
    buffers = _buffers(module, inits)
    pointers = dict.fromkeys(owner for op in inits if isinstance(owner := _pointer(op), AddptrOp))
    _check_pointers(inits, pointers)
    return Slots(inits, buffers, tuple(pointers))


def _check_alike(loops: Sequence[Panels]) -> None:
    """Checks that both kinds of cores have the same panels."""
    first, *others = loops
    for panels in others:
        if (panels.size, panels.shared, panels.extent()) != (first.size, first.shared, first.extent()):
            raise NotResizedError(panels.loop, "the other kind of core has other panels")
    if first.extent() is None:
        raise NotResizedError(first.loop, "nobody knows that the other kind of core has as many panels")


def _buffers(module: ModuleOp, inits: Collection[Operation]) -> list[ReserveBufferOp]:
    """Returns the local buffers with the slots of queues."""
    operands = [value for op in inits if isinstance(op, CorePipeOp) for value in op.operands]
    names = {
        enumerator(owner, "name")
        for value in operands
        if isinstance(owner := value.owner, (ReserveBufferOp, ImportReservedBufferOp))
    }
    found = [op for op in walk(module) if isinstance(op, ReserveBufferOp) and enumerator(op, "name") in names]
    for op in found:
        if any(use.operation not in inits for use in op.addr.uses) or not integer_attribute(op, "autoAlloc"):
            raise NotResizedError(op, "the buffer has an address already, or other uses")
    return found


def _pointer(op: CorePipeOp) -> Operation | None:
    """Returns the operation that makes the pointer to the slots in global memory."""
    value = op.gm_slot_buffer
    return value.owner if value is not None and isinstance(value.owner, Operation) else None


def _check_pointers(inits: Collection[CorePipeOp], pointers: Collection[AddptrOp]) -> None:
    """Checks that slots can be further apart: nothing else uses the array with them."""
    for op in pointers:
        users: list[Operation] = [use.operation for value in (op.ptr, op.result) for use in value.uses]
        if any(user not in (*inits, *pointers) and not has_role(user, Role.CALL) for user in users):
            raise NotResizedError(op, "the array with the slots has other uses")


def scale(op: PtoOp, name: str, new: int, old: int) -> None:
    """Changes a size by the ratio of two numbers."""
    size = integer_attribute(op, name)
    assert isinstance(size, int)
    attribute = op.attributes[name]
    assert isinstance(attribute, IntegerAttr)
    op.attributes[name] = IntegerAttr(size * new // old, attribute.type)


def array_of_slots(pointer: SSAValue) -> SSAValue:
    """Returns the pointer that the one to the slots of a queue was computed from."""
    return pointer.owner.ptr if isinstance(pointer.owner, AddptrOp) else pointer
