"""Registers of one element type: masks for their lanes, loads and stores.

Source: docs/reference/vectors.md, "Loads and stores", "Predicates".
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects.arith import IndexCastOp
from xdsl.dialects.builtin import StringAttr, i16, i32
from xdsl.ir import Attribute, SSAValue

from pto_dialect.ir.core.base import PtoOp
from pto_dialect.ir.core.types import MaskType, VRegType
from pto_dialect.ir.vector.memory import VLdsOp, VSldbOp, VStsOp
from pto_dialect.ir.vector.predicate import PltB8Op, PltB16Op, PltB32Op, PsetB8Op, PsetB16Op, PsetB32Op
from pto_dialect.ir.vector.rearrange import VIntlvOp
from pto_dialect.passes.instructions.geometry import ROW_BYTES, Tile, bytes_of
from pto_dialect.passes.instructions.writer import Number, Writer
from pto_dialect.targets.vector_unit import VL_BYTES

_MASKS = {
    1: (PsetB8Op, PltB8Op, MaskType("b8")),
    2: (PsetB16Op, PltB16Op, MaskType("b16")),
    **dict.fromkeys((4, 8), (PsetB32Op, PltB32Op, MaskType("b32"))),
}
"""By the bytes of an element: all lanes, the first lanes, the type of both. Elements of 64 bits take every second lane
of those of 32."""
_BLOCK_LANE = 4
"""Bytes of the lanes that stand for blocks of 32 bytes in masks of loads by blocks."""


class Registers:
    """Registers with lanes for the elements of one type, of 1 to 8 bytes."""

    def __init__(self, writer: Writer, element: Attribute) -> None:
        self.writer = writer
        self.bytes = bytes_of(element)
        self.lanes = VL_BYTES // self.bytes
        self.type = VRegType(self.lanes, element)

    def whole(self) -> SSAValue:
        """Returns a mask of all lanes."""
        cls, _, kind = _MASKS[self.bytes]
        return self.writer.pto(cls, {}, {"pattern": StringAttr("PAT_ALL")}, kind)

    def first(self, count: Number, width: int = 0) -> SSAValue:
        """Returns a mask of the first ``count`` lanes, of elements of ``width`` bytes if that is given."""
        writer = self.writer
        width = width or self.bytes
        _, cls, kind = _MASKS[width]
        count = writer.mul(count, max(1, width // _BLOCK_LANE))
        number = writer.function.constant(count, i32) if isinstance(count, int) else writer.put(IndexCastOp(count, i32))
        made: PtoOp = cls.create(operands=[number], result_types=[kind, i32])
        writer.put(made)
        return made.results[0]

    def part(self, left: Number | None) -> SSAValue:
        """Returns a mask of the first ``left`` lanes, of all without a number."""
        return self.whole() if left is None else self.first(left)

    def blocks(self, left: Number) -> SSAValue:
        """Returns a mask of the blocks of 32 bytes that hold ``left`` elements.

        A block goes with a lane of 32 bits; lanes of the register's own width, as the rule of masks wants them, are as
        many more as they are narrower.
        """
        writer = self.writer
        blocks = writer.ceildiv(writer.mul(left, self.bytes), ROW_BYTES)
        return self.first(writer.mul(blocks, max(1, _BLOCK_LANE // self.bytes)), min(self.bytes, _BLOCK_LANE))

    def load(self, pointer: SSAValue, offset: Number, blocks: SSAValue | None = None, dist: str = "") -> SSAValue:
        """Returns a register from memory, distributed as ``dist`` says, or the blocks of it that a mask names."""
        writer = self.writer
        if blocks is None:
            attributes = {"dist": StringAttr(dist)} if dist else None
            return writer.pto(VLdsOp, {"source": pointer, "offset": writer.index(offset)}, attributes, self.type)
        one, none = (writer.function.constant(number, i16) for number in (1, 0))
        moved = writer.advanced(pointer, offset)
        operands = {"source": moved, "block_stride": one, "repeat_stride": none, "mask": blocks}
        return writer.pto(VSldbOp, operands, result=self.type)

    def row(self, tile: Tile, line: Number, at: Number, left: Number | None) -> SSAValue:
        """Returns a register of elements of a row from column ``at`` on; ``left`` of them are needed, by default
        all."""
        blocks = None if left is None else self.blocks(left)
        return self.load(tile.pointer, offset_in(self.writer, tile, line, at), blocks)

    def wider(self, tile: Tile, line: Number, at: Number, left: Number | None, ratio: int) -> SSAValue:
        """Returns the elements of a row, each in the low bytes of a lane ``ratio`` times as wide; ``left`` of them are
        needed, by default a full register. A full register is widened by its load; a partial one is loaded in blocks of
        32 bytes, so that nothing after the row is read, and is interleaved with itself."""
        offset = offset_in(self.writer, tile, line, at)
        if left is None:
            dist = {1: "", 2: f"UNPK_B{8 * self.bytes}", 4: "UNPK4"}[ratio]
            return self.load(tile.pointer, offset, dist=dist)
        value = self.load(tile.pointer, offset, self.blocks(left))
        while ratio > 1:
            value = self.writer.put(VIntlvOp.create(operands=[value, value], result_types=[self.type] * 2))
            ratio //= 2
        return value

    def spread(self, pointer: SSAValue, offset: Number) -> SSAValue:
        """Returns one element from memory in all lanes."""
        return self.load(pointer, offset, dist=f"BRC_B{8 * self.bytes}")

    def repeated(self, pointer: SSAValue, offset: Number) -> SSAValue:
        """32 bytes from memory, over and over."""
        return self.load(pointer, offset, dist="BRC_BLK")

    def store(self, value: SSAValue, pointer: SSAValue, offset: Number, mask: SSAValue, dist: str = "") -> None:
        """Active lanes to memory, collected as ``dist`` says."""
        groups = {"value": value, "destination": pointer, "offset": self.writer.index(offset), "mask": mask}
        self.writer.pto(VStsOp, groups, {"dist": StringAttr(dist)} if dist else None)


def pieces(writer: Writer, cols: Number, lanes: int, body: Callable[[Number, Number | None], None]) -> None:
    """Writes ``body`` for each ``lanes`` of the columns of a row: with the number of the piece, and how many elements
    are left for it where that may be fewer."""
    if not isinstance(cols, int):

        def part(iteration: Number) -> None:
            body(iteration, writer.least(writer.sub(cols, writer.mul(iteration, lanes)), lanes))

        writer.repeat(writer.ceildiv(cols, lanes), part)
        return
    full, rest = divmod(cols, lanes)
    writer.repeat(full, lambda turn: body(turn, None))
    if rest:
        body(full, rest)


def in_rows(
    writer: Writer, rows: Number, cols: Number, lanes: int, body: Callable[[Number, Number, Number | None], None]
) -> None:
    """Writes ``body`` for each ``lanes`` columns of each row: with the row, the number of the piece, and what is left
    for it as :func:`pieces` says."""
    writer.repeat(rows, lambda line: pieces(writer, cols, lanes, lambda turn, left: body(line, turn, left)))


def function_of_rows(
    writer: Writer,
    rows: Number,
    cols: Number,
    lanes: int,
    body: Callable[[Number, Number, Number | None], None],
    before: Callable[[], None] = lambda: None,
) -> None:
    """Writes a vector function of what ``before`` writes and :func:`in_rows`."""

    def function() -> None:
        before()
        in_rows(writer, rows, cols, lanes, body)

    writer.scope(function)


def offset_in(writer: Writer, tile: Tile, line: Number, at: Number = 0) -> Number:
    """Returns the elements from the beginning of a tile's memory to an element of a row, of tiles of columns the first
    one."""
    row = writer.add(tile.row, line)
    if tile.kind == "DN":
        return writer.add(writer.mul(tile.col, tile.base_type.rows), row)
    return writer.add(writer.add(writer.mul(row, tile.base_type.cols), tile.col), at)
