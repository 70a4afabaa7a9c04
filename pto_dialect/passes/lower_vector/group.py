"""A group of less than 32 scores in the order of ``tsort32``: how many records come before one says where it goes.

Source: docs/reference/tiles.md, "Irregular operations"; docs/reference/vectors.md, "Predicates".
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from struct import pack, unpack

from xdsl.dialects.builtin import StringAttr, f32, i32
from xdsl.ir import Attribute, SSAValue

from pto_dialect.ir.core.base import PtoOp
from pto_dialect.ir.core.types import MaskType
from pto_dialect.ir.vector.arith import VAddsOp, VMulsOp
from pto_dialect.ir.vector.compare import VCmpOp, VCmpsOp, VSelOp
from pto_dialect.ir.vector.convert import VBitcastOp, VBrOp, VCiOp, VCvtOp
from pto_dialect.ir.vector.memory import VScatterOp
from pto_dialect.ir.vector.predicate import PandOp, PnotOp, PorOp
from pto_dialect.ir.vector.rearrange import VIntlvOp
from pto_dialect.passes.instructions.geometry import NotLoweredError, Tile
from pto_dialect.passes.instructions.writer import Number, Writer
from pto_dialect.targets.backend import SORT_FILLERS

from .registers import Registers, offset_in

GROUP = 32
"""Scores of a whole group."""
RECORD = 8
"""Bytes of a score and its position."""
_KIND = MaskType("b32")
_PACKED = {2: "<e2x", 4: "<f"}
"""How a score lies in the first half of a record."""


@dataclass(frozen=True)
class Scores:
    """A group in lanes of 32 bits: the scores as floats, their records as two 32-bit words, the lanes with NaN."""

    numbers: SSAValue
    bits: SSAValue
    positions: SSAValue
    nan_lanes: SSAValue


class PartialGroup:
    """The last ``count`` scores of rows; ``shared`` states whether one row of positions serves all rows. Raises
    :class:`NotLoweredError` where a record would not fit as a whole."""

    def __init__(self, writer: Writer, tiles: tuple[Tile, Tile, Tile], count: int, shared: bool) -> None:
        self.writer = writer
        self.src, self.idx, self.dst = tiles
        self.count = count
        self.shared = shared
        self.halves = Registers(writer, self.src.type.element)
        self.floats = Registers(writer, f32)
        self.integers = Registers(writer, i32)
        self.filler = SORT_FILLERS[self.src.element] if writer.backend == "vpto" else -inf

    def free_records(self, at: int) -> int:
        """Returns the number of records that fit in the destination after the first ``at``."""
        assert isinstance(self.dst.cols, int)
        left = self.dst.cols * self.dst.bytes - at * RECORD
        if left < GROUP * RECORD and left % RECORD:
            raise NotLoweredError(self.writer.anchor, "its destination ends in the midst of a record")
        return min(left // RECORD, GROUP)

    def write(self, line: Number, at: int) -> None:
        """Writes the vector function for the scores of a row from column ``at`` on."""
        writer, room = self.writer, self.free_records(at)
        offset = offset_in(writer, self.dst, line, at * (RECORD // self.dst.bytes))
        target = writer.seen_as(writer.advanced(self.dst.pointer, offset), i32)

        writer.scope(lambda: self._scatter(line, at, target, room))

    def _scatter(self, line: Number, at: int, target: SSAValue, room: int) -> None:
        """Writes the ordering of a group and stores its first ``room`` records at their positions."""
        writer = self.writer
        self.all, self.given = self.floats.whole(), self.floats.first(self.count)
        scores = self._scores(line, at)
        first = self._first_rank(scores)
        rank = writer.fold(self.count, first, lambda turn, rank: self._ranked(scores, line, at, turn, rank))
        lanes = self.floats.first(GROUP)
        if room < GROUP:
            lanes = self._compared(rank, writer.function.constant(room, i32), "lt", lanes)
        score = self._with_number(VMulsOp, rank, RECORD // 4)
        for value, offsets in ((scores.bits, score), (scores.positions, self._with_number(VAddsOp, score, 1))):
            writer.pto(VScatterOp, {"value": value, "destination": target, "offsets": offsets, "mask": lanes})

    # ------------------------------------------------------------ operations

    def _everywhere(self, number: float, element: Attribute) -> SSAValue:
        value = self.writer.function.constant(number, element)
        return self.writer.pto(VBrOp, {"value": value}, result=Registers(self.writer, element).type)

    def _chosen(self, one: SSAValue, other: SSAValue, mask: SSAValue) -> SSAValue:
        return self.writer.pto(VSelOp, {"src0": one, "src1": other, "mask": mask}, result=one.type)

    def _compared(self, value: SSAValue, other: SSAValue, mode: str, mask: SSAValue) -> SSAValue:
        attributes = {"cmp_mode": StringAttr(mode)}
        if other.type == value.type:
            return self.writer.pto(VCmpOp, {"src0": value, "src1": other, "mask": mask}, attributes, _KIND)
        return self.writer.pto(VCmpsOp, {"src": value, "scalar": other, "mask": mask}, attributes, _KIND)

    def _both(self, cls: type[PtoOp], one: SSAValue, other: SSAValue) -> SSAValue:
        return self.writer.pto(cls, {"src0": one, "src1": other, "mask": self.all}, result=_KIND)

    def _with_number(self, cls: type[PtoOp], value: SSAValue, number: int) -> SSAValue:
        groups = {"input": value, "scalar": self.writer.function.constant(number, i32), "mask": self.all}
        return self.writer.pto(cls, groups, result=value.type)

    # ------------------------------------------------------------ scores

    def _scores(self, line: Number, at: int) -> Scores:
        numbers = self._numbers(self.halves.wider(self.src, line, at, self.count, 4 // self.src.bytes))
        numbers = self._chosen(numbers, self._everywhere(self.filler, f32), self.given)
        (bits,) = unpack("<i", pack(_PACKED[self.src.bytes], self.filler))
        words = self._chosen(self._words(line, at), self._everywhere(bits, i32), self.given)
        own = Registers(self.writer, self.idx.type.element)
        positions = self._as_integers(own.row(self.idx, 0 if self.shared else line, at, self.count))
        positions = self._chosen(positions, self._everywhere(0, i32), self.given)
        return Scores(numbers, words, positions, self._compared(numbers, numbers, "ne", self.all))

    def _numbers(self, value: SSAValue) -> SSAValue:
        """Scores as f32: halves from the low parts of their lanes."""
        if self.halves.bytes == self.floats.bytes:
            return value
        groups = {"input": value, "mask": self.halves.whole()}
        return self.writer.pto(VCvtOp, groups, {"part": StringAttr("EVEN")}, self.floats.type)

    def _words(self, line: Number, at: int) -> SSAValue:
        """Returns the first halves of records."""
        value = self.halves.row(self.src, line, at, self.count)
        if self.halves.bytes < self.floats.bytes:
            zero = self._everywhere(0.0, self.src.type.element)
            value = self.writer.put(VIntlvOp.create(operands=[value, zero], result_types=[self.halves.type] * 2))
        return self._as_integers(value)

    def _as_integers(self, value: SSAValue) -> SSAValue:
        kind = self.integers.type
        return value if value.type == kind else self.writer.pto(VBitcastOp, {"input": value}, result=kind)

    # ------------------------------------------------------------ ranks

    def _first_rank(self, scores: Scores) -> SSAValue:
        """Returns how many of what fills up the group come before a lane: all before a score that is less, or no
        number."""
        ramp = self.writer.pto(VCiOp, {"index": self.writer.function.constant(0, i32)}, result=self.integers.type)
        filler = self.writer.function.constant(self.filler, f32)
        after_filler = self._both(PorOp, self._compared(scores.numbers, filler, "lt", self.all), scores.nan_lanes)
        start = self._chosen(self._everywhere(GROUP - self.count, i32), self._everywhere(0, i32), after_filler)
        return self._chosen(start, self._with_number(VAddsOp, ramp, -self.count), self.given)

    def _ranked(self, scores: Scores, line: Number, at: int, iteration: Number, rank: SSAValue) -> SSAValue:
        """Returns the ranks with one more score: it precedes smaller ones, and equal ones that follow it. NaN is less
        than all numbers and equal to other NaNs."""
        writer = self.writer
        offset = offset_in(writer, self.src, line, writer.add(at, iteration))
        one = self._numbers(self.halves.spread(self.src.pointer, offset))
        number = self._compared(one, one, "eq", self.all)
        before = self._compared(one, scores.numbers, "gt", self.all)
        before = self._both(PorOp, before, self._both(PandOp, scores.nan_lanes, number))
        equal = self._both(PorOp, self._compared(one, scores.numbers, "eq", self.all), scores.nan_lanes)
        up_to = self.floats.first(writer.add(iteration, 1))
        later = writer.pto(PnotOp, {"input": up_to, "mask": self.all}, result=_KIND)
        counted = self._both(PorOp, before, self._both(PandOp, equal, later))
        return self._chosen(self._with_number(VAddsOp, rank, 1), rank, counted)
