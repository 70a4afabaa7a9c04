"""Stores of the scalar unit that are under way when the next operation is issued.

What the scalar unit stores to the unified buffer is seen by the other pipes only after a flag from S, or a barrier of
all pipes.  Source: docs/reference/execution.md, "Scheduling".
"""

from __future__ import annotations

from xdsl.ir import Operation

from pto_dialect.ir.core.base import Pipe, PtoOp, op_spec
from pto_dialect.ir.core.facts.operation_form import Completion, form_of
from pto_dialect.ir.core.roles import Role, has_role

MEMORY = "ub"
"""The memory whose stores by the scalar unit are asynchronous."""

_ORDERED = Role.JOINS | Role.CORES | Role.PEERS
"""Operations that order what they do by themselves."""


def stores_asynchronously(op: Operation, arch: str) -> bool:
    """Whether ``op`` is carried out by the scalar unit and may store to memory; of what it stores to ``MEMORY`` the
    other pipes learn from a flag, not from being issued later."""
    if not isinstance(op, PtoOp):
        return has_role(op, Role.ELEMENT_STORE | Role.ATOMIC)
    if op_spec(type(op)).queue is not None or has_role(op, _ORDERED):
        return False
    form = form_of(op, arch)
    return form.pipe is Pipe.S and form.completion is Completion.FLAG and bool(form.writes) and not form.self_ordered
