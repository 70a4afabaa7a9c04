"""Lane-wise comparison and selection. Source: docs/reference/vectors.md, "Arithmetic"."""

from __future__ import annotations

from xdsl.irdl import attr_def, operand_def

from ..core.base import Shape
from ..core.kinds import ANY, MASK, VREG
from ..core.words import COMPARE
from .forms import MaskedRegisterOp, PredicateOp, RegisterOp


class VCmpOp(PredicateOp, name="pto.vcmp", shape=Shape.FLAT_TOKEN):
    """mask[i] = lane i is active and src0[i] compares with src1[i]."""

    src0 = src1 = operand_def(VREG)
    mask = operand_def(MASK)
    cmp_mode = attr_def(COMPARE)


class VCmpsOp(PredicateOp, name="pto.vcmps", shape=Shape.FLAT_TOKEN):
    """mask[i] = lane i is active and src[i] compares with scalar."""

    src = operand_def(VREG)
    scalar = operand_def(ANY)
    mask = operand_def(MASK)
    cmp_mode = attr_def(COMPARE)


class VSelOp(MaskedRegisterOp, name="pto.vsel"):
    """lane i = mask[i] ? src0[i] : src1[i]."""

    src0 = src1 = operand_def(VREG)


class LaneSelectOp(RegisterOp):
    """Lanes of one register picked by another."""

    src0 = src1 = operand_def(VREG)


class VSelrOp(LaneSelectOp, name="pto.vselr"):
    """lane i = src0[src1[i]]."""


class VSelrv2Op(LaneSelectOp, name="pto.vselrv2", unexecuted="no page distinguishes it from vselr"):
    """lane i = src0[src1[i]], second register form."""
