"""Lane-wise comparison and selection."""

from __future__ import annotations

from xdsl.irdl import attr_def, operand_def

from ..core.base import Shape
from ..core.kinds import ANY, MASK, VREG
from ..core.words import COMPARE
from .forms import MaskedRegisterOp, PredicateOp, RegisterOp


class VCmpOp(PredicateOp, shape=Shape.FLAT_TOKEN):
    """mask[i] = lane i is active and src0[i] compares with src1[i] (docs/reference/vectors.md, "Arithmetic")."""

    name = "pto.vcmp"
    src0 = src1 = operand_def(VREG)
    mask = operand_def(MASK)
    cmp_mode = attr_def(COMPARE)


class VCmpsOp(PredicateOp, shape=Shape.FLAT_TOKEN):
    """mask[i] = lane i is active and src[i] compares with scalar (docs/reference/vectors.md, "Arithmetic")."""

    name = "pto.vcmps"
    src = operand_def(VREG)
    scalar = operand_def(ANY)
    mask = operand_def(MASK)
    cmp_mode = attr_def(COMPARE)


class VSelOp(MaskedRegisterOp):
    """lane i = mask[i] ? src0[i] : src1[i] (docs/reference/vectors.md, "Arithmetic")."""

    name = "pto.vsel"
    src0 = src1 = operand_def(VREG)


class LaneSelectOp(RegisterOp):
    """Lanes of one register picked by another."""

    src0 = src1 = operand_def(VREG)


class VSelrOp(LaneSelectOp):
    """lane i = src0[src1[i]] (docs/reference/vectors.md, "Arithmetic")."""

    name = "pto.vselr"


class VSelrv2Op(LaneSelectOp, unexecuted="no page tells it from vselr"):
    """lane i = src0[src1[i]], second register form (docs/reference/vectors.md, "Arithmetic")."""

    name = "pto.vselrv2"
