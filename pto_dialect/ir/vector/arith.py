"""Lane-wise arithmetic on vector registers; inactive lanes of the result are 0."""

from __future__ import annotations

from xdsl.irdl import attr_def, operand_def, result_def

from ..core.base import Shape
from ..core.facts.unexecuted import CONVERTED_LANES
from ..core.kinds import ANY, MASK, VREG
from ..core.words import EVEN_ODD, ROUND
from .forms import LanewiseOp, MaskedBinaryOp, MaskedRegisterOp, MaskedScalarOp, MaskedUnaryOp, RegisterOp


class VAbsOp(MaskedUnaryOp, name="pto.vabs"):
    """lane i = |input[i]| (docs/reference/vectors.md, "Arithmetic")."""


class VNegOp(MaskedUnaryOp, name="pto.vneg"):
    """lane i = −input[i] (docs/reference/vectors.md, "Arithmetic")."""


class VReluOp(MaskedUnaryOp, name="pto.vrelu"):
    """lane i = max(input[i], 0) (docs/reference/vectors.md, "Arithmetic")."""


class VExpOp(MaskedUnaryOp, name="pto.vexp"):
    """lane i = e^input[i] (docs/reference/vectors.md, "Arithmetic")."""


class VLnOp(MaskedUnaryOp, name="pto.vln"):
    """lane i = natural logarithm of input[i] (docs/reference/vectors.md, "Arithmetic")."""


class VSqrtOp(MaskedUnaryOp, name="pto.vsqrt"):
    """lane i = square root of input[i] (docs/reference/vectors.md, "Arithmetic")."""


class VNotOp(MaskedUnaryOp, name="pto.vnot"):
    """lane i = bitwise complement of input[i] (docs/reference/vectors.md, "Arithmetic")."""


class VAddOp(MaskedBinaryOp, name="pto.vadd"):
    """lane i = lhs[i] + rhs[i] (docs/reference/vectors.md, "Arithmetic")."""


class VSubOp(MaskedBinaryOp, name="pto.vsub"):
    """lane i = lhs[i] − rhs[i] (docs/reference/vectors.md, "Arithmetic")."""


class VMulOp(MaskedBinaryOp, name="pto.vmul"):
    """lane i = lhs[i] · rhs[i] (docs/reference/vectors.md, "Arithmetic")."""


class VDivOp(MaskedBinaryOp, name="pto.vdiv"):
    """lane i = lhs[i] / rhs[i] (docs/reference/vectors.md, "Arithmetic")."""


class VMaxOp(MaskedBinaryOp, name="pto.vmax"):
    """lane i = max(lhs[i], rhs[i]); NaN propagates (docs/reference/vectors.md, "Arithmetic")."""


class VMinOp(MaskedBinaryOp, name="pto.vmin"):
    """lane i = min(lhs[i], rhs[i]); NaN propagates (docs/reference/vectors.md, "Arithmetic")."""


class VAndOp(MaskedBinaryOp, name="pto.vand"):
    """lane i = lhs[i] & rhs[i] (docs/reference/vectors.md, "Arithmetic")."""


class VOrOp(MaskedBinaryOp, name="pto.vor"):
    """lane i = lhs[i] | rhs[i] (docs/reference/vectors.md, "Arithmetic")."""


class VXorOp(MaskedBinaryOp, name="pto.vxor"):
    """lane i = lhs[i] ^ rhs[i] (docs/reference/vectors.md, "Arithmetic")."""


class VShlOp(MaskedBinaryOp, name="pto.vshl"):
    """lane i = lhs[i] << rhs[i] (docs/reference/vectors.md, "Arithmetic")."""


class VShrOp(MaskedBinaryOp, name="pto.vshr"):
    """lane i = lhs[i] >> rhs[i], arithmetic unless unsigned (docs/reference/vectors.md, "Arithmetic")."""


class VPreluOp(MaskedBinaryOp, name="pto.vprelu"):
    """lane i = lhs[i] > 0 ? lhs[i] : lhs[i]·rhs[i] (docs/reference/vectors.md, "Arithmetic")."""


class VAddsOp(MaskedScalarOp, name="pto.vadds"):
    """lane i = input[i] + scalar (docs/reference/vectors.md, "Arithmetic")."""


class VMulsOp(MaskedScalarOp, name="pto.vmuls"):
    """lane i = input[i] · scalar (docs/reference/vectors.md, "Arithmetic")."""


class VMaxsOp(MaskedScalarOp, name="pto.vmaxs"):
    """lane i = max(input[i], scalar) (docs/reference/vectors.md, "Arithmetic")."""


