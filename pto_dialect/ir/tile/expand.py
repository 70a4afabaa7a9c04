"""A row or column vector broadcast over a tile and combined with it.

Source: docs/reference/tiles.md, "Broadcasts and reductions".
"""

from __future__ import annotations

from xdsl.irdl import opt_attr_def

from ..core.facts.form_cases import IDLE_SCRATCH_ON_A5
from ..core.kinds import enum
from ..core.roles import Role
from .forms import BinaryScratchTileOp, LanewiseBinaryTileOp, UnaryTileOp


class TColExpandOp(UnaryTileOp, name="pto.tcolexpand"):
    """dst[i,j] = src[0,j]."""


class TRowExpandOp(UnaryTileOp, name="pto.trowexpand"):
    """dst[i,j] = src[i,0]."""


class TColExpandAddOp(LanewiseBinaryTileOp, name="pto.tcolexpandadd"):
    """dst[i,j] = src0[i,j] + src1[0,j]."""


class TColExpandSubOp(LanewiseBinaryTileOp, name="pto.tcolexpandsub"):
    """dst[i,j] = src0[i,j] − src1[0,j]."""


class TColExpandMulOp(LanewiseBinaryTileOp, name="pto.tcolexpandmul"):
    """dst[i,j] = src0[i,j] · src1[0,j]."""


class TColExpandDivOp(LanewiseBinaryTileOp, name="pto.tcolexpanddiv"):
    """dst[i,j] = src0[i,j] / src1[0,j]."""

    precisionType = opt_attr_def(enum("div_precision", default="default"))


class TColExpandMaxOp(LanewiseBinaryTileOp, name="pto.tcolexpandmax"):
    """dst[i,j] = max(src0[i,j], src1[0,j])."""


class TColExpandMinOp(LanewiseBinaryTileOp, name="pto.tcolexpandmin"):
    """dst[i,j] = min(src0[i,j], src1[0,j])."""


class TColExpandExpdifOp(LanewiseBinaryTileOp, name="pto.tcolexpandexpdif"):
    """dst[i,j] = e^(src0[i,j] − src1[0,j])."""


class RowExpansionOp(BinaryScratchTileOp, forms=(IDLE_SCRATCH_ON_A5,), roles=Role.LANEWISE):
    """A tile and a column vector, whose value of row i is b."""


class TRowExpandAddOp(RowExpansionOp, name="pto.trowexpandadd"):
    """dst[i,j] = src0[i,j] + b, b = the value of row i of src1."""


class TRowExpandSubOp(RowExpansionOp, name="pto.trowexpandsub"):
    """dst[i,j] = src0[i,j] − b, b = the value of row i of src1."""


class TRowExpandMulOp(RowExpansionOp, name="pto.trowexpandmul"):
    """dst[i,j] = src0[i,j] · b, b = the value of row i of src1."""


class TRowExpandDivOp(RowExpansionOp, name="pto.trowexpanddiv"):
    """dst[i,j] = src0[i,j] / b, b = the value of row i of src1."""

    precisionType = opt_attr_def(enum("div_precision", default="default"))


class TRowExpandMaxOp(RowExpansionOp, name="pto.trowexpandmax"):
    """dst[i,j] = max(src0[i,j], b), b = the value of row i of src1."""


class TRowExpandMinOp(RowExpansionOp, name="pto.trowexpandmin"):
    """dst[i,j] = min(src0[i,j], b), b = the value of row i of src1."""


class TRowExpandExpdifOp(RowExpansionOp, name="pto.trowexpandexpdif"):
    """dst[i,j] = e^(src0[i,j] − b), b = the value of row i of src1."""
