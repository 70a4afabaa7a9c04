"""Comparisons into packed bits, and selections by them. Bits of a row are in pieces of 16 or 32 bytes, as predicates
are stored to and loaded from memory. Each row of bits starts at a row of its tile, except in ``tcmps`` of the library
``vpto``, where all rows are contiguous.

Source: docs/reference/tiles.md, "Elementwise"; docs/reference/vectors.md, "Predicates".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from xdsl.dialects.builtin import IntegerType, Signedness, StringAttr
from xdsl.ir import SSAValue

from pto_dialect.analysis.type_facts import enumerator
from pto_dialect.ir.core.base import PtoOp, operand_groups
from pto_dialect.ir.core.types import MaskType
from pto_dialect.ir.vector.compare import VCmpOp, VCmpsOp, VSelOp
from pto_dialect.ir.vector.convert import VBrOp
from pto_dialect.ir.vector.predicate import PorOp, PpackOp, PsetB8Op, PunpackOp
from pto_dialect.ir.vector.predicate_memory import PldsOp, PstsOp
from pto_dialect.passes.instructions.geometry import ROW_BYTES, NotLoweredError, Reader, Tile
from pto_dialect.passes.instructions.writer import Number, Writer

from .registers import Registers, in_rows, offset_in
from .tiles import refuse_overlap, torn

_BYTE = IntegerType(8, Signedness.UNSIGNED)
_COMPARED = frozenset(("f16", "f32", "i8", "ui8", "i16", "ui16", "i32", "ui32"))
_CHOSEN = _COMPARED | {"bf16"}
_HALVES = ("LOWER", "HIGHER")


class Bits:
    """Rows of bits in memory: each piece belongs to one register of 8- or 16-bit elements, to two of 32-bit ones."""

    def __init__(self, writer: Writer, tile: Tile, registers: Registers) -> None:
        self.writer = writer
        self.tile = tile
        self.registers = registers
        self.count = 2 if registers.bytes == 4 else 1
        self.lanes = registers.lanes * self.count
        """Elements of a piece."""
        self.size = self.lanes // 8
        self.width = tile.base_type.cols * tile.bytes
        """Bytes of a row."""
        self.pointer = writer.seen_as(tile.pointer, _BYTE)
        self.room = 0
        """Where pieces follow one another through the valid region: how many of them a row of it holds."""

    def _offset(self, line: Number, iteration: Number) -> Number:
        writer = self.writer
        if self.room:
            piece = writer.add(writer.mul(line, self.width // self.size), iteration)
            row = writer.add(self.tile.row, writer.div(piece, self.room))
            start = writer.add(writer.mul(row, self.tile.base_type.cols * self.tile.bytes), self.tile.col)
            return writer.add(start, writer.mul(writer.rest(piece, self.room), self.size))
        start = writer.add(writer.mul(writer.add(self.tile.row, line), self.width), self.tile.col)
        return writer.add(start, writer.mul(iteration, self.size))

    def store(self, line: Number, iteration: Number, masks: Sequence[SSAValue]) -> None:
        """The predicates of a piece, one bit for each element."""
        writer, kind = self.writer, MaskType("b16")
        value = masks[0]
        if self.count == 2:
            packed = [
                writer.pto(PpackOp, {"input": mask}, {"part": StringAttr(half)}, kind)
                for mask, half in zip(masks, _HALVES, strict=False)
            ]
            value = packed[0]
            if len(packed) == 2:
                full_mask = Registers(writer, IntegerType(16)).whole()
                value = writer.pto(PorOp, {"src0": packed[0], "src1": packed[1], "mask": full_mask}, result=kind)
        self._put(line, iteration, value, "NORM" if self.registers.bytes == 1 else "PK")

    def clear(self, line: Number, iteration: Number) -> None:
        """A piece without a bit."""
        nothing = self.writer.pto(PsetB8Op, {}, {"pattern": StringAttr("PAT_ALLF")}, MaskType("b8"))
        self._put(line, iteration, nothing, "NORM" if self.registers.bytes == 1 else "PK")

    def _put(self, line: Number, iteration: Number, value: SSAValue, dist: str) -> None:
        offset = self.writer.index(self._offset(line, iteration))
        groups = {"value": value, "destination": self.pointer, "offset": offset}
        self.writer.pto(PstsOp, groups, {"dist": StringAttr(dist)})

    def load(self, line: Number, iteration: Number) -> list[SSAValue]:
        """Returns the predicates of a piece."""
        writer, wide = self.writer, self.registers.bytes > 1
        kind = MaskType("b16" if wide else "b8")
        dist = StringAttr("US" if wide else "NORM")
        offset = writer.index(self._offset(line, iteration))
        loaded = writer.pto(PldsOp, {"source": self.pointer, "offset": offset}, {"dist": dist}, kind)
        if self.count == 1:
            return [loaded]
        return [
            writer.pto(PunpackOp, {"input": loaded}, {"part": StringAttr(half)}, MaskType("b32")) for half in _HALVES
        ]


def _rows(reader: Reader, tile: Tile) -> None:
    if tile.kind != "ND":
        raise NotLoweredError(reader.op, f"its tiles lie in the layout {tile.kind}, registers are loaded from rows")
    reader.aligned(tile.col, ROW_BYTES // tile.bytes, "column")


def _number(writer: Writer, value: SSAValue, tile: Tile) -> SSAValue:
    converted = writer.converted(value, tile.type.element)
    if converted is None:
        raise NotLoweredError(writer.anchor, f"its number is {value.type}, its tiles hold {tile.element}")
    return converted


def lower_comparison(writer: Writer) -> None:
    """Writes the vector function of ``tcmp`` or ``tcmps``. Raises :class:`NotLoweredError`."""
    op = writer.anchor
    assert isinstance(op, PtoOp)
    groups, reader = operand_groups(op), Reader(writer)
    pair = "src0" in groups
    first, dst = reader.tile(groups["src0" if pair else "src"][0]), reader.tile(groups["dst"][0])
    other = reader.tile(groups["src1"][0]) if pair else None
    for tile in (first, dst, *([other] if other is not None else [])):
        _rows(reader, tile)
    refuse_overlap(op, [first, *([other] if other is not None else [])], dst, "elements that are compared later")
    if first.element not in _COMPARED or (other is not None and other.type.element != first.type.element):
        raise NotLoweredError(op, f"the vector unit does not compare {first.element} with {(other or first).element}")
    if (dst.type.rows, dst.type.cols) != (dst.base_type.rows, dst.base_type.cols):
        raise NotLoweredError(op, "its bits are a part of a tile, and whole rows of bytes are written")
    number = None if pair else _number(writer, groups["scalar"][0], first)
    attributes = {"cmp_mode": StringAttr(enumerator(op, "cmpMode") or "eq")}
    registers = Registers(writer, first.type.element)
    bits = Bits(writer, dst, registers)
    if not pair and writer.backend == "vpto":
        first = _pack_rows(bits, first)
    elif isinstance(first.cols, int) and first.cols > 8 * bits.width:
        raise NotLoweredError(op, f"{first.cols} bits do not fit into rows of {bits.width} bytes")
    kind = MaskType(f"b{8 * registers.bytes}")

    def compared(line: Number, at: Number, left: Number | None) -> SSAValue:
        mask = registers.part(left)
        values = {"src0" if pair else "src": registers.row(first, line, at, left), "mask": mask}
        if other is None:
            return writer.pto(VCmpsOp, {**values, "scalar": number}, attributes, kind)
        return writer.pto(VCmpOp, {**values, "src1": registers.row(other, line, at, left)}, attributes, kind)

    writer.scope(lambda: writer.repeat(first.rows, lambda line: _compare(bits, line, first.cols, compared)))


def _pack_rows(bits: Bits, src: Tile) -> Tile:
    """Has ``bits`` hold rows without gaps but for those that the pieces make; what is compared, which is one row where
    no piece ends with a row. Raises :class:`NotLoweredError`."""
    op, dst = bits.writer.anchor, bits.tile
    rows, cols = src.rows, src.cols
    if not isinstance(rows, int) or not isinstance(cols, int):
        raise NotLoweredError(op, "its rows of bits are contiguous, and where they begin is known at run time only")
    if bits.count == 2 and cols % bits.lanes and rows > 1:
        if src.base_type.cols != cols:
            raise NotLoweredError(op, "its rows of bits are contiguous and begin within a predicate")
        rows, cols = 1, rows * cols
    pieces = -(-cols // bits.lanes)
    if rows * pieces * bits.size > dst.base_type.rows * bits.width:
        raise NotLoweredError(op, f"{rows * pieces} pieces of {bits.size} bytes do not fit into its destination")
    if dst.cols != dst.base_type.cols:
        valid = dst.rows * dst.cols * dst.bytes if isinstance(dst.rows, int) and isinstance(dst.cols, int) else None
        # Bytes that do not fit into the valid region follow each other in the whole tile.
        if valid is None or (valid >= rows * pieces * bits.size and dst.cols * dst.bytes % bits.size):  # pyright: ignore
            raise NotLoweredError(op, "its bits are a part of a tile, and whole rows of bytes are written")
        if valid >= rows * pieces * bits.size:
            bits.room = dst.cols * dst.bytes // bits.size  # pyright: ignore[reportOperatorIssue]
    bits.width = pieces * bits.size
    return replace(src, rows=rows, cols=cols)


_Compared = Callable[[Number, Number, "Number | None"], SSAValue]


def _compare(bits: Bits, line: Number, cols: Number, compared: _Compared) -> None:
    """All bytes of a row of bits; those after the last column are 0."""
    writer, lanes = bits.writer, bits.registers.lanes
    every = bits.width // bits.size

    def piece(iteration: Number, left: Number | None) -> None:
        masks: list[SSAValue] = []
        for number in range(bits.count):
            rest = None if left is None else writer.sub(left, number * lanes)
            if not isinstance(rest, int) or rest > 0:
                rest = None if isinstance(rest, int) and rest >= lanes else rest
                masks.append(compared(line, writer.add(writer.mul(iteration, bits.lanes), number * lanes), rest))
        bits.store(line, iteration, masks)

    if not isinstance(cols, int):
        writer.repeat(every, lambda turn: piece(turn, writer.sub(cols, writer.mul(turn, bits.lanes))))
        return
    full, rest = divmod(cols, bits.lanes)
    writer.repeat(full, lambda turn: piece(turn, None))
    if rest:
        piece(full, rest)
    done = full + bool(rest)
    writer.repeat(every - done, lambda turn: bits.clear(line, writer.add(turn, done)))


def lower_selection(writer: Writer) -> None:
    """Writes the vector function of ``tsel`` or ``tsels``. Raises :class:`NotLoweredError`."""
    op = writer.anchor
    assert isinstance(op, PtoOp)
    groups, reader = operand_groups(op), Reader(writer)
    pair = "src0" in groups
    mask, dst = reader.tile(groups["mask"][0]), reader.tile(groups["dst"][0])
    first = reader.tile(groups["src0" if pair else "src"][0])
    other = reader.tile(groups["src1"][0]) if pair else None
    sources = [first, *([other] if other is not None else [])]
    for tile in (dst, mask, *sources):
        _rows(reader, tile)
    if dst.element not in _CHOSEN or any(tile.type.element != dst.type.element for tile in sources):
        raise NotLoweredError(op, f"registers of {first.element} are not chosen into {dst.element}")
    refuse_overlap(op, [mask, *(tile for tile in sources if torn(tile, dst))], dst, "what is needed later")
    number = None if pair else _number(writer, groups["scalar"][0], dst)
    registers = Registers(writer, dst.type.element)
    bits = Bits(writer, mask, registers)
    # Pieces go beyond the bits that are needed, but not beyond the row of the tile, which others may write.
    needed = writer.mul(writer.ceildiv(dst.cols, bits.lanes), bits.size)
    if not isinstance(needed, int) or needed > mask.type.cols * mask.bytes:
        raise NotLoweredError(op, f"predicates are loaded in pieces of {bits.size} bytes, and its rows of bits may end")

    def function() -> None:
        everywhere = None if number is None else writer.pto(VBrOp, {"value": number}, result=registers.type)

        def chosen(line: Number, at: Number, left: Number | None, bit: SSAValue) -> None:
            lanes = registers.part(left)
            one = registers.row(first, line, at, left)
            two = everywhere if other is None else registers.row(other, line, at, left)
            made = writer.pto(VSelOp, {"src0": one, "src1": two, "mask": bit}, result=registers.type)
            registers.store(made, dst.pointer, offset_in(writer, dst, line, at), lanes)

        def piece(line: Number, iteration: Number, left: Number | None) -> None:
            for number, bit in enumerate(bits.load(line, iteration)):
                rest = None if left is None else writer.sub(left, number * registers.lanes)
                assert rest is None or isinstance(rest, int)
                if rest is None or rest > 0:
                    at = writer.add(writer.mul(iteration, bits.lanes), number * registers.lanes)
                    chosen(line, at, None if rest is None or rest >= registers.lanes else rest, bit)

        in_rows(writer, dst.rows, dst.cols, bits.lanes, piece)

    writer.scope(function)


LOWERINGS: dict[str, Callable[[Writer], None]] = {
    **dict.fromkeys(("pto.tcmp", "pto.tcmps"), lower_comparison),
    **dict.fromkeys(("pto.tsel", "pto.tsels"), lower_selection),
}
"""What lowers each operation."""
