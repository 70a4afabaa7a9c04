"""Rules of views of global memory. Source: docs/reference/constraints.md, "Allocation, views and scalars";
docs/reference/layouts.md, "Views of global memory"."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation

from pto_dialect.analysis.mx_layouts import MX_LAYOUTS, inferred_layout
from pto_dialect.analysis.type_facts import enumerator
from pto_dialect.diagnostics.remedies.types import one_element_type, stated_size
from pto_dialect.ir.core.attributes import EnumAttr
from pto_dialect.ir.core.base import PtoOp, operand_groups
from pto_dialect.ir.core.operands import named
from pto_dialect.ir.core.types import (
    DYNAMIC,
    PartitionViewType,
    PtrType,
    TensorViewType,
    byte_width,
    element_name,
    type_text,
)

from ..engine.checks import checks
from ..engine.context import Context
from ..engine.rule import LOCATIONS, SHAPES, STRUCTURE

CERTAIN = "pto.certain_layout"
"""Attribute of views whose layout their source states, as C++ does, instead of sizes and strides."""
MAX_RANK = 5
_NZ_ROWS = 16
_NZ_BYTES = 512


@checks(STRUCTURE, "pto.make_tensor_view", pure=True)
def check_view(op: Operation, ctx: Context) -> None:
    """Checks that the operands and the result of a view agree."""
    assert isinstance(op, PtoOp)
    groups = operand_groups(op)
    pointer, result = named(op, "ptr").type, op.results[0].type
    if not isinstance(result, TensorViewType):
        ctx.report("view-rank", op, f"the result of {op.name} must be !pto.tensor_view, found {type_text(result)}")
        return
    if isinstance(pointer, PtrType) and pointer.space != "gm":
        message = f"{op.name} is a view of global memory, found a pointer into {pointer.space}"
        ctx.report("view-rank", op, message, at=named(op, "ptr"))
    rank = len(result.shape)
    if rank > MAX_RANK:
        ctx.report("view-rank", op, f"a view has at most {MAX_RANK} dimensions, found {rank}")
    for name in ("shape", "strides"):
        if len(groups[name]) != rank:
            message = f"{name} of {op.name} must have {rank} entries, found {len(groups[name])}"
            ctx.report("view-rank", op, message, at=name)
    if isinstance(pointer, PtrType) and pointer.element != result.element:
        one, other = type_text(pointer.element), type_text(result.element)
        message = f"pointer and view of {op.name} must have one element type, found {one} and {other}"
        ctx.report("view-rank", op, message, at=named(op, "ptr"), remedies=(one_element_type(one, other),))


@checks(LOCATIONS, "pto.make_tensor_view", numeric=True)
def check_view_layout(op: Operation, ctx: Context) -> None:
    """Checks a stated layout against constant sizes and strides."""
    assert isinstance(op, PtoOp)
    attributes = op.seen_attributes()
    stated = attributes.get("layout")
    result = op.results[0].type
    if not isinstance(stated, EnumAttr) or stated.value not in ("nd", "dn", "nz") or CERTAIN in attributes:
        return
    if not isinstance(result, TensorViewType):
        return
    groups = operand_groups(op)
    sizes = [
        ctx.constant(value) if dim == DYNAMIC else dim
        for dim, value in zip(result.shape, groups["shape"], strict=False)
    ]
    strides = [ctx.constant(value) for value in groups["strides"]]
    known_sizes = [size for size in sizes if size is not None]
    known_strides = [stride for stride in strides if stride is not None]
    rank = len(result.shape)
    if not len(known_sizes) == len(known_strides) == rank or not 0 < rank <= MAX_RANK:
        return
    found = layouts_of(known_sizes, known_strides, byte_width(result.element) or 0)
    if stated.value not in found:
        message = f"{op.name} states layout {stated.value}, its sizes and strides are {' or '.join(found)}"
        ctx.report("view-layout", op, message, at="layout")


@checks(LOCATIONS, "pto.make_tensor_view")
def check_scale_groups(op: Operation, ctx: Context) -> None:
    """Checks that blocks of MX scales have two groups."""
    if not op.results or not len(op.operands):
        return
    result = op.results[0].type
    if not isinstance(result, TensorViewType) or element_name(result.element) != "f8E8M0" or len(result.shape) != 2:
        return
    layout = enumerator(op, "layout") or inferred_layout(op.results[0])
    if layout not in MX_LAYOUTS:
        return
    assert isinstance(op, PtoOp)
    axis = 1 if layout == "mx_a_zz" else 0
    sizes = operand_groups(op)["shape"]
    known = ctx.constant(sizes[axis]) if len(sizes) == len(result.shape) else None
    groups = result.shape[axis] if known is None else known
    if groups > 0 and groups % 2:
        axis_name = "columns" if axis else "rows"
        message = f"{op.name} has {groups} {axis_name} of MX scales in layout {layout}, whose blocks have 2 groups"
        ctx.report("mx-scale-groups", op, message, help=f"an even number of {axis_name}, the last one unused")


def layouts_of(shape: Sequence[int], strides: Sequence[int], size: int) -> tuple[str, ...]:
    """Returns the layouts that constant sizes and strides may have; ``size`` is the bytes of an element.

    NZ when the last dimensions form a block of 512 bytes; otherwise ND or DN by the last two dimensions; ND when
    neither fits.
    """
    missing = MAX_RANK - len(shape)
    sizes = [1] * missing + list(shape)
    steps = [1] * missing + list(strides)
    for index in reversed(range(missing)):
        steps[index] = sizes[index + 1] * steps[index + 1]
    fractal = sizes[2] == _NZ_ROWS and sizes[2] * sizes[3] * size == _NZ_BYTES
    if fractal and steps[4] == 1 and steps[3] == sizes[4]:
        return ("nz",)
    rows, cols, row_step, col_step = sizes[3], sizes[4], steps[3], steps[4]
    by_rows = _matches(cols, rows, col_step, row_step)
    by_cols = _matches(rows, cols, row_step, col_step)
    if by_rows and by_cols:
        return ("nd", "dn")
    return ("dn",) if by_cols else ("nd",)


def _matches(inner: int, outer: int, inner_step: int, outer_step: int) -> bool:
    """Returns whether a matrix is dense with ``inner`` as its fast dimension."""
    if inner != 1 and inner_step != 1:
        return False
    return outer == 1 or outer_step == inner


@checks(SHAPES, "pto.get_tensor_view_dim", "pto.get_tensor_view_stride", numeric=True)
def check_dimension(op: Operation, ctx: Context) -> None:
    """Checks a constant dimension against the rank of its view."""
    source, index = named(op, "tensor_view").type, named(op, "dim_index")
    axis = ctx.constant(index)
    if not isinstance(source, (TensorViewType, PartitionViewType)) or axis is None:
        return
    rank = len(source.shape)
    if not 0 <= axis < rank:
        message = f"{op.name} reads dimension {axis}, its view has 0 to {rank - 1}"
        ctx.report("view-dim", op, message, at=index)


@checks(SHAPES, "pto.partition_view", numeric=True)
def check_part(op: Operation, ctx: Context) -> None:
    """Checks a rectangular part of a view."""
    assert isinstance(op, PtoOp)
    groups = operand_groups(op)
    source, result = named(op, "source").type, op.results[0].type
    if not isinstance(source, TensorViewType) or not isinstance(result, PartitionViewType):
        return
    if source.element != result.element:
        found = f"{type_text(source.element)} and {type_text(result.element)}"
        ctx.report("part-bounds", op, f"{op.name} keeps the element type, found {found}", at=named(op, "source"))
    rank = len(source.shape)
    offsets, sizes = groups["offsets"], groups["sizes"]
    for name, values in (("offsets", offsets), ("sizes", sizes)):
        if len(values) != rank:
            message = f"{name} of {op.name} must have {rank} entries, found {len(values)}"
            ctx.report("part-bounds", op, message, at=name)
            return
    stated = result.shape if len(result.shape) == rank else (DYNAMIC,) * rank
    for index, (dim, whole) in enumerate(zip(stated, source.shape, strict=True)):
        offset, size = ctx.constant(offsets[index]), ctx.constant(sizes[index])
        if offset is not None and offset < 0:
            message = f"offset {index} of {op.name} must not be negative, found {offset}"
            ctx.report("part-bounds", op, message, at=offsets[index])
            continue
        if size is None:
            continue
        if size <= 0:
            message = f"size {index} of {op.name} must be positive, found {size}"
            ctx.report("part-bounds", op, message, at=sizes[index])
        elif dim not in (DYNAMIC, size):
            message = f"size {index} of {op.name} is {size}, the result type says {dim}"
            ctx.report("part-bounds", op, message, at=sizes[index], remedies=(stated_size(index, size),))
        elif whole != DYNAMIC and (offset or 0) + size > whole:
            message = f"offset {offset or 0} and size {size} reach beyond dimension {index} of the view ({whole})"
            ctx.report("part-bounds", op, message, at=sizes[index])
