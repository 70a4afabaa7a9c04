"""Conversions between tiles and memrefs that only the older dialect's lowering produced."""

from __future__ import annotations

from xdsl.irdl import attr_def, operand_def, opt_attr_def, opt_operand_def, result_def, var_operand_def

from ..core.base import Effect, PtoOp, Shape
from ..core.kinds import ANY_ATTR, I64, INDEX, MEMREF, TILE
from ..core.roles import Role


class TileConfigOp(PtoOp, shape=Shape.FLAT_VALUE, effect=Effect.HANDLE, typed=("source",), since="june"):
    """Memref seen as a tile with the layout ``config``."""

    source = operand_def(MEMREF)
    valid_row = valid_col = opt_operand_def(INDEX)
    config = attr_def(ANY_ATTR)
    result = result_def(MEMREF)


class BindTileOp(TileConfigOp, name="pto.bind_tile", roles=Role.VIEW):
    """Memref that carries a tile layout and, optionally, valid sizes (docs/reference/execution.md, "Pointers, tiles and
    views").
    """


class MaterializeTileOp(
    PtoOp,
    name="pto.materialize_tile",
    shape=Shape.FLAT_VALUE,
    effect=Effect.HANDLE,
    typed=("source",),
    since="june",
    roles=Role.VIEW,
):
    """Tile over the storage of a memref (docs/reference/execution.md, "Pointers, tiles and views")."""

    source = operand_def(MEMREF)
    valid_row = valid_col = opt_operand_def(INDEX)
    config = attr_def(ANY_ATTR)
    result = result_def(TILE)


class DeclareTileMemrefOp(
    PtoOp, name="pto.declare_tile_memref", shape=Shape.NULLARY_ARROW, effect=Effect.HANDLE, since="june"
):
    """Memref bound to storage later (docs/reference/execution.md, "Pointers, tiles and views")."""

    result = result_def(MEMREF)


class PointerCastOp(
    PtoOp, name="pto.pointer_cast", shape=Shape.RETIRED_CAST, effect=Effect.HANDLE, typed=(), since="june"
):
    """Memref over fixed byte addresses (docs/reference/execution.md, "Pointers, tiles and views")."""

    addrs = var_operand_def(I64)
    valid_row = valid_col = opt_operand_def(INDEX)
    config = opt_attr_def(ANY_ATTR)
    result = result_def(MEMREF)


class SimdTileToMemrefOp(
    PtoOp, name="pto.simd.tile_to_memref", shape=Shape.RETIRED_CAST, effect=Effect.HANDLE, since="june", roles=Role.VIEW
):
    """Memref over the storage of a tile (docs/reference/execution.md, "Pointers, tiles and views")."""

    src = operand_def(TILE)
    dst = result_def(MEMREF)
