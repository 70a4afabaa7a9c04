"""Operand forms that the tile families share. Scratch tiles hold data without a defined value."""

from __future__ import annotations

from xdsl.irdl import operand_def, opt_operand_def, opt_result_def

from ..core.base import Pipe, PtoOp, Shape
from ..core.kinds import ANY, NUMBER, SIGNLESS, TILE_OR_VIEW


class UnaryTileOp(PtoOp, shape=Shape.DPS, pipe=Pipe.V, reads=("src",), writes=("dst",)):
    """One source tile, one destination tile."""

    src = operand_def(TILE_OR_VIEW)
    dst = opt_operand_def(TILE_OR_VIEW)
    result = opt_result_def(ANY)


class UnaryScratchTileOp(PtoOp, shape=Shape.DPS, pipe=Pipe.V, reads=("src",), writes=("tmp", "dst")):
    """One source tile, optional scratch tile."""

    src = operand_def(TILE_OR_VIEW)
    tmp = dst = opt_operand_def(TILE_OR_VIEW)
    result = opt_result_def(ANY)


class BinaryTileOp(PtoOp, shape=Shape.DPS, pipe=Pipe.V, reads=("src0", "src1"), writes=("dst",)):
    """Two source tiles, one destination tile."""

    src0 = src1 = operand_def(TILE_OR_VIEW)
    dst = opt_operand_def(TILE_OR_VIEW)
    result = opt_result_def(ANY)


class BinaryScratchTileOp(PtoOp, shape=Shape.DPS, pipe=Pipe.V, reads=("src0", "src1"), writes=("tmp", "dst")):
    """Two source tiles, optional scratch tile."""

    src0 = src1 = operand_def(TILE_OR_VIEW)
    tmp = dst = opt_operand_def(TILE_OR_VIEW)
    result = opt_result_def(ANY)


class TernaryTileOp(PtoOp, shape=Shape.DPS, pipe=Pipe.V, reads=("src0", "src1", "src2"), writes=("dst",)):
    """Three source tiles."""

    src0 = src1 = src2 = operand_def(TILE_OR_VIEW)
    dst = opt_operand_def(TILE_OR_VIEW)
    result = opt_result_def(ANY)


class TileScalarOp(PtoOp, shape=Shape.DPS, pipe=Pipe.V, reads=("src",), writes=("dst",)):
    """Source tile and a number."""

    src = operand_def(TILE_OR_VIEW)
    scalar = operand_def(NUMBER)
    dst = opt_operand_def(TILE_OR_VIEW)
    result = opt_result_def(ANY)


class TileScalarScratchOp(PtoOp, shape=Shape.DPS, pipe=Pipe.V, reads=("src",), writes=("tmp", "dst")):
    """Source tile and a number, optional scratch tile."""

    src = operand_def(TILE_OR_VIEW)
    scalar = operand_def(NUMBER)
    tmp = dst = opt_operand_def(TILE_OR_VIEW)
    result = opt_result_def(ANY)


class TileIntegerScalarOp(PtoOp, shape=Shape.DPS, pipe=Pipe.V, reads=("src",), writes=("dst",)):
    """Source tile and a signless integer."""

    src = operand_def(TILE_OR_VIEW)
    scalar = operand_def(SIGNLESS)
    dst = opt_operand_def(TILE_OR_VIEW)
    result = opt_result_def(ANY)


class TileScalarTileOp(PtoOp, shape=Shape.DPS, pipe=Pipe.V, reads=("src0", "src1"), writes=("dst",)):
    """Two source tiles with a number between them."""

    src0 = operand_def(TILE_OR_VIEW)
    scalar = operand_def(NUMBER)
    src1 = operand_def(TILE_OR_VIEW)
    dst = opt_operand_def(TILE_OR_VIEW)
    result = opt_result_def(ANY)
