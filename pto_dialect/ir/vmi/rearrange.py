"""Lanes of logical vectors moved."""

from __future__ import annotations

from xdsl.irdl import attr_def, operand_def, opt_attr_def, result_def, var_operand_def, var_result_def

from ..core.base import Effect, Pipe, PtoOp, Shape
from ..core.kinds import ARRAY, VMI_MASK, VMI_VREG
from ..core.words import VMI_PMODE
from .forms import VmiLanewiseOp, VmiVectorOp


class VmiCompressOp(VmiVectorOp, name="pto.vmi.compress"):
    """The active lanes moved to the front, in order (docs/reference/vectors.md, "Reductions and rearrangement",
    "Logical vectors").
    """

    source = operand_def(VMI_VREG)
    mask = operand_def(VMI_MASK)


class VmiShuffleOp(VmiVectorOp, name="pto.vmi.shuffle", shape=Shape.INDEXED, tokens=("indices",)):
    """lane i = source[indices[i]] (docs/reference/vectors.md, "Reductions and rearrangement", "Logical vectors")."""

    source = operand_def(VMI_VREG)
    indices = attr_def(ARRAY)


class VmiVSelrOp(VmiVectorOp, name="pto.vmi.vselr"):
    """lane i = source[index[i]] (docs/reference/vectors.md, "Reductions and rearrangement", "Logical vectors")."""

    source = index = operand_def(VMI_VREG)


class VmiInterleaveOp(VmiLanewiseOp):
    """Two logical vectors to two."""

    lhs = rhs = operand_def(VMI_VREG)
    mask = operand_def(VMI_MASK)
    pmode = opt_attr_def(VMI_PMODE)
    low = high = result_def(VMI_VREG)


class VmiVIntlvOp(VmiInterleaveOp, name="pto.vmi.vintlv"):
    """low, high = the lanes of lhs and rhs alternating (docs/reference/vectors.md, "Reductions and rearrangement",
    "Logical vectors").
    """


class VmiVDintlvOp(VmiInterleaveOp, name="pto.vmi.vdintlv"):
    """low = even lanes, high = odd lanes of lhs followed by rhs (docs/reference/vectors.md, "Reductions and
    rearrangement", "Logical vectors").
    """


class VmiChannelSplitOp(
    PtoOp, name="pto.vmi.channel_split", shape=Shape.GENERIC, pipe=Pipe.V, effect=Effect.PURE, since="august"
):
    """One vector per channel of an interleaved vector (docs/reference/vectors.md, "Reductions and rearrangement",
    "Logical vectors").
    """

    source = operand_def(VMI_VREG)
    parts = var_result_def(VMI_VREG)


class VmiChannelMergeOp(VmiVectorOp, name="pto.vmi.channel_merge", shape=Shape.GENERIC):
    """Vector whose lanes alternate between the inputs (docs/reference/vectors.md, "Reductions and rearrangement",
    "Logical vectors").
    """

    inputs = var_operand_def(VMI_VREG)
