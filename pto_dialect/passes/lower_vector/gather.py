"""Elements whose places are computed or read: transposition, gathers and scatters.

Source: docs/reference/tiles.md, "Irregular operations"; docs/reference/vectors.md, "Loads and stores".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from xdsl.dialects.arith import IndexCastOp
from xdsl.dialects.builtin import IntegerType, Signedness, StringAttr
from xdsl.ir import SSAValue

from pto_dialect.analysis.type_facts import enumerator
from pto_dialect.ir.core.base import PtoOp, operand_groups
from pto_dialect.ir.core.types import VRegType, element_name
from pto_dialect.ir.sync.flags import MemBarOp
from pto_dialect.ir.vector.arith import VAddsOp, VMulsOp
from pto_dialect.ir.vector.convert import VCiOp, VDupOp
from pto_dialect.ir.vector.memory import VGather2Op, VGatherbOp, VScatterOp
from pto_dialect.ir.vector.rearrange import VPackOp, VZunpackOp
from pto_dialect.passes.instructions.geometry import ROW_BYTES, NotLoweredError, Reader, Tile
from pto_dialect.passes.instructions.writer import Number, Writer, enum
from pto_dialect.targets.mask_patterns import MASK_PATTERNS

from .registers import Registers, function_of_rows, offset_in
from .tiles import refuse_overlap

_FARTHEST = {2: 1 << 15, 4: 1 << 31}
"""Elements that an index with the width of an element reaches, without its sign."""


class Elements:
    """Registers of positions in the memory of a tile, for elements of 2 or 4 bytes."""

    def __init__(self, writer: Writer, tile: Tile) -> None:
        op = writer.anchor
        if tile.bytes not in _FARTHEST:
            raise NotLoweredError(op, f"{tile.element} has no positions of its own width")
        if tile.base_type.rows * tile.base_type.cols > _FARTHEST[tile.bytes]:
            raise NotLoweredError(op, f"positions of {8 * tile.bytes} bits do not reach all of its elements")
        self.writer = writer
        self.tile = tile
        self.registers = Registers(writer, IntegerType(8 * tile.bytes))
        self._ramps: dict[int, SSAValue] = {}

    def _scalar(self, number: Number) -> SSAValue:
        kind = IntegerType(8 * self.tile.bytes)
        if isinstance(number, int):
            return self.writer.function.constant(number, kind)
        return self.writer.put(IndexCastOp(number, kind))

    def prepare(self, step: int) -> None:
        """Positions that are ``step`` elements apart, from 0 on, for use in loops."""
        kind = self.registers.type
        ramp = self.writer.pto(VCiOp, {"index": self._scalar(0)}, result=kind)
        if step != 1:
            groups = {"input": ramp, "scalar": self._scalar(step), "mask": self.registers.whole()}
            ramp = self.writer.pto(VMulsOp, groups, result=kind)
        self._ramps[step] = ramp

    def every(self, step: int, row: Number, col: Number, mask: SSAValue) -> SSAValue:
        """Returns the positions that are ``step`` elements apart, from (row, col) of the tile on."""
        ramp, start = self._ramps[step], offset_in(self.writer, self.tile, row, col)
        if start == 0:
            return ramp
        groups = {"input": ramp, "scalar": self._scalar(start), "mask": mask}
        return self.writer.pto(VAddsOp, groups, result=self.registers.type)

    def read(self, positions: Tile, line: Number, at: Number, left: Number | None) -> SSAValue:
        """Returns the positions of elements that a row of another tile holds, as wide as the elements."""
        own = Registers(self.writer, positions.type.element)
        value = own.row(positions, line, at, left)
        if positions.bytes == self.tile.bytes:
            return value
        if positions.bytes == 4:
            kind = VRegType(self.registers.lanes, IntegerType(8 * self.tile.bytes, Signedness.UNSIGNED))
            return self.writer.pto(VPackOp, {"src": value}, {"part": StringAttr("LOWER")}, kind)
        kind = VRegType(self.registers.lanes, IntegerType(8 * self.tile.bytes))
        return self.writer.pto(VZunpackOp, {"src": value, "part": self.writer.index(0)}, result=kind)


def _rows(reader: Reader, *tiles: Tile) -> None:
    for tile in tiles:
        if tile.kind != "ND":
            raise NotLoweredError(reader.op, f"its tiles lie in the layout {tile.kind}, registers are loaded from rows")
        reader.aligned(tile.col, ROW_BYTES // tile.bytes, "column")


def _refuse_overlap(writer: Writer, dst: Tile, *sources: Tile) -> None:
    refuse_overlap(writer.anchor, sources, dst, "elements that are read later")


def _same_bits(writer: Writer, src: Tile, dst: Tile) -> None:
    if src.type.element != dst.type.element:
        raise NotLoweredError(writer.anchor, f"its tiles hold {src.element} and {dst.element}")


def _elements(writer: Writer, reader: Reader, src: Tile, dst: Tile, *positions: Tile) -> None:
    """What holds where elements of ``src`` go to ``dst`` one by one, maybe to ``positions``."""
    _rows(reader, src, dst, *positions)
    _same_bits(writer, src, dst)
    _refuse_overlap(writer, dst, src, *positions)


def _opened(writer: Writer) -> tuple[PtoOp, Mapping[str, Sequence[SSAValue]], Reader]:
    """Returns the operation that is written, its operands by name, and who reads its tiles."""
    op = writer.anchor
    assert isinstance(op, PtoOp)
    return op, operand_groups(op), Reader(writer)


def _whole(writer: Writer, tile: Tile) -> None:
    if (tile.row, tile.col) != (0, 0) or (tile.type.rows, tile.type.cols) != (tile.base_type.rows, tile.base_type.cols):
        raise NotLoweredError(writer.anchor, "positions count from the beginning of a tile, not of a part of one")


def _gathered(writer: Writer, positions: Elements, src: Tile, index: SSAValue, mask: SSAValue) -> SSAValue:
    kind = Registers(writer, src.type.element).type
    return writer.pto(VGather2Op, {"source": src.pointer, "offsets": index, "mask": mask}, result=kind)


def lower_transposition(writer: Writer) -> None:
    """Writes the vector function of ``ttrans``. Raises :class:`NotLoweredError`."""
    _, groups, reader = _opened(writer)
    src, dst = (reader.tile(groups[name][0]) for name in ("src", "dst"))
    _elements(writer, reader, src, dst)
    positions, registers, step = Elements(writer, src), Registers(writer, dst.type.element), src.base_type.cols

    def column(line: Number, iteration: Number, left: Number | None) -> None:
        at = writer.mul(iteration, registers.lanes)
        mask = registers.part(left)
        index = positions.every(step, at, line, mask)
        value = _gathered(writer, positions, src, index, mask)
        registers.store(value, dst.pointer, offset_in(writer, dst, line, at), mask)

    function_of_rows(writer, dst.rows, dst.cols, registers.lanes, column, lambda: positions.prepare(step))


def lower_gather(writer: Writer) -> None:
    """Writes the vector function of ``tgather``. Raises :class:`NotLoweredError`."""
    op, groups, reader = _opened(writer)
    if groups.get("kValue"):
        raise NotLoweredError(op, "how many positions it stores in a row only a run knows")
    src, dst = (reader.tile(groups[name][0]) for name in ("src", "dst"))
    pattern = enumerator(op, "maskPattern")
    if pattern:
        _gather_pattern(writer, reader, src, dst, pattern)
        return
    indices = reader.tile(groups["indices"][0])
    _elements(writer, reader, src, dst, indices)
    _whole(writer, src)
    positions, registers = Elements(writer, src), Registers(writer, dst.type.element)
    lanes = min(registers.lanes, Registers(writer, indices.type.element).lanes)

    def part(line: Number, iteration: Number, left: Number | None) -> None:
        at = writer.mul(iteration, lanes)
        mask = (
            registers.first(lanes if left is None else left) if lanes < registers.lanes or left else registers.whole()
        )
        index = positions.read(indices, line, at, lanes if left is None else left)
        value = _gathered(writer, positions, src, index, mask)
        registers.store(value, dst.pointer, offset_in(writer, dst, line, at), mask)

    function_of_rows(writer, dst.rows, dst.cols, lanes, part)


def _gather_pattern(writer: Writer, reader: Reader, src: Tile, dst: Tile, pattern: str) -> None:
    """The elements of each row, or the rows, that a pattern keeps."""
    op = writer.anchor
    _rows(reader, src, dst)
    _refuse_overlap(writer, dst, src)
    step, first = MASK_PATTERNS[pattern]
    along = _along_rows(op)
    length = src.rows if along else src.cols
    if not isinstance(length, int) or not isinstance(dst.cols, int) or src.bytes != dst.bytes:
        raise NotLoweredError(op, "how many elements its pattern keeps only a run knows")
    count = max(-(-(length - first) // step), 0)
    rows, cols = (count, src.cols) if along else (src.rows, count)
    if cols != dst.cols or (isinstance(rows, int) and isinstance(dst.rows, int) and rows > dst.rows):
        raise NotLoweredError(op, f"its pattern keeps {cols} elements of a row, and they fill rows of {dst.cols}")
    positions, registers = Elements(writer, src), Registers(writer, src.type.element)
    pointer = writer.seen_as(dst.pointer, src.type.element)

    def part(line: Number, iteration: Number, left: Number | None) -> None:
        at = writer.mul(iteration, registers.lanes)
        mask = registers.part(left)
        if along:
            value = registers.row(src, writer.add(writer.mul(line, step), first), at, left)
        else:
            index = positions.every(step, line, writer.add(writer.mul(at, step), first), mask)
            value = _gathered(writer, positions, src, index, mask)
        registers.store(value, pointer, offset_in(writer, dst, line, at), mask)

    def before() -> None:
        if not along:
            positions.prepare(step)

    function_of_rows(writer, rows, cols, registers.lanes, part, before)


def _along_rows(op: object) -> bool:
    return getattr(getattr(op, "attributes", {}).get("axis"), "data", "row") == "col"


def lower_block_gather(writer: Writer) -> None:
    """Writes the vector function of ``tgatherb``. Raises :class:`NotLoweredError`."""
    op, groups, reader = _opened(writer)
    src, offsets, dst = (reader.tile(groups[name][0]) for name in ("src", "offsets", "dst"))
    _rows(reader, src, offsets, dst)
    _same_bits(writer, src, dst)
    _refuse_overlap(writer, dst, src, offsets)
    _whole(writer, src)
    if offsets.bytes != 4:
        raise NotLoweredError(op, f"blocks have offsets of 32 bits, found {offsets.element}")
    registers, words = Registers(writer, dst.type.element), Registers(writer, offsets.type.element)

    def part(line: Number, iteration: Number, left: Number | None) -> None:
        at, blocks = writer.mul(iteration, registers.lanes), writer.mul(iteration, 8)
        count = 8 if left is None else writer.ceildiv(writer.mul(left, dst.bytes), ROW_BYTES)
        index = words.row(offsets, line, blocks, count)
        groups_ = {"source": src.pointer, "offsets": index, "mask": words.first(count)}
        value = writer.pto(VGatherbOp, groups_, result=registers.type)
        mask = registers.part(left)
        registers.store(value, dst.pointer, offset_in(writer, dst, line, at), mask)

    function_of_rows(writer, dst.rows, dst.cols, registers.lanes, part)


def lower_scatter(writer: Writer) -> None:
    """Writes the vector function of ``tscatter``. Raises :class:`NotLoweredError`."""
    op, groups, reader = _opened(writer)
    src, dst = (reader.tile(groups[name][0]) for name in ("src", "dst"))
    pattern = enumerator(op, "maskPattern")
    if pattern:
        _scatter_pattern(writer, reader, src, dst, pattern)
        return
    if not groups["indexes"]:
        raise NotLoweredError(op, "it has neither positions nor a pattern")
    indexes = reader.tile(groups["indexes"][0])
    _elements(writer, reader, src, dst, indexes)
    _whole(writer, dst)
    positions, registers = Elements(writer, dst), Registers(writer, src.type.element)
    if indexes.bytes != src.bytes:
        raise NotLoweredError(op, f"positions of {element_name(src.type.element)} are as wide as the elements")

    def part(line: Number, iteration: Number, left: Number | None) -> None:
        at = writer.mul(iteration, registers.lanes)
        mask = registers.part(left)
        index = positions.read(indexes, line, at, left)
        value = registers.row(src, line, at, left)
        writer.pto(VScatterOp, {"value": value, "destination": dst.pointer, "offsets": index, "mask": mask})
        # The next register may write the same locations.
        writer.pto(MemBarOp, {}, {"kind": enum("membar", "VST_VST")})

    _clear(writer, dst, whole=True)
    function_of_rows(writer, indexes.rows, indexes.cols, registers.lanes, part)


def _clear(writer: Writer, dst: Tile, whole: bool) -> None:
    """Writes a function that sets the valid elements of ``dst`` to 0, or the ``whole`` tile."""
    registers = Registers(writer, dst.type.element)

    def part(line: Number, iteration: Number, left: Number | None) -> None:
        mask = registers.part(left)
        zero = writer.function.constant(0.0 if dst.element[0] in "fb" else 0, dst.type.element)
        nothing = writer.pto(VDupOp, {"input": zero, "mask": mask}, result=registers.type)
        at = writer.mul(iteration, registers.lanes)
        registers.store(nothing, dst.pointer, offset_in(writer, dst, line, at), mask)

    extents: tuple[Number, Number] = (dst.type.rows, dst.type.cols) if whole else (dst.rows, dst.cols)
    function_of_rows(writer, *extents, registers.lanes, part)


def _scatter_pattern(writer: Writer, reader: Reader, src: Tile, dst: Tile, pattern: str) -> None:
    """Zeros, and in a second function the elements of each row at the positions of a pattern."""
    op = writer.anchor
    _elements(writer, reader, src, dst)
    step, first = MASK_PATTERNS[pattern]
    if _along_rows(op):
        raise NotLoweredError(op, "rows are spread over rows")
    if not isinstance(src.cols, int) or not isinstance(dst.cols, int) or not writer.is_equal(src.rows, dst.rows):
        raise NotLoweredError(op, "how many elements its pattern places only a run knows")
    cols = min(src.cols, max(-(-(dst.cols - first) // step), 0))
    positions, registers = Elements(writer, dst), Registers(writer, dst.type.element)

    def spread(line: Number, iteration: Number, left: Number | None) -> None:
        at = writer.mul(iteration, registers.lanes)
        mask = registers.part(left)
        index = positions.every(step, line, writer.add(writer.mul(at, step), first), mask)
        value = registers.row(src, line, at, left)
        writer.pto(VScatterOp, {"value": value, "destination": dst.pointer, "offsets": index, "mask": mask})

    # A pattern of all elements is a move, and the template clears no more than what it writes.
    _clear(writer, dst, whole=step > 1 and writer.backend == "emitc")
    function_of_rows(writer, dst.rows, cols, registers.lanes, spread, lambda: positions.prepare(step))


LOWERINGS: dict[str, Callable[[Writer], None]] = {
    "pto.ttrans": lower_transposition,
    "pto.tgather": lower_gather,
    "pto.tgatherb": lower_block_gather,
    "pto.tscatter": lower_scatter,
}
"""What lowers each operation."""
