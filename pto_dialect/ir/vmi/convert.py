"""Conversion, layout, broadcast and reinterpretation of logical vectors.

Source: docs/reference/vectors.md, "Conversion", "Logical vectors".
"""

from __future__ import annotations

from xdsl.irdl import attr_def, operand_def, opt_attr_def, result_def, var_operand_def, var_result_def

from ..core.base import Effect, Pipe, PtoOp, Shape
from ..core.kinds import ANY, ANY_ATTR, I64_ATTR, INT_OR_FLOAT, VMI_ANY, VMI_VREG, VREG_OR_MASK
from ..core.rows import rows
from ..core.words import ORDER, SATURATE, VMI_PMODE, VMI_ROUND
from .forms import VmiUnaryOp, VmiVectorOp

rows(__name__, VmiUnaryOp)("""
VmiExtfOp pto.vmi.extf: Lanes in a wider float type.
VmiExtsiOp pto.vmi.extsi: Lanes sign-extended.
VmiExtuiOp pto.vmi.extui: Lanes zero-extended.
VmiSitofpOp pto.vmi.sitofp: Signed integers as floats.
VmiBitcastOp pto.vmi.bitcast: The same bits as another element type.
VmiVInterpretCastOp pto.vmi.vinterpret_cast: The same bits as another element type.
VmiEnsureLayoutOp pto.vmi.ensure_layout: The same lanes in another layout.
""")


class VmiFloatConversionOp(VmiVectorOp):
    """Conversion with a rounding letter and saturation."""

    source = operand_def(VMI_VREG)
    rounding = opt_attr_def(VMI_ROUND)
    saturate = opt_attr_def(SATURATE)


rows(__name__, VmiFloatConversionOp)("""
VmiFptosiOp pto.vmi.fptosi: Floats as signed integers, rounded and saturated.
VmiFptouiOp pto.vmi.fptoui: Floats as unsigned integers, rounded and saturated.
VmiTruncfOp pto.vmi.truncf: Floats in a narrower type, rounded and saturated.
""")


class VmiTrunciOp(VmiVectorOp, name="pto.vmi.trunci"):
    """Integers in a narrower type, wrapped or saturated."""

    source = operand_def(VMI_VREG)
    saturate = opt_attr_def(SATURATE)


class VmiVCvtOp(VmiVectorOp, name="pto.vmi.vcvt"):
    """Lanes in the element type of the result, rounded and saturated."""

    source = operand_def(VMI_VREG)
    rounding = opt_attr_def(VMI_ROUND)
    saturate = opt_attr_def(SATURATE)
    pmode = opt_attr_def(VMI_PMODE)


class VmiBroadcastOp(VmiVectorOp, name="pto.vmi.broadcast"):
    """every lane = value."""

    value = operand_def(ANY)


class VmiVBrcOp(VmiVectorOp, name="pto.vmi.vbrc"):
    """Every lane, or every lane of a group, = value."""

    value = operand_def(ANY)
    group = opt_attr_def(I64_ATTR)


class VmiConstantOp(VmiVectorOp, name="pto.vmi.constant", shape=Shape.GENERIC):
    """Constant lanes."""

    value = attr_def(ANY_ATTR)


class VmiGroupBroadcastOp(VmiVectorOp, name="pto.vmi.group_broadcast"):
    """Lane g·S + j = source[g], S lanes per group."""

    source = operand_def(VMI_VREG)
    num_groups = attr_def(I64_ATTR)


class VmiIotaOp(VmiVectorOp, name="pto.vmi.iota"):
    """lane i = base + i, or base − i for order DESC."""

    base = operand_def(INT_OR_FLOAT)
    order = opt_attr_def(ORDER)


class VmiGroupIotaOp(VmiVectorOp, name="pto.vmi.group_iota"):
    """Lane j of each group = base + j, or base − j for order DESC."""

    base = operand_def(INT_OR_FLOAT)
    order = opt_attr_def(ORDER)
    group = attr_def(I64_ATTR)


class VmiVCiOp(VmiVectorOp, name="pto.vmi.vci"):
    """Lane i (of each group) = base + i, or base − i for order DESC."""

    base = operand_def(INT_OR_FLOAT)
    order = opt_attr_def(ORDER)
    group = opt_attr_def(I64_ATTR)


class VmiPackOp(PtoOp, name="pto.vmi.pack", shape=Shape.GENERIC, pipe=Pipe.V, effect=Effect.PURE, since="august"):
    """Logical value from its physical registers or masks."""

    parts = var_operand_def(VREG_OR_MASK)
    result = result_def(VMI_ANY)


class VmiUnpackOp(PtoOp, name="pto.vmi.unpack", shape=Shape.GENERIC, pipe=Pipe.V, effect=Effect.PURE, since="august"):
    """Physical registers or masks of a logical value."""

    source = operand_def(VMI_ANY)
    parts = var_result_def(VREG_OR_MASK)
