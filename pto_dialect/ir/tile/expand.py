"""A row or column vector broadcast over a tile and combined with it."""

from __future__ import annotations

from xdsl.irdl import opt_attr_def

from ..core.kinds import enum
from ..core.roles import Role
from .forms import BinaryScratchTileOp, BinaryTileOp, UnaryTileOp


class TColExpandOp(UnaryTileOp):
    """dst[i,j] = src[0,j] (docs/reference/tiles.md, "Broadcasts and reductions")."""

    name = "pto.tcolexpand"


class TRowExpandOp(UnaryTileOp):
    """dst[i,j] = src[i,0] (docs/reference/tiles.md, "Broadcasts and reductions")."""

    name = "pto.trowexpand"


class TColExpandAddOp(BinaryTileOp, roles=Role.LANEWISE):
    """dst[i,j] = src0[i,j] + src1[0,j] (docs/reference/tiles.md, "Broadcasts and reductions")."""

    name = "pto.tcolexpandadd"


class TColExpandSubOp(BinaryTileOp, roles=Role.LANEWISE):
    """dst[i,j] = src0[i,j] − src1[0,j] (docs/reference/tiles.md, "Broadcasts and reductions")."""

    name = "pto.tcolexpandsub"


class TColExpandMulOp(BinaryTileOp, roles=Role.LANEWISE):
    """dst[i,j] = src0[i,j] · src1[0,j] (docs/reference/tiles.md, "Broadcasts and reductions")."""

    name = "pto.tcolexpandmul"


class TColExpandDivOp(BinaryTileOp, defaults=(("precisionType", "#pto<div_precision default>"),), roles=Role.LANEWISE):
    """dst[i,j] = src0[i,j] / src1[0,j] (docs/reference/tiles.md, "Broadcasts and reductions")."""

    name = "pto.tcolexpanddiv"
    precisionType = opt_attr_def(enum("div_precision"))


class TColExpandMaxOp(BinaryTileOp, roles=Role.LANEWISE):
    """dst[i,j] = max(src0[i,j], src1[0,j]) (docs/reference/tiles.md, "Broadcasts and reductions")."""

    name = "pto.tcolexpandmax"


class TColExpandMinOp(BinaryTileOp, roles=Role.LANEWISE):
    """dst[i,j] = min(src0[i,j], src1[0,j]) (docs/reference/tiles.md, "Broadcasts and reductions")."""

    name = "pto.tcolexpandmin"


class TColExpandExpdifOp(BinaryTileOp, roles=Role.LANEWISE):
    """dst[i,j] = e^(src0[i,j] − src1[0,j]) (docs/reference/tiles.md, "Broadcasts and reductions")."""

    name = "pto.tcolexpandexpdif"


class TRowExpandAddOp(BinaryScratchTileOp, scratch_unused=("a5",), roles=Role.LANEWISE):
    """dst[i,j] = src0[i,j] + b, b = the value of row i of src1 (docs/reference/tiles.md, "Broadcasts and
    reductions").
    """

    name = "pto.trowexpandadd"


class TRowExpandSubOp(BinaryScratchTileOp, scratch_unused=("a5",), roles=Role.LANEWISE):
    """dst[i,j] = src0[i,j] − b, b = the value of row i of src1 (docs/reference/tiles.md, "Broadcasts and
    reductions").
    """

    name = "pto.trowexpandsub"


class TRowExpandMulOp(BinaryScratchTileOp, scratch_unused=("a5",), roles=Role.LANEWISE):
    """dst[i,j] = src0[i,j] · b, b = the value of row i of src1 (docs/reference/tiles.md, "Broadcasts and
    reductions").
    """

    name = "pto.trowexpandmul"


class TRowExpandDivOp(
    BinaryScratchTileOp,
    defaults=(("precisionType", "#pto<div_precision default>"),),
    scratch_unused=("a5",),
    roles=Role.LANEWISE,
):
    """dst[i,j] = src0[i,j] / b, b = the value of row i of src1 (docs/reference/tiles.md, "Broadcasts and
    reductions").
    """

    name = "pto.trowexpanddiv"
    precisionType = opt_attr_def(enum("div_precision"))


class TRowExpandMaxOp(BinaryScratchTileOp, scratch_unused=("a5",), roles=Role.LANEWISE):
    """dst[i,j] = max(src0[i,j], b), b = the value of row i of src1 (docs/reference/tiles.md, "Broadcasts and
    reductions").
    """

    name = "pto.trowexpandmax"


class TRowExpandMinOp(BinaryScratchTileOp, scratch_unused=("a5",), roles=Role.LANEWISE):
    """dst[i,j] = min(src0[i,j], b), b = the value of row i of src1 (docs/reference/tiles.md, "Broadcasts and
    reductions").
    """

    name = "pto.trowexpandmin"


class TRowExpandExpdifOp(BinaryScratchTileOp, scratch_unused=("a5",), roles=Role.LANEWISE):
    """dst[i,j] = e^(src0[i,j] − b), b = the value of row i of src1 (docs/reference/tiles.md, "Broadcasts and
    reductions").
    """

    name = "pto.trowexpandexpdif"
