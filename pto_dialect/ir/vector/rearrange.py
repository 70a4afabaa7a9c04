"""Lanes of vector registers moved: interleaved, compacted, packed, sorted.

Source: docs/reference/vectors.md, "Reductions and rearrangement".
"""

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


class VIntlvOp(InterleaveOp, name="pto.vintlv"):
    """low, high = the lanes of lhs and rhs alternating."""


class VDintlvOp(InterleaveOp, name="pto.vdintlv"):
    """low = even lanes, high = odd lanes of lhs followed by rhs."""


class HalfInterleaveOp(RegisterOp, shape=Shape.FLAT_TOKEN):
    """One half of an interleave."""

    lhs = rhs = operand_def(VREG)
    part = attr_def(HALF)


class VIntlvv2Op(HalfInterleaveOp, name="pto.vintlvv2"):
    """LOWER = low, HIGHER = high result of ``vintlv`` (docs/reference/vectors.md, "Predicates")."""


class VDintlvv2Op(HalfInterleaveOp, name="pto.vdintlvv2"):
    """LOWER = low, HIGHER = high result of ``vdintlv`` (docs/reference/vectors.md, "Predicates")."""


class VSqzOp(PtoOp, name="pto.vsqz", shape=Shape.FLAT_VALUE, pipe=Pipe.V, state_writes=("sqzn",)):
    """The active lanes moved to the front, in order; the rest 0."""

    input = operand_def(VREG)
    mask = operand_def(MASK)
    result = result_def(VREG)


class VUsqzOp(PtoOp, name="pto.vusqz", shape=Shape.FLAT_VALUE, pipe=Pipe.V, state_writes=("sqzn",)):
    """lane i = number of active lanes below i."""

    src = operand_def(VREG)
    mask = operand_def(MASK)
    result = result_def(VREG)


class VPackOp(RegisterOp, name="pto.vpack", shape=Shape.FLAT_TOKEN):
    """Low half of every lane, in the lower or higher half of the register."""

    src = operand_def(VREG)
    part = attr_def(HALF)


class UnpackOp(RegisterOp, typed=("src",)):
    """One half of a register in lanes of double width."""

    src = operand_def(VREG)
    part = operand_def(INDEX)


class VSunpackOp(UnpackOp, name="pto.vsunpack"):
    """Lanes of half ``part``, sign-extended."""


class VZunpackOp(UnpackOp, name="pto.vzunpack"):
    """Lanes of half ``part``, zero-extended."""


class RecordSortOp(PtoOp, shape=Shape.FLAT_VOID, pipe=Pipe.V, writes=("destination",)):
    """Orders records of eight bytes in memory."""


class VBitsortOp(RecordSortOp, name="pto.vbitsort", reads=("source", "indices")):
    """Memory records (score, index) of 32 elements sorted descending, ``repeat_times`` times."""

    destination = source = indices = operand_def(PTR)
    repeat_times = operand_def(INDEX)


class VMrgsort4Op(
    RecordSortOp, name="pto.vmrgsort4", reads=("source0", "source1", "source2", "source3"), state_writes=("vms4_sr",)
):
    """Merges up to four descending lists of 8-byte records in memory."""

    destination = source0 = source1 = source2 = source3 = operand_def(PTR)
    count = config = operand_def(I64)
