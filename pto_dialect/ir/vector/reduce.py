"""Reductions of the active lanes of a vector register, and histograms."""

from __future__ import annotations

from xdsl.irdl import operand_def, result_def

from ..core.kinds import I32, MASK, MASK_B8, VREG
from .forms import LanewiseOp, MaskedUnaryOp, RegisterOp


class VCaddOp(MaskedUnaryOp):
    """lane 0 = sum of the active lanes (docs/reference/vectors.md, "Reductions and rearrangement")."""

    name = "pto.vcadd"


class VCmaxOp(MaskedUnaryOp):
    """lane 0 = maximum of the active lanes, lane 1 = number of its first lane
    (docs/reference/vectors.md, "Reductions and rearrangement").
    """

    name = "pto.vcmax"


class VCminOp(MaskedUnaryOp):
    """lane 0 = minimum of the active lanes, lane 1 = number of its first lane
    (docs/reference/vectors.md, "Reductions and rearrangement").
    """

    name = "pto.vcmin"


class VCgaddOp(MaskedUnaryOp):
    """lane g = sum of the active lanes of 32-byte group g (docs/reference/vectors.md, "Reductions and
    rearrangement").
    """

    name = "pto.vcgadd"


class VCgmaxOp(MaskedUnaryOp):
    """lane g = maximum of the active lanes of 32-byte group g (docs/reference/vectors.md, "Reductions and
    rearrangement").
    """

    name = "pto.vcgmax"


class VCgminOp(MaskedUnaryOp):
    """lane g = minimum of the active lanes of 32-byte group g (docs/reference/vectors.md, "Reductions and
    rearrangement").
    """

    name = "pto.vcgmin"


class VCpaddOp(MaskedUnaryOp):
    """lane i = sum of the active lanes 2i and 2i + 1 (docs/reference/vectors.md, "Reductions and rearrangement")."""

    name = "pto.vcpadd"


class BroadcastExtremumOp(LanewiseOp, since="august"):
    """Extremum and the lanes where it stands."""

    input = operand_def(VREG)
    mask = operand_def(MASK)
    value = result_def(VREG)
    predicate = result_def(MASK)


class VCbmaxOp(BroadcastExtremumOp):
    """value = maximum of the active lanes, predicate = active lanes equal to it
    (docs/reference/vectors.md, "Reductions and rearrangement").
    """

    name = "pto.vcbmax"


class VCbminOp(BroadcastExtremumOp):
    """value = minimum of the active lanes, predicate = active lanes equal to it
    (docs/reference/vectors.md, "Reductions and rearrangement").
    """

    name = "pto.vcbmin"


class HistogramOp(RegisterOp, since="august"):
    """Counts of bytes in one half of 256 bins, added to ``acc``."""

    acc = source = operand_def(VREG)
    mask = operand_def(MASK_B8)
    bin = operand_def(I32)


class Chistv2Op(HistogramOp):
    """Bin b of acc += number of active bytes at most b (docs/reference/vectors.md, "Reductions and rearrangement")."""

    name = "pto.chistv2"


class Dhistv2Op(HistogramOp):
    """Bin b of acc += number of active bytes equal to b (docs/reference/vectors.md, "Reductions and rearrangement")."""

    name = "pto.dhistv2"
