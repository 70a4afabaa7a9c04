"""Logical-vector arithmetic under masks; ``pmode`` says what inactive lanes become."""

from __future__ import annotations

from xdsl.irdl import operand_def, opt_attr_def, result_def, var_operand_def

from ..core.base import Shape
from ..core.kinds import FLOAT, I16, VMI_ANY, VMI_MASK, VMI_VREG
from ..core.words import VMI_PMODE
from .forms import (
    VmiLanewiseOp,
    VmiMaskedBinaryOp,
    VmiMaskedBitwiseOp,
    VmiMaskedOp,
    VmiMaskedScalarOp,
    VmiMaskedUnaryOp,
    VmiVectorOp,
)


class VmiVAbsOp(VmiMaskedUnaryOp):
    """lane i = |source[i]| (docs/reference/vectors.md, "Arithmetic", "Logical vectors")."""

    name = "pto.vmi.vabs"


class VmiVNegOp(VmiMaskedUnaryOp):
    """lane i = −source[i] (docs/reference/vectors.md, "Arithmetic", "Logical vectors")."""

    name = "pto.vmi.vneg"


class VmiVExpOp(VmiMaskedUnaryOp):
    """lane i = e^source[i] (docs/reference/vectors.md, "Arithmetic", "Logical vectors")."""

    name = "pto.vmi.vexp"


class VmiVLnOp(VmiMaskedUnaryOp):
    """lane i = natural logarithm of source[i] (docs/reference/vectors.md, "Arithmetic", "Logical vectors")."""

    name = "pto.vmi.vln"


class VmiVSqrtOp(VmiMaskedUnaryOp):
    """lane i = square root of source[i] (docs/reference/vectors.md, "Arithmetic", "Logical vectors")."""

    name = "pto.vmi.vsqrt"


class VmiVReluOp(VmiMaskedUnaryOp):
    """lane i = max(source[i], 0) (docs/reference/vectors.md, "Arithmetic", "Logical vectors")."""

    name = "pto.vmi.vrelu"


class VmiVNotOp(VmiLanewiseOp):
    """lane i = bitwise complement of source[i]; vector or predicate (docs/reference/vectors.md, "Arithmetic", "Logical
    vectors").
    """

    name = "pto.vmi.vnot"
    source = operand_def(VMI_ANY)
    mask = var_operand_def(VMI_MASK)
    pmode = opt_attr_def(VMI_PMODE)
    result = result_def(VMI_ANY)


class VmiVAddOp(VmiMaskedBinaryOp):
    """lane i = lhs[i] + rhs[i] (docs/reference/vectors.md, "Arithmetic", "Logical vectors")."""

    name = "pto.vmi.vadd"


class VmiVSubOp(VmiMaskedBinaryOp):
    """lane i = lhs[i] − rhs[i] (docs/reference/vectors.md, "Arithmetic", "Logical vectors")."""

    name = "pto.vmi.vsub"


class VmiVMulOp(VmiMaskedBinaryOp):
    """lane i = lhs[i] · rhs[i] (docs/reference/vectors.md, "Arithmetic", "Logical vectors")."""

    name = "pto.vmi.vmul"


class VmiVDivOp(VmiMaskedBinaryOp):
    """lane i = lhs[i] / rhs[i] (docs/reference/vectors.md, "Arithmetic", "Logical vectors")."""

    name = "pto.vmi.vdiv"


class VmiVMaxOp(VmiMaskedBinaryOp):
    """lane i = max(lhs[i], rhs[i]) (docs/reference/vectors.md, "Arithmetic", "Logical vectors")."""

    name = "pto.vmi.vmax"


class VmiVMinOp(VmiMaskedBinaryOp):
    """lane i = min(lhs[i], rhs[i]) (docs/reference/vectors.md, "Arithmetic", "Logical vectors")."""

    name = "pto.vmi.vmin"


class VmiVShlOp(VmiMaskedBinaryOp):
    """lane i = lhs[i] << rhs[i] (docs/reference/vectors.md, "Arithmetic", "Logical vectors")."""

    name = "pto.vmi.vshl"


class VmiVShrOp(VmiMaskedBinaryOp):
    """lane i = lhs[i] >> rhs[i], logical unless signed (docs/reference/vectors.md, "Arithmetic", "Logical vectors")."""

    name = "pto.vmi.vshr"


class VmiVAndOp(VmiMaskedBitwiseOp):
    """lane i = lhs[i] & rhs[i]; vectors or predicates (docs/reference/vectors.md, "Arithmetic", "Logical vectors")."""

    name = "pto.vmi.vand"


class VmiVOrOp(VmiMaskedBitwiseOp):
    """lane i = lhs[i] | rhs[i]; vectors or predicates (docs/reference/vectors.md, "Arithmetic", "Logical vectors")."""

    name = "pto.vmi.vor"


