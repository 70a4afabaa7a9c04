"""Spellings of the generic form that tools without this dialect accept, and the reverse conversion.

MLIR reads any ``!pto`` type and ``#pto`` attribute without knowing them, except in two positions of its own types: a
memref has neither an unknown attribute as memory space nor an unknown type as element. There the generic form is
``memref<16x32xi8, {pto.element = !pto.hif8, pto.space = #pto.address_space<gm>}>``: the memory space is a dictionary,
which MLIR allows, and the element type an integer of the same width. In the same way a call needs an enclosing symbol
table that MLIR knows; an unknown operation with one region may be one itself, one with two may not, so a region around
a call is followed by an empty one.
"""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects import builtin
from xdsl.ir import Attribute, Operation

from pto_dialect.ir.core.base import PtoOp
from pto_dialect.ir.core.types import byte_width

from .types.builtin import PORTABLE_ELEMENT, PORTABLE_SPACE

_ELEMENTS = (builtin.IntegerType, builtin.IndexType, builtin.AnyFloat, builtin.ComplexType, builtin.VectorType)
_SPACES = (builtin.NoneAttr, builtin.IntegerAttr, builtin.StringAttr, builtin.DictionaryAttr)

_SYMBOL_USERS = frozenset(("func.call", "func.constant", "llvm.call", "llvm.mlir.addressof", "memref.get_global"))


def portable(attr: Attribute) -> Attribute:
    """Returns ``attr`` with all its memrefs in a form that MLIR can read; the same object where nothing changes."""
    if isinstance(attr, builtin.MemRefType):
        element, space = _memref_parts(attr.element_type, attr.memory_space)
        if element is attr.element_type and space is attr.memory_space:
            return attr
        return builtin.MemRefType(element, attr.shape, attr.layout, space)
    if isinstance(attr, builtin.UnrankedMemRefType):
        element, space = _memref_parts(attr.element_type, attr.memory_space)
        return builtin.UnrankedMemRefType.from_type(element, space)
    if isinstance(attr, builtin.FunctionType):
        inputs, outputs = _all(attr.inputs.data), _all(attr.outputs.data)
        return (
            attr
            if inputs is None and outputs is None
            else builtin.FunctionType.from_lists(inputs or attr.inputs.data, outputs or attr.outputs.data)
        )
    if isinstance(attr, builtin.TupleType):
        members = portable(attr.types)
        return attr if members is attr.types else builtin.TupleType(members)  # pyright: ignore[reportArgumentType]
    if isinstance(attr, builtin.ArrayAttr):
        parts = _all(attr.data)
        return attr if parts is None else builtin.ArrayAttr(parts)
    if isinstance(attr, builtin.DictionaryAttr):
        values = _all(attr.data.values())
        return attr if values is None else builtin.DictionaryAttr(dict(zip(attr.data, values, strict=True)))
    return attr


def _all(attrs: Iterable[Attribute]) -> list[Attribute] | None:
    """Returns every attribute in a form that MLIR can read; ``None`` where nothing changes."""
    old = list(attrs)
    new = [portable(attr) for attr in old]
    return new if any(a is not b for a, b in zip(old, new, strict=True)) else None


def _memref_parts(element: Attribute, space: Attribute) -> tuple[Attribute, Attribute]:
    """Returns element type and memory space in a form that MLIR can read."""
    entries: dict[str, Attribute] = {}
    inner = portable(element)
    if not isinstance(inner, (*_ELEMENTS, builtin.MemRefType, builtin.UnrankedMemRefType)):
        entries[PORTABLE_ELEMENT] = element
        inner = builtin.IntegerType(8 * (byte_width(element) or 8))
    if not isinstance(space, _SPACES):
        entries[PORTABLE_SPACE] = space
    elif entries and not isinstance(space, builtin.NoneAttr):
        # A plain memory space beside an element type that MLIR does not know cannot be in the dictionary.
        return element, space
    return inner, builtin.DictionaryAttr(entries) if entries else space


def regions_around_calls(module: Operation) -> frozenset[int]:
    """Returns the ids of the PTO operations with one region that contains a call."""
    found: set[int] = set()
    stack: list[Operation | None] = [module]
    while stack:
        op = stack.pop()
        while op is not None:
            # MLIR's operations, of which most have no class here; no trait states which of them look up symbols.
            if op.name in _SYMBOL_USERS:
                _mark(op.parent_op(), found)
            stack += [block.first_op for region in op.regions for block in region.blocks]
            op = op.next_op if op is not module else None
    return frozenset(found)


def _mark(op: Operation | None, found: set[int]) -> None:
    """Adds the PTO operations from ``op`` outwards."""
    while op is not None and id(op) not in found:
        if isinstance(op, PtoOp) and len(op.regions) == 1:
            found.add(id(op))
        op = op.parent_op()
