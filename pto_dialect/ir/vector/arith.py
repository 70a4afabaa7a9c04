"""Lane-wise arithmetic on vector registers; inactive lanes of the result are 0.

Source: docs/reference/vectors.md, "Arithmetic".
"""

from __future__ import annotations

from xdsl.irdl import attr_def, operand_def, result_def

from ..core.base import Shape
from ..core.facts.unexecuted import CONVERTED_LANES
from ..core.kinds import ANY, MASK, VREG
from ..core.words import EVEN_ODD, ROUND
from .forms import LanewiseOp, MaskedBinaryOp, MaskedRegisterOp, MaskedScalarOp, MaskedUnaryOp, RegisterOp


class VAbsOp(MaskedUnaryOp, name="pto.vabs"):
    """lane i = |input[i]|."""


class VNegOp(MaskedUnaryOp, name="pto.vneg"):
    """lane i = −input[i]."""


class VReluOp(MaskedUnaryOp, name="pto.vrelu"):
    """lane i = max(input[i], 0)."""


class VExpOp(MaskedUnaryOp, name="pto.vexp"):
    """lane i = e^input[i]."""


class VLnOp(MaskedUnaryOp, name="pto.vln"):
    """lane i = natural logarithm of input[i]."""


class VSqrtOp(MaskedUnaryOp, name="pto.vsqrt"):
    """lane i = square root of input[i]."""


class VNotOp(MaskedUnaryOp, name="pto.vnot"):
    """lane i = bitwise complement of input[i]."""


class VAddOp(MaskedBinaryOp, name="pto.vadd"):
    """lane i = lhs[i] + rhs[i]."""


class VSubOp(MaskedBinaryOp, name="pto.vsub"):
    """lane i = lhs[i] − rhs[i]."""


class VMulOp(MaskedBinaryOp, name="pto.vmul"):
    """lane i = lhs[i] · rhs[i]."""


class VDivOp(MaskedBinaryOp, name="pto.vdiv"):
    """lane i = lhs[i] / rhs[i]."""


class VMaxOp(MaskedBinaryOp, name="pto.vmax"):
    """lane i = max(lhs[i], rhs[i]); NaN propagates."""


class VMinOp(MaskedBinaryOp, name="pto.vmin"):
    """lane i = min(lhs[i], rhs[i]); NaN propagates."""


class VAndOp(MaskedBinaryOp, name="pto.vand"):
    """lane i = lhs[i] & rhs[i]."""


class VOrOp(MaskedBinaryOp, name="pto.vor"):
    """lane i = lhs[i] | rhs[i]."""


class VXorOp(MaskedBinaryOp, name="pto.vxor"):
    """lane i = lhs[i] ^ rhs[i]."""


class VShlOp(MaskedBinaryOp, name="pto.vshl"):
    """lane i = lhs[i] << rhs[i]."""


class VShrOp(MaskedBinaryOp, name="pto.vshr"):
    """lane i = lhs[i] >> rhs[i], arithmetic unless unsigned."""


class VPreluOp(MaskedBinaryOp, name="pto.vprelu"):
    """lane i = lhs[i] ≥ 0 ? lhs[i] : lhs[i]·rhs[i]."""


class VAddsOp(MaskedScalarOp, name="pto.vadds"):
    """lane i = input[i] + scalar."""


class VMulsOp(MaskedScalarOp, name="pto.vmuls"):
    """lane i = input[i] · scalar."""


class VMaxsOp(MaskedScalarOp, name="pto.vmaxs"):
    """lane i = max(input[i], scalar)."""


class VMinsOp(MaskedScalarOp, name="pto.vmins"):
    """lane i = min(input[i], scalar)."""


class VLreluOp(MaskedScalarOp, name="pto.vlrelu"):
    """lane i = input[i] ≥ 0 ? input[i] : input[i]·scalar."""


class VShlsOp(MaskedScalarOp, name="pto.vshls"):
    """lane i = input[i] << scalar."""


class VShrsOp(MaskedScalarOp, name="pto.vshrs"):
    """lane i = input[i] >> scalar, arithmetic unless unsigned."""


class MultiplyAddOp(MaskedRegisterOp):
    """Two factors, an addend and a mask."""

    acc = lhs = rhs = operand_def(VREG)


class VMulaOp(MultiplyAddOp, name="pto.vmula"):
    """lane i = acc[i] + lhs[i]·rhs[i] with one rounding."""


class VMaddOp(MultiplyAddOp, name="pto.vmadd", since="august"):
    """lane i = lhs[i]·acc[i] + rhs[i] with one rounding."""


class VAxpyOp(MaskedRegisterOp, name="pto.vaxpy"):
    """lane i = alpha·src0[i] + src1[i] with one rounding."""

    src0 = src1 = operand_def(VREG)
    alpha = operand_def(ANY)


class VMullOp(LanewiseOp, name="pto.vmull"):
    """Low and high words of the double-width products."""

    lhs = rhs = operand_def(VREG)
    mask = operand_def(MASK)
    low = high = result_def(VREG)


class CarryOp(MaskedRegisterOp):
    """Integer sum or difference with a carry per lane."""

    lhs = rhs = operand_def(VREG)
    result = result_def(VREG)
    carry = result_def(MASK)


class VAddcOp(CarryOp, name="pto.vaddc"):
    """result = lhs + rhs; carry where the sum overflows."""


class VSubcOp(CarryOp, name="pto.vsubc"):
    """result = lhs − rhs; carry where nothing is borrowed."""


class CarryChainOp(RegisterOp):
    """As the plain form, with the carry of the lower word."""

    lhs = rhs = operand_def(VREG)
    carry_in = mask = operand_def(MASK)
    result = result_def(VREG)
    carry = result_def(MASK)


class VAddcsOp(CarryChainOp, name="pto.vaddcs"):
    """result = lhs + rhs + carry_in; carry where the sum overflows."""


class VSubcsOp(CarryChainOp, name="pto.vsubcs"):
    """result = lhs − rhs − (1 − carry_in); carry where nothing is borrowed."""


class FusedConversionOp(RegisterOp, unexecuted=CONVERTED_LANES):
    """Arithmetic and conversion to a narrower type in one step."""

    lhs = rhs = operand_def(VREG)


class VAddreluconvOp(FusedConversionOp, name="pto.vaddreluconv"):
    """lane i = max(lhs[i] + rhs[i], 0) in the result type."""


class VMulconvOp(FusedConversionOp, name="pto.vmulconv"):
    """lane i = lhs[i]·rhs[i] in the result type."""


class VExpdifOp(MaskedRegisterOp, name="pto.vexpdif", shape=Shape.FLAT_TOKEN):
    """lane i = e^(input − max) in f32, of the even or odd lanes of a 16-bit input."""

    input = max = operand_def(VREG)
    part = attr_def(EVEN_ODD)


class VMulscvtOp(MaskedRegisterOp, name="pto.vmulscvt", shape=Shape.FLAT_TOKEN, since="august"):
    """Even or odd lanes = input[i]·scalar rounded to f16."""

    input = operand_def(VREG)
    scalar = operand_def(ANY)
    rnd = attr_def(ROUND)
    part = attr_def(EVEN_ODD)
