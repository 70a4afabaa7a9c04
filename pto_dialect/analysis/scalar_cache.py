"""Effects of operations on the data cache through which a scalar unit accesses global memory.

Source: docs/reference/execution.md, "Data cache of the scalar unit".
"""

from __future__ import annotations

from typing import NamedTuple

from xdsl.ir import Operation, SSAValue

from pto_dialect.analysis.type_facts import enumerator, space_of
from pto_dialect.ir.buffers.pointers import LdDevOp, StDevOp
from pto_dialect.ir.core.base import Pipe, PtoOp, op_spec
from pto_dialect.ir.core.facts.operation_form import Completion, form_of
from pto_dialect.ir.core.operands import named
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.sync.cross_core import CmoCacheinvalidOp, DcciOp

_UNCACHED = (LdDevOp, StDevOp)
"""Operations of the scalar unit that bypass the cache."""
_UB_LINES = ("CACHELINE_UB",)
"""Cache line classes that hold no global memory."""


class Maintenance(NamedTuple):
    """Cache lines are written back and invalidated: the one at ``pointer``, or all of them for ``None``."""

    pointer: SSAValue | None


def is_cached(op: Operation) -> bool:
    """Returns whether ``op``, on the scalar unit, accesses global memory through the cache."""
    return has_role(op, Role.ELEMENT_LOAD | Role.ELEMENT_STORE) and not isinstance(op, _UNCACHED)


def maintenance_of(op: Operation) -> Maintenance | None:
    """Returns the cache maintenance of global memory that ``op`` performs; ``None`` for other operations."""
    if isinstance(op, CmoCacheinvalidOp):
        return Maintenance(op.addr)
    if not isinstance(op, DcciOp) or enumerator(op, "dst") in _UB_LINES:
        return None
    pointer = named(op, "ptr")
    if space_of(pointer.type) not in ("gm", None):
        return None
    return Maintenance(None if enumerator(op, "cache") == "ENTIRE_DATA_CACHE" else pointer)


# ------------------------------------------------------------ asynchronous stores


MEMORY = "ub"
"""The memory to which stores of the scalar unit are asynchronous."""

_ORDERED = Role.JOINS | Role.CORES | Role.PEERS
"""Operations that synchronize themselves."""


def stores_asynchronously(op: Operation, arch: str) -> bool:
    """Returns whether ``op`` executes on the scalar unit and may store to memory. Other pipes see its stores to
    ``MEMORY`` after a flag; issuing them later is not enough."""
    if not isinstance(op, PtoOp):
        return has_role(op, Role.ELEMENT_STORE | Role.ATOMIC)
    if op_spec(type(op)).queue is not None or has_role(op, _ORDERED):
        return False
    form = form_of(op, arch)
    return form.pipe is Pipe.S and form.completion is Completion.FLAG and bool(form.writes) and not form.self_ordered
