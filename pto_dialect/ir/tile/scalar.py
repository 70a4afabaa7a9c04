"""Elementwise arithmetic of a vector tile and a scalar, over the valid region of ``dst``.

Source: docs/reference/tiles.md, "Elementwise".
"""

from __future__ import annotations

from xdsl.irdl import operand_def, opt_attr_def, opt_operand_def

from ..core.base import Shape
from ..core.facts.form_cases import FILL_OF_L1, IDLE_SCRATCH_ON_A5
from ..core.forms import TileOp
from ..core.kinds import ANY, F32, NUMBER, SIGNLESS, TILE_OR_VIEW, enum
from ..core.roles import Role
from ..core.rows import rows
from .forms import TileIntegerScalarOp, TileScalarOp, TileScalarScratchOp, TileScalarTileOp

rows(__name__, TileScalarOp, roles=Role.LANEWISE)("""
TAddsOp pto.tadds: dst[i,j] = src[i,j] + scalar.
TSubsOp pto.tsubs: dst[i,j] = src[i,j] − scalar.
TMaxsOp pto.tmaxs: dst[i,j] = max(src[i,j], scalar); NaN propagates.
TMinsOp pto.tmins: dst[i,j] = min(src[i,j], scalar); NaN propagates.
""")


class TFmodsOp(TileScalarOp, name="pto.tfmods"):
    """dst[i,j] = src − trunc(src / scalar)·scalar: remainder with the sign of the dividend."""


class TMulsOp(TileOp, name="pto.tmuls", reads=("src0",), roles=Role.LANEWISE):
    """dst[i,j] = src0[i,j] · scalar."""

    src0 = operand_def(TILE_OR_VIEW)
    scalar = operand_def(NUMBER)


class TDivsOp(TileOp, name="pto.tdivs", reads=("src", "scalar")):
    """dst[i,j] = src[i,j] / scalar, or scalar / src[i,j] when the scalar is written first."""

    src = scalar = operand_def(ANY)
    precisionType = opt_attr_def(enum("div_precision", default="default"))


class TAxpyOp(TileOp, name="pto.taxpy", reads=("src", "dst"), in_place=("dst",)):
    """dst[i,j] += scalar · src[i,j]; dst is read and written."""

    src = operand_def(TILE_OR_VIEW)
    scalar = operand_def(NUMBER)


class TLreluOp(TileOp, name="pto.tlrelu", reads=("src",), roles=Role.LANEWISE):
    """dst[i,j] = src[i,j] > 0 ? src[i,j] : src[i,j]·slope."""

    src = operand_def(TILE_OR_VIEW)
    slope = operand_def(F32)


class TCmpsOp(TileOp, name="pto.tcmps", shape=Shape.DPS_INNER, reads=("src",), roles=Role.PARTIAL):
    """Packed bits of src[i,j] cmpMode scalar."""

    src = operand_def(TILE_OR_VIEW)
    scalar = operand_def(NUMBER)
    cmpMode = opt_attr_def(enum("cmp", default="eq"))


class TExpandsOp(TileOp, name="pto.texpands", forms=(FILL_OF_L1,)):
    """dst[i,j] = scalar."""

    scalar = operand_def(NUMBER)


class TRemsOp(TileScalarScratchOp, name="pto.trems", forms=(IDLE_SCRATCH_ON_A5,)):
    """dst[i,j] = src − floor(src / scalar)·scalar: remainder with the sign of the divisor."""


class TPowsOp(
    TileOp,
    name="pto.tpows",
    reads=("src",),
    writes=("dst", "tmp"),
    text=("src", "scalar", "tmp", "dst"),
    forms=(IDLE_SCRATCH_ON_A5,),
    since="august",
):
    """dst[i,j] = src[i,j] raised to scalar."""

    src = operand_def(TILE_OR_VIEW)
    scalar = operand_def(NUMBER)
    dst = tmp = opt_operand_def(TILE_OR_VIEW)
    precisionType = opt_attr_def(enum("pow_precision", default="default"))


rows(__name__, TileIntegerScalarOp)("""
TAndsOp pto.tands: dst[i,j] = src[i,j] & scalar.
TOrsOp pto.tors: dst[i,j] = src[i,j] | scalar.
TShlsOp pto.tshls: dst[i,j] = src[i,j] << scalar.
TShrsOp pto.tshrs: dst[i,j] = src[i,j] >> scalar, arithmetic unless unsigned.
""")


class TXorsOp(TileOp, name="pto.txors", reads=("src",), writes=("tmp", "dst"), forms=(IDLE_SCRATCH_ON_A5,)):
    """dst[i,j] = src[i,j] ^ scalar."""

    src = operand_def(TILE_OR_VIEW)
    scalar = operand_def(SIGNLESS)
    tmp = opt_operand_def(TILE_OR_VIEW)


class TAddscOp(TileScalarTileOp, name="pto.taddsc"):
    """dst[i,j] = src0[i,j] + scalar + src1[i,j]."""


class TSubscOp(TileScalarTileOp, name="pto.tsubsc"):
    """dst[i,j] = src0[i,j] − scalar + src1[i,j]."""


class TSelsOp(TileOp, name="pto.tsels", reads=("mask", "src"), writes=("tmp", "dst"), forms=(IDLE_SCRATCH_ON_A5,)):
    """dst[i,j] = bit (i,j) of mask ? src[i,j] : scalar."""

    mask = src = operand_def(TILE_OR_VIEW)
    tmp = opt_operand_def(TILE_OR_VIEW)
    scalar = operand_def(NUMBER)
