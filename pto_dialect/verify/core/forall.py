"""Rules of ``scf.forall``, ``index`` casts, and the operations of ``memref`` that are written in generic form."""

from __future__ import annotations

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DenseArrayBase,
    IndexType,
    IntegerAttr,
    MemRefType,
    NoneAttr,
    UnrankedMemRefType,
)
from xdsl.ir import Attribute, Operation

from pto_dialect.ir.core.types import type_text

from ..engine.context import Context
from .affine import map_of
from .control import FLOWS, check_arguments, check_blocks, format_types, requires_parent, types_differ, types_of
from .memref import shape_and_layout
from .operands import group, groups_of, named
from .relations import relation

# ------------------------------------------------------------ index


@relation
def one_index(op: Operation, ctx: Context) -> None:
    """Checks a cast between index and an integer."""
    source, result = named(op, "input").type, op.results[0].type
    if isinstance(source, IndexType) == isinstance(result, IndexType):
        message = f"{op.name} converts between index and an integer, found {type_text(source)} and {type_text(result)}"
        ctx.report("core-cast", op, message, at=op.results[0])


# ------------------------------------------------------------ scf.forall

_BOUNDS = ("staticLowerBound", "staticUpperBound", "staticStep")


def _ranks(op: Operation) -> list[list[int]]:
    ranks: list[list[int]] = []
    for name in _BOUNDS:
        values = op.properties[name]
        assert isinstance(values, DenseArrayBase)
        ranks.append([int(number) for number in values.get_values()])
    return ranks


@relation
def forall(op: Operation, ctx: Context) -> None:
    """Checks ``scf.forall``: a constant or an operand for each bound and step of each induction variable; a result for
    each output."""
    *given, outputs = groups_of(op).values()
    ranks = _ranks(op)
    count = len(ranks[0])
    for name, numbers, operands in zip(_BOUNDS, ranks, given, strict=True):
        wanted = numbers.count(DYNAMIC_INDEX)
        if len(numbers) != count:
            ctx.report("loop-bounds", op, f"{name} of {op.name} has {count} numbers, found {len(numbers)}", at=name)
            return
        if wanted != len(operands):
            message = f"{name} of {op.name} leaves {wanted} numbers open, found {len(operands)} operands"
            ctx.report("loop-bounds", op, message)
            return
    mapping = op.properties.get("mapping")
    if isinstance(mapping, ArrayAttr) and mapping.data and len(mapping.data) != count:
        ctx.report(
            "loop-bounds", op, f"{op.name} maps each of {count} counters, found {len(mapping.data)}", at="mapping"
        )
    elif len(outputs) != len(op.results):
        ctx.report(
            "region-yield", op, f"{op.name} has a result for each of {len(outputs)} outputs, found {len(op.results)}"
        )


def _forall(op: Operation, ctx: Context) -> None:
    block = op.regions[0].first_block
    assert block is not None
    outputs = types_of(group(op, "outputs"))
    wanted: list[Attribute] = [IndexType()] * len(_ranks(op)[0])
    check_arguments(op, block, [*wanted, *outputs], "counters and outputs", ctx)


def _in_parallel(op: Operation, ctx: Context) -> None:
    block = op.regions[0].first_block
    assert block is not None
    for inner in block.ops:
        # MLIR allows nothing else; the dialect has no classes for these operations.
        if inner.name != "tensor.parallel_insert_slice":
            message = f"{op.name} has tensor.parallel_insert_slice only, found {inner.name}"
            ctx.report("region-form", inner, message)
            return


# ------------------------------------------------------------ memref


@relation
def transposed(op: Operation, ctx: Context) -> None:
    """Checks a permutation of the dimensions of the source."""
    source, result = named(op, "in").type, op.results[0].type
    assert isinstance(source, MemRefType) and isinstance(result, MemRefType)
    text = map_of(op, "permutation")
    if not text.permutation or len(text.dims) != source.get_num_dims():
        message = f"permutation of {op.name} gives each of {source.get_num_dims()} dimensions once"
        ctx.report("memref-view", op, message, at="permutation")
        return
    known, found = shape_and_layout(source), shape_and_layout(result)
    alike = source.element_type == result.element_type and source.memory_space == result.memory_space
    if known is not None and found is not None and alike:
        order = [text.dims.index(str(entry.name)) for entry in text.results]
        shape, offset, strides = known
        alike = ([shape[at] for at in order], offset, [strides[at] for at in order]) == tuple(found)
    if not alike:
        message = f"the result of {op.name} has the element type, sizes and strides of {type_text(source)} in the "
        ctx.report("memref-view", op, f"{message}stated order, found {type_text(result)}", at=op.results[0])


