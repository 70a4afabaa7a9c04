"""Lane-wise arithmetic on vector registers; inactive lanes of the result are 0."""

from __future__ import annotations

from xdsl.irdl import attr_def, operand_def, result_def

from ..core.base import Shape
from ..core.kinds import ANY, MASK, VREG
from ..core.unexecuted import CONVERTED_LANES
from ..core.words import EVEN_ODD, ROUND
from .forms import LanewiseOp, MaskedBinaryOp, MaskedRegisterOp, MaskedScalarOp, MaskedUnaryOp, RegisterOp


class VAbsOp(MaskedUnaryOp):
    """lane i = |input[i]| (docs/reference/vectors.md, "Arithmetic")."""

    name = "pto.vabs"


class VNegOp(MaskedUnaryOp):
    """lane i = −input[i] (docs/reference/vectors.md, "Arithmetic")."""

    name = "pto.vneg"


class VReluOp(MaskedUnaryOp):
    """lane i = max(input[i], 0) (docs/reference/vectors.md, "Arithmetic")."""

    name = "pto.vrelu"


class VExpOp(MaskedUnaryOp):
    """lane i = e^input[i] (docs/reference/vectors.md, "Arithmetic")."""

    name = "pto.vexp"


class VLnOp(MaskedUnaryOp):
    """lane i = natural logarithm of input[i] (docs/reference/vectors.md, "Arithmetic")."""

    name = "pto.vln"


class VSqrtOp(MaskedUnaryOp):
    """lane i = square root of input[i] (docs/reference/vectors.md, "Arithmetic")."""

    name = "pto.vsqrt"


class VNotOp(MaskedUnaryOp):
    """lane i = bitwise complement of input[i] (docs/reference/vectors.md, "Arithmetic")."""

    name = "pto.vnot"


class VAddOp(MaskedBinaryOp):
    """lane i = lhs[i] + rhs[i] (docs/reference/vectors.md, "Arithmetic")."""

    name = "pto.vadd"


class VSubOp(MaskedBinaryOp):
    """lane i = lhs[i] − rhs[i] (docs/reference/vectors.md, "Arithmetic")."""

    name = "pto.vsub"


class VMulOp(MaskedBinaryOp):
    """lane i = lhs[i] · rhs[i] (docs/reference/vectors.md, "Arithmetic")."""

    name = "pto.vmul"


class VDivOp(MaskedBinaryOp):
    """lane i = lhs[i] / rhs[i] (docs/reference/vectors.md, "Arithmetic")."""

    name = "pto.vdiv"


class VMaxOp(MaskedBinaryOp):
    """lane i = max(lhs[i], rhs[i]); NaN propagates (docs/reference/vectors.md, "Arithmetic")."""

    name = "pto.vmax"


class VMinOp(MaskedBinaryOp):
    """lane i = min(lhs[i], rhs[i]); NaN propagates (docs/reference/vectors.md, "Arithmetic")."""

    name = "pto.vmin"


class VAndOp(MaskedBinaryOp):
    """lane i = lhs[i] & rhs[i] (docs/reference/vectors.md, "Arithmetic")."""

    name = "pto.vand"


class VOrOp(MaskedBinaryOp):
    """lane i = lhs[i] | rhs[i] (docs/reference/vectors.md, "Arithmetic")."""

    name = "pto.vor"


class VXorOp(MaskedBinaryOp):
    """lane i = lhs[i] ^ rhs[i] (docs/reference/vectors.md, "Arithmetic")."""

    name = "pto.vxor"


class VShlOp(MaskedBinaryOp):
    """lane i = lhs[i] << rhs[i] (docs/reference/vectors.md, "Arithmetic")."""

    name = "pto.vshl"


class VShrOp(MaskedBinaryOp):
    """lane i = lhs[i] >> rhs[i], arithmetic unless unsigned (docs/reference/vectors.md, "Arithmetic")."""

    name = "pto.vshr"


class VPreluOp(MaskedBinaryOp):
    """lane i = lhs[i] > 0 ? lhs[i] : lhs[i]·rhs[i] (docs/reference/vectors.md, "Arithmetic")."""

    name = "pto.vprelu"


class VAddsOp(MaskedScalarOp):
    """lane i = input[i] + scalar (docs/reference/vectors.md, "Arithmetic")."""

    name = "pto.vadds"


class VMulsOp(MaskedScalarOp):
    """lane i = input[i] · scalar (docs/reference/vectors.md, "Arithmetic")."""

    name = "pto.vmuls"


class VMaxsOp(MaskedScalarOp):
    """lane i = max(input[i], scalar) (docs/reference/vectors.md, "Arithmetic")."""

    name = "pto.vmaxs"


