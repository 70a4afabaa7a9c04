"""A row or column vector broadcast over a tile and combined with it.

Source: docs/reference/tiles.md, "Broadcasts and reductions".
"""

from __future__ import annotations

from xdsl.irdl import opt_attr_def

from ..core.facts.form_cases import IDLE_SCRATCH_ON_A5
from ..core.kinds import enum
from ..core.roles import Role
from ..core.rows import rows
from .forms import BinaryScratchTileOp, LanewiseBinaryTileOp, UnaryTileOp


class TColExpandOp(UnaryTileOp, name="pto.tcolexpand"):
    """dst[i,j] = src[0,j]."""


class TRowExpandOp(UnaryTileOp, name="pto.trowexpand"):
    """dst[i,j] = src[i,0]."""


rows(__name__, LanewiseBinaryTileOp)("""
TColExpandAddOp pto.tcolexpandadd: dst[i,j] = src0[i,j] + src1[0,j].
TColExpandSubOp pto.tcolexpandsub: dst[i,j] = src0[i,j] − src1[0,j].
TColExpandMulOp pto.tcolexpandmul: dst[i,j] = src0[i,j] · src1[0,j].
TColExpandMaxOp pto.tcolexpandmax: dst[i,j] = max(src0[i,j], src1[0,j]).
TColExpandMinOp pto.tcolexpandmin: dst[i,j] = min(src0[i,j], src1[0,j]).
TColExpandExpdifOp pto.tcolexpandexpdif: dst[i,j] = e^(src0[i,j] − src1[0,j]).
""")


class TColExpandDivOp(LanewiseBinaryTileOp, name="pto.tcolexpanddiv"):
    """dst[i,j] = src0[i,j] / src1[0,j]."""

    precisionType = opt_attr_def(enum("div_precision", default="default"))


class RowExpansionOp(BinaryScratchTileOp, forms=(IDLE_SCRATCH_ON_A5,), roles=Role.LANEWISE):
    """A tile and a column vector, whose value of row i is b."""


rows(__name__, RowExpansionOp)("""
TRowExpandAddOp pto.trowexpandadd: dst[i,j] = src0[i,j] + b, b = the value of row i of src1.
TRowExpandSubOp pto.trowexpandsub: dst[i,j] = src0[i,j] − b, b = the value of row i of src1.
TRowExpandMulOp pto.trowexpandmul: dst[i,j] = src0[i,j] · b, b = the value of row i of src1.
TRowExpandMaxOp pto.trowexpandmax: dst[i,j] = max(src0[i,j], b), b = the value of row i of src1.
TRowExpandMinOp pto.trowexpandmin: dst[i,j] = min(src0[i,j], b), b = the value of row i of src1.
TRowExpandExpdifOp pto.trowexpandexpdif: dst[i,j] = e^(src0[i,j] − b), b = the value of row i of src1.
""")


class TRowExpandDivOp(RowExpansionOp, name="pto.trowexpanddiv"):
    """dst[i,j] = src0[i,j] / b, b = the value of row i of src1."""

    precisionType = opt_attr_def(enum("div_precision", default="default"))
