"""Predicates interleaved, and moved to and from the unified buffer. Source: docs/reference/vectors.md, "Predicates"."""

from __future__ import annotations

from xdsl.irdl import attr_def, operand_def, result_def

from ..core.base import Pipe, PtoOp, Shape
from ..core.forms import OffsetLoadOp, OffsetStoreOp, UpdatedBaseOp
from ..core.kinds import ALIGN, MASK, MASK_B8, MASK_B16, MASK_B32, PTR
from ..core.words import MASK_LOAD_DIST, MASK_STORE_DIST
from .forms import LanewiseOp


class InterleaveB8Op(LanewiseOp):
    """Two b8 predicates to two."""

    lhs = rhs = operand_def(MASK_B8)
    low = high = result_def(MASK_B8)


class PintlvB8Op(InterleaveB8Op, name="pto.pintlv_b8"):
    """low, high = the lanes of lhs and rhs alternating."""


class PdintlvB8Op(InterleaveB8Op, name="pto.pdintlv_b8"):
    """low = even lanes, high = odd lanes of lhs followed by rhs."""


class InterleaveB16Op(LanewiseOp):
    """Two b16 predicates to two."""

    lhs = rhs = operand_def(MASK_B16)
    low = high = result_def(MASK_B16)


class PintlvB16Op(InterleaveB16Op, name="pto.pintlv_b16"):
    """low, high = the lanes of lhs and rhs alternating."""


class PdintlvB16Op(InterleaveB16Op, name="pto.pdintlv_b16"):
    """low = even lanes, high = odd lanes of lhs followed by rhs."""


class InterleaveB32Op(LanewiseOp):
    """Two b32 predicates to two."""

    lhs = rhs = operand_def(MASK_B32)
    low = high = result_def(MASK_B32)


class PintlvB32Op(InterleaveB32Op, name="pto.pintlv_b32"):
    """low, high = the lanes of lhs and rhs alternating."""


class PdintlvB32Op(InterleaveB32Op, name="pto.pdintlv_b32"):
    """low = even lanes, high = odd lanes of lhs followed by rhs."""


class PredicateLoadOp(OffsetLoadOp, UpdatedBaseOp, tokens=("dist",)):
    """Predicate from memory, bits taken as ``dist`` says."""

    dist = attr_def(MASK_LOAD_DIST)
    result = result_def(MASK)


class PldsOp(PredicateLoadOp, name="pto.plds"):
    """Predicate from source + offset bytes."""


class PldiOp(PredicateLoadOp, name="pto.pldi"):
    """Predicate from source + offset units of the distribution."""


class PredicateStoreOp(OffsetStoreOp, UpdatedBaseOp, tokens=("dist",)):
    """Predicate to memory, bits collected as ``dist`` says."""

    value = operand_def(MASK)
    dist = attr_def(MASK_STORE_DIST)


class PstsOp(PredicateStoreOp, name="pto.psts"):
    """Memory at destination + offset bytes = value."""


class PstiOp(PredicateStoreOp, name="pto.psti"):
    """Memory at destination + offset units of the distribution = value."""


class PstuOp(PtoOp, name="pto.pstu", shape=Shape.FLAT_VALUE, pipe=Pipe.V, writes=("base",)):
    """Appends one bit per lane to an unaligned store stream."""

    align_in = operand_def(ALIGN)
    value = operand_def(MASK)
    base = operand_def(PTR)
    align_out = result_def(ALIGN)
    base_out = result_def(PTR)
