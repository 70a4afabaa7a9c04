"""Custom forms of ``memref`` and ``llvm`` statements. Source: docs/reference/core-dialects.md, "Operations"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.dialects import builtin
from xdsl.ir import Attribute, Operation, SSAValue

from pto_dialect.ir.core import types as t

from ..builder.core import DYNAMIC
from .writer import Leaf, Writer, checked, dictionary_part, integers, only_properties, require

_NOT_ATOMIC = builtin.IntegerAttr(0, 64)

_DYNAMIC_GEP = -(2**31)
"""Represents a run-time index among the constant ones of ``llvm.getelementptr``."""


def _indices(values: Sequence[SSAValue]) -> None:
    require(all(value.type == t.INDEX for value in values))


def _mixed(writer: Writer, static: list[int], dynamic: Iterator[SSAValue], marker: int) -> str:
    """Returns ``[0, %i]``: constants, with values at the marked positions."""
    items: list[str] = []
    for number in static:
        if number != marker:
            items.append(str(number))
            continue
        items.append(writer.use(checked(next(dynamic, None), SSAValue)))
    return f"[{', '.join(items)}]"


def print_alloc(writer: Writer, op: Operation) -> str:
    """Prints ``memref.alloc(%sizes)[%symbols] : type``."""
    only_properties(op, "operandSegmentSizes", "alignment")
    sizes = integers(op, "operandSegmentSizes")
    require(len(sizes) == 2 and sum(sizes) == len(op.operands) and "alignment" not in op.attributes)
    _indices(op.operands)
    dims, symbols = op.operands[: sizes[0]], op.operands[sizes[0] :]
    listed = f"[{writer.uses(symbols)}]" if symbols else ""
    attributes = dict(op.attributes)
    if "alignment" in op.properties:
        attributes["alignment"] = op.properties["alignment"]
    type_ = writer.types(op.results)
    return f"{op.name}({writer.uses(dims)}){listed}{dictionary_part(attributes)} : {type_}"


def print_dealloc(writer: Writer, op: Operation) -> str:
    """Prints ``memref.dealloc %m : type``."""
    only_properties(op)
    tail = f"{dictionary_part(op.attributes)} : {writer.types(op.operands)}"
    return f"{op.name} {writer.uses(op.operands)}{tail}"


def print_access(writer: Writer, op: Operation) -> str:
    """``memref.load %m[..] : type``, ``memref.store %x, %m[..] : type``."""
    only_properties(op, "nontemporal")
    lead = 1 if op.results else 2
    named, indices = op.operands[:lead], op.operands[lead:]
    memref = checked(named[-1].type, builtin.MemRefType)
    require(memref.get_num_dims() == len(indices))
    moved = op.results[0] if lead == 1 else named[0]
    require(moved.type == memref.element_type)
    _indices(indices)
    place = f"{writer.uses(named)}[{writer.uses(indices)}]"
    return f"{op.name} {place}{_all_attributes(op)} : {writer.type(memref)}"


def _all_attributes(op: Operation, *spelled: str) -> str:
    """Returns the dictionary including those properties that are not written elsewhere; plain accesses have
    ordering 0."""
    shown = {name: value for name, value in op.properties.items() if name not in spelled}
    if shown.get("ordering") == _NOT_ATOMIC:
        del shown["ordering"]
    require(not any(name in op.attributes for name in shown))
    return dictionary_part({**op.attributes, **shown})


def _strided_lists(writer: Writer, op: Operation) -> tuple[SSAValue, str, str, str]:
    """Returns the source of a view operation, and its offset, size and stride lists."""
    names = ("static_offsets", "static_sizes", "static_strides")
    only_properties(op, "operandSegmentSizes", *names)
    segments = integers(op, "operandSegmentSizes")
    require(len(segments) == 4 and segments[0] == 1 and sum(segments) == len(op.operands))
    source, *bounds = op.operands
    _indices(bounds)
    texts: list[str] = []
    position = 0
    for name, size in zip(names, segments[1:], strict=True):
        static = integers(op, name)
        require(static.count(DYNAMIC) == size)
        dynamic = iter(bounds[position : position + size])
        texts.append(_mixed(writer, static, dynamic, DYNAMIC))
        position += size
    return source, texts[0], texts[1], texts[2]


def _view_types(writer: Writer, op: Operation, source: SSAValue) -> str:
    return f"{dictionary_part(op.attributes)} : {writer.type(source.type)} to {writer.types(op.results)}"


def print_subview(writer: Writer, op: Operation) -> str:
    """Prints ``memref.subview %m[..] [..] [..] : type to type``."""
    source, offsets, sizes, strides = _strided_lists(writer, op)
    return f"{op.name} {writer.use(source)}{offsets} {sizes} {strides}{_view_types(writer, op, source)}"


def print_reinterpret_cast(writer: Writer, op: Operation) -> str:
    """Prints ``memref.reinterpret_cast %m to offset: [..], sizes: [..], strides: [..] : type to type``."""
    source, offsets, sizes, strides = _strided_lists(writer, op)
    lists = f"offset: {offsets}, sizes: {sizes}, strides: {strides}"
    return f"{op.name} {writer.use(source)} to {lists}{_view_types(writer, op, source)}"


def print_copy(writer: Writer, op: Operation) -> str:
    """Prints ``memref.copy %a, %b : type to type``."""
    only_properties(op)
    source, target = op.operands
    types = f"{writer.type(source.type)} to {writer.type(target.type)}"
    return f"memref.copy {writer.uses(op.operands)}{dictionary_part(op.attributes)} : {types}"


def print_dim(writer: Writer, op: Operation) -> str:
    """Prints ``memref.dim`` and ``memref.rank``."""
    only_properties(op)
    source, *indices = op.operands
    require(all(value.type == t.INDEX for value in (*indices, *op.results)))
    tail = f"{dictionary_part(op.attributes)} : {writer.type(source.type)}"
    return f"{op.name} {writer.uses(op.operands)}{tail}"


# ---------------------------------------------------------------- llvm


_WORDS = {"volatile_": "volatile ", "inbounds": "inbounds "}


def _words(op: Operation) -> str:
    """Returns the leading keywords of an ``llvm`` statement."""
    present = [name for name in _WORDS if name in op.properties]
    require(all(isinstance(op.properties[name], builtin.UnitAttr) for name in present))
    return "".join([_WORDS[name] for name in present])


def _element_type(op: Operation) -> str:
    return t.type_text(checked(op.properties.get("elem_type"), Attribute))


def print_llvm_alloca(writer: Writer, op: Operation) -> str:
    """Prints ``llvm.alloca %n x type : (type) -> type``."""
    require(not op.attributes)
    element = _element_type(op)
    tail = f"{_all_attributes(op, 'elem_type')} : {writer.signature(op.operands, op.results)}"
    return f"{op.name} {writer.uses(op.operands)} x {element}{tail}"


def print_llvm_load(writer: Writer, op: Operation) -> str:
    """``llvm.load %p : type -> type``."""
    only_properties(op, "volatile_", "alignment", "ordering")
    types = f"{writer.types(op.operands)} -> {writer.types(op.results)}"
    return f"{op.name} {_words(op)}{writer.uses(op.operands)}{_all_attributes(op, *_WORDS)} : {types}"


def print_llvm_store(writer: Writer, op: Operation) -> str:
    """``llvm.store %x, %p : type, type``."""
    only_properties(op, "volatile_", "alignment", "ordering", "nontemporal")
    tail = f"{_all_attributes(op, *_WORDS)} : {writer.types(op.operands)}"
    return f"{op.name} {_words(op)}{writer.uses(op.operands)}{tail}"


def print_llvm_gep(writer: Writer, op: Operation) -> str:
    """Prints ``llvm.getelementptr %p[..] : type``."""
    only_properties(op, "inbounds", "rawConstantIndices", "elem_type")
    words = _words(op)
    static = integers(op, "rawConstantIndices")
    base, *dynamic = op.operands
    require(static.count(_DYNAMIC_GEP) == len(dynamic))
    indices = _mixed(writer, static, iter(dynamic), _DYNAMIC_GEP)
    signature = f"{writer.signature(op.operands, op.results)}, {_element_type(op)}"
    return f"{op.name} {words}{writer.use(base)}{indices}{dictionary_part(op.attributes)} : {signature}"


def print_llvm_extract_element(writer: Writer, op: Operation) -> str:
    """Prints ``llvm.extractelement %v[%i : type] : type``."""
    only_properties(op)
    vector, position = op.operands
    place = f"{writer.use(vector)}[{writer.use(position)} : {writer.type(position.type)}]"
    return f"{op.name} {place}{dictionary_part(op.attributes)} : {writer.type(vector.type)}"


def print_llvm_insert_element(writer: Writer, op: Operation) -> str:
    """Prints ``llvm.insertelement %x, %v[%i : type] : type``."""
    only_properties(op)
    vector, value, position = op.operands
    place = f"{writer.use(value)}, {writer.use(vector)}[{writer.use(position)} : {writer.type(position.type)}]"
    return f"{op.name} {place}{dictionary_part(op.attributes)} : {writer.type(vector.type)}"


def print_llvm_undef(writer: Writer, op: Operation) -> str:
    """Prints ``llvm.mlir.undef : type``."""
    only_properties(op)
    return f"{op.name}{dictionary_part(op.attributes)} : {writer.types(op.results)}"


def print_llvm_extract_value(writer: Writer, op: Operation) -> str:
    """Prints ``llvm.extractvalue %s[..] : type``."""
    only_properties(op, "position")
    path = ", ".join(map(str, integers(op, "position")))
    tail = f"{dictionary_part(op.attributes)} : {writer.types(op.operands)}"
    return f"{op.name} {writer.uses(op.operands)}[{path}]{tail}"


MEMORY_LEAVES: dict[str, Leaf] = {
    "memref.alloc": print_alloc,
    "memref.alloca": print_alloc,
    "memref.dealloc": print_dealloc,
    "memref.load": print_access,
    "memref.store": print_access,
    "memref.subview": print_subview,
    "memref.reinterpret_cast": print_reinterpret_cast,
    "memref.dim": print_dim,
    "memref.rank": print_dim,
    "memref.copy": print_copy,
    "llvm.alloca": print_llvm_alloca,
    "llvm.load": print_llvm_load,
    "llvm.store": print_llvm_store,
    "llvm.getelementptr": print_llvm_gep,
    "llvm.extractelement": print_llvm_extract_element,
    "llvm.insertelement": print_llvm_insert_element,
    "llvm.mlir.undef": print_llvm_undef,
    "llvm.mlir.zero": print_llvm_undef,
    "llvm.extractvalue": print_llvm_extract_value,
}
"""Printers of ``memref`` and ``llvm`` statements."""