@relation
def reshaped(op: Operation, ctx: Context) -> None:
    """Checks a reshape: the same elements with other sizes."""
    origin, sizes = named(op, "source"), named(op, "shape")
    source, shape, result = origin.type, sizes.type, op.results[0].type
    assert isinstance(source, (MemRefType, UnrankedMemRefType)) and isinstance(shape, MemRefType)
    assert isinstance(result, (MemRefType, UnrankedMemRefType))
    if source.element_type != result.element_type:
        message = f"{op.name} keeps the element type, found {type_text(source)} and {type_text(result)}"
        ctx.report("memref-view", op, message, at=op.results[0])
    for type_, at in ((source, origin), (result, op.results[0])):
        if isinstance(type_, MemRefType) and not _plain(type_):
            ctx.report("memref-view", op, f"{op.name} works on memrefs without layout, found {type_text(type_)}", at=at)
            return
    extent = shape.get_shape()[0]
    if isinstance(result, MemRefType) and extent != result.get_num_dims():
        what = "an open number of" if extent == DYNAMIC_INDEX else str(extent)
        message = f"{type_text(result)} has {result.get_num_dims()} dimensions, the shape has {what} sizes"
        ctx.report("memref-sizes", op, message, at=sizes)


def _plain(type_: MemRefType) -> bool:
    """Returns whether the rows of a memref are contiguous."""
    if isinstance(type_.layout, NoneAttr):
        return True
    known = shape_and_layout(type_)
    without = shape_and_layout(MemRefType(type_.element_type, type_.shape))
    return known is not None and known == without


@relation
def reallocated(op: Operation, ctx: Context) -> None:
    """Checks a reallocation: a row of another length in the same memory."""
    source, result = named(op, "source").type, op.results[0].type
    assert isinstance(source, MemRefType) and isinstance(result, MemRefType)
    if not _plain(source) or not _plain(result):
        ctx.report("memref-cast", op, f"{op.name} works on memrefs without layout", at=op.results[0])
    elif source.element_type != result.element_type or source.memory_space != result.memory_space:
        message = f"{op.name} keeps the element type and the memory space, "
        ctx.report("memref-cast", op, f"{message}found {type_text(source)} and {type_text(result)}", at=op.results[0])
    elif (result.get_shape()[0] == DYNAMIC_INDEX) != bool(group(op, "size")):
        wanted = "no size" if group(op, "size") else "a size"
        ctx.report("memref-sizes", op, f"{type_text(result)} takes {wanted}")


@relation
def prefetched(op: Operation, ctx: Context) -> None:
    """Checks a prefetch: one index for each dimension."""
    type_, indices = named(op, "memref").type, group(op, "indices")
    assert isinstance(type_, MemRefType)
    if len(indices) != type_.get_num_dims():
        message = f"{type_text(type_)} has {type_.get_num_dims()} dimensions, found {len(indices)} indices"
        ctx.report("memref-indices", op, message)


@relation
def aligned(op: Operation, ctx: Context) -> None:
    """Checks an alignment: a power of two."""
    alignment = op.properties["alignment"]
    assert isinstance(alignment, IntegerAttr)
    number = alignment.value.data
    if number & (number - 1):
        ctx.report("memref-sizes", op, f"an alignment is a power of two, found {number}", at="alignment")


@relation
def atomic(op: Operation, ctx: Context) -> None:
    """Checks an atomic update: one index for each dimension; the result has the element type."""
    type_, result = named(op, "memref").type, op.results[0]
    indices = group(op, "indices")
    assert isinstance(type_, MemRefType)
    if len(indices) != type_.get_num_dims():
        message = f"{type_text(type_)} has {type_.get_num_dims()} dimensions, found {len(indices)} indices"
        ctx.report("memref-indices", op, message)
    elif type_.element_type != result.type:
        message = f"{type_text(type_)} has elements of type {type_text(type_.element_type)}, "
        ctx.report("memref-indices", op, f"{message}found {type_text(result.type)}", at=result)


def _atomic(op: Operation, ctx: Context) -> None:
    block = op.regions[0].first_block
    assert block is not None
    if block.next_block is None:
        check_blocks(op, op.regions[0], ctx)
    wanted = types_of(op.results)
    check_arguments(op, block, wanted, "the argument of the region", ctx)
    _given(op, wanted, ctx)


def _scoped(op: Operation, ctx: Context) -> None:
    block = op.regions[0].first_block
    assert block is not None
    check_arguments(op, block, (), "regions", ctx)
    _given(op, types_of(op.results), ctx)


def _given(op: Operation, wanted: list[Attribute], ctx: Context) -> None:
    for block in op.regions[0].blocks:
        last = block.last_op
        if last is not None and requires_parent(last, op) and types_differ(types_of(last.operands), wanted):
            message = f"{op.name} has results of type {format_types(wanted)}" if wanted else f"{op.name} has no results"
            ctx.report("region-yield", last, f"{message}, but {format_types(types_of(last.operands))} is given here")


FLOWS.update(
    {
        "scf.forall": _forall,
        "scf.forall.in_parallel": _in_parallel,
        "memref.generic_atomic_rmw": _atomic,
        "memref.alloca_scope": _scoped,
    }
)
