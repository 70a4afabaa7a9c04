"""Elementwise arithmetic on vector tiles, over the valid region of ``dst``; integer arithmetic wraps.

Source: docs/reference/tiles.md, "Elementwise".
"""

from __future__ import annotations

from xdsl.irdl import operand_def, opt_attr_def, opt_operand_def

from ..core.base import Shape
from ..core.facts.form_cases import IDLE_SCRATCH_ON_A5, FormCase
from ..core.forms import TileOp
from ..core.kinds import TILE_OR_VIEW, enum
from ..core.roles import Role
from ..core.rows import rows
from .forms import (
    BinaryScratchTileOp,
    BinaryTileOp,
    LanewiseBinaryTileOp,
    LanewiseUnaryTileOp,
    TernaryTileOp,
    UnaryScratchTileOp,
    UnaryTileOp,
)

rows(__name__, LanewiseUnaryTileOp)("""
TAbsOp pto.tabs: dst[i,j] = |src[i,j]|.
TNegOp pto.tneg: dst[i,j] = −src[i,j].
TNotOp pto.tnot: dst[i,j] = bitwise complement of src[i,j].
""")


class TExpOp(LanewiseUnaryTileOp, name="pto.texp"):
    """dst[i,j] = e^src[i,j]."""

    precisionType = opt_attr_def(enum("exp_precision", default="default"))


class TLogOp(LanewiseUnaryTileOp, name="pto.tlog"):
    """dst[i,j] = natural logarithm of src[i,j]."""

    precisionType = opt_attr_def(enum("log_precision", default="default"))


class TSqrtOp(LanewiseUnaryTileOp, name="pto.tsqrt"):
    """dst[i,j] = square root of src[i,j]."""

    precisionType = opt_attr_def(enum("sqrt_precision", default="default"))


class TRecipOp(UnaryTileOp, name="pto.trecip"):
    """dst[i,j] = 1 / src[i,j]."""

    precisionType = opt_attr_def(enum("recip_precision", default="default"))


class TReluOp(LanewiseUnaryTileOp, name="pto.trelu"):
    """dst[i,j] = max(src[i,j], 0)."""


class TRsqrtOp(
    TileOp,
    name="pto.trsqrt",
    reads=("src",),
    writes=("dst", "tmp"),
    text=("src", "tmp", "dst"),
    forms=(IDLE_SCRATCH_ON_A5,),
):
    """dst[i,j] = 1 / square root of src[i,j]."""

    src = operand_def(TILE_OR_VIEW)
    dst = tmp = opt_operand_def(TILE_OR_VIEW)
    precisionType = opt_attr_def(enum("rsqrt_precision", default="default"))


class TCvtOp(UnaryScratchTileOp, name="pto.tcvt", shape=Shape.DPS_INNER, forms=(IDLE_SCRATCH_ON_A5,)):
    """dst[i,j] = src[i,j] converted to the element type of dst, rounded by rmode and saturated by sat_mode
    (docs/reference/tiles.md, "Conversion").
    """

    rmode = opt_attr_def(enum("round_mode", default="RINT"))
    sat_mode = opt_attr_def(enum("saturation_mode"))


class TAddOp(LanewiseBinaryTileOp, name="pto.tadd"):
    """dst[i,j] = src0[i,j] + src1[i,j]."""


rows(__name__, LanewiseBinaryTileOp)("""
TSubOp pto.tsub: dst[i,j] = src0[i,j] − src1[i,j].
TMaxOp pto.tmax: dst[i,j] = max(src0[i,j], src1[i,j]); NaN propagates.
TMinOp pto.tmin: dst[i,j] = min(src0[i,j], src1[i,j]); NaN propagates.
TAndOp pto.tand: dst[i,j] = src0[i,j] & src1[i,j].
TOrOp pto.tor: dst[i,j] = src0[i,j] | src1[i,j].
""")


