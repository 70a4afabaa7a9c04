"""Tile buffers and global-memory views: allocation, windows, valid regions, reinterpretation. No data moves.

Source: docs/reference/execution.md, "Pointers, tiles and views".
"""

from __future__ import annotations

from xdsl.ir import SSAValue
from xdsl.irdl import attr_def, operand_def, opt_attr_def, opt_operand_def, result_def, var_operand_def

from ..core.attributes import EnumAttr
from ..core.base import Effect, Pipe, PtoOp, Shape
from ..core.forms import HandleOp, ViewOp
from ..core.kinds import (
    ANY,
    ARRAY,
    I64,
    INDEX,
    MULTI_TILE,
    PARTITION_VIEW,
    PLACED,
    PTR,
    TENSOR_VIEW,
    TILE,
    TILE_OR_VIEW,
    VIEW,
    enum,
)
from ..core.roles import Role


class TileAllocationOp(HandleOp, shape=Shape.ALLOC, typed=(), roles=Role.ALLOCATION | Role.TILE_ALLOCATION):
    """Makes tile buffers."""

    addr = opt_operand_def(I64)
    valid_row = valid_col = opt_operand_def(INDEX)


class AllocTileOp(TileAllocationOp, name="pto.alloc_tile"):
    """A tile buffer, at ``addr`` or wherever memory is free; valid sizes exactly where the type has ``?``."""

    result = result_def(TILE)


class AllocMultiTileOp(TileAllocationOp, name="pto.alloc_multi_tile", since="august"):
    """``count`` equal tile buffers with one handle."""

    result = result_def(MULTI_TILE)


class MultiTileGetOp(ViewOp, name="pto.multi_tile_get", shape=Shape.INDEXED, typed=("source",), since="august"):
    """Slot ``slot`` of a multi-tile buffer."""

    source = operand_def(MULTI_TILE)
    slot = operand_def(INDEX)
    result = result_def(TILE)


class TAssignOp(HandleOp, name="pto.tassign", typed=("tile",), roles=Role.VIEW | Role.UNIQUE):
    """The tile rebound to byte address ``addr``."""

    tile = operand_def(PLACED)
    addr = operand_def(I64)
    result = result_def(PLACED)


class TReshapeOp(ViewOp, name="pto.treshape", pipe=Pipe.S):
    """The same bytes as a tile of another shape or layout."""

    src = operand_def(TILE_OR_VIEW)
    result = result_def(TILE_OR_VIEW)


class BitcastOp(ViewOp, name="pto.bitcast"):
    """The same bytes as a tile of another element type."""

    src = operand_def(TILE)
    result = result_def(TILE)


class SubviewOp(ViewOp, name="pto.subview", shape=Shape.SUBVIEW, typed=("source",)):
    """Alias of rows [i, i+r) and columns [j, j+c) of a tile."""

    source = operand_def(TILE)
    offsets = var_operand_def(INDEX)
    valid_row = valid_col = opt_operand_def(INDEX)
    sizes = attr_def(ARRAY)
    result = result_def(TILE)


class ValidSizeOp(PtoOp, shape=Shape.FLAT_VALUE, state_reads=("valid_shape",)):
    """Run-time valid size of a tile."""

    src = operand_def(TILE)
    result = result_def(INDEX)


class TileValidRowsOp(ValidSizeOp, name="pto.tile_valid_rows"):
    """Number of valid rows."""


class TileValidColsOp(ValidSizeOp, name="pto.tile_valid_cols"):
    """Number of valid columns."""


class GetValidshapeOp(
    PtoOp,
    name="pto.get_validshape",
    shape=Shape.FLAT_VOID,
    state_reads=("valid_shape",),
    fixed_results=("index", "index"),
):
    """Numbers of valid rows and columns."""

    source = operand_def(TILE)
    valid_row = valid_col = result_def(INDEX)


class SetValidshapeOp(
    PtoOp, name="pto.set_validshape", shape=Shape.FLAT_VOID, state_writes=("valid_shape",), typed=("source",)
):
    """Sets the run-time valid rows and columns of a tile whose type leaves them dynamic."""

    source = operand_def(TILE)
    valid_row = valid_col = operand_def(INDEX)


class MakeTensorViewOp(HandleOp, name="pto.make_tensor_view", shape=Shape.VIEW_LISTS, typed=()):
    """View of global memory from ``ptr`` with the given shape and strides in elements
    (docs/reference/layouts.md, "Views of global memory").
    """

    ptr = operand_def(PTR)
    shape = strides = var_operand_def(INDEX)
    layout = opt_attr_def(enum("layout"))
    result = result_def(ANY)


class PartitionViewOp(HandleOp, name="pto.partition_view", shape=Shape.VIEW_LISTS, typed=("source",), roles=Role.PART):
    """Rectangular part of a view: offsets and sizes in elements, one per dimension
    (docs/reference/layouts.md, "Views of global memory").
    """

    source = operand_def(TENSOR_VIEW)
    offsets = sizes = var_operand_def(INDEX)
    result = result_def(PARTITION_VIEW)


class ViewDimensionOp(PtoOp, shape=Shape.DIM_QUERY, effect=Effect.PURE, typed=("tensor_view",)):
    """Property of one dimension of a view."""

    tensor_view = operand_def(VIEW)
    dim_index = operand_def(INDEX)
    result = result_def(INDEX)


class GetTensorViewDimOp(ViewDimensionOp, name="pto.get_tensor_view_dim"):
    """Size of dimension ``dim_index`` (docs/reference/layouts.md, "Views of global memory")."""


class GetTensorViewStrideOp(ViewDimensionOp, name="pto.get_tensor_view_stride"):
    """Stride of dimension ``dim_index`` in elements (docs/reference/layouts.md, "Views of global memory")."""


def stated_layout(view: SSAValue) -> str | None:
    """Returns the layout that a view of global memory, or the view that it is a part of, states."""
    maker = view.owner
    while isinstance(maker, (PartitionViewOp, MakeTensorViewOp)):
        layout = maker.attributes.get("layout")
        if isinstance(layout, EnumAttr):
            return layout.value
        maker = (maker.source if isinstance(maker, PartitionViewOp) else maker.ptr).owner
    return None
