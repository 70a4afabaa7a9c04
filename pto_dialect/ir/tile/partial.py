"""Two tiles of different valid regions combined: the one valid element where only one is, 0 where none is.

Source: docs/reference/tiles.md, "Broadcasts and reductions".
"""

from __future__ import annotations

from xdsl.irdl import operand_def, opt_operand_def

from ..core.base import Pipe, PtoOp, Shape, at_most
from ..core.kinds import TILE_OR_VIEW
from .forms import BinaryTileOp


class TPartAddOp(BinaryTileOp, name="pto.tpartadd"):
    """dst[i,j] = src0[i,j] + src1[i,j] where both are valid."""


class TPartMulOp(BinaryTileOp, name="pto.tpartmul"):
    """dst[i,j] = src0[i,j] · src1[i,j] where both are valid."""


class TPartMaxOp(BinaryTileOp, name="pto.tpartmax"):
    """dst[i,j] = max(src0[i,j], src1[i,j]) where both are valid."""


class TPartMinOp(BinaryTileOp, name="pto.tpartmin"):
    """dst[i,j] = min(src0[i,j], src1[i,j]) where both are valid."""


class PartialArgOp(
    PtoOp,
    shape=Shape.DPS,
    pipe=Pipe.V,
    reads=("src0", "src1", "src0Idx", "src1Idx"),
    writes=("dst", "dstIdx"),
    outs=("dst", "dstIdx"),
):
    """Values with an index tile each; the index of the winner is kept."""

    src0 = src1 = src0Idx = src1Idx = operand_def(TILE_OR_VIEW)
    dst = dstIdx = opt_operand_def(TILE_OR_VIEW)
    results_ = at_most(2)


class TPartArgMaxOp(PartialArgOp, name="pto.tpartargmax"):
    """dst = the larger of the valid values, dstIdx = its index operand."""


class TPartArgMinOp(PartialArgOp, name="pto.tpartargmin"):
    """dst = the smaller of the valid values, dstIdx = its index operand."""
