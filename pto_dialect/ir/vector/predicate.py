"""Vector predicates: made, combined, rearranged."""

from __future__ import annotations

from xdsl.irdl import attr_def, operand_def, result_def

from ..core.base import Effect, Pipe, PtoOp, Shape
from ..core.kinds import I16, I32, MASK, MASK_B8, MASK_B16, MASK_B32
from ..core.words import HALF, PATTERN
from .forms import LanewiseOp, PredicateOp


class PatternB8Op(PtoOp, shape=Shape.LEAD_STRING, pipe=Pipe.V, effect=Effect.PURE):
    """Predicate of b8 lanes from a pattern."""

    pattern = attr_def(PATTERN)
    result = result_def(MASK_B8)


class PsetB8Op(PatternB8Op):
    """Predicate from a pattern (docs/reference/vectors.md, "Predicates")."""

    name = "pto.pset_b8"


class PgeB8Op(PatternB8Op):
    """Predicate from a pattern, compare form (docs/reference/vectors.md, "Predicates")."""

    name = "pto.pge_b8"


class PatternB16Op(PtoOp, shape=Shape.LEAD_STRING, pipe=Pipe.V, effect=Effect.PURE):
    """Predicate of b16 lanes from a pattern."""

    pattern = attr_def(PATTERN)
    result = result_def(MASK_B16)


class PsetB16Op(PatternB16Op):
    """Predicate from a pattern (docs/reference/vectors.md, "Predicates")."""

    name = "pto.pset_b16"


class PgeB16Op(PatternB16Op):
    """Predicate from a pattern, compare form (docs/reference/vectors.md, "Predicates")."""

    name = "pto.pge_b16"


class PatternB32Op(PtoOp, shape=Shape.LEAD_STRING, pipe=Pipe.V, effect=Effect.PURE):
    """Predicate of b32 lanes from a pattern."""

    pattern = attr_def(PATTERN)
    result = result_def(MASK_B32)


class PsetB32Op(PatternB32Op):
    """Predicate from a pattern (docs/reference/vectors.md, "Predicates")."""

    name = "pto.pset_b32"


class PgeB32Op(PatternB32Op):
    """Predicate from a pattern, compare form (docs/reference/vectors.md, "Predicates")."""

    name = "pto.pge_b32"


class PltB8Op(LanewiseOp):
    """Lane i is active where i < scalar; scalar_out = what is left for the next predicate
    (docs/reference/vectors.md, "Predicates").
    """

    name = "pto.plt_b8"
    scalar = operand_def(I32)
    mask = result_def(MASK_B8)
    scalar_out = result_def(I32)


class PltB16Op(LanewiseOp):
    """Lane i is active where i < scalar; scalar_out = what is left for the next predicate
    (docs/reference/vectors.md, "Predicates").
    """

    name = "pto.plt_b16"
    scalar = operand_def(I32)
    mask = result_def(MASK_B16)
    scalar_out = result_def(I32)


class PltB32Op(LanewiseOp):
    """Lane i is active where i < scalar; scalar_out = what is left for the next predicate
    (docs/reference/vectors.md, "Predicates").
    """

    name = "pto.plt_b32"
    scalar = operand_def(I32)
    mask = result_def(MASK_B32)
    scalar_out = result_def(I32)


class PltmB8Op(LanewiseOp, since="august"):
    """Lane i is active where loop·lanes + i < bound (docs/reference/vectors.md, "Predicates")."""

    name = "pto.pltm_b8"
    loop = operand_def(I16)
    bound = operand_def(I32)
    mask = result_def(MASK_B8)


class PltmB16Op(LanewiseOp, since="august"):
    """Lane i is active where loop·lanes + i < bound (docs/reference/vectors.md, "Predicates")."""

    name = "pto.pltm_b16"
    loop = operand_def(I16)
    bound = operand_def(I32)
    mask = result_def(MASK_B16)


class PltmB32Op(LanewiseOp, since="august"):
    """Lane i is active where loop·lanes + i < bound (docs/reference/vectors.md, "Predicates")."""

    name = "pto.pltm_b32"
    loop = operand_def(I16)
    bound = operand_def(I32)
    mask = result_def(MASK_B32)


class MaskedLogicOp(PredicateOp):
    """Two predicates under a mask."""

    src0 = src1 = mask = operand_def(MASK)


class PandOp(MaskedLogicOp):
    """Src0 & src1 where mask is active, else 0 (docs/reference/vectors.md, "Predicates")."""

    name = "pto.pand"


class PorOp(MaskedLogicOp):
    """Src0 | src1 where mask is active, else 0 (docs/reference/vectors.md, "Predicates")."""

    name = "pto.por"


class PxorOp(MaskedLogicOp):
    """Src0 ^ src1 where mask is active, else 0 (docs/reference/vectors.md, "Predicates")."""

    name = "pto.pxor"


class PselOp(MaskedLogicOp):
    """Src0 where mask is active, else src1 (docs/reference/vectors.md, "Predicates")."""

    name = "pto.psel"


class PnotOp(PredicateOp):
    """Complement of input where mask is active, else 0 (docs/reference/vectors.md, "Predicates")."""

    name = "pto.pnot"
    input = mask = operand_def(MASK)


class PbitcastOp(PredicateOp):
    """The same 256 bits as another granularity (docs/reference/vectors.md, "Predicates")."""

    name = "pto.pbitcast"
    input = operand_def(MASK)


class HalfPredicateOp(PredicateOp, shape=Shape.FLAT_TOKEN):
    """Predicate of another lane width."""

    input = operand_def(MASK)
    part = attr_def(HALF)


class PpackOp(HalfPredicateOp):
    """Every second bit, in the lower or higher half (docs/reference/vectors.md, "Predicates")."""

    name = "pto.ppack"


class PunpackOp(HalfPredicateOp):
    """Bits of the lower or higher half, one bit apart (docs/reference/vectors.md, "Predicates")."""

    name = "pto.punpack"
