"""A row or column vector broadcast over a tile and combined with it."""

from __future__ import annotations

from xdsl.irdl import opt_attr_def

from ..core.kinds import enum
from ..core.roles import Role
from .forms import BinaryScratchTileOp, BinaryTileOp, UnaryTileOp


class TColExpandOp(UnaryTileOp, name="pto.tcolexpand"):
    """dst[i,j] = src[0,j] (docs/reference/tiles.md, "Broadcasts and reductions")."""


class TRowExpandOp(UnaryTileOp, name="pto.trowexpand"):
    """dst[i,j] = src[i,0] (docs/reference/tiles.md, "Broadcasts and reductions")."""


class TColExpandAddOp(BinaryTileOp, name="pto.tcolexpandadd", roles=Role.LANEWISE):
    """dst[i,j] = src0[i,j] + src1[0,j] (docs/reference/tiles.md, "Broadcasts and reductions")."""


class TColExpandSubOp(BinaryTileOp, name="pto.tcolexpandsub", roles=Role.LANEWISE):
    """dst[i,j] = src0[i,j] − src1[0,j] (docs/reference/tiles.md, "Broadcasts and reductions")."""


class TColExpandMulOp(BinaryTileOp, name="pto.tcolexpandmul", roles=Role.LANEWISE):
    """dst[i,j] = src0[i,j] · src1[0,j] (docs/reference/tiles.md, "Broadcasts and reductions")."""


class TColExpandDivOp(BinaryTileOp, name="pto.tcolexpanddiv", roles=Role.LANEWISE):
    """dst[i,j] = src0[i,j] / src1[0,j] (docs/reference/tiles.md, "Broadcasts and reductions")."""

    precisionType = opt_attr_def(enum("div_precision", default="default"))


class TColExpandMaxOp(BinaryTileOp, name="pto.tcolexpandmax", roles=Role.LANEWISE):
    """dst[i,j] = max(src0[i,j], src1[0,j]) (docs/reference/tiles.md, "Broadcasts and reductions")."""


class TColExpandMinOp(BinaryTileOp, name="pto.tcolexpandmin", roles=Role.LANEWISE):
    """dst[i,j] = min(src0[i,j], src1[0,j]) (docs/reference/tiles.md, "Broadcasts and reductions")."""


class TColExpandExpdifOp(BinaryTileOp, name="pto.tcolexpandexpdif", roles=Role.LANEWISE):
    """dst[i,j] = e^(src0[i,j] − src1[0,j]) (docs/reference/tiles.md, "Broadcasts and reductions")."""


class TRowExpandAddOp(BinaryScratchTileOp, name="pto.trowexpandadd", scratch_unused=("a5",), roles=Role.LANEWISE):
    """dst[i,j] = src0[i,j] + b, b = the value of row i of src1 (docs/reference/tiles.md, "Broadcasts and
    reductions").
    """


class TRowExpandSubOp(BinaryScratchTileOp, name="pto.trowexpandsub", scratch_unused=("a5",), roles=Role.LANEWISE):
    """dst[i,j] = src0[i,j] − b, b = the value of row i of src1 (docs/reference/tiles.md, "Broadcasts and
    reductions").
    """


class TRowExpandMulOp(BinaryScratchTileOp, name="pto.trowexpandmul", scratch_unused=("a5",), roles=Role.LANEWISE):
    """dst[i,j] = src0[i,j] · b, b = the value of row i of src1 (docs/reference/tiles.md, "Broadcasts and
    reductions").
    """


class TRowExpandDivOp(BinaryScratchTileOp, name="pto.trowexpanddiv", scratch_unused=("a5",), roles=Role.LANEWISE):
    """dst[i,j] = src0[i,j] / b, b = the value of row i of src1 (docs/reference/tiles.md, "Broadcasts and
    reductions").
    """

    precisionType = opt_attr_def(enum("div_precision", default="default"))


class TRowExpandMaxOp(BinaryScratchTileOp, name="pto.trowexpandmax", scratch_unused=("a5",), roles=Role.LANEWISE):
    """dst[i,j] = max(src0[i,j], b), b = the value of row i of src1 (docs/reference/tiles.md, "Broadcasts and
    reductions").
    """


class TRowExpandMinOp(BinaryScratchTileOp, name="pto.trowexpandmin", scratch_unused=("a5",), roles=Role.LANEWISE):
    """dst[i,j] = min(src0[i,j], b), b = the value of row i of src1 (docs/reference/tiles.md, "Broadcasts and
    reductions").
    """


class TRowExpandExpdifOp(BinaryScratchTileOp, name="pto.trowexpandexpdif", scratch_unused=("a5",), roles=Role.LANEWISE):
    """dst[i,j] = e^(src0[i,j] − b), b = the value of row i of src1 (docs/reference/tiles.md, "Broadcasts and
    reductions").
    """
