"""Conversion, layout, broadcast and reinterpretation of logical vectors."""

from __future__ import annotations

from xdsl.irdl import attr_def, operand_def, opt_attr_def, result_def, var_operand_def, var_result_def

from ..core.base import Effect, Pipe, PtoOp, Shape
from ..core.kinds import ANY, ANY_ATTR, I64_ATTR, INT_OR_FLOAT, VMI_ANY, VMI_VREG, VREG_OR_MASK
from ..core.words import ORDER, SATURATE, VMI_PMODE, VMI_ROUND
from .forms import VmiUnaryOp, VmiVectorOp


class VmiExtfOp(VmiUnaryOp):
    """Lanes in a wider float type (docs/reference/vectors.md, "Conversion", "Logical vectors")."""

    name = "pto.vmi.extf"


class VmiExtsiOp(VmiUnaryOp):
    """Lanes sign-extended (docs/reference/vectors.md, "Conversion", "Logical vectors")."""

    name = "pto.vmi.extsi"


class VmiExtuiOp(VmiUnaryOp):
    """Lanes zero-extended (docs/reference/vectors.md, "Conversion", "Logical vectors")."""

    name = "pto.vmi.extui"


class VmiSitofpOp(VmiUnaryOp):
    """Signed integers as floats (docs/reference/vectors.md, "Conversion", "Logical vectors")."""

    name = "pto.vmi.sitofp"


class VmiFloatConversionOp(VmiVectorOp):
    """Conversion with a rounding letter and saturation."""

    source = operand_def(VMI_VREG)
    rounding = opt_attr_def(VMI_ROUND)
    saturate = opt_attr_def(SATURATE)


class VmiFptosiOp(VmiFloatConversionOp):
    """Floats as signed integers, rounded and saturated (docs/reference/vectors.md, "Conversion", "Logical vectors")."""

    name = "pto.vmi.fptosi"


class VmiFptouiOp(VmiFloatConversionOp):
    """Floats as unsigned integers, rounded and saturated (docs/reference/vectors.md, "Conversion", "Logical
    vectors").
    """

    name = "pto.vmi.fptoui"


class VmiTruncfOp(VmiFloatConversionOp):
    """Floats in a narrower type, rounded and saturated (docs/reference/vectors.md, "Conversion", "Logical vectors")."""

    name = "pto.vmi.truncf"


class VmiTrunciOp(VmiVectorOp):
    """Integers in a narrower type, wrapped or saturated (docs/reference/vectors.md, "Conversion", "Logical
    vectors").
    """

    name = "pto.vmi.trunci"
    source = operand_def(VMI_VREG)
    saturate = opt_attr_def(SATURATE)


class VmiVCvtOp(VmiVectorOp):
    """Lanes in the element type of the result, rounded and saturated (docs/reference/vectors.md, "Conversion", "Logical
    vectors").
    """

    name = "pto.vmi.vcvt"
    source = operand_def(VMI_VREG)
    rounding = opt_attr_def(VMI_ROUND)
    saturate = opt_attr_def(SATURATE)
    pmode = opt_attr_def(VMI_PMODE)


class VmiBitcastOp(VmiUnaryOp):
    """The same bits as another element type (docs/reference/vectors.md, "Conversion", "Logical vectors")."""

    name = "pto.vmi.bitcast"


class VmiVInterpretCastOp(VmiUnaryOp):
    """The same bits as another element type (docs/reference/vectors.md, "Conversion", "Logical vectors")."""

    name = "pto.vmi.vinterpret_cast"


class VmiEnsureLayoutOp(VmiUnaryOp):
    """The same lanes in another layout (docs/reference/vectors.md, "Conversion", "Logical vectors")."""

    name = "pto.vmi.ensure_layout"


class VmiBroadcastOp(VmiVectorOp):
    """every lane = value (docs/reference/vectors.md, "Conversion", "Logical vectors")."""

    name = "pto.vmi.broadcast"
    value = operand_def(ANY)


class VmiVBrcOp(VmiVectorOp):
    """Every lane, or every lane of a group, = value (docs/reference/vectors.md, "Conversion", "Logical vectors")."""

    name = "pto.vmi.vbrc"
    value = operand_def(ANY)
    group = opt_attr_def(I64_ATTR)


class VmiConstantOp(VmiVectorOp, shape=Shape.GENERIC):
    """Constant lanes (docs/reference/vectors.md, "Conversion", "Logical vectors")."""

    name = "pto.vmi.constant"
    value = attr_def(ANY_ATTR)


class VmiGroupBroadcastOp(VmiVectorOp):
    """Lane g·S + j = source[g], S lanes per group (docs/reference/vectors.md, "Conversion", "Logical vectors")."""

    name = "pto.vmi.group_broadcast"
    source = operand_def(VMI_VREG)
    num_groups = attr_def(I64_ATTR)


class VmiIotaOp(VmiVectorOp):
    """lane i = base + i, or base − i for order DESC (docs/reference/vectors.md, "Conversion", "Logical vectors")."""

    name = "pto.vmi.iota"
    base = operand_def(INT_OR_FLOAT)
    order = opt_attr_def(ORDER)


class VmiGroupIotaOp(VmiVectorOp):
    """Lane j of each group = base + j, or base − j for order DESC (docs/reference/vectors.md, "Conversion", "Logical
    vectors").
    """

    name = "pto.vmi.group_iota"
    base = operand_def(INT_OR_FLOAT)
    order = opt_attr_def(ORDER)
    group = attr_def(I64_ATTR)


class VmiVCiOp(VmiVectorOp):
    """Lane i (of each group) = base + i, or base − i for order DESC (docs/reference/vectors.md, "Conversion", "Logical
    vectors").
    """

    name = "pto.vmi.vci"
    base = operand_def(INT_OR_FLOAT)
    order = opt_attr_def(ORDER)
    group = opt_attr_def(I64_ATTR)


class VmiPackOp(PtoOp, shape=Shape.GENERIC, pipe=Pipe.V, effect=Effect.PURE, since="august"):
    """Logical value from its physical registers or masks (docs/reference/vectors.md, "Conversion", "Logical
    vectors").
    """

    name = "pto.vmi.pack"
    parts = var_operand_def(VREG_OR_MASK)
    result = result_def(VMI_ANY)


class VmiUnpackOp(PtoOp, shape=Shape.GENERIC, pipe=Pipe.V, effect=Effect.PURE, since="august"):
    """Physical registers or masks of a logical value (docs/reference/vectors.md, "Conversion", "Logical vectors")."""

    name = "pto.vmi.unpack"
    source = operand_def(VMI_ANY)
    parts = var_result_def(VREG_OR_MASK)