class VMinsOp(MaskedScalarOp, name="pto.vmins"):
    """lane i = min(input[i], scalar) (docs/reference/vectors.md, "Arithmetic")."""


class VLreluOp(MaskedScalarOp, name="pto.vlrelu"):
    """lane i = input[i] > 0 ? input[i] : input[i]·scalar (docs/reference/vectors.md, "Arithmetic")."""


class VShlsOp(MaskedScalarOp, name="pto.vshls"):
    """lane i = input[i] << scalar (docs/reference/vectors.md, "Arithmetic")."""


class VShrsOp(MaskedScalarOp, name="pto.vshrs"):
    """lane i = input[i] >> scalar, arithmetic unless unsigned (docs/reference/vectors.md, "Arithmetic")."""


class MultiplyAddOp(MaskedRegisterOp):
    """Two factors, an addend and a mask."""

    acc = lhs = rhs = operand_def(VREG)


class VMulaOp(MultiplyAddOp, name="pto.vmula"):
    """lane i = acc[i] + lhs[i]·rhs[i] with one rounding (docs/reference/vectors.md, "Arithmetic")."""


class VMaddOp(MultiplyAddOp, name="pto.vmadd", since="august"):
    """lane i = lhs[i]·acc[i] + rhs[i] with one rounding (docs/reference/vectors.md, "Arithmetic")."""


class VAxpyOp(MaskedRegisterOp, name="pto.vaxpy"):
    """lane i = alpha·src0[i] + src1[i] with one rounding (docs/reference/vectors.md, "Arithmetic")."""

    src0 = src1 = operand_def(VREG)
    alpha = operand_def(ANY)


class VMullOp(LanewiseOp, name="pto.vmull"):
    """Low and high words of the double-width products (docs/reference/vectors.md, "Arithmetic")."""

    lhs = rhs = operand_def(VREG)
    mask = operand_def(MASK)
    low = high = result_def(VREG)


class CarryOp(MaskedRegisterOp):
    """Integer sum or difference with a carry per lane."""

    lhs = rhs = operand_def(VREG)
    result = result_def(VREG)
    carry = result_def(MASK)


class VAddcOp(CarryOp, name="pto.vaddc"):
    """result = lhs + rhs; carry where the sum overflows (docs/reference/vectors.md, "Arithmetic")."""


class VSubcOp(CarryOp, name="pto.vsubc"):
    """result = lhs − rhs; carry where nothing is borrowed (docs/reference/vectors.md, "Arithmetic")."""


class CarryChainOp(RegisterOp):
    """As the plain form, with the carry of the lower word."""

    lhs = rhs = operand_def(VREG)
    carry_in = mask = operand_def(MASK)
    result = result_def(VREG)
    carry = result_def(MASK)


class VAddcsOp(CarryChainOp, name="pto.vaddcs"):
    """result = lhs + rhs + carry_in; carry where the sum overflows (docs/reference/vectors.md, "Arithmetic")."""


class VSubcsOp(CarryChainOp, name="pto.vsubcs"):
    """result = lhs − rhs − (1 − carry_in); carry where nothing is borrowed (docs/reference/vectors.md,
    "Arithmetic").
    """


class FusedConversionOp(RegisterOp, unexecuted=CONVERTED_LANES):
    """Arithmetic and conversion to a narrower type in one step."""

    lhs = rhs = operand_def(VREG)


class VAddreluconvOp(FusedConversionOp, name="pto.vaddreluconv"):
    """lane i = max(lhs[i] + rhs[i], 0) in the result type (docs/reference/vectors.md, "Arithmetic")."""


class VMulconvOp(FusedConversionOp, name="pto.vmulconv"):
    """lane i = lhs[i]·rhs[i] in the result type (docs/reference/vectors.md, "Arithmetic")."""


class VExpdifOp(MaskedRegisterOp, name="pto.vexpdif", shape=Shape.FLAT_TOKEN):
    """lane i = e^(input − max) in f32, of the even or odd lanes of a 16-bit input
    (docs/reference/vectors.md, "Arithmetic").
    """

    input = max = operand_def(VREG)
    part = attr_def(EVEN_ODD)


class VMulscvtOp(MaskedRegisterOp, name="pto.vmulscvt", shape=Shape.FLAT_TOKEN, since="august"):
    """Even or odd lanes = input[i]·scalar rounded to f16 (docs/reference/vectors.md, "Arithmetic")."""

    input = operand_def(VREG)
    scalar = operand_def(ANY)
    rnd = attr_def(ROUND)
    part = attr_def(EVEN_ODD)
