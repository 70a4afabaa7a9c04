"""Sorting of records: instructions that work on memory, outside of vector functions.

Source: docs/reference/tiles.md, "Irregular operations"; docs/reference/vectors.md, "Reductions and rearrangement".
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects.builtin import i64

from pto_dialect.analysis.constants import constant_of
from pto_dialect.ir.core.base import PtoOp, operand_groups
from pto_dialect.ir.vector.rearrange import VBitsortOp, VMrgsort4Op
from pto_dialect.passes.instructions.geometry import NotLoweredError, Reader, Tile
from pto_dialect.passes.instructions.writer import Number, Writer

from .places import may_overlap
from .registers import offset_in

_GROUP = 32
"""Scores that one repeat sorts."""
_RECORD = 8
_LISTS = 4
_REPEATS = 255
_ALL_LISTS = 0xF << 8


def _read(writer: Writer, *names: str) -> list[Tile]:
    op = writer.anchor
    assert isinstance(op, PtoOp)
    groups, reader = operand_groups(op), Reader(writer)
    tiles = [reader.tile(groups[name][0]) for name in names]
    for tile in tiles:
        if tile.kind != "ND":
            raise NotLoweredError(op, f"its tiles lie in the layout {tile.kind}, records lie in rows")
        reader.aligned(tile.col, 32 // tile.bytes, "column")
    if any(may_overlap(tile, tiles[-1]) for tile in tiles[:-1]):
        raise NotLoweredError(op, "its destination takes the place of elements that are sorted later")
    return tiles


def lower_sort(writer: Writer) -> None:
    """Writes ``vbitsort`` for each row of a ``tsort32``. Raises :class:`NotLoweredError`."""
    op = writer.anchor
    src, idx, dst = _read(writer, "src", "idx", "dst")
    cols = src.cols
    if not isinstance(cols, int) or cols % _GROUP:
        raise NotLoweredError(op, "the backends fill a group of less than 32 scores differently")
    if not writer.same(writer.mul(cols, _RECORD // src.bytes), dst.cols) or src.type.element != dst.type.element:
        raise NotLoweredError(op, "its destination has no room for all records of a row")
    if cols // _GROUP > _REPEATS:
        raise NotLoweredError(op, f"one instruction sorts at most {_REPEATS} groups")
    one_list = idx.rows == 1

    def row(line: Number) -> None:
        pointers = [
            writer.advanced(tile.pointer, offset_in(writer, tile, number))
            for tile, number in ((dst, line), (src, line), (idx, 0 if one_list else line))
        ]
        names = ("destination", "source", "indices")
        groups = dict(zip(names, pointers, strict=True))
        writer.pto(VBitsortOp, {**groups, "repeat_times": writer.index(cols // _GROUP)})

    writer.unless_empty((src.rows, cols), lambda: writer.repeat(src.rows, row))


def lower_merge(writer: Writer) -> None:
    """Writes ``vmrgsort4`` for a ``tmrgsort`` of one tile. Raises :class:`NotLoweredError`."""
    op = writer.anchor
    assert isinstance(op, PtoOp)
    groups = operand_groups(op)
    if not groups.get("blockLen"):
        raise NotLoweredError(op, "how many records it takes from each list only a run knows")
    src, dst = _read(writer, "srcs", "dsts")
    block = constant_of(groups["blockLen"][0])
    per_record = _RECORD // src.bytes
    if not isinstance(block, int) or block <= 0 or block % per_record:
        raise NotLoweredError(op, "the length of its blocks is not known")
    if not isinstance(src.cols, int) or src.cols % (_LISTS * block) or not writer.same(src.cols, dst.cols):
        raise NotLoweredError(op, "the backends treat blocks that are left over differently")
    repeats, length = src.cols // (_LISTS * block), block // per_record
    if repeats > _REPEATS or length >= 1 << 16:
        raise NotLoweredError(op, f"one instruction merges at most {_REPEATS} times four lists of 65535 records")
    lengths = sum(length << (16 * number) for number in range(_LISTS))
    lengths -= (lengths >> 63) << 64
    start = offset_in(writer, src, 0)
    lists = {
        f"source{number}": writer.advanced(src.pointer, writer.add(start, number * block)) for number in range(_LISTS)
    }
    numbers = {"count": lengths, "config": _ALL_LISTS | repeats}
    operands = {name: writer.function.constant(number, i64) for name, number in numbers.items()}
    writer.pto(
        VMrgsort4Op, {"destination": writer.advanced(dst.pointer, offset_in(writer, dst, 0)), **lists, **operands}
    )


LOWERINGS: dict[str, Callable[[Writer], None]] = {"pto.tsort32": lower_sort, "pto.tmrgsort": lower_merge}
"""What lowers each operation."""
