"""Reductions of the active lanes of a vector register, and histograms.

Source: docs/reference/vectors.md, "Reductions and rearrangement".
"""

from __future__ import annotations

from xdsl.irdl import operand_def, result_def

from ..core.kinds import I32, MASK, MASK_B8, VREG
from ..core.rows import rows
from .forms import LanewiseOp, MaskedUnaryOp, RegisterOp


class VCaddOp(MaskedUnaryOp, name="pto.vcadd"):
    """lane 0 = sum of the active lanes."""


class VCmaxOp(MaskedUnaryOp, name="pto.vcmax"):
    """lane 0 = maximum of the active lanes, lane 1 = number of its first lane."""


class VCminOp(MaskedUnaryOp, name="pto.vcmin"):
    """lane 0 = minimum of the active lanes, lane 1 = number of its first lane."""


rows(__name__, MaskedUnaryOp)("""
VCgaddOp pto.vcgadd: lane g = sum of the active lanes of 32-byte group g.
VCgmaxOp pto.vcgmax: lane g = maximum of the active lanes of 32-byte group g.
VCgminOp pto.vcgmin: lane g = minimum of the active lanes of 32-byte group g.
VCpaddOp pto.vcpadd: lane i = sum of the active lanes 2i and 2i + 1.
""")


class BroadcastExtremumOp(LanewiseOp, since="august"):
    """Extremum and the lanes that hold it."""

    input = operand_def(VREG)
    mask = operand_def(MASK)
    value = result_def(VREG)
    predicate = result_def(MASK)


class VCbmaxOp(BroadcastExtremumOp, name="pto.vcbmax"):
    """value = maximum of the active lanes, predicate = active lanes equal to it."""


class VCbminOp(BroadcastExtremumOp, name="pto.vcbmin"):
    """value = minimum of the active lanes, predicate = active lanes equal to it."""


class HistogramOp(RegisterOp, since="august"):
    """Counts of bytes in one half of 256 bins, added to ``acc``."""

    acc = source = operand_def(VREG)
    mask = operand_def(MASK_B8)
    bin = operand_def(I32)


class Chistv2Op(HistogramOp, name="pto.chistv2"):
    """Bin b of acc += number of active bytes at most b."""


class Dhistv2Op(HistogramOp, name="pto.dhistv2"):
    """Bin b of acc += number of active bytes equal to b."""
