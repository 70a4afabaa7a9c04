"""Elementwise operations as loops over registers, with a mask for what is left of a row.

Source: docs/reference/vectors.md, "Arithmetic", "Loads and stores", "Predicates".
"""

from __future__ import annotations

from xdsl.dialects.arith import IndexCastOp
from xdsl.dialects.builtin import StringAttr, i16, i32
from xdsl.ir import SSAValue

from pto_dialect.ir.core.base import PtoOp, operand_groups, signature
from pto_dialect.ir.core.types import MaskType, VRegType
from pto_dialect.ir.vector.memory import VLdsOp, VSldbOp, VStsOp
from pto_dialect.ir.vector.predicate import PltB16Op, PltB32Op, PsetB16Op, PsetB32Op
from pto_dialect.passes.instructions.geometry import ROW_BYTES, NotLoweredError, Reader, Tile
from pto_dialect.passes.instructions.writer import Number, Writer
from pto_dialect.targets.vector_unit import VL_BYTES

from .table import Row

_MASKS = {2: (PsetB16Op, PltB16Op, MaskType("b16")), 4: (PsetB32Op, PltB32Op, MaskType("b32"))}
"""By the bytes of an element: all lanes, the first lanes, the type of both."""
_BLOCKS = MaskType("b32")
"""One lane for each block of 32 bytes."""


def lower_row(writer: Writer, row: Row) -> None:
    """Writes the vector function of an operation. Raises :class:`NotLoweredError`."""
    op = writer.anchor
    assert isinstance(op, PtoOp)
    groups, reader = operand_groups(op), Reader(writer)
    dst = reader.tile(groups["dst"][0])
    sources = {name: reader.tile(groups[name][0]) for name in row.sources}
    number = groups[row.number][0] if row.number else None
    _check(writer, row, dst, list(sources.values()), number)
    Loops(writer, row, dst, sources, number).write()


def _check(writer: Writer, row: Row, dst: Tile, sources: list[Tile], number: SSAValue | None) -> None:
    op = writer.anchor
    if dst.element not in row.elements:
        raise NotLoweredError(op, f"the vector unit may compute other bits for {dst.element}")
    for tile in (dst, *sources):
        if tile.type.element != dst.type.element:
            raise NotLoweredError(op, f"its tiles hold {dst.element} and {tile.element}")
        if tile.kind != "ND":
            raise NotLoweredError(op, f"its tiles lie in the layout {tile.kind}, registers are loaded from rows")
        Reader(writer).aligned(tile.col, ROW_BYTES // tile.bytes, "column")
    if number is not None and number.type != dst.type.element:
        raise NotLoweredError(op, f"its number is no {dst.element}")


class Loops:
    """The loops of one operation over rows and registers."""

    def __init__(self, writer: Writer, row: Row, dst: Tile, sources: dict[str, Tile], number: SSAValue | None) -> None:
        self.writer = writer
        self.row = row
        self.dst = dst
        self.sources = sources
        self.number = number
        self.lanes = VL_BYTES // dst.bytes
        self.all, self.first, self.mask = _MASKS[dst.bytes]
        self.offsets: dict[object, Number] = {}

    def write(self) -> None:
        """One loop where the rows of all tiles follow each other, else one over rows with one over registers in it."""
        tiles = (self.dst, *self.sources.values())
        rows, cols = self.dst.rows, self.dst.cols
        dense = all(tile.whole.cols == cols and tile.col == 0 for tile in tiles) and not self.row.spread
        if dense and isinstance(cols, int):
            rows, cols = 1, self.writer.mul(rows, cols)
        self.writer.scope(lambda: self.writer.repeat(rows, lambda line: self._line(line, cols)))

    def _line(self, line: Number, cols: Number) -> None:
        """Whole registers, and what is left of the row; a number that only a run knows is left step by step."""
        writer = self.writer
        full, rest = divmod(cols, self.lanes) if isinstance(cols, int) else (0, 0)
        if full:
            mask = writer.pto(self.all, {}, {"pattern": StringAttr("PAT_ALL")}, self.mask)
            writer.repeat(full, lambda turn: self._register(line, writer.mul(turn, self.lanes), mask, None))
        if rest:
            self._tail(line, full * self.lanes, rest)
        if not isinstance(cols, int):
            writer.repeat(writer.ceildiv(cols, self.lanes), lambda turn: self._step(line, turn, cols))

    def _step(self, line: Number, turn: Number, cols: Number) -> None:
        at = self.writer.mul(turn, self.lanes)
        self._tail(line, at, self.writer.sub(cols, at))

    def _tail(self, line: Number, at: Number, left: Number) -> None:
        """``left`` elements. They are loaded in blocks of 32 bytes, of which no row shares one with another."""
        writer = self.writer
        blocks = writer.ceildiv(writer.mul(left, self.dst.bytes), ROW_BYTES)
        self._register(line, at, self._first(self.first, self.mask, left), self._first(PltB32Op, _BLOCKS, blocks))

    def _first(self, cls: type[PtoOp], kind: MaskType, count: Number) -> SSAValue:
        """A mask of the first ``count`` lanes."""
        writer = self.writer
        number = writer.function.constant(count, i32) if isinstance(count, int) else writer.put(IndexCastOp(count, i32))
        made = cls.create(operands=[number], result_types=[kind, i32])
        writer.put(made)
        return made.results[0]

    def _register(self, line: Number, at: Number, mask: SSAValue, blocks: SSAValue | None) -> None:
        writer = self.writer
        self.offsets.clear()
        register = VRegType(self.lanes, self.dst.type.element)
        known: dict[tuple[SSAValue, Number], SSAValue] = {}
        loaded: list[SSAValue] = []
        for name, tile in self.sources.items():
            place = (tile.pointer, self._offset(name, tile, line, at))
            if place not in known:
                known[place] = self._load(*place, register, blocks)
            loaded.append(known[place])
        values = [*loaded, *([self.number] if self.number is not None else []), mask]
        names = [slot.name for slot in signature(self.row.cls).operands]
        made = writer.pto(self.row.cls, dict(zip(names, values, strict=False)), result=register)
        place = writer.index(self._offset("dst", self.dst, line, at))
        writer.pto(VStsOp, {"value": made, "destination": self.dst.pointer, "offset": place, "mask": mask})

    def _load(self, pointer: SSAValue, offset: Number, register: VRegType, blocks: SSAValue | None) -> SSAValue:
        """A register from memory, or the blocks of it that a mask names."""
        writer = self.writer
        if blocks is None:
            return writer.pto(VLdsOp, {"source": pointer, "offset": writer.index(offset)}, result=register)
        one, none = (writer.function.constant(number, i16) for number in (1, 0))
        place = writer.advanced(pointer, offset)
        operands = {"source": place, "block_stride": one, "repeat_stride": none, "mask": blocks}
        return writer.pto(VSldbOp, operands, result=register)

    def _offset(self, name: str, tile: Tile, line: Number, at: Number) -> Number:
        writer = self.writer
        key = (name == self.row.spread, tile.row, tile.col, tile.whole.cols)
        if key not in self.offsets:
            row = tile.row if name == self.row.spread else writer.add(tile.row, line)
            start = writer.add(writer.mul(row, tile.whole.cols), tile.col)
            self.offsets[key] = writer.add(start, at)
        return self.offsets[key]
