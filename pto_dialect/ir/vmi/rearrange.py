"""Lanes of logical vectors moved.

Source: docs/reference/vectors.md, "Reductions and rearrangement", "Logical vectors".
"""

from __future__ import annotations

from xdsl.irdl import attr_def, operand_def, opt_attr_def, result_def, var_operand_def, var_result_def

from ..core.base import Effect, Pipe, PtoOp, Shape
from ..core.kinds import ARRAY, VMI_MASK, VMI_VREG
from ..core.words import VMI_PMODE
from .forms import VmiLanewiseOp, VmiVectorOp


class VmiCompressOp(VmiVectorOp, name="pto.vmi.compress"):
    """The active lanes moved to the front, in order."""

    source = operand_def(VMI_VREG)
    mask = operand_def(VMI_MASK)


class VmiShuffleOp(VmiVectorOp, name="pto.vmi.shuffle", shape=Shape.INDEXED, tokens=("indices",)):
    """lane i = source[indices[i]]."""

    source = operand_def(VMI_VREG)
    indices = attr_def(ARRAY)


class VmiVSelrOp(VmiVectorOp, name="pto.vmi.vselr"):
    """lane i = source[index[i]]."""

    source = index = operand_def(VMI_VREG)


class VmiInterleaveOp(VmiLanewiseOp):
    """Two logical vectors to two."""

    lhs = rhs = operand_def(VMI_VREG)
    mask = operand_def(VMI_MASK)
    pmode = opt_attr_def(VMI_PMODE)
    low = high = result_def(VMI_VREG)


class VmiVIntlvOp(VmiInterleaveOp, name="pto.vmi.vintlv"):
    """low, high = the lanes of lhs and rhs alternating."""


class VmiVDintlvOp(VmiInterleaveOp, name="pto.vmi.vdintlv"):
    """low = even lanes, high = odd lanes of lhs followed by rhs."""


class VmiChannelSplitOp(
    PtoOp, name="pto.vmi.channel_split", shape=Shape.GENERIC, pipe=Pipe.V, effect=Effect.PURE, since="august"
):
    """One vector per channel of an interleaved vector."""

    source = operand_def(VMI_VREG)
    parts = var_result_def(VMI_VREG)


class VmiChannelMergeOp(VmiVectorOp, name="pto.vmi.channel_merge", shape=Shape.GENERIC):
    """Vector whose lanes alternate between the inputs."""

    inputs = var_operand_def(VMI_VREG)
