"""Facts about types and attributes that rules query: memory spaces, element types, integers, enumerators."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr, IntegerType, MemRefType, Signedness, StringAttr
from xdsl.ir import Attribute, Operation

from pto_dialect.ir.core.attributes import ENUMS, EnumAttr
from pto_dialect.ir.core.types import PtrType, TileBufType, VmiVRegType, VRegType, bit_width, element_name
from pto_dialect.targets.memory import SPACE_ALIASES

SIMT_ENTRY = "pto.simt_entry"
"""Attribute of functions that are bodies of SIMT launches; the vector unit executes them."""

ENTRY_ATTRIBUTES = ("pto.entry", "pto.kernel", "pto.aicore")
"""Attributes that mark a function as an entry point of a launch."""
KERNEL_KIND = "pto.kernel_kind"
"""States the core kind that runs a function, or all functions of a module."""
_ADDRESS_SPACES = tuple(SPACE_ALIASES.get(word, "gm") for word in ENUMS["address_space"].values)
"""Names of the memory spaces by number (``zero`` counts as global memory)."""


def kernel_kind(function: Operation) -> str | None:
    """Returns ``cube`` or ``vector``, as stated by the function or its nearest enclosing module; ``None`` where neither
    does."""
    scope: Operation | None = function
    while scope is not None:
        kind = scope.attributes.get(KERNEL_KIND)
        if isinstance(kind, EnumAttr):
            return kind.value
        scope = scope.parent_op()
    return None


def space_of(type_: Attribute) -> str | None:
    """Name (``gm``, ``ub`` ...) of the memory space of a pointer, memref or tile type; ``None`` where it states
    none."""
    if isinstance(type_, PtrType):
        return type_.space
    if isinstance(type_, MemRefType):
        space = type_.memory_space
        if isinstance(space, EnumAttr):
            return "gm" if space.value == "zero" else SPACE_ALIASES.get(space.value)
        if isinstance(space, IntegerAttr) and 0 <= space.value.data < len(_ADDRESS_SPACES):
            return _ADDRESS_SPACES[space.value.data]
        return None
    return SPACE_ALIASES.get(type_.loc) if isinstance(type_, TileBufType) else None


def element_type(type_: Attribute) -> Attribute | None:
    """Element type of a pointer, memref, tile, view or vector type; ``None`` for others."""
    element = getattr(type_, "element", None)
    if element is None:
        return type_.element_type if isinstance(type_, MemRefType) else None
    return element if isinstance(element, Attribute) else None


def vector_element(type_: Attribute) -> str:
    """Element name of a physical or logical vector type (``f16``, ``ui8``); empty for other types."""
    return element_name(type_.element) if isinstance(type_, (VRegType, VmiVRegType)) else ""


def vector_bits(type_: Attribute) -> int:
    """Element width in bits of a physical or logical vector type; 0 for other types."""
    return (bit_width(type_.element) or 0) if isinstance(type_, (VRegType, VmiVRegType)) else 0


def scalar_fits(scalar: Attribute, element: Attribute) -> bool:
    """Returns whether a scalar operand of type ``scalar`` matches lanes of type ``element``.

    The types are equal, or integers of one width where the scalar is signless.
    """
    if scalar == element:
        return True
    if not isinstance(scalar, IntegerType) or not isinstance(element, IntegerType):
        return False
    return scalar.width == element.width and scalar.signedness.data is Signedness.SIGNLESS


def integer_attribute(op: Operation, name: str) -> int | None:
    """Returns the value of an integer attribute; ``None`` where it is absent or of another kind."""
    value = op.attributes.get(name)
    return value.value.data if isinstance(value, IntegerAttr) else None


def enumerator(op: Operation, name: str) -> str:
    """Returns the value of an enumeration or string attribute; empty where it is absent."""
    value = op.attributes.get(name)
    if isinstance(value, EnumAttr):
        return value.data[1]
    return value.data if isinstance(value, StringAttr) else ""


def is_simt_entry(function: Operation) -> bool:
    """Returns whether ``function`` is the body of SIMT launches."""
    return SIMT_ENTRY in function.attributes
