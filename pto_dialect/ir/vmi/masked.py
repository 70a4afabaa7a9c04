"""Logical-vector arithmetic under masks; ``pmode`` states the result of inactive lanes.

Source: docs/reference/vectors.md, "Arithmetic", "Logical vectors".
"""

from __future__ import annotations

from xdsl.irdl import operand_def, opt_attr_def, result_def

from ..core.base import Shape
from ..core.kinds import FLOAT, I16, VMI_ANY, VMI_MASK, VMI_VREG
from ..core.words import VMI_PMODE
from .forms import (
    VmiBitwiseOp,
    VmiLanewiseOp,
    VmiMaskableOp,
    VmiMaskedBinaryOp,
    VmiMaskedBitwiseOp,
    VmiMaskedOp,
    VmiMaskedScalarOp,
    VmiMaskedUnaryOp,
)


class VmiVAbsOp(VmiMaskedUnaryOp, name="pto.vmi.vabs"):
    """lane i = |source[i]|."""


class VmiVNegOp(VmiMaskedUnaryOp, name="pto.vmi.vneg"):
    """lane i = −source[i]."""


class VmiVExpOp(VmiMaskedUnaryOp, name="pto.vmi.vexp"):
    """lane i = e^source[i]."""


class VmiVLnOp(VmiMaskedUnaryOp, name="pto.vmi.vln"):
    """lane i = natural logarithm of source[i]."""


class VmiVSqrtOp(VmiMaskedUnaryOp, name="pto.vmi.vsqrt"):
    """lane i = square root of source[i]."""


class VmiVReluOp(VmiMaskedUnaryOp, name="pto.vmi.vrelu"):
    """lane i = max(source[i], 0)."""


class VmiVNotOp(VmiBitwiseOp, name="pto.vmi.vnot"):
    """lane i = bitwise complement of source[i]; vector or predicate."""

    source = operand_def(VMI_ANY)


class VmiVAddOp(VmiMaskedBinaryOp, name="pto.vmi.vadd"):
    """lane i = lhs[i] + rhs[i]."""


class VmiVSubOp(VmiMaskedBinaryOp, name="pto.vmi.vsub"):
    """lane i = lhs[i] − rhs[i]."""


class VmiVMulOp(VmiMaskedBinaryOp, name="pto.vmi.vmul"):
    """lane i = lhs[i] · rhs[i]."""


class VmiVDivOp(VmiMaskedBinaryOp, name="pto.vmi.vdiv"):
    """lane i = lhs[i] / rhs[i]."""


class VmiVMaxOp(VmiMaskedBinaryOp, name="pto.vmi.vmax"):
    """lane i = max(lhs[i], rhs[i])."""


class VmiVMinOp(VmiMaskedBinaryOp, name="pto.vmi.vmin"):
    """lane i = min(lhs[i], rhs[i])."""


class VmiVShlOp(VmiMaskedBinaryOp, name="pto.vmi.vshl"):
    """lane i = lhs[i] << rhs[i]."""


class VmiVShrOp(VmiMaskedBinaryOp, name="pto.vmi.vshr"):
    """lane i = lhs[i] >> rhs[i], logical unless signed."""


class VmiVAndOp(VmiMaskedBitwiseOp, name="pto.vmi.vand"):
    """lane i = lhs[i] & rhs[i]; vectors or predicates."""


class VmiVOrOp(VmiMaskedBitwiseOp, name="pto.vmi.vor"):
    """lane i = lhs[i] | rhs[i]; vectors or predicates."""


class VmiVXorOp(VmiMaskedBitwiseOp, name="pto.vmi.vxor"):
    """lane i = lhs[i] ^ rhs[i]; vectors or predicates."""


class VmiVAddsOp(VmiMaskedScalarOp, name="pto.vmi.vadds"):
    """lane i = src[i] + scalar."""


class VmiVMulsOp(VmiMaskedScalarOp, name="pto.vmi.vmuls"):
    """lane i = src[i] · scalar."""


class VmiVMaxsOp(VmiMaskedScalarOp, name="pto.vmi.vmaxs"):
    """lane i = max(src[i], scalar)."""


class VmiVMinsOp(VmiMaskedScalarOp, name="pto.vmi.vmins"):
    """lane i = min(src[i], scalar)."""


class VmiMaskedShiftOp(VmiMaskedOp):
    """Logical vector shifted by one distance."""

    src = operand_def(VMI_VREG)
    scalar = operand_def(I16)


class VmiVShlsOp(VmiMaskedShiftOp, name="pto.vmi.vshls"):
    """lane i = src[i] << scalar."""


class VmiVShrsOp(VmiMaskedShiftOp, name="pto.vmi.vshrs"):
    """lane i = src[i] >> scalar, logical unless signed."""


class VmiVMulaOp(VmiMaskableOp, name="pto.vmi.vmula"):
    """lane i = acc[i] + lhs[i]·rhs[i] with one rounding."""

    acc = lhs = rhs = operand_def(VMI_VREG)


class VmiVMullOp(VmiLanewiseOp, name="pto.vmi.vmull"):
    """Low and high words of the double-width products."""

    a = b = operand_def(VMI_VREG)
    mask = operand_def(VMI_MASK)
    pmode = opt_attr_def(VMI_PMODE)
    low = high = result_def(VMI_VREG)


class VmiVAxpyOp(VmiMaskedOp, name="pto.vmi.vaxpy", shape=Shape.GENERIC):
    """lane i = acc[i] + alpha·x[i]."""

    x = acc = operand_def(VMI_VREG)
    alpha = operand_def(FLOAT)


class VmiVLreluOp(VmiMaskedOp, name="pto.vmi.vlrelu", shape=Shape.GENERIC):
    """lane i = x[i] > 0 ? x[i] : slope·x[i]."""

    x = operand_def(VMI_VREG)
    slope = operand_def(FLOAT)


class VmiVPreluOp(VmiMaskedOp, name="pto.vmi.vprelu"):
    """lane i = x[i] > 0 ? x[i] : alpha[i]·x[i]."""

    x = alpha = operand_def(VMI_VREG)


class VmiVExpdifOp(VmiMaskedOp, name="pto.vmi.vexpdif"):
    """lane i = e^(x[i] − max[i])."""

    x = max = operand_def(VMI_VREG)


class VmiCarryOp(VmiLanewiseOp):
    """Computes a logical vector and the carries, under a mask."""

    mask = operand_def(VMI_MASK)
    result = result_def(VMI_VREG)
    carry = result_def(VMI_MASK)


class VmiVAddcOp(VmiCarryOp, name="pto.vmi.vaddc"):
    """result = lhs + rhs; carry where the sum overflows."""

    lhs = rhs = operand_def(VMI_VREG)


class VmiVAddcsOp(VmiCarryOp, name="pto.vmi.vaddcs"):
    """result = lhs + rhs + carry_in; carry where the sum overflows."""

    lhs = rhs = operand_def(VMI_VREG)
    carry_in = operand_def(VMI_MASK)
