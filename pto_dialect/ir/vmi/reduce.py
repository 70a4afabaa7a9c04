"""Reductions of logical vectors, whole or per group, and histograms."""

from __future__ import annotations

from xdsl.irdl import attr_def, operand_def, opt_attr_def

from ..core.kinds import I64_ATTR, UNIT, VMI_MASK, VMI_VREG
from ..core.words import VMI_PMODE
from .forms import VmiReductionOp, VmiVectorOp


class VmiReduceAddfOp(VmiReductionOp):
    """Sum of the active lanes, floats (docs/reference/vectors.md, "Reductions and rearrangement", "Logical
    vectors").
    """

    name = "pto.vmi.reduce_addf"
    reassoc = opt_attr_def(UNIT)


class VmiReduceAddiOp(VmiReductionOp):
    """Sum of the active lanes, integers (docs/reference/vectors.md, "Reductions and rearrangement", "Logical
    vectors").
    """

    name = "pto.vmi.reduce_addi"


class VmiReduceMaxfOp(VmiReductionOp):
    """Maximum of the active lanes, floats (docs/reference/vectors.md, "Reductions and rearrangement", "Logical
    vectors").
    """

    name = "pto.vmi.reduce_maxf"


class VmiReduceMaxiOp(VmiReductionOp):
    """Maximum of the active lanes, integers (docs/reference/vectors.md, "Reductions and rearrangement", "Logical
    vectors").
    """

    name = "pto.vmi.reduce_maxi"


class VmiReduceMinfOp(VmiReductionOp):
    """Minimum of the active lanes, floats (docs/reference/vectors.md, "Reductions and rearrangement", "Logical
    vectors").
    """

    name = "pto.vmi.reduce_minf"


class VmiReduceMiniOp(VmiReductionOp):
    """Minimum of the active lanes, integers (docs/reference/vectors.md, "Reductions and rearrangement", "Logical
    vectors").
    """

    name = "pto.vmi.reduce_mini"


class VmiVCaddOp(VmiReductionOp):
    """Sum of the active lanes, per group if given (docs/reference/vectors.md, "Reductions and rearrangement", "Logical
    vectors").
    """

    name = "pto.vmi.vcadd"
    group = opt_attr_def(I64_ATTR)
    pmode = opt_attr_def(VMI_PMODE)
    reassoc = opt_attr_def(UNIT)


class VmiVCmaxOp(VmiReductionOp):
    """Maximum of the active lanes, per group if given (docs/reference/vectors.md, "Reductions and rearrangement",
    "Logical vectors").
    """

    name = "pto.vmi.vcmax"
    group = opt_attr_def(I64_ATTR)
    pmode = opt_attr_def(VMI_PMODE)


class VmiVCminOp(VmiReductionOp):
    """Minimum of the active lanes, per group if given (docs/reference/vectors.md, "Reductions and rearrangement",
    "Logical vectors").
    """

    name = "pto.vmi.vcmin"
    group = opt_attr_def(I64_ATTR)
    pmode = opt_attr_def(VMI_PMODE)


class VmiGroupReductionOp(VmiVectorOp):
    """One result per group."""

    source = operand_def(VMI_VREG)
    mask = operand_def(VMI_MASK)
    num_groups = attr_def(I64_ATTR)


class VmiGroupReduceAddfOp(VmiGroupReductionOp):
    """Sum of the active lanes of each group, floats (docs/reference/vectors.md, "Reductions and rearrangement",
    "Logical vectors").
    """

    name = "pto.vmi.group_reduce_addf"
    reassoc = opt_attr_def(UNIT)


class VmiGroupReduceAddiOp(VmiGroupReductionOp):
    """Sum of the active lanes of each group, integers (docs/reference/vectors.md, "Reductions and rearrangement",
    "Logical vectors").
    """

    name = "pto.vmi.group_reduce_addi"


class VmiGroupReduceMaxfOp(VmiGroupReductionOp):
    """Maximum of the active lanes of each group, floats (docs/reference/vectors.md, "Reductions and rearrangement",
    "Logical vectors").
    """

    name = "pto.vmi.group_reduce_maxf"


class VmiGroupReduceMaxiOp(VmiGroupReductionOp):
    """Maximum of the active lanes of each group, integers (docs/reference/vectors.md, "Reductions and rearrangement",
    "Logical vectors").
    """

    name = "pto.vmi.group_reduce_maxi"


class VmiGroupReduceMinfOp(VmiGroupReductionOp):
    """Minimum of the active lanes of each group, floats (docs/reference/vectors.md, "Reductions and rearrangement",
    "Logical vectors").
    """

    name = "pto.vmi.group_reduce_minf"


class VmiGroupReduceMiniOp(VmiGroupReductionOp):
    """Minimum of the active lanes of each group, integers (docs/reference/vectors.md, "Reductions and rearrangement",
    "Logical vectors").
    """

    name = "pto.vmi.group_reduce_mini"


class VmiHistogramOp(VmiVectorOp):
    """Counts of bytes in 256 bins, added to ``acc``."""

    acc = source = operand_def(VMI_VREG)
    mask = operand_def(VMI_MASK)


class VmiVChistOp(VmiHistogramOp):
    """Bin b of acc += number of active bytes at most b (docs/reference/vectors.md, "Reductions and rearrangement",
    "Logical vectors").
    """

    name = "pto.vmi.vchist"


class VmiVDhistOp(VmiHistogramOp):
    """Bin b of acc += number of active bytes equal to b (docs/reference/vectors.md, "Reductions and rearrangement",
    "Logical vectors").
    """

    name = "pto.vmi.vdhist"