class TMulOp(LanewiseBinaryTileOp, name="pto.tmul"):
    """dst[i,j] = src0[i,j] · src1[i,j]."""


class TDivOp(LanewiseBinaryTileOp, name="pto.tdiv"):
    """dst[i,j] = src0[i,j] / src1[i,j]; integers truncate toward zero."""

    precisionType = opt_attr_def(enum("div_precision", default="default"))


class TFmodOp(BinaryTileOp, name="pto.tfmod"):
    """dst[i,j] = src0 − trunc(src0 / src1)·src1: remainder with the sign of the dividend."""

    precisionType = opt_attr_def(enum("fmod_precision", default="default"))


class TShlOp(LanewiseBinaryTileOp, name="pto.tshl"):
    """dst[i,j] = src0[i,j] << src1[i,j]."""


class TShrOp(LanewiseBinaryTileOp, name="pto.tshr"):
    """dst[i,j] = src0[i,j] >> src1[i,j], arithmetic unless unsigned."""


class TAddReluOp(BinaryTileOp, name="pto.taddrelu", since="august"):
    """dst[i,j] = max(src0[i,j] + src1[i,j], 0)."""


class TCmpOp(TileOp, name="pto.tcmp", shape=Shape.DPS_INNER, reads=("src0", "src1"), roles=Role.PARTIAL):
    """Packed bits of src0[i,j] cmpMode src1[i,j]: bit j mod 8 of byte j div 8 of row i."""

    src0 = src1 = operand_def(TILE_OR_VIEW)
    cmpMode = opt_attr_def(enum("cmp"))


class TXorOp(BinaryScratchTileOp, name="pto.txor", forms=(IDLE_SCRATCH_ON_A5,)):
    """dst[i,j] = src0[i,j] ^ src1[i,j]."""


class TPreluOp(BinaryScratchTileOp, name="pto.tprelu", forms=(IDLE_SCRATCH_ON_A5,)):
    """dst[i,j] = src0[i,j] > 0 ? src0[i,j] : src0[i,j]·src1[i,j]."""


class TRemOp(
    BinaryScratchTileOp,
    name="pto.trem",
    forms=(
        IDLE_SCRATCH_ON_A5,
        # Sources are converted in place; only the first one is converted back at the end.
        FormCase(targets=("a2a3",), present=("dst",), elements={"src1": ("i32", "si32")}, clobbers=("src1",)),
    ),
):
    """dst[i,j] = src0 − floor(src0 / src1)·src1: remainder with the sign of the divisor."""

    precisionType = opt_attr_def(enum("rem_precision", default="default"))


class TPowOp(
    TileOp,
    name="pto.tpow",
    reads=("base", "exp"),
    writes=("dst", "tmp"),
    text=("base", "exp", "tmp", "dst"),
    forms=(IDLE_SCRATCH_ON_A5,),
    since="august",
):
    """dst[i,j] = base[i,j] raised to exp[i,j]."""

    base = exp = operand_def(TILE_OR_VIEW)
    dst = tmp = opt_operand_def(TILE_OR_VIEW)
    precisionType = opt_attr_def(enum("pow_precision", default="default"))


class TAddcOp(TernaryTileOp, name="pto.taddc"):
    """dst[i,j] = src0[i,j] + src1[i,j] + src2[i,j]."""


class TSubcOp(TernaryTileOp, name="pto.tsubc"):
    """dst[i,j] = src0[i,j] − src1[i,j] + src2[i,j]."""


class TSelOp(
    TileOp, name="pto.tsel", reads=("mask", "src0", "src1"), writes=("tmp", "dst"), forms=(IDLE_SCRATCH_ON_A5,)
):
    """dst[i,j] = bit (i,j) of mask ? src0[i,j] : src1[i,j]."""

    mask = src0 = src1 = operand_def(TILE_OR_VIEW)
    tmp = opt_operand_def(TILE_OR_VIEW)
