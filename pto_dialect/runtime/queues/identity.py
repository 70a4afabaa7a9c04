"""Identity of queues: which ends belong to one queue. Source: docs/reference/execution.md, "Queues between cores"."""

from __future__ import annotations

from typing import Any

from xdsl.ir import Operation, SSAValue

from pto_dialect.analysis import queues as facts
from pto_dialect.analysis.type_facts import integer_attribute
from pto_dialect.ir.core.operands import find
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.walk import walk


def reservation(value: SSAValue | None) -> Operation | None:
    """Returns the ``reserve_buffer`` of an address, followed through ``import_reserved_buffer``."""
    op = facts.definition(value)
    if op is not None and "peer_func" in op.attributes:
        peer, buffer_name = facts.peer_function(op), facts.string_attribute(op, "name")
        buffers = filter(is_reserved_buffer, walk(peer)) if peer is not None else ()
        return next((o for o in buffers if facts.string_attribute(o, "name") == buffer_name), None)
    return op if op is not None and is_reserved_buffer(op) else None


def is_reserved_buffer(op: Operation) -> bool:
    """Returns whether an operation reserves a buffer for the entries of a queue in its own function."""
    return has_role(op, Role.RESERVATION)


def identity(init: Operation, order: int) -> tuple[tuple[Any, ...], str]:
    """Returns the key that both ends of a queue share, and a name for messages; ``order`` counts the handles of a
    function."""
    action = facts.action_of(init)
    if action is not None and action.core is not None:
        number = facts.queue_id(init)
        return ("number", number), f"queue {number}"
    flags = integer_attribute(init, "flag_base")
    if flags is not None:
        return ("flags", flags), f"the queue with flags from {flags}"
    reserved = reservation(find(init, "local_addr"))
    if reserved is not None:
        name = facts.string_attribute(reserved, "name")
        return ("buffer", name), f"the queue in {name}"
    return ("handle", order), f"queue handle {order}"
