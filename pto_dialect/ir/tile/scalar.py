"""Elementwise arithmetic of a vector tile and a scalar, over the valid region of ``dst``."""

from __future__ import annotations

from xdsl.irdl import operand_def, opt_attr_def, opt_operand_def

from ..core.base import Shape
from ..core.kinds import ANY, F32, NUMBER, SIGNLESS, TILE_OR_VIEW, enum
from ..core.roles import Role
from .forms import TileIntegerScalarOp, TileOp, TileScalarOp, TileScalarScratchOp, TileScalarTileOp


class TAddsOp(TileScalarOp, roles=Role.LANEWISE):
    """dst[i,j] = src[i,j] + scalar (docs/reference/tiles.md, "Elementwise")."""

    name = "pto.tadds"


class TSubsOp(TileScalarOp, roles=Role.LANEWISE):
    """dst[i,j] = src[i,j] − scalar (docs/reference/tiles.md, "Elementwise")."""

    name = "pto.tsubs"


class TMaxsOp(TileScalarOp, roles=Role.LANEWISE):
    """dst[i,j] = max(src[i,j], scalar); NaN propagates (docs/reference/tiles.md, "Elementwise")."""

    name = "pto.tmaxs"


class TMinsOp(TileScalarOp, roles=Role.LANEWISE):
    """dst[i,j] = min(src[i,j], scalar); NaN propagates (docs/reference/tiles.md, "Elementwise")."""

    name = "pto.tmins"


class TFmodsOp(TileScalarOp):
    """dst[i,j] = src − trunc(src / scalar)·scalar: remainder with the sign of the dividend
    (docs/reference/tiles.md, "Elementwise").
    """

    name = "pto.tfmods"


class TMulsOp(TileOp, reads=("src0",), roles=Role.LANEWISE):
    """dst[i,j] = src0[i,j] · scalar (docs/reference/tiles.md, "Elementwise")."""

    name = "pto.tmuls"
    src0 = operand_def(TILE_OR_VIEW)
    scalar = operand_def(NUMBER)


class TDivsOp(TileOp, reads=("src", "scalar"), defaults=(("precisionType", "#pto<div_precision default>"),)):
    """dst[i,j] = src[i,j] / scalar, or scalar / src[i,j] when the scalar is written first
    (docs/reference/tiles.md, "Elementwise").
    """

    name = "pto.tdivs"
    src = scalar = operand_def(ANY)
    precisionType = opt_attr_def(enum("div_precision"))


class TAxpyOp(TileOp, reads=("src", "dst"), in_place=("dst",)):
    """dst[i,j] += scalar · src[i,j]; dst is read and written (docs/reference/tiles.md, "Elementwise")."""

    name = "pto.taxpy"
    src = operand_def(TILE_OR_VIEW)
    scalar = operand_def(NUMBER)


class TLreluOp(TileOp, reads=("src",), roles=Role.LANEWISE):
    """dst[i,j] = src[i,j] > 0 ? src[i,j] : src[i,j]·slope (docs/reference/tiles.md, "Elementwise")."""

    name = "pto.tlrelu"
    src = operand_def(TILE_OR_VIEW)
    slope = operand_def(F32)


class TCmpsOp(
    TileOp, shape=Shape.DPS_INNER, reads=("src",), defaults=(("cmpMode", "#pto<cmp eq>"),), roles=Role.PARTIAL
):
    """Packed bits of src[i,j] cmpMode scalar (docs/reference/tiles.md, "Elementwise")."""

    name = "pto.tcmps"
    src = operand_def(TILE_OR_VIEW)
    scalar = operand_def(NUMBER)
    cmpMode = opt_attr_def(enum("cmp"))


class TExpandsOp(TileOp):
    """dst[i,j] = scalar (docs/reference/tiles.md, "Elementwise")."""

    name = "pto.texpands"
    scalar = operand_def(NUMBER)


class TRemsOp(TileScalarScratchOp):
    """dst[i,j] = src − floor(src / scalar)·scalar: remainder with the sign of the divisor
    (docs/reference/tiles.md, "Elementwise").
    """

    name = "pto.trems"


class TPowsOp(
    TileOp,
    reads=("src",),
    writes=("dst", "tmp"),
    text=("src", "scalar", "tmp", "dst"),
    defaults=(("precisionType", "#pto<pow_precision default>"),),
    since="august",
):
    """dst[i,j] = src[i,j] raised to scalar (docs/reference/tiles.md, "Elementwise")."""

    name = "pto.tpows"
    src = operand_def(TILE_OR_VIEW)
    scalar = operand_def(NUMBER)
    dst = tmp = opt_operand_def(TILE_OR_VIEW)
    precisionType = opt_attr_def(enum("pow_precision"))


class TAndsOp(TileIntegerScalarOp):
    """dst[i,j] = src[i,j] & scalar (docs/reference/tiles.md, "Elementwise")."""

    name = "pto.tands"


class TOrsOp(TileIntegerScalarOp):
    """dst[i,j] = src[i,j] | scalar (docs/reference/tiles.md, "Elementwise")."""

    name = "pto.tors"


class TShlsOp(TileIntegerScalarOp):
    """dst[i,j] = src[i,j] << scalar (docs/reference/tiles.md, "Elementwise")."""

    name = "pto.tshls"


class TShrsOp(TileIntegerScalarOp):
    """dst[i,j] = src[i,j] >> scalar, arithmetic unless unsigned (docs/reference/tiles.md, "Elementwise")."""

    name = "pto.tshrs"


class TXorsOp(TileOp, reads=("src",), writes=("tmp", "dst"), scratch_unused=("a5",)):
    """dst[i,j] = src[i,j] ^ scalar (docs/reference/tiles.md, "Elementwise")."""

    name = "pto.txors"
    src = operand_def(TILE_OR_VIEW)
    scalar = operand_def(SIGNLESS)
    tmp = opt_operand_def(TILE_OR_VIEW)


class TAddscOp(TileScalarTileOp):
    """dst[i,j] = src0[i,j] + scalar + src1[i,j] (docs/reference/tiles.md, "Elementwise")."""

    name = "pto.taddsc"


class TSubscOp(TileScalarTileOp):
    """dst[i,j] = src0[i,j] − scalar + src1[i,j] (docs/reference/tiles.md, "Elementwise")."""

    name = "pto.tsubsc"


class TSelsOp(TileOp, reads=("mask", "src"), writes=("tmp", "dst"), scratch_unused=("a5",)):
    """dst[i,j] = bit (i,j) of mask ? src[i,j] : scalar (docs/reference/tiles.md, "Elementwise")."""

    name = "pto.tsels"
    mask = src = operand_def(TILE_OR_VIEW)
    tmp = opt_operand_def(TILE_OR_VIEW)
    scalar = operand_def(NUMBER)
