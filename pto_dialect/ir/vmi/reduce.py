"""Reductions of logical vectors, whole or per group, and histograms.

Source: docs/reference/vectors.md, "Reductions and rearrangement", "Logical vectors".
"""

from __future__ import annotations

from xdsl.irdl import attr_def, operand_def, opt_attr_def

from ..core.kinds import I64_ATTR, UNIT, VMI_MASK, VMI_VREG
from ..core.rows import rows
from ..core.words import VMI_PMODE
from .forms import VmiReductionOp, VmiVectorOp


class VmiReduceAddfOp(VmiReductionOp, name="pto.vmi.reduce_addf"):
    """Sum of the active lanes, floats."""

    reassoc = opt_attr_def(UNIT)


rows(__name__, VmiReductionOp)("""
VmiReduceAddiOp pto.vmi.reduce_addi: Sum of the active lanes, integers.
VmiReduceMaxfOp pto.vmi.reduce_maxf: Maximum of the active lanes, floats.
VmiReduceMaxiOp pto.vmi.reduce_maxi: Maximum of the active lanes, integers.
VmiReduceMinfOp pto.vmi.reduce_minf: Minimum of the active lanes, floats.
VmiReduceMiniOp pto.vmi.reduce_mini: Minimum of the active lanes, integers.
""")


class VmiVCaddOp(VmiReductionOp, name="pto.vmi.vcadd"):
    """Sum of the active lanes, per group if given."""

    group = opt_attr_def(I64_ATTR)
    pmode = opt_attr_def(VMI_PMODE)
    reassoc = opt_attr_def(UNIT)


class VmiVCmaxOp(VmiReductionOp, name="pto.vmi.vcmax"):
    """Maximum of the active lanes, per group if given."""

    group = opt_attr_def(I64_ATTR)
    pmode = opt_attr_def(VMI_PMODE)


class VmiVCminOp(VmiReductionOp, name="pto.vmi.vcmin"):
    """Minimum of the active lanes, per group if given."""

    group = opt_attr_def(I64_ATTR)
    pmode = opt_attr_def(VMI_PMODE)


class VmiGroupReductionOp(VmiVectorOp):
    """One result per group."""

    source = operand_def(VMI_VREG)
    mask = operand_def(VMI_MASK)
    num_groups = attr_def(I64_ATTR)


class VmiGroupReduceAddfOp(VmiGroupReductionOp, name="pto.vmi.group_reduce_addf"):
    """Sum of the active lanes of each group, floats."""

    reassoc = opt_attr_def(UNIT)


rows(__name__, VmiGroupReductionOp)("""
VmiGroupReduceAddiOp pto.vmi.group_reduce_addi: Sum of the active lanes of each group, integers.
VmiGroupReduceMaxfOp pto.vmi.group_reduce_maxf: Maximum of the active lanes of each group, floats.
VmiGroupReduceMaxiOp pto.vmi.group_reduce_maxi: Maximum of the active lanes of each group, integers.
VmiGroupReduceMinfOp pto.vmi.group_reduce_minf: Minimum of the active lanes of each group, floats.
VmiGroupReduceMiniOp pto.vmi.group_reduce_mini: Minimum of the active lanes of each group, integers.
""")


class VmiHistogramOp(VmiVectorOp):
    """Counts of bytes in 256 bins, added to ``acc``."""

    acc = source = operand_def(VMI_VREG)
    mask = operand_def(VMI_MASK)


class VmiVChistOp(VmiHistogramOp, name="pto.vmi.vchist"):
    """Bin b of acc += number of active bytes at most b."""


class VmiVDhistOp(VmiHistogramOp, name="pto.vmi.vdhist"):
    """Bin b of acc += number of active bytes equal to b."""
