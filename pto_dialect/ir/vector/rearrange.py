"""Lanes of vector registers moved: interleaved, compacted, packed, sorted."""

from __future__ import annotations

from xdsl.irdl import attr_def, operand_def, result_def

from ..core.base import Pipe, PtoOp, Shape
from ..core.kinds import I64, INDEX, MASK, PTR, VREG
from ..core.words import HALF
from .forms import LanewiseOp, RegisterOp


class InterleaveOp(LanewiseOp):
    """Two registers to two registers."""

    lhs = rhs = operand_def(VREG)
    low = high = result_def(VREG)


class VIntlvOp(InterleaveOp):
    """low, high = the lanes of lhs and rhs alternating (docs/reference/vectors.md, "Reductions and rearrangement")."""

    name = "pto.vintlv"


class VDintlvOp(InterleaveOp):
    """low = even lanes, high = odd lanes of lhs followed by rhs (docs/reference/vectors.md, "Reductions and
    rearrangement").
    """

    name = "pto.vdintlv"


class HalfInterleaveOp(RegisterOp, shape=Shape.FLAT_TOKEN):
    """One half of an interleave."""

    lhs = rhs = operand_def(VREG)
    part = attr_def(HALF)


class VIntlvv2Op(HalfInterleaveOp):
    """LOWER = low, HIGHER = high result of ``vintlv`` (docs/reference/vectors.md, "Predicates")."""

    name = "pto.vintlvv2"


class VDintlvv2Op(HalfInterleaveOp):
    """LOWER = low, HIGHER = high result of ``vdintlv`` (docs/reference/vectors.md, "Predicates")."""

    name = "pto.vdintlvv2"


class VSqzOp(PtoOp, shape=Shape.FLAT_VALUE, pipe=Pipe.V, state_writes=("sqzn",)):
    """The active lanes moved to the front, in order; the rest 0 (docs/reference/vectors.md, "Reductions and
    rearrangement").
    """

    name = "pto.vsqz"
    input = operand_def(VREG)
    mask = operand_def(MASK)
    result = result_def(VREG)


class VUsqzOp(PtoOp, shape=Shape.FLAT_VALUE, pipe=Pipe.V, state_writes=("sqzn",)):
    """lane i = number of active lanes below i (docs/reference/vectors.md, "Reductions and rearrangement")."""

    name = "pto.vusqz"
    src = operand_def(VREG)
    mask = operand_def(MASK)
    result = result_def(VREG)


class VPackOp(RegisterOp, shape=Shape.FLAT_TOKEN):
    """Low half of every lane, in the lower or higher half of the register (docs/reference/vectors.md, "Reductions and
    rearrangement").
    """

    name = "pto.vpack"
    src = operand_def(VREG)
    part = attr_def(HALF)


class UnpackOp(RegisterOp, typed=("src",)):
    """One half of a register in lanes of double width."""

    src = operand_def(VREG)
    part = operand_def(INDEX)


class VSunpackOp(UnpackOp):
    """Lanes of half ``part``, sign-extended (docs/reference/vectors.md, "Reductions and rearrangement")."""

    name = "pto.vsunpack"


class VZunpackOp(UnpackOp):
    """Lanes of half ``part``, zero-extended (docs/reference/vectors.md, "Reductions and rearrangement")."""

    name = "pto.vzunpack"


class RecordSortOp(PtoOp, shape=Shape.FLAT_VOID, pipe=Pipe.V, writes=("destination",)):
    """Orders records of eight bytes in memory."""


class VBitsortOp(RecordSortOp, reads=("source", "indices")):
    """Memory records (score, index) of 32 elements sorted descending, ``repeat_times`` times
    (docs/reference/vectors.md, "Reductions and rearrangement").
    """

    name = "pto.vbitsort"
    destination = source = indices = operand_def(PTR)
    repeat_times = operand_def(INDEX)


class VMrgsort4Op(RecordSortOp, reads=("source0", "source1", "source2", "source3"), state_writes=("vms4_sr",)):
    """Merges up to four descending lists of 8-byte records in memory (docs/reference/vectors.md, "Reductions and
    rearrangement").
    """

    name = "pto.vmrgsort4"
    destination = source0 = source1 = source2 = source3 = operand_def(PTR)
    count = config = operand_def(I64)
