"""Conversions between tiles and memrefs that only the older dialect's lowering produced.

Source: docs/reference/execution.md, "Pointers, tiles and views".
"""

from __future__ import annotations

from xdsl.irdl import attr_def, operand_def, opt_attr_def, opt_operand_def, result_def, var_operand_def

from ..core.base import Shape
from ..core.forms import DeclarationOp, HandleOp, ViewOp
from ..core.kinds import ANY_ATTR, I64, INDEX, MEMREF, TILE


class TileConfigOp(ViewOp, typed=("source",), since="june"):
    """Memref seen as a tile with the layout ``config``."""

    source = operand_def(MEMREF)
    valid_row = valid_col = opt_operand_def(INDEX)
    config = attr_def(ANY_ATTR)
    result = result_def(MEMREF)


class BindTileOp(TileConfigOp, name="pto.bind_tile"):
    """Memref that carries a tile layout and, optionally, valid sizes."""


class MaterializeTileOp(TileConfigOp, name="pto.materialize_tile"):
    """Tile over the storage of a memref."""

    result = result_def(TILE)


class DeclareTileMemrefOp(DeclarationOp, name="pto.declare_tile_memref", since="june"):
    """Memref bound to storage later."""

    result = result_def(MEMREF)


class PointerCastOp(HandleOp, name="pto.pointer_cast", shape=Shape.RETIRED_CAST, typed=(), since="june"):
    """Memref over fixed byte addresses."""

    addrs = var_operand_def(I64)
    valid_row = valid_col = opt_operand_def(INDEX)
    config = opt_attr_def(ANY_ATTR)
    result = result_def(MEMREF)


class SimdTileToMemrefOp(ViewOp, name="pto.simd.tile_to_memref", shape=Shape.RETIRED_CAST, since="june"):
    """Memref over the storage of a tile."""

    src = operand_def(TILE)
    dst = result_def(MEMREF)