class VMinsOp(MaskedScalarOp):
    """lane i = min(input[i], scalar) (docs/reference/vectors.md, "Arithmetic")."""

    name = "pto.vmins"


class VLreluOp(MaskedScalarOp):
    """lane i = input[i] > 0 ? input[i] : input[i]·scalar (docs/reference/vectors.md, "Arithmetic")."""

    name = "pto.vlrelu"


class VShlsOp(MaskedScalarOp):
    """lane i = input[i] << scalar (docs/reference/vectors.md, "Arithmetic")."""

    name = "pto.vshls"


class VShrsOp(MaskedScalarOp):
    """lane i = input[i] >> scalar, arithmetic unless unsigned (docs/reference/vectors.md, "Arithmetic")."""

    name = "pto.vshrs"


class MultiplyAddOp(MaskedRegisterOp):
    """Two factors, an addend and a mask."""

    acc = lhs = rhs = operand_def(VREG)


class VMulaOp(MultiplyAddOp):
    """lane i = acc[i] + lhs[i]·rhs[i] with one rounding (docs/reference/vectors.md, "Arithmetic")."""

    name = "pto.vmula"


class VMaddOp(MultiplyAddOp, since="august"):
    """lane i = lhs[i]·acc[i] + rhs[i] with one rounding (docs/reference/vectors.md, "Arithmetic")."""

    name = "pto.vmadd"


class VAxpyOp(MaskedRegisterOp):
    """lane i = alpha·src0[i] + src1[i] with one rounding (docs/reference/vectors.md, "Arithmetic")."""

    name = "pto.vaxpy"
    src0 = src1 = operand_def(VREG)
    alpha = operand_def(ANY)


class VMullOp(LanewiseOp):
    """Low and high words of the double-width products (docs/reference/vectors.md, "Arithmetic")."""

    name = "pto.vmull"
    lhs = rhs = operand_def(VREG)
    mask = operand_def(MASK)
    low = high = result_def(VREG)


class CarryOp(MaskedRegisterOp):
    """Integer sum or difference with a carry per lane."""

    lhs = rhs = operand_def(VREG)
    result = result_def(VREG)
    carry = result_def(MASK)


class VAddcOp(CarryOp):
    """result = lhs + rhs; carry where the sum overflows (docs/reference/vectors.md, "Arithmetic")."""

    name = "pto.vaddc"


class VSubcOp(CarryOp):
    """result = lhs − rhs; carry where nothing is borrowed (docs/reference/vectors.md, "Arithmetic")."""

    name = "pto.vsubc"


class CarryChainOp(RegisterOp):
    """As the plain form, with the carry of the lower word."""

    lhs = rhs = operand_def(VREG)
    carry_in = mask = operand_def(MASK)
    result = result_def(VREG)
    carry = result_def(MASK)


class VAddcsOp(CarryChainOp):
    """result = lhs + rhs + carry_in; carry where the sum overflows (docs/reference/vectors.md, "Arithmetic")."""

    name = "pto.vaddcs"


class VSubcsOp(CarryChainOp):
    """result = lhs − rhs − (1 − carry_in); carry where nothing is borrowed (docs/reference/vectors.md,
    "Arithmetic").
    """

    name = "pto.vsubcs"


class FusedConversionOp(RegisterOp, unexecuted=CONVERTED_LANES):
    """Arithmetic and conversion to a narrower type in one step."""

    lhs = rhs = operand_def(VREG)


class VAddreluconvOp(FusedConversionOp):
    """lane i = max(lhs[i] + rhs[i], 0) in the result type (docs/reference/vectors.md, "Arithmetic")."""

    name = "pto.vaddreluconv"


class VMulconvOp(FusedConversionOp):
    """lane i = lhs[i]·rhs[i] in the result type (docs/reference/vectors.md, "Arithmetic")."""

    name = "pto.vmulconv"


class VExpdifOp(MaskedRegisterOp, shape=Shape.FLAT_TOKEN):
    """lane i = e^(input − max) in f32, of the even or odd lanes of a 16-bit input
    (docs/reference/vectors.md, "Arithmetic").
    """

    name = "pto.vexpdif"
    input = max = operand_def(VREG)
    part = attr_def(EVEN_ODD)


class VMulscvtOp(MaskedRegisterOp, shape=Shape.FLAT_TOKEN, since="august"):
    """Even or odd lanes = input[i]·scalar rounded to f16 (docs/reference/vectors.md, "Arithmetic")."""

    name = "pto.vmulscvt"
    input = operand_def(VREG)
    scalar = operand_def(ANY)
    rnd = attr_def(ROUND)
    part = attr_def(EVEN_ODD)
