"""Stores of the scalar unit that complete asynchronously.

The other pipes see a store of the scalar unit to the unified buffer only after a flag from S, or a barrier of all
pipes. Source: docs/reference/execution.md, "Scheduling".
"""

from __future__ import annotations

from xdsl.ir import Operation

from pto_dialect.ir.core.base import Pipe, PtoOp, op_spec
from pto_dialect.ir.core.facts.operation_form import Completion, form_of
from pto_dialect.ir.core.roles import Role, has_role

MEMORY = "ub"
"""The memory to which stores of the scalar unit are asynchronous."""

_ORDERED = Role.JOINS | Role.CORES | Role.PEERS
"""Operations that synchronize themselves."""


def stores_asynchronously(op: Operation, arch: str) -> bool:
    """Whether ``op`` executes on the scalar unit and may store to memory. Other pipes see its stores to ``MEMORY``
    after a flag; issuing them later is not enough."""
    if not isinstance(op, PtoOp):
        return has_role(op, Role.ELEMENT_STORE | Role.ATOMIC)
    if op_spec(type(op)).queue is not None or has_role(op, _ORDERED):
        return False
    form = form_of(op, arch)
    return form.pipe is Pipe.S and form.completion is Completion.FLAG and bool(form.writes) and not form.self_ordered
