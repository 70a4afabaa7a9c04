"""Vector predicates: made, combined, rearranged. Source: docs/reference/vectors.md, "Predicates"."""

from __future__ import annotations

from xdsl.irdl import attr_def, operand_def, result_def

from ..core.base import Shape
from ..core.kinds import I16, I32, MASK, MASK_B8, MASK_B16, MASK_B32
from ..core.words import HALF, PATTERN
from .forms import LanewiseOp, PredicateOp


class PatternOp(LanewiseOp, shape=Shape.LEAD_STRING):
    """Predicate from a pattern."""

    pattern = attr_def(PATTERN)


class PatternB8Op(PatternOp):
    """Predicate of b8 lanes from a pattern."""

    result = result_def(MASK_B8)


class PsetB8Op(PatternB8Op, name="pto.pset_b8"):
    """Predicate from a pattern."""


class PgeB8Op(PatternB8Op, name="pto.pge_b8"):
    """Predicate from a pattern, compare form."""


class PatternB16Op(PatternOp):
    """Predicate of b16 lanes from a pattern."""

    result = result_def(MASK_B16)


class PsetB16Op(PatternB16Op, name="pto.pset_b16"):
    """Predicate from a pattern."""


class PgeB16Op(PatternB16Op, name="pto.pge_b16"):
    """Predicate from a pattern, compare form."""


class PatternB32Op(PatternOp):
    """Predicate of b32 lanes from a pattern."""

    result = result_def(MASK_B32)


class PsetB32Op(PatternB32Op, name="pto.pset_b32"):
    """Predicate from a pattern."""


class PgeB32Op(PatternB32Op, name="pto.pge_b32"):
    """Predicate from a pattern, compare form."""


class PltOp(LanewiseOp):
    """Predicate of the lanes before a number, and the remaining count."""

    scalar = operand_def(I32)
    scalar_out = result_def(I32)


class PltB8Op(PltOp, name="pto.plt_b8"):
    """Lane i is active where i < scalar; scalar_out = what is left for the next predicate."""

    mask = result_def(MASK_B8)


class PltB16Op(PltOp, name="pto.plt_b16"):
    """Lane i is active where i < scalar; scalar_out = what is left for the next predicate."""

    mask = result_def(MASK_B16)


class PltB32Op(PltOp, name="pto.plt_b32"):
    """Lane i is active where i < scalar; scalar_out = what is left for the next predicate."""

    mask = result_def(MASK_B32)


class PltmOp(LanewiseOp, since="august"):
    """Predicate of the lanes before a bound, in one iteration of a loop."""

    loop = operand_def(I16)
    bound = operand_def(I32)


class PltmB8Op(PltmOp, name="pto.pltm_b8"):
    """Lane i is active where loop·lanes + i < bound."""

    mask = result_def(MASK_B8)


class PltmB16Op(PltmOp, name="pto.pltm_b16"):
    """Lane i is active where loop·lanes + i < bound."""

    mask = result_def(MASK_B16)


class PltmB32Op(PltmOp, name="pto.pltm_b32"):
    """Lane i is active where loop·lanes + i < bound."""

    mask = result_def(MASK_B32)


class MaskedLogicOp(PredicateOp):
    """Two predicates under a mask."""

    src0 = src1 = mask = operand_def(MASK)


class PandOp(MaskedLogicOp, name="pto.pand"):
    """Src0 & src1 where mask is active, else 0."""


class PorOp(MaskedLogicOp, name="pto.por"):
    """Src0 | src1 where mask is active, else 0."""


class PxorOp(MaskedLogicOp, name="pto.pxor"):
    """Src0 ^ src1 where mask is active, else 0."""


class PselOp(MaskedLogicOp, name="pto.psel"):
    """Src0 where mask is active, else src1."""


class PnotOp(PredicateOp, name="pto.pnot"):
    """Complement of input where mask is active, else 0."""

    input = mask = operand_def(MASK)


class PbitcastOp(PredicateOp, name="pto.pbitcast"):
    """The same 256 bits as another granularity."""

    input = operand_def(MASK)


class HalfPredicateOp(PredicateOp, shape=Shape.FLAT_TOKEN):
    """Predicate of another lane width."""

    input = operand_def(MASK)
    part = attr_def(HALF)


class PpackOp(HalfPredicateOp, name="pto.ppack"):
    """Every second bit, in the lower or higher half."""


class PunpackOp(HalfPredicateOp, name="pto.punpack"):
    """Bits of the lower or higher half, one bit apart."""
