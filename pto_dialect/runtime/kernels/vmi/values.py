"""Shared parts of the code generators of logical vectors: element types, lanes, masks, addresses."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerType, Signedness
from xdsl.ir import SSAValue

from pto_dialect.analysis.type_facts import element_type, integer_attribute
from pto_dialect.ir.core import types as t
from pto_dialect.ir.core.base import PtoOp
from pto_dialect.runtime.compile.generator import Expr, Generator
from pto_dialect.runtime.numerics.formats import Format

from ..vector.values import pointer

MOST_LANES = 1 << 20
"""Upper bound of lanes: no memory next to a vector unit has as many bytes."""


def lanes_of(value: SSAValue, g: Generator) -> int:
    """Returns the number of lanes of a logical vector or predicate."""
    assert isinstance(value.type, (t.VmiVRegType, t.VmiMaskType))
    if value.type.lanes > MOST_LANES:
        raise g.error("unmodelled", f"vectors of more than {MOST_LANES} lanes cannot be executed")
    return value.type.lanes


def lane_format(value: SSAValue, g: Generator) -> Format:
    """Returns the format of the lanes of a logical vector."""
    assert isinstance(value.type, t.VmiVRegType)
    return g.format(value.type.element)


def memory_format(value: SSAValue, g: Generator) -> Format:
    """Returns the format of the elements of a pointer or memref."""
    element = element_type(value.type)
    assert element is not None
    return g.format(element)


def number_format(value: SSAValue, g: Generator) -> Format:
    """Returns as ``lane_format`` the format of lanes that are computed with: no page defines sums, products or an order
    of packed numbers and 8-bit floats, which are converted first."""
    fmt = lane_format(value, g)
    if fmt.is_packed or (fmt.is_float and fmt.bits < 16):
        raise g.error("unmodelled", f"no page defines arithmetic of {fmt.name} lanes; convert them first")
    return fmt


def is_signless(value: SSAValue) -> bool:
    """Returns whether the lanes are integers without a stated sign."""
    element = value.type.element if isinstance(value.type, t.VmiVRegType) else None
    return isinstance(element, IntegerType) and element.signedness.data is Signedness.SIGNLESS


def is_signed(value: SSAValue) -> bool:
    """Returns whether the lanes are integers with a stated sign."""
    element = value.type.element if isinstance(value.type, t.VmiVRegType) else None
    return isinstance(element, IntegerType) and element.signedness.data is Signedness.SIGNED


def group_count(op: PtoOp, default: int = 1) -> int:
    """Returns the number of groups that an operation states."""
    count = integer_attribute(op, "group")
    if count is None:
        count = integer_attribute(op, "num_groups")
    return default if count is None else count


def mask_of(op: PtoOp, g: Generator) -> SSAValue | None:
    """Returns the governing mask, if there is one."""
    return g.operand(op, "mask")


def memory(op: PtoOp, g: Generator, name: str) -> Expr:
    """Returns the pointer of operand ``name``."""
    base = g.operand(op, name)
    assert base is not None
    return pointer(base, g)


def access_address(op: PtoOp, g: Generator, name: str) -> tuple[Expr, Expr]:
    """Returns pointer and first byte of an access at operand ``name`` plus the offset operand, in elements of the
    memory."""
    offset = g.operand(op, "offset")
    address = memory(op, g, name)
    return address, Expr("0" if offset is None else f"{g.name(offset)} * {address}.item_bytes")
