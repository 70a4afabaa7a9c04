"""Uses of a loaded number: whether it is a condition, an address, or leaves the chip."""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from pto_dialect.diagnostics.origins import shown_line
from pto_dialect.ir.core.base import PtoOp, operand_name
from pto_dialect.ir.core.location import span_of
from pto_dialect.ir.core.registry import family_of_name
from pto_dialect.ir.core.roles import Role, has_role

from ..report.sites import memory_of

_CONTROL = Role.CHOICE | Role.LOOP | Role.CONDITION
_NUMBERS = frozenset(("value", "val", "scalar", "start", "input", "src", "lhs", "rhs", "pad_value", "args"))
"""Operands that are computed with or stored; other numbers are addresses, sizes or counts."""


def decides(op: Operation) -> str | None:
    """Returns the consequence of the results of ``op`` as text for a message; ``None`` when they are only computed with
    on chip."""
    pending: list[SSAValue] = list(op.results)
    seen = set(pending)
    while pending:
        value = pending.pop()
        for use in value.uses:
            user = use.operation
            results: list[SSAValue] = []
            if has_role(user, _CONTROL) or len(user.successors) > 1:
                return f"{user.name} ({_line(user)}) depends on it"
            if has_role(user, Role.SCALAR):
                results = list(user.results)
            elif has_role(user, Role.YIELD):
                parent = user.parent_op()
                results = list(parent.results) if parent is not None else []
            elif family_of_name(user.name) == "memref":
                if not has_role(user, Role.ELEMENT_STORE) or use.index != 0:
                    return f"the address of {user.name} ({_line(user)}) depends on it"
            elif isinstance(user, PtoOp):
                name = operand_name(user, use.index)
                if name not in _NUMBERS:
                    return f"{name} of {user.name} ({_line(user)}) depends on it"
                if any(memory_of(other.type) == "gm" for other in user.operands) and name in ("value", "val"):
                    return f"{user.name} ({_line(user)}) stores it to global memory"
            pending += [result for result in results if result not in seen]
            seen.update(results)
    return None


def _line(op: Operation) -> str:
    span = span_of(op)
    return "no location" if span is None else f"line {shown_line(span)}"
