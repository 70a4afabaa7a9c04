"""Reductions of rows and columns, in the order in which tiles are reduced.

Source: docs/reference/tiles.md, "Broadcasts and reductions"; docs/reference/vectors.md, "Reductions and
rearrangement".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from xdsl.dialects.builtin import IntegerType, StringAttr, f32
from xdsl.ir import SSAValue

from pto_dialect.analysis.type_facts import integer_attribute
from pto_dialect.ir.core.base import PtoOp, operand_groups
from pto_dialect.ir.core.types import MaskType
from pto_dialect.ir.vector.arith import VAddOp, VMaxOp, VMinOp, VMulOp
from pto_dialect.ir.vector.compare import VSelOp
from pto_dialect.ir.vector.convert import VBitcastOp, VCvtOp, VDupOp
from pto_dialect.ir.vector.predicate import PxorOp
from pto_dialect.ir.vector.reduce import VCaddOp, VCmaxOp, VCminOp
from pto_dialect.passes.instructions.geometry import ROW_BYTES, NotLoweredError, Reader, Tile
from pto_dialect.passes.instructions.writer import Number, Writer

from .registers import Registers, offset_in
from .tiles import has_same_start, refuse_overlap

_EVEN = StringAttr("EVEN")
_LOWEST = StringAttr("LOWEST")
_WORD = 4
"""Bytes of elements that registers add without others."""


class Reduction(NamedTuple):
    """What reduces the lanes of a register (rows only), what combines two registers, and the element types for which
    both give the bits of the tile operation."""

    pair: type[PtoOp]
    elements: frozenset[str]
    lanes: type[PtoOp] | None = None


_WIDE = frozenset(("f16", "f32", "i16", "i32", "ui16", "ui32"))
_ALL = _WIDE | {"i8", "ui8"}
ROWS = {
    "pto.trowsum": Reduction(VAddOp, _ALL, VCaddOp),
    "pto.trowmax": Reduction(VMaxOp, _ALL, VCmaxOp),
    "pto.trowmin": Reduction(VMinOp, _ALL, VCminOp),
}
COLUMNS = {
    "pto.tcolsum": Reduction(VAddOp, _ALL),
    "pto.tcolprod": Reduction(VMulOp, _WIDE - {"f16"}),
    "pto.tcolmax": Reduction(VMaxOp, _ALL),
    "pto.tcolmin": Reduction(VMinOp, _ALL),
}


def _tiles(writer: Writer, row: Reduction) -> tuple[Tile, Tile]:
    op = writer.anchor
    assert isinstance(op, PtoOp)
    groups, reader = operand_groups(op), Reader(writer)
    src, dst = (reader.tile(groups[name][0]) for name in ("src", "dst"))
    if src.element not in row.elements or src.type.element != dst.type.element:
        raise NotLoweredError(op, f"the vector unit may compute other bits for {src.element} into {dst.element}")
    if src.kind != "ND":
        raise NotLoweredError(op, f"its source lies in the layout {src.kind}, registers are loaded from rows")
    reader.aligned(src.col, ROW_BYTES // src.bytes, "column")
    # Elements written after the start of the source were read before: all rows of a column, or earlier rows.
    allowed = has_same_start(src, dst) and (dst.base_type.rows == 1 or dst.kind == "DN")
    refuse_overlap(op, () if allowed else (src,), dst, "values that are reduced later")
    return src, dst


def lower_rows(writer: Writer) -> None:
    """Writes the vector function of a reduction of rows. Raises :class:`NotLoweredError`."""
    row = ROWS[writer.anchor.name]
    src, dst = _tiles(writer, row)
    if dst.kind not in ("DN", "ND"):
        raise NotLoweredError(writer.anchor, f"its results lie in the layout {dst.kind}")
    assert row.lanes is not None
    kind: type[RowFunction] = RowFunction
    if row.lanes is VCaddOp and src.bytes < _WORD:
        kind = HalfSums if src.element == "f16" else NarrowSums
    function = kind(writer, row.lanes, src, dst)
    writer.unless_empty((dst.rows, dst.cols, src.cols), lambda: writer.scope(function.write))


class RowFunction:
    """A loop over rows. A register is reduced in lane order; those after the first start with the last reduced block,
    whose last lane holds the running total."""

    def __init__(self, writer: Writer, lanes: type[PtoOp], src: Tile, dst: Tile) -> None:
        self.writer = writer
        self.reduce = lanes
        self.src = src
        self.dst = dst
        self.registers = Registers(writer, src.type.element)
        self.kept = ROW_BYTES // src.bytes
        """Lanes that repeat elements of the register before; the last of them has the total so far."""

    def write(self) -> None:
        """The masks that all rows share, and the loop."""
        registers, cols = self.registers, self.src.cols
        self.all = registers.whole()
        if not isinstance(cols, int) or cols > registers.lanes:
            self.above = registers.first(self.kept - 1)
            self.place = self._without(registers.first(self.kept), self.above)
        self.writer.repeat(self.dst.rows, self._line)

    def _without(self, mask: SSAValue, less: SSAValue) -> SSAValue:
        """Returns the lanes of one mask that another, a part of it, does not have."""
        kind = MaskType(f"b{8 * self.registers.bytes}")
        return self.writer.pto(PxorOp, {"src0": mask, "src1": less, "mask": self.all}, result=kind)

    def _line(self, line: Number) -> None:
        writer, registers, cols = self.writer, self.registers, self.src.cols
        lanes, step = registers.lanes, registers.lanes - self.kept
        total = self._reduced(self._load(line, 0, cols), self.all if cols == lanes else registers.first(cols))
        more = writer.ceildiv(writer.sub(cols, lanes), step)
        self._store(line, writer.fold(more, total, lambda turn, before: self._next(line, turn, before)))

    def _next(self, line: Number, iteration: Number, total: SSAValue) -> SSAValue:
        """Returns the total after one more register."""
        writer, registers = self.writer, self.registers
        step = registers.lanes - self.kept
        at = writer.add(writer.mul(iteration, step), step)
        left = writer.sub(self.src.cols, at)
        loaded = self._load(line, at, left)
        spread = writer.pto(VDupOp, {"input": total, "mask": self.all}, {"position": _LOWEST}, registers.type)
        joined = writer.pto(VSelOp, {"src0": spread, "src1": loaded, "mask": self.place}, result=registers.type)
        return self._reduced(joined, self._without(registers.first(left), self.above))

    def _load(self, line: Number, at: Number, left: Number) -> SSAValue:
        registers = self.registers
        full = isinstance(left, int) and left >= registers.lanes
        if not isinstance(left, int):
            left = self.writer.least(left, registers.lanes)
        offset = offset_in(self.writer, self.src, line, at)
        return registers.load(self.src.pointer, offset, None if full else registers.blocks(left))

    def _reduced(self, value: SSAValue, mask: SSAValue) -> SSAValue:
        return self.writer.pto(self.reduce, {"input": value, "mask": mask}, result=self.registers.type)

    def _store(self, line: Number, total: SSAValue) -> None:
        """The result of a row."""
        registers, dst = self.registers, self.dst
        offset = offset_in(self.writer, dst, line)
        registers.store(total, dst.pointer, offset, self.all, f"1PT_B{8 * registers.bytes}")


class NarrowSums(RowFunction):
    """Sums of integers of 8 or 16 bits, which registers add as integers of twice the width: the low bits are those of
    the tile operation, whatever the order."""

    def write(self) -> None:
        """The masks that all rows share, and the loop."""
        element = self.registers.type.element
        assert isinstance(element, IntegerType)
        self.wide = Registers(self.writer, IntegerType(16 * self.registers.bytes, element.signedness))
        self.all, self.wide_all = self.registers.whole(), self.wide.whole()
        self.writer.repeat(self.dst.rows, self._line)

    def _line(self, line: Number) -> None:
        writer, cols, lanes = self.writer, self.src.cols, self.registers.lanes
        more = writer.sub(writer.ceildiv(cols, lanes), 1)

        def add(iteration: Number, total: SSAValue) -> SSAValue:
            at = writer.add(writer.mul(iteration, lanes), lanes)
            values = {"lhs": total, "rhs": self._part(line, at), "mask": self.wide_all}
            return writer.pto(VAddOp, values, result=self.wide.type)

        total = writer.fold(more, self._part(line, 0), add)
        self._store(line, writer.pto(VBitcastOp, {"input": total}, result=self.registers.type))

    def _part(self, line: Number, at: Number) -> SSAValue:
        """Returns the sum of a register full of a row, or of what is left of it."""
        left = self.writer.sub(self.src.cols, at)
        full = isinstance(left, int) and left >= self.registers.lanes
        mask = self.all if full else self.registers.first(left)
        groups = {"input": self._load(line, at, left), "mask": mask}
        return self.writer.pto(VCaddOp, groups, result=self.wide.type)


class HalfSums(RowFunction):
    """Sums of halves, which are added as f32 and rounded at last."""

    def __init__(self, writer: Writer, lanes: type[PtoOp], src: Tile, dst: Tile) -> None:
        super().__init__(writer, lanes, src, dst)
        self.halves = self.registers
        self.registers = Registers(writer, f32)

    def write(self) -> None:
        """The masks that all rows share, and the loop."""
        self.all_halves = self.halves.whole()
        super().write()

    def _load(self, line: Number, at: Number, left: Number) -> SSAValue:
        lanes = self.registers.lanes
        full = isinstance(left, int) and left >= lanes
        part = None if full else self.writer.least(left, lanes)
        loaded = self.halves.wider(self.src, line, at, part, 2)
        groups = {"input": loaded, "mask": self.all_halves}
        return self.writer.pto(VCvtOp, groups, {"part": _EVEN}, self.registers.type)

    def _store(self, line: Number, total: SSAValue) -> None:
        attributes = {"rnd": StringAttr("R"), "sat": StringAttr("NOSAT"), "part": _EVEN}
        half = self.writer.pto(VCvtOp, {"input": total, "mask": self.all}, attributes, self.halves.type)
        offset = offset_in(self.writer, self.dst, line)
        self.halves.store(half, self.dst.pointer, offset, self.all_halves, "1PT_B16")


def lower_columns(writer: Writer) -> None:
    """Writes the vector function of a reduction of columns. Raises :class:`NotLoweredError`."""
    op, row = writer.anchor, COLUMNS[writer.anchor.name]
    src, dst = _tiles(writer, row)
    if dst.kind != "ND":
        raise NotLoweredError(op, f"its results lie in the layout {dst.kind}, registers are stored to rows")
    Reader(writer).aligned(dst.col, ROW_BYTES // dst.bytes, "column")
    if src.element == "f16" and integer_attribute(op, "isBinary"):
        raise NotLoweredError(op, "neighbouring halves are added first, then their sums")
    if not isinstance(src.rows, int) or src.rows == 0:
        raise NotLoweredError(op, "how many rows it reduces is not known")
    function = ColumnFunction(writer, row.pair, src, dst)
    writer.unless_empty((dst.rows, dst.cols), lambda: writer.scope(function.write))


class ColumnFunction:
    """A loop over registers of columns, and in it one over rows."""

    def __init__(self, writer: Writer, pair: type[PtoOp], src: Tile, dst: Tile) -> None:
        self.writer = writer
        self.pair = pair
        self.src = src
        self.dst = dst
        self.registers = Registers(writer, src.type.element)

    def write(self) -> None:
        """Whole registers of columns, and what is left."""
        cols, lanes = self.dst.cols, self.registers.lanes
        if not isinstance(cols, int):
            self.writer.repeat(self.writer.ceildiv(cols, lanes), lambda turn: self._part(turn, cols))
            return
        full, rest = divmod(cols, lanes)
        if full:
            mask = self.registers.whole()
            self.writer.repeat(full, lambda turn: self._columns(self.writer.mul(turn, lanes), mask, None))
        if rest:
            mask, blocks = self.registers.first(rest), self.registers.blocks(rest)
            self._columns(full * lanes, mask, blocks)

    def _part(self, iteration: Number, cols: Number) -> None:
        writer, lanes = self.writer, self.registers.lanes
        at = writer.mul(iteration, lanes)
        left = writer.least(writer.sub(cols, at), lanes)
        self._columns(at, self.registers.first(left), self.registers.blocks(left))

    def _columns(self, at: Number, mask: SSAValue, blocks: SSAValue | None) -> None:
        writer, registers, rows = self.writer, self.registers, self.src.rows
        assert isinstance(rows, int)

        def load(line: Number) -> SSAValue:
            return registers.load(self.src.pointer, offset_in(writer, self.src, line, at), blocks)

        def add(iteration: Number, total: SSAValue) -> SSAValue:
            values = {"lhs": total, "rhs": load(writer.add(iteration, 1)), "mask": mask}
            return writer.pto(self.pair, values, result=registers.type)

        total = writer.fold(rows - 1, load(0), add)
        registers.store(total, self.dst.pointer, offset_in(writer, self.dst, 0, at), mask)


LOWERINGS: dict[str, Callable[[Writer], None]] = {
    **dict.fromkeys(ROWS, lower_rows),
    **dict.fromkeys(COLUMNS, lower_columns),
}
"""What lowers each reduction."""
