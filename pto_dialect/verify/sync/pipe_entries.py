"""Rules of queue entries in global memory, their slots, and the buffers reserved for slots."""

from __future__ import annotations

from xdsl.dialects.builtin import SymbolRefAttr
from xdsl.ir import Operation

from pto_dialect.analysis.queues import definition, entry, peer_function, slot_count, string_attribute
from pto_dialect.analysis.type_facts import element_type, integer_attribute
from pto_dialect.ir.core.operands import find
from pto_dialect.ir.core.types import DYNAMIC, PtrType, ShapedView, TensorViewType, element_name, type_text
from pto_dialect.ir.core.walk import walk
from pto_dialect.ir.sync.pipes import AicInitializePipeOp, AivInitializePipeOp, ReserveBufferOp

from ..engine.context import Context
from ..engine.functions import FunctionScan, function_check
from ..engine.rule import ERROR
from .pipes import (
    static_bytes,
)

CORE_QUEUES = (AicInitializePipeOp, AivInitializePipeOp)
"""Initializations of queues that are identified by an id."""


def entry_type(init: Operation, op: Operation, ctx: Context) -> None:
    """Checks an entry in gm against the slot that holds it."""
    moved = entry(op)
    if moved is None or not isinstance(moved.type, TensorViewType):
        return
    if isinstance(init, CORE_QUEUES):
        slot = find(init, "gm_slot_tensor")
        if slot is None:
            ctx.report("pipe-gm-a2a3", op, "an entry in gm needs a queue with gm_slot_tensor")
            return
    else:
        slot = find(init, "gm_addr")
        if slot is None or find(init, "local_addr") is not None:
            ctx.report(
                "pipe-gm-a2a3", op, "an entry in gm needs a queue of pto.initialize_l2g2l_pipe without local_addr"
            )
            return
        if isinstance(slot.type, PtrType):
            message = f"an entry in gm needs a queue whose gm_addr is a view, found {type_text(slot.type)}"
            ctx.report("pipe-gm-a2a3", op, message)
            return
    element, slot_element = moved.type.element, element_type(slot.type)
    shape = slot.type.shape if isinstance(slot.type, ShapedView) else None
    if slot_element is not None and element != slot_element:
        message = f"the entry has {element_name(element)} elements, the slot {element_name(slot_element)}"
        ctx.report("pipe-entry-type", op, message)
    elif shape is not None and len(shape) != len(moved.type.shape):
        message = f"the entry has rank {len(moved.type.shape)}, the slot {len(shape)}"
        ctx.report("pipe-entry-type", op, message)
    elif shape is not None and any(
        a != b and DYNAMIC not in (a, b) for a, b in zip(moved.type.shape, shape, strict=True)
    ):
        message = f"the entry is {moved.type}, the slot {slot.type}"
        ctx.report("pipe-entry-type", op, message)
    elif not isinstance(init, CORE_QUEUES):
        size, slot_size = static_bytes(moved.type), integer_attribute(init, "slot_size")
        parts = (1, 2) if integer_attribute(op, "split") else (1,)
        if size is not None and slot_size is not None and all(size * n != slot_size for n in parts):
            ctx.report("pipe-entry-type", op, f"the entry has {size} bytes, a slot {slot_size}")


def slots(inits: list[Operation], ctx: Context) -> None:
    """Checks slots in gm, and sizes of the buffers reserved for slots."""
    for init in inits:
        if not isinstance(init, CORE_QUEUES):
            continue
        if find(init, "gm_slot_buffer") is None and find(init, "gm_slot_tensor") is None:
            severity = ctx.refused(lambda p: p.arch == "a5", ERROR)
            if severity is not None:
                message = f"a queue on {ctx.profile.name} needs gm_slot_buffer or gm_slot_tensor"
                ctx.report("pipe-gm-a2a3", init, message, severity=severity)
        for name in ("c2v_consumer_buf", "v2c_consumer_buf"):
            _reserved_size(init, definition(find(init, name)), ctx)


def _reserved_size(init: Operation, reserved: Operation | None, ctx: Context) -> None:
    if reserved is None or not isinstance(reserved, ReserveBufferOp):
        return
    size, slot = integer_attribute(reserved, "size"), integer_attribute(init, "slot_size")
    if size is None or slot is None or slot <= 0:
        return
    slots = integer_attribute(init, "local_slot_num") or slot_count(init)
    if size < slot * slots:
        message = f"{slots} slots of {slot} bytes need {slot * slots} bytes, {size} are reserved"
        ctx.report("reserve-size", reserved, message, at="size")


@function_check("pipes")
def check_reserved_names(scan: FunctionScan, ctx: Context) -> None:
    """Checks the names of reserved and imported buffers."""
    names: set[str] = set()
    for op in scan.named("pto.reserve_buffer"):
        name = string_attribute(op, "name")
        if name in names:
            ctx.report("reserve-form", op, f'the name "{name}" is reserved twice in this function', at="name")
        names.add(name)
    imports: set[tuple[str, str]] = set()
    peers: dict[str, set[str]] = {}
    for op in scan.named("pto.import_reserved_buffer"):
        name, symbol = string_attribute(op, "name"), op.attributes.get("peer_func")
        if not isinstance(symbol, SymbolRefAttr):
            continue
        peer = symbol.root_reference.data
        if (name, peer) in imports:
            ctx.report("reserve-form", op, f'"{name}" of @{peer} is imported twice in this function', at="name")
            continue
        imports.add((name, peer))
        function = peer_function(op, ctx.symbols.find)
        if function is None:
            ctx.report("reserve-form", op, f"there is no function @{peer}", at="@" + peer)
            continue
        if peer not in peers:
            peers[peer] = {
                string_attribute(inner, "name") for inner in walk(function) if type(inner) is ReserveBufferOp
            }
        if name not in peers[peer]:
            known = ", ".join(sorted(peers[peer])) or "nothing"
            ctx.report("reserve-form", op, f'@{peer} reserves no buffer "{name}" (it reserves {known})', at="name")
