"""Logical-vector arithmetic under masks; ``pmode`` states the result of inactive lanes.

Source: docs/reference/vectors.md, "Arithmetic", "Logical vectors".
"""

from __future__ import annotations

from xdsl.irdl import operand_def, opt_attr_def, result_def

from ..core.base import Shape
from ..core.kinds import FLOAT, I16, VMI_ANY, VMI_MASK, VMI_VREG
from ..core.rows import rows
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

rows(__name__, VmiMaskedUnaryOp)("""
VmiVAbsOp pto.vmi.vabs: lane i = |source[i]|.
VmiVNegOp pto.vmi.vneg: lane i = −source[i].
VmiVExpOp pto.vmi.vexp: lane i = e^source[i].
VmiVLnOp pto.vmi.vln: lane i = natural logarithm of source[i].
VmiVSqrtOp pto.vmi.vsqrt: lane i = square root of source[i].
VmiVReluOp pto.vmi.vrelu: lane i = max(source[i], 0).
""")


class VmiVNotOp(VmiBitwiseOp, name="pto.vmi.vnot"):
    """lane i = bitwise complement of source[i]; vector or predicate."""

    source = operand_def(VMI_ANY)


rows(__name__, VmiMaskedBinaryOp)("""
VmiVAddOp pto.vmi.vadd: lane i = lhs[i] + rhs[i].
VmiVSubOp pto.vmi.vsub: lane i = lhs[i] − rhs[i].
VmiVMulOp pto.vmi.vmul: lane i = lhs[i] · rhs[i].
VmiVDivOp pto.vmi.vdiv: lane i = lhs[i] / rhs[i].
VmiVMaxOp pto.vmi.vmax: lane i = max(lhs[i], rhs[i]).
VmiVMinOp pto.vmi.vmin: lane i = min(lhs[i], rhs[i]).
VmiVShlOp pto.vmi.vshl: lane i = lhs[i] << rhs[i].
VmiVShrOp pto.vmi.vshr: lane i = lhs[i] >> rhs[i], logical unless signed.
""")


class VmiVAndOp(VmiMaskedBitwiseOp, name="pto.vmi.vand"):
    """lane i = lhs[i] & rhs[i]; vectors or predicates."""


class VmiVOrOp(VmiMaskedBitwiseOp, name="pto.vmi.vor"):
    """lane i = lhs[i] | rhs[i]; vectors or predicates."""


class VmiVXorOp(VmiMaskedBitwiseOp, name="pto.vmi.vxor"):
    """lane i = lhs[i] ^ rhs[i]; vectors or predicates."""


rows(__name__, VmiMaskedScalarOp)("""
VmiVAddsOp pto.vmi.vadds: lane i = src[i] + scalar.
VmiVMulsOp pto.vmi.vmuls: lane i = src[i] · scalar.
VmiVMaxsOp pto.vmi.vmaxs: lane i = max(src[i], scalar).
VmiVMinsOp pto.vmi.vmins: lane i = min(src[i], scalar).
""")


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
    """lane i = x[i] ≥ 0 ? x[i] : slope·x[i]."""

    x = operand_def(VMI_VREG)
    slope = operand_def(FLOAT)


class VmiVPreluOp(VmiMaskedOp, name="pto.vmi.vprelu"):
    """lane i = x[i] ≥ 0 ? x[i] : alpha[i]·x[i]."""

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
