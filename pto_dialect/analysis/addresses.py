"""Static facts about pointers and memrefs: memory space, element size, byte address."""

from __future__ import annotations

from xdsl.ir import Attribute, Operation, SSAValue

from pto_dialect.ir.core.operands import named
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.types import I1, F4E1M2x2Type, F4E2M1x2Type, OpaqueType, PtrType, bit_width, byte_width

from .constants import constant_of
from .type_facts import element_type, space_of


def describe_space(type_: Attribute) -> str:
    """Returns the memory space of ``type_`` as text for messages."""
    return space_of(type_) or "a memref without an address space"


def element_bytes(type_: Attribute) -> int | None:
    """Storage bytes of one element of a pointer or memref type; ``None`` when it has no size."""
    element = element_type(type_)
    return None if element is None or element == I1 or isinstance(element, OpaqueType) else byte_width(element)


def element_bits(type_: Attribute) -> int | None:
    """Returns the bits of one logical element of a pointer or memref; a packed pair of 4-bit floats counts as two."""
    element = element_type(type_)
    bits = None if element is None else bit_width(element)
    return 4 if isinstance(element, (F4E1M2x2Type, F4E2M1x2Type)) else bits


def address_of(value: SSAValue, depth: int = 8) -> int | None:
    """Returns the constant byte address of a pointer, through casts and constant offsets; ``None`` where it is
    unknown."""
    op = value.owner
    if not isinstance(op, Operation) or depth == 0:
        return None
    if has_role(op, Role.ADDRESS):
        source, *_ = op.operands
        if isinstance(source.type, PtrType):
            return address_of(source, depth - 1)
        number = constant_of(source)
        return number if isinstance(number, int) else None
    if has_role(op, Role.DISPLACEMENT):
        base = address_of(named(op, "ptr"), depth - 1)
        offset = constant_of(named(op, "offset"))
        size = element_bytes(value.type)
        return base + offset * size if base is not None and isinstance(offset, int) and size is not None else None
    return None