class VmiVXorOp(VmiMaskedBitwiseOp):
    """lane i = lhs[i] ^ rhs[i]; vectors or predicates (docs/reference/vectors.md, "Arithmetic", "Logical vectors")."""

    name = "pto.vmi.vxor"


class VmiVAddsOp(VmiMaskedScalarOp):
    """lane i = src[i] + scalar (docs/reference/vectors.md, "Arithmetic", "Logical vectors")."""

    name = "pto.vmi.vadds"


class VmiVMulsOp(VmiMaskedScalarOp):
    """lane i = src[i] · scalar (docs/reference/vectors.md, "Arithmetic", "Logical vectors")."""

    name = "pto.vmi.vmuls"


class VmiVMaxsOp(VmiMaskedScalarOp):
    """lane i = max(src[i], scalar) (docs/reference/vectors.md, "Arithmetic", "Logical vectors")."""

    name = "pto.vmi.vmaxs"


class VmiVMinsOp(VmiMaskedScalarOp):
    """lane i = min(src[i], scalar) (docs/reference/vectors.md, "Arithmetic", "Logical vectors")."""

    name = "pto.vmi.vmins"


class VmiMaskedShiftOp(VmiMaskedOp):
    """Logical vector shifted by one distance."""

    src = operand_def(VMI_VREG)
    scalar = operand_def(I16)


class VmiVShlsOp(VmiMaskedShiftOp):
    """lane i = src[i] << scalar (docs/reference/vectors.md, "Arithmetic", "Logical vectors")."""

    name = "pto.vmi.vshls"


class VmiVShrsOp(VmiMaskedShiftOp):
    """lane i = src[i] >> scalar, logical unless signed (docs/reference/vectors.md, "Arithmetic", "Logical vectors")."""

    name = "pto.vmi.vshrs"


class VmiVMulaOp(VmiVectorOp):
    """lane i = acc[i] + lhs[i]·rhs[i] with one rounding (docs/reference/vectors.md, "Arithmetic", "Logical
    vectors").
    """

    name = "pto.vmi.vmula"
    acc = lhs = rhs = operand_def(VMI_VREG)
    mask = var_operand_def(VMI_MASK)
    pmode = opt_attr_def(VMI_PMODE)


class VmiVMullOp(VmiLanewiseOp):
    """Low and high words of the double-width products (docs/reference/vectors.md, "Arithmetic", "Logical vectors")."""

    name = "pto.vmi.vmull"
    a = b = operand_def(VMI_VREG)
    mask = operand_def(VMI_MASK)
    pmode = opt_attr_def(VMI_PMODE)
    low = high = result_def(VMI_VREG)


class VmiVAxpyOp(VmiMaskedOp, shape=Shape.GENERIC):
    """lane i = acc[i] + alpha·x[i] (docs/reference/vectors.md, "Arithmetic", "Logical vectors")."""

    name = "pto.vmi.vaxpy"
    x = acc = operand_def(VMI_VREG)
    alpha = operand_def(FLOAT)


class VmiVLreluOp(VmiMaskedOp, shape=Shape.GENERIC):
    """lane i = x[i] > 0 ? x[i] : slope·x[i] (docs/reference/vectors.md, "Arithmetic", "Logical vectors")."""

    name = "pto.vmi.vlrelu"
    x = operand_def(VMI_VREG)
    slope = operand_def(FLOAT)


class VmiVPreluOp(VmiMaskedOp):
    """lane i = x[i] > 0 ? x[i] : alpha[i]·x[i] (docs/reference/vectors.md, "Arithmetic", "Logical vectors")."""

    name = "pto.vmi.vprelu"
    x = alpha = operand_def(VMI_VREG)


class VmiVExpdifOp(VmiMaskedOp):
    """lane i = e^(x[i] − max[i]) (docs/reference/vectors.md, "Arithmetic", "Logical vectors")."""

    name = "pto.vmi.vexpdif"
    x = max = operand_def(VMI_VREG)


class VmiVAddcOp(VmiVectorOp):
    """result = lhs + rhs; carry where the sum overflows (docs/reference/vectors.md, "Arithmetic", "Logical
    vectors").
    """

    name = "pto.vmi.vaddc"
    lhs = rhs = operand_def(VMI_VREG)
    mask = operand_def(VMI_MASK)
    result = result_def(VMI_VREG)
    carry = result_def(VMI_MASK)


class VmiVAddcsOp(VmiVectorOp):
    """result = lhs + rhs + carry_in; carry where the sum overflows (docs/reference/vectors.md, "Arithmetic", "Logical
    vectors").
    """

    name = "pto.vmi.vaddcs"
    lhs = rhs = operand_def(VMI_VREG)
    carry_in = mask = operand_def(VMI_MASK)
    result = result_def(VMI_VREG)
    carry = result_def(VMI_MASK)
