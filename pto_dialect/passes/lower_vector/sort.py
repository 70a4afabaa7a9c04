"""Sorting of records: instructions that work on memory, outside of vector functions.

Source: docs/reference/tiles.md, "Irregular operations"; docs/reference/vectors.md, "Reductions and rearrangement".
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects.builtin import i64
from xdsl.ir import SSAValue

from pto_dialect.analysis.constants import constant_of
from pto_dialect.analysis.type_facts import integer_attribute
from pto_dialect.ir.core.base import PtoOp, operand_groups
from pto_dialect.ir.tile.irregular import TMrgsortOp
from pto_dialect.ir.vector.convert import VBrOp
from pto_dialect.ir.vector.rearrange import VBitsortOp, VMrgsort4Op
from pto_dialect.passes.instructions.geometry import ROW_BYTES, NotLoweredError, Reader, Tile
from pto_dialect.passes.instructions.writer import Number, Writer

from .group import GROUP, RECORD, PartialGroup
from .registers import Registers, offset_in, pieces
from .tiles import may_overlap, refuse_overlap

_LISTS = 4
_REPEATS = 255
_STOP = 1 << 12
"""The merge ends when a list is empty."""


def _read(writer: Writer, *values: SSAValue) -> list[Tile]:
    """Tiles of rows, of which the last one is written and shares no byte with the others."""
    op, reader = writer.anchor, Reader(writer)
    tiles = [reader.tile(value) for value in values]
    for tile in tiles:
        if tile.kind != "ND":
            raise NotLoweredError(op, f"its tiles lie in the layout {tile.kind}, records lie in rows")
        reader.aligned(tile.col, ROW_BYTES // tile.bytes, "column")
    refuse_overlap(op, tiles[:-1], tiles[-1], "elements that are sorted later")
    return tiles


def lower_sort(writer: Writer) -> None:
    """Writes ``vbitsort`` for each row of a ``tsort32``. Raises :class:`NotLoweredError`."""
    op = writer.anchor
    assert isinstance(op, PtoOp)
    groups = operand_groups(op)
    src, idx, dst = _read(writer, *(groups[name][0] for name in ("src", "idx", "dst")))
    cols = src.cols
    if not isinstance(cols, int):
        raise NotLoweredError(op, "how many scores a row has only a run knows")
    room = isinstance(dst.cols, int) and dst.cols >= cols * (RECORD // src.bytes)
    if not room or src.type.element != dst.type.element or not writer.is_equal(src.rows, dst.rows):
        raise NotLoweredError(op, "its destination has no room for all records of a row")
    one_list, groups_of_row = idx.rows == 1, cols // GROUP
    order = PartialGroup(writer, (src, idx, dst), cols % GROUP, one_list)

    def part(line: Number, first: int, count: int) -> None:
        at = first * GROUP
        offsets = ((dst, line, at * (RECORD // dst.bytes)), (src, line, at), (idx, 0 if one_list else line, at))
        pointers = [
            writer.advanced(tile.pointer, offset_in(writer, tile, row, offset)) for tile, row, offset in offsets
        ]
        operands = dict(zip(("destination", "source", "indices"), pointers, strict=True))
        writer.pto(VBitsortOp, {**operands, "repeat_times": writer.index(count)})

    def row(line: Number) -> None:
        for first in range(0, groups_of_row, _REPEATS):
            part(line, first, min(_REPEATS, groups_of_row - first))
        if cols % GROUP:
            order.write(line, groups_of_row * GROUP)

    writer.unless_empty((src.rows, cols), lambda: writer.repeat(src.rows, row))


def lower_merge(writer: Writer) -> None:
    """Writes ``vmrgsort4`` for a ``tmrgsort``. Raises :class:`NotLoweredError`."""
    op = writer.anchor
    assert isinstance(op, PtoOp)
    if operand_groups(op).get("blockLen"):
        _merge_blocks(writer, op)
    else:
        _merge_lists(writer, op)


def _merge_blocks(writer: Writer, op: PtoOp) -> None:
    """Each four blocks of one tile; with emitc those that are left over become 0."""
    groups = operand_groups(op)
    src, dst = _read(writer, groups["srcs"][0], groups["dsts"][0])
    block = constant_of(groups["blockLen"][0])
    per_record = RECORD // src.bytes
    if not isinstance(block, int) or block <= 0 or block % per_record:
        raise NotLoweredError(op, "the length of its blocks is not known")
    if not isinstance(src.cols, int) or not isinstance(dst.cols, int):
        raise NotLoweredError(op, "how many blocks it merges only a run knows")
    count = min(src.cols, dst.cols) // per_record * per_record
    repeats, length = count // (_LISTS * block), block // per_record
    if repeats > _REPEATS:
        raise NotLoweredError(op, f"one instruction merges at most {_REPEATS} times four blocks")
    start, merged = offset_in(writer, src, 0), repeats * _LISTS * block
    lists = [writer.advanced(src.pointer, writer.add(start, number * block)) for number in range(_LISTS)]
    if repeats:
        _merge(writer, dst, lists, [length] * _LISTS, repeats)
    if count > merged and writer.backend == "emitc":
        writer.scope(lambda: _clear(writer, dst, merged, count - merged))


def _merge_lists(writer: Writer, op: PtoOp) -> None:
    """Two to four lists, by way of the scratch tile where the destination has no room for all of them."""
    groups = operand_groups(op)
    *sources, dst = _read(writer, *groups["srcs"], groups["dsts"][0])
    if any(_are_counts_used(value) for value in groups.get("excuted", ())):
        raise NotLoweredError(op, "the numbers of records that it takes from each list are used")
    per_record = RECORD // dst.bytes
    sizes = [tile.cols // per_record for tile in sources if isinstance(tile.cols, int)]
    if len(sizes) < len(sources) or not isinstance(dst.cols, int) or 0 in sizes:
        raise NotLoweredError(op, "how many records its lists have only a run knows")
    room = dst.cols // per_record * per_record
    target = dst
    if room < sum(sizes) * per_record:
        if integer_attribute(op, "exhausted"):
            raise NotLoweredError(op, "its destination may have no room for what it takes until a list is empty")
        target = _scratch(writer, op, [*sources, dst], sum(sizes) * per_record)
    lists = [writer.advanced(tile.pointer, offset_in(writer, tile, 0)) for tile in sources]
    _merge(writer, target, lists + lists[:1] * (_LISTS - len(lists)), sizes, 1)
    if target is not dst:
        writer.scope(lambda: _copy(writer, target, dst, room))


def _are_counts_used(value: SSAValue) -> bool:
    """Returns whether the counts of merges, which are written to an operand, are used."""
    return any(not isinstance(use.operation, TMrgsortOp) for use in value.uses)


def _scratch(writer: Writer, op: PtoOp, others: list[Tile], needed: int) -> Tile:
    """Returns the scratch tile of a merge, with room for all records. Raises :class:`NotLoweredError`."""
    scratch = operand_groups(op).get("tmp", ())
    tile = Reader(writer).tile(scratch[0]) if scratch else None
    if tile is None or tile.kind != "ND" or tile.type.cols < needed:
        raise NotLoweredError(op, "neither its destination nor its scratch tile has room for all records")
    if tile.type.element != others[-1].type.element or any(may_overlap(tile, other) for other in others):
        raise NotLoweredError(op, "its scratch tile has bytes of its lists or other elements")
    Reader(writer).aligned(tile.col, ROW_BYTES // tile.bytes, "column")
    return tile


def _merge(writer: Writer, dst: Tile, lists: list[SSAValue], lengths: list[int], repeats: int) -> None:
    """One ``vmrgsort4`` of as many lists as there are lengths."""
    count = sum(length << (16 * number) for number, length in enumerate(lengths))
    count -= (count >> 63) << 64
    stops = _STOP if integer_attribute(writer.anchor, "exhausted") else 0
    config = ((1 << len(lengths)) - 1) << 8 | stops | repeats
    numbers = {"count": count, "config": config}
    operands = {name: writer.function.constant(number, i64) for name, number in numbers.items()}
    sources = {f"source{number}": pointer for number, pointer in enumerate(lists)}
    target = writer.advanced(dst.pointer, offset_in(writer, dst, 0))
    writer.pto(VMrgsort4Op, {"destination": target, **sources, **operands})


def _clear(writer: Writer, dst: Tile, start: int, count: int) -> None:
    """Has elements of a row become 0."""
    registers = Registers(writer, dst.type.element)
    zero = writer.pto(VBrOp, {"value": writer.function.constant(0.0, dst.type.element)}, result=registers.type)

    def piece(iteration: Number, left: Number | None) -> None:
        at = writer.add(start, writer.mul(iteration, registers.lanes))
        mask = registers.whole() if left is None else registers.first(left)
        registers.store(zero, dst.pointer, offset_in(writer, dst, 0, at), mask)

    pieces(writer, count, registers.lanes, piece)


def _copy(writer: Writer, src: Tile, dst: Tile, count: int) -> None:
    """Copies elements of a row."""
    registers = Registers(writer, dst.type.element)

    def piece(iteration: Number, left: Number | None) -> None:
        at = writer.mul(iteration, registers.lanes)
        mask = registers.whole() if left is None else registers.first(left)
        registers.store(registers.row(src, 0, at, left), dst.pointer, offset_in(writer, dst, 0, at), mask)

    pieces(writer, count, registers.lanes, piece)


LOWERINGS: dict[str, Callable[[Writer], None]] = {"pto.tsort32": lower_sort, "pto.tmrgsort": lower_merge}
"""What lowers each operation."""
