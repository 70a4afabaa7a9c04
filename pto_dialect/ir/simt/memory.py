"""Memory accesses and atomic updates of SIMT work items. Source: docs/reference/work-items.md, "Operations"."""

from __future__ import annotations

from xdsl.irdl import operand_def, opt_attr_def, result_def

from ..core.base import Pipe, PtoOp, Shape
from ..core.forms import ElementLoadOp, ElementStoreOp
from ..core.kinds import ATOMIC_VALUE, PTR, enum
from ..core.roles import Role
from ..core.rows import rows


class LdgOp(ElementLoadOp, name="pto.ldg", pipe=Pipe.V, tokens=("l1cache", "l2cache")):
    """The element of ptr at ``offset`` (elements)."""

    l1cache = opt_attr_def(enum("l1cache"))
    l2cache = opt_attr_def(enum("ld_l2cache"))


class StgOp(ElementStoreOp, name="pto.stg", pipe=Pipe.V, tokens=("l1cache", "l2cache")):
    """Element of ptr at ``offset`` = value."""

    l1cache = opt_attr_def(enum("l1cache"))
    l2cache = opt_attr_def(enum("st_l2cache"))


class UpdateOp(
    PtoOp,
    shape=Shape.FLAT_SUFFIX,
    pipe=Pipe.V,
    reads=("ptr",),
    writes=("ptr",),
    roles=Role.ATOMIC | Role.LANE | Role.VARIES,
):
    """Changes one element of memory in one step and yields what was there before."""

    l2cache = opt_attr_def(enum("st_l2cache"))
    signedness = opt_attr_def(enum("signedness"))
    old = result_def(ATOMIC_VALUE)


class AtomicOp(UpdateOp):
    """Combines an element of memory with ``value`` in one step and yields what was there before."""

    ptr = operand_def(PTR)
    value = operand_def(ATOMIC_VALUE)


rows(__name__, AtomicOp)("""
AtomicExchOp pto.atomic_exch: old = *ptr; *ptr = value.
AtomicAddOp pto.atomic_add: old = *ptr; *ptr = old + value.
AtomicSubOp pto.atomic_sub: old = *ptr; *ptr = old − value.
AtomicMinOp pto.atomic_min: old = *ptr; *ptr = min(old, value).
AtomicMaxOp pto.atomic_max: old = *ptr; *ptr = max(old, value).
""")


class AtomicAndOp(AtomicOp, name="pto.atomic_and"):
    """old = *ptr; *ptr = old & value."""


class AtomicOrOp(AtomicOp, name="pto.atomic_or"):
    """old = *ptr; *ptr = old | value."""


class AtomicXorOp(AtomicOp, name="pto.atomic_xor"):
    """old = *ptr; *ptr = old ^ value."""


class AtomicCasOp(UpdateOp, name="pto.atomic_cas", typed=("ptr", "value")):
    """old = *ptr; if old equals compare, *ptr = value."""

    ptr = operand_def(PTR)
    compare = value = operand_def(ATOMIC_VALUE)
