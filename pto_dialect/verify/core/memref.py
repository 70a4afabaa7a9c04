"""Rules of ``memref``: sizes, indices, casts and views."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AffineMapAttr,
    DenseArrayBase,
    MemRefType,
    NoneAttr,
    StridedLayoutAttr,
    UnrankedMemRefType,
)
from xdsl.ir import Attribute, Operation

from pto_dialect.diagnostics.wording import count
from pto_dialect.ir.core.types import type_text

from ..engine.context import Context
from .kinds import element_type
from .operands import group, groups_of, named
from .relations import relation

Extent = int | None
"""A size, offset or stride; ``None`` for one that is dynamic."""


def _open(number: int) -> Extent:
    return None if number == DYNAMIC_INDEX else number


def shape_and_layout(type_: MemRefType) -> tuple[list[Extent], Extent, list[Extent]] | None:
    """Returns sizes, offset and strides; ``None`` for a layout that is an affine map, which is not checked."""
    shape = [_open(size) for size in type_.get_shape()]
    layout = type_.layout
    if isinstance(layout, StridedLayoutAttr):
        offset = layout.get_offset()
        return shape, offset, list(layout.get_strides())
    if not isinstance(layout, NoneAttr):
        return None
    strides: list[Extent] = []
    running: Extent = 1
    for size in reversed(shape):
        strides.append(running)
        running = None if running is None or size is None else running * size
    return shape, 0, strides[::-1]


# ------------------------------------------------------------ allocation, elements


@relation
def allocated(op: Operation, ctx: Context) -> None:
    """Checks an allocation: a size for each dynamic extent, an operand for each symbol of the layout."""
    type_ = op.results[0].type
    assert isinstance(type_, MemRefType)
    sizes = op.properties["operandSegmentSizes"]
    assert isinstance(sizes, DenseArrayBase)
    given, symbols = sizes.get_values()
    wanted = sum(size == DYNAMIC_INDEX for size in type_.get_shape())
    if given != wanted:
        message = f"{type_text(type_)} has {wanted or 'no'} open {'size' if wanted == 1 else 'sizes'}, found {given}"
        ctx.report("memref-sizes", op, message, at=op.operands[wanted] if given > wanted else None)
    elif _symbols(type_.layout) != symbols:
        message = f"the layout of {type_text(type_)} has {_symbols(type_.layout) or 'no'} symbols, found {symbols}"
        ctx.report("memref-sizes", op, message)


def _symbols(layout: Attribute) -> int:
    """Returns the number of symbols of a layout: symbols of a map, dynamic offset and strides."""
    if isinstance(layout, AffineMapAttr):
        return layout.data.num_symbols
    if isinstance(layout, StridedLayoutAttr):
        return [layout.get_offset(), *layout.get_strides()].count(None)
    return 0


@relation
def element(op: Operation, ctx: Context) -> None:
    """Checks loads and stores: an index for each dimension, a value of the element type."""
    operands = groups_of(op)
    (value,) = operands.get("value", op.results)
    indices = operands["indices"]
    type_ = named(op, "memref").type
    assert isinstance(type_, MemRefType)
    if len(indices) != type_.get_num_dims():
        number = type_.get_num_dims()
        message = f"{type_text(type_)} has {count(number, 'dimension')}, "
        ctx.report("memref-indices", op, f"{message}found {count(len(indices), 'index', 'indices')}")
    elif value.type != type_.element_type:
        message = f"{type_text(type_)} has elements of type {type_text(type_.element_type)}, "
        ctx.report("memref-indices", op, f"{message}found {type_text(value.type)}", at=value)


@relation
def copied(op: Operation, ctx: Context) -> None:
    """Checks copies: equal element types, and sizes that may be equal."""
    target = named(op, "target")
    types = named(op, "source").type, target.type
    found = " and ".join(map(type_text, types))
    if _element(types[0]) != _element(types[1]):
        ctx.report("memref-cast", op, f"memref.copy has one element type, found {found}", at=target)
    elif not _same_extents(*types):
        ctx.report("memref-cast", op, f"memref.copy has one shape, found {found}", at=target)


def _element(type_: Attribute) -> Attribute:
    return type_.element_type if isinstance(type_, (MemRefType, UnrankedMemRefType)) else element_type(type_)


def _may_equal(a: Extent, b: Extent) -> bool:
    return a is None or b is None or a == b


def _same_extents(a: Attribute, b: Attribute) -> bool:
    if not isinstance(a, MemRefType) or not isinstance(b, MemRefType):
        return True
    shapes = [[_open(size) for size in type_.get_shape()] for type_ in (a, b)]
    return len(shapes[0]) == len(shapes[1]) and all(map(_may_equal, *shapes))


# ------------------------------------------------------------ casts


@relation
def cast(op: Operation, ctx: Context) -> None:
    """Checks a cast: only whether sizes, offsets and strides are static or dynamic may change."""
    source, result = named(op, "source").type, op.results[0].type
    wrong = _cast_problem(source, result)
    if wrong is not None:
        found = f"found {type_text(source)} and {type_text(result)}"
        ctx.report("memref-cast", op, f"memref.cast keeps {wrong}, {found}", at=op.results[0])


def _space(type_: Attribute) -> Attribute | None:
    return type_.memory_space if isinstance(type_, (MemRefType, UnrankedMemRefType)) else None


def _cast_problem(source: Attribute, result: Attribute) -> str | None:
    """Returns how two types differ in a property that memref.cast preserves."""
    if _element(source) != _element(result):
        return "the element type"
    if _space(source) != _space(result):
        return "the memory space; memref.memory_space_cast changes it"
    if not isinstance(source, MemRefType) or not isinstance(result, MemRefType):
        both = not isinstance(source, MemRefType) and not isinstance(result, MemRefType)
        return "the rank on one side at least" if both else None
    if source.get_num_dims() != result.get_num_dims():
        return "the rank"
    if not _same_extents(source, result):
        return "known sizes"
    if source.layout == result.layout:
        return None
    layouts = shape_and_layout(source), shape_and_layout(result)
    if layouts[0] is None or layouts[1] is None:
        return None
    (_, offset, strides), (_, other_offset, other_strides) = layouts[0], layouts[1]
    if not _may_equal(offset, other_offset):
        return "a known offset"
    return None if all(map(_may_equal, strides, other_strides)) else "known strides"


@relation
def other_space(op: Operation, ctx: Context) -> None:
    """Checks a cast of the memory space: nothing else changes."""
    source, result = named(op, "source").type, op.results[0].type
    alike = type(source) is type(result) and _element(source) == _element(result)
    if isinstance(source, MemRefType) and isinstance(result, MemRefType):
        alike = alike and source.shape == result.shape and source.layout == result.layout
    if not alike:
        message = f"memref.memory_space_cast changes the memory space only, found {type_text(source)} and "
        ctx.report("memref-cast", op, message + type_text(result), at=op.results[0])


# ------------------------------------------------------------ views


def _lists(op: Operation, ctx: Context) -> list[list[Extent]] | None:
    """Returns the offsets, sizes and strides of a view; ``None``, after a report, when the operands do not fill the
    dynamic entries."""
    lists: list[list[Extent]] = []
    sizes = op.properties["operandSegmentSizes"]
    assert isinstance(sizes, DenseArrayBase)
    for name, given in zip(("offsets", "sizes", "strides"), sizes.get_values()[1:], strict=True):
        stated = op.properties[f"static_{name}"]
        assert isinstance(stated, DenseArrayBase)
        numbers = [_open(int(number)) for number in stated.get_values()]
        if numbers.count(None) != given:
            ctx.report("memref-view", op, f"{numbers.count(None)} of the {name} are values, found {given} values")
            return None
        lists.append(numbers)
    offsets, extents, _ = lists
    for name, numbers in (("an offset", offsets), ("a size", extents)):
        negative = next((number for number in numbers if number is not None and number < 0), None)
        if negative is not None:
            ctx.report("memref-view", op, f"{name} is not negative, found {negative}")
            return None
    return lists


def _product(a: Extent, b: Extent) -> Extent:
    return None if a is None or b is None else a * b


def _sum(a: Extent, b: Extent) -> Extent:
    return None if a is None or b is None else a + b


def _text(shape: Sequence[Extent], offset: Extent, strides: Sequence[Extent]) -> str:
    def listed(numbers: Sequence[Extent]) -> str:
        return "[" + ", ".join("?" if number is None else str(number) for number in numbers) + "]"

    return f"sizes {listed(shape)}, offset {'?' if offset is None else offset} and strides {listed(strides)}"


def _reduces(stated: list[tuple[Extent, Extent]], found: list[tuple[Extent, Extent]]) -> bool:
    """Returns whether ``found`` is ``stated`` (pairs of size and stride) without some dimensions of size 1."""
    matched = {0}
    for dimension in stated:
        longer = {count + 1 for count in matched if count < len(found) and found[count] == dimension}
        matched = longer | (matched if dimension[0] == 1 else set())
    return len(found) in matched


@relation
def subview(op: Operation, ctx: Context) -> None:
    """Checks a subview: the result has the stated sizes, unit dimensions may be dropped, its layout follows from that
    of the source."""
    source, result = named(op, "source").type, op.results[0].type
    assert isinstance(source, MemRefType) and isinstance(result, MemRefType)
    lists = _lists(op, ctx)
    if lists is None:
        return
    offsets, sizes, strides = lists
    rank = source.get_num_dims()
    if any(len(numbers) != rank for numbers in lists):
        found = ", ".join(str(len(numbers)) for numbers in lists)
        ctx.report(
            "memref-view", op, f"{type_text(source)} has {rank} dimensions, found {found} offsets, sizes and strides"
        )
        return
    if source.element_type != result.element_type or source.memory_space != result.memory_space:
        message = "memref.subview keeps the element type and the memory space, "
        ctx.report("memref-view", op, f"{message}found {type_text(source)} and {type_text(result)}", at=op.results[0])
        return
    known, found = shape_and_layout(source), shape_and_layout(result)
    if known is None or found is None:
        return
    _, offset, steps = known
    for begin, step in zip(offsets, steps, strict=True):
        offset = _sum(offset, _product(begin, step))
    wanted = [_product(stride, step) for stride, step in zip(strides, steps, strict=True)]
    stated, result_has = zip(sizes, wanted, strict=True), zip(found[0], found[2], strict=True)
    if offset == found[1] and _reduces(list(stated), list(result_has)):
        return
    message = f"the result of this subview has {_text(sizes, offset, wanted)}, found {type_text(result)}"
    ctx.report("memref-view", op, message, at=op.results[0])


@relation
def reinterpreted(op: Operation, ctx: Context) -> None:
    """Checks a reinterpreting cast: the result has the stated offset, sizes and strides, where it does not leave them
    dynamic."""
    source, result = named(op, "source").type, op.results[0].type
    assert isinstance(result, MemRefType)
    lists = _lists(op, ctx)
    if lists is None:
        return
    if _element(source) != result.element_type or _space(source) != result.memory_space:
        message = "memref.reinterpret_cast keeps the element type and the memory space, "
        ctx.report("memref-view", op, f"{message}found {type_text(source)} and {type_text(result)}", at=op.results[0])
        return
    offsets, sizes, strides = lists
    rank = result.get_num_dims()
    if len(offsets) != 1 or len(sizes) != rank or len(strides) != rank:
        message = f"{type_text(result)} has 1 offset and {rank} sizes and strides, "
        ctx.report(
            "memref-view", op, f"{message}found {len(offsets)}, {len(sizes)} and {len(strides)}", at=op.results[0]
        )
        return
    found = shape_and_layout(result)
    if found is None:
        return
    shape, offset, steps = found
    pairs = [(offsets[0], offset), *zip(sizes, shape, strict=True), *zip(strides, steps, strict=True)]
    if not all(map(_may_equal, *zip(*pairs, strict=True))):
        message = f"the result has {_text(sizes, offsets[0], strides)}, found {type_text(result)}"
        ctx.report("memref-view", op, message, at=op.results[0])


@relation
def viewed(op: Operation, ctx: Context) -> None:
    """Checks a view of bytes: a size for each dynamic extent, the memory space of the bytes."""
    source, result = named(op, "source").type, op.results[0].type
    assert isinstance(source, MemRefType) and isinstance(result, MemRefType)
    wanted = sum(size == DYNAMIC_INDEX for size in result.get_shape())
    sizes = group(op, "sizes")
    if len(sizes) != wanted:
        ctx.report("memref-sizes", op, f"{type_text(result)} has {wanted} open sizes, found {len(sizes)}")
    elif source.memory_space != result.memory_space:
        message = f"memref.view keeps the memory space, found {type_text(source)} and {type_text(result)}"
        ctx.report("memref-view", op, message, at=op.results[0])
