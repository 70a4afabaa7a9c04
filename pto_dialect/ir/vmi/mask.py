"""Logical predicates and comparisons. Source: docs/reference/vectors.md, "Predicates", "Logical vectors"."""

from __future__ import annotations

from xdsl.irdl import attr_def, operand_def, opt_attr_def, result_def

from ..core.base import Shape
from ..core.kinds import ANY, ANY_ATTR, I32, I64_ATTR, INDEX, VMI_MASK, VMI_VREG
from ..core.rows import rows
from ..core.words import COMPARE_INTEGER, COMPARE_ORDERED, PATTERN, VMI_COMPARE_PMODE, VMI_PMODE
from .forms import VmiLanewiseOp, VmiVectorOp


class MaskOp(VmiLanewiseOp):
    """Makes or changes a predicate of logical vectors."""

    result = result_def(VMI_MASK)


class VmiPatternOp(MaskOp, shape=Shape.LEAD_STRING, tokens=("pattern",)):
    """Predicate from a pattern."""

    pattern = attr_def(PATTERN)
    group = opt_attr_def(I64_ATTR)


class VmiPsetOp(VmiPatternOp, name="pto.vmi.pset"):
    """Predicate from a pattern, per group if given."""


class VmiPgeOp(VmiPatternOp, name="pto.vmi.pge"):
    """Predicate from a pattern, per group if given, compare form."""


class VmiPltOp(VmiLanewiseOp, name="pto.vmi.plt"):
    """Lane i is active where i < scalar; scalar_out = what is left for the next predicate."""

    scalar = operand_def(I32)
    mask = result_def(VMI_MASK)
    scalar_out = result_def(I32)


class VmiCreateMaskOp(MaskOp, name="pto.vmi.create_mask"):
    """Lane i is active where i < active_lanes."""

    active_lanes = operand_def(INDEX)


class VmiCreateGroupMaskOp(MaskOp, name="pto.vmi.create_group_mask"):
    """Lane i is active where i mod group_size < active_elems_per_group."""

    active_elems_per_group = operand_def(INDEX)
    num_groups = group_size = attr_def(I64_ATTR)


class VmiConstantMaskOp(MaskOp, name="pto.vmi.constant_mask", shape=Shape.GENERIC):
    """Constant predicate."""

    value = attr_def(ANY_ATTR)


class VmiMaskLogicOp(MaskOp):
    """Two predicates."""

    lhs = rhs = operand_def(VMI_MASK)


rows(__name__, VmiMaskLogicOp)("""
VmiMaskAndOp pto.vmi.mask_and: Lhs & rhs.
VmiMaskOrOp pto.vmi.mask_or: Lhs | rhs.
VmiMaskXorOp pto.vmi.mask_xor: Lhs ^ rhs.
""")


class VmiMaskUnaryOp(MaskOp):
    """One predicate."""

    source = operand_def(VMI_MASK)


class VmiMaskNotOp(VmiMaskUnaryOp, name="pto.vmi.mask_not"):
    """Complement of source."""


class VmiEnsureMaskGranularityOp(VmiMaskUnaryOp, name="pto.vmi.ensure_mask_granularity"):
    """The same predicate for another element width."""


class VmiEnsureMaskLayoutOp(VmiMaskUnaryOp, name="pto.vmi.ensure_mask_layout"):
    """The same predicate in another layout."""


class VmiActivePrefixIndexOp(VmiVectorOp, name="pto.vmi.active_prefix_index"):
    """lane i = number of active lanes below i (docs/reference/vectors.md, "Reductions and rearrangement", "Logical
    vectors").
    """

    mask = operand_def(VMI_MASK)


class ComparisonOp(MaskOp, shape=Shape.LEAD_STRING):
    """Compares lanes; the predicate is an enumerator before the operands."""

    lhs = rhs = operand_def(VMI_VREG)


class VmiCmpfOp(ComparisonOp, name="pto.vmi.cmpf"):
    """Lane i is active where lhs[i] compares with rhs[i], floats (docs/reference/vectors.md, "Arithmetic", "Logical
    vectors").
    """

    predicate = attr_def(COMPARE_ORDERED)


class VmiCmpiOp(ComparisonOp, name="pto.vmi.cmpi"):
    """Lane i is active where lhs[i] compares with rhs[i], integers (docs/reference/vectors.md, "Arithmetic", "Logical
    vectors").
    """

    predicate = attr_def(COMPARE_INTEGER)


class VmiVCmpOp(MaskOp, name="pto.vmi.vcmp"):
    """Lane i is active where seed is and lhs[i] compares with rhs[i] (docs/reference/vectors.md, "Arithmetic", "Logical
    vectors").
    """

    lhs = rhs = operand_def(VMI_VREG)
    seed = operand_def(VMI_MASK)
    cmp = attr_def(COMPARE_ORDERED)
    pmode = opt_attr_def(VMI_COMPARE_PMODE)


class VmiVCmpsOp(MaskOp, name="pto.vmi.vcmps"):
    """Lane i is active where seed is and src[i] compares with scalar (docs/reference/vectors.md, "Arithmetic", "Logical
    vectors").
    """

    src = operand_def(VMI_VREG)
    scalar = operand_def(ANY)
    seed = operand_def(VMI_MASK)
    cmp = attr_def(COMPARE_ORDERED)
    pmode = opt_attr_def(VMI_COMPARE_PMODE)


class VmiChoiceOp(VmiVectorOp):
    """Choice between two logical vectors."""

    mask = operand_def(VMI_MASK)
    true_value = false_value = operand_def(VMI_VREG)


class VmiSelectOp(VmiChoiceOp, name="pto.vmi.select"):
    """lane i = mask[i] ? true_value[i] : false_value[i] (docs/reference/vectors.md, "Arithmetic", "Logical
    vectors").
    """


class VmiVSelOp(VmiChoiceOp, name="pto.vmi.vsel"):
    """lane i = mask[i] ? true_value[i] : false_value[i] (docs/reference/vectors.md, "Arithmetic", "Logical
    vectors").
    """

    pmode = opt_attr_def(VMI_PMODE)
