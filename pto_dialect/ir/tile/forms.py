"""Operand forms that the tile families share. Scratch tiles hold data without a defined value."""

from __future__ import annotations

from xdsl.irdl import operand_def, opt_operand_def

from ..core.forms import TileOp
from ..core.kinds import NUMBER, SIGNLESS, TILE_OR_VIEW
from ..core.roles import Role


class UnaryTileOp(TileOp, reads=("src",)):
    """One source tile, one destination tile."""

    src = operand_def(TILE_OR_VIEW)


class UnaryScratchTileOp(TileOp, reads=("src",), writes=("tmp", "dst")):
    """One source tile, optional scratch tile."""

    src = operand_def(TILE_OR_VIEW)
    tmp = opt_operand_def(TILE_OR_VIEW)


class BinaryTileOp(TileOp, reads=("src0", "src1")):
    """Two source tiles, one destination tile."""

    src0 = src1 = operand_def(TILE_OR_VIEW)


class LanewiseUnaryTileOp(UnaryTileOp, roles=Role.LANEWISE):
    """Each element from the same element of one tile."""


class LanewiseBinaryTileOp(BinaryTileOp, roles=Role.LANEWISE):
    """Each element from the same elements of two tiles, or from one of a vector that is broadcast."""


class BinaryScratchTileOp(TileOp, reads=("src0", "src1"), writes=("tmp", "dst")):
    """Two source tiles, optional scratch tile."""

    src0 = src1 = operand_def(TILE_OR_VIEW)
    tmp = opt_operand_def(TILE_OR_VIEW)


class TernaryTileOp(TileOp, reads=("src0", "src1", "src2")):
    """Three source tiles."""

    src0 = src1 = src2 = operand_def(TILE_OR_VIEW)


class TileScalarOp(TileOp, reads=("src",)):
    """Source tile and a scalar."""

    src = operand_def(TILE_OR_VIEW)
    scalar = operand_def(NUMBER)


class TileScalarScratchOp(TileOp, reads=("src",), writes=("tmp", "dst")):
    """Source tile and a scalar, optional scratch tile."""

    src = operand_def(TILE_OR_VIEW)
    scalar = operand_def(NUMBER)
    tmp = opt_operand_def(TILE_OR_VIEW)


class TileIntegerScalarOp(TileOp, reads=("src",)):
    """Source tile and a signless integer."""

    src = operand_def(TILE_OR_VIEW)
    scalar = operand_def(SIGNLESS)


class TileScalarTileOp(TileOp, reads=("src0", "src1")):
    """Two source tiles with a scalar between them."""

    src0 = operand_def(TILE_OR_VIEW)
    scalar = operand_def(NUMBER)
    src1 = operand_def(TILE_OR_VIEW)
