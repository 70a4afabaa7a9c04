"""``tmov``, ``textract``, ``tinsert``, ``ttrans``: tiles to tiles. Source: docs/reference/layouts.md, "Moves between
tiles".
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from pto_dialect.ir.core.base import PtoOp
from pto_dialect.ir.core.extents import round_up
from pto_dialect.ir.core.operands import named
from pto_dialect.ir.core.types import TileBufType
from pto_dialect.runtime.compile.generator import Generator
from pto_dialect.runtime.faults import Fault
from pto_dialect.runtime.memory.layout import MatrixView
from pto_dialect.runtime.memory.packed_view import PackedView
from pto_dialect.runtime.memory.spaces import Array, strided_view
from pto_dialect.runtime.memory.values import Tile, ValueTile
from pto_dialect.runtime.numerics.decode import decode
from pto_dialect.runtime.numerics.encode import encode
from pto_dialect.runtime.run.machine import Core

from ..cube.fixpipe_tile import AccumulatorOut, channel_entries
from ..registry import kernel
from .memory import accumulator_out, enum_value
from .operands import write_linear

# ------------------------------------------------------------ accumulators to vector cores


FIRST = "single_mode_vec0"
"""The default mode of a move: to the first vector core."""
SECOND = "single_mode_vec1"
_COLUMNS = 32
"""The number of columns that are divided into two halves is a multiple of this."""
_FRACTAL = 16
"""The columns of a block of the accumulators."""

AnyTile = Tile | ValueTile


def check_window(tile: AnyTile, row: int, col: int, rows: int, cols: int) -> None:
    """Raises ``Fault`` ``extract-bounds`` for a window that leaves ``tile``."""
    if row < 0 or col < 0 or row + rows > tile.rows or col + cols > tile.cols:
        raise Fault("extract-bounds", f"{rows}x{cols} at ({row}, {col}) leaves the tile {tile.rows}x{tile.cols}")


class TileMove(Protocol):
    """A move between two tiles of one core."""

    label: str
    mode: str

    def __call__(
        self, source: Tile, dst: Tile, row: int = 0, col: int = 0, scalar: Any = None, table: Any = None
    ) -> None:
        """Moves."""
        ...

    def insert(self, source: Tile, dst: Tile, row: int, col: int) -> None:
        """Moves to a start in the destination."""
        ...


class MoveToCores:
    """A move to the second vector core, or of one half to each: the first rows (``dual_mode_split_m``) or columns
    (``dual_mode_split_n``) to the first core, the others to the same address of the second one.
    """

    def __init__(self, move: TileMove, mode: str) -> None:
        self.move = move
        self.mode = mode
        self.label = move.label

    def __call__(self, core: Core, source: Tile, dst: Tile, row: int = 0, col: int = 0, *scales: Any) -> None:
        """Moves as ``Move`` does. Raises ``Fault``: ``fixp-ub-split-m-even``, ``fixp-ub-split-n-32``."""
        tiles = [dst.moved(buffer, dst.pointer.offset) for buffer in core.block.unified_buffers]
        if self.mode == SECOND:
            self.move(source, tiles[1], row, col, *scales)
            return
        by_rows = self.mode == "dual_mode_split_m"
        rows, cols = self._region(source, dst)
        if self.move.mode == "extract":
            check_window(source, row, col, rows, cols)
        if by_rows and rows % 2:
            raise Fault("fixp-ub-split-m-even", f"split_m of {rows} rows")
        if not by_rows and cols % _COLUMNS:
            raise Fault("fixp-ub-split-n-32", f"split_n of {cols} columns")
        height, width = (rows // 2, cols) if by_rows else (rows, cols // 2)
        inside = (row, col) if self.move.mode == "extract" else (0, 0)
        start = (row, col) if self.move.mode == "insert" else (0, 0)
        for number, tile in enumerate(tiles):
            first = (inside[0] + number * height, inside[1]) if by_rows else (inside[0], inside[1] + number * width)
            half = source.window(*first, height, width, height, width)
            self.move.insert(half, tile, *start)

    def _region(self, source: Tile, dst: Tile) -> tuple[int, int]:
        """Returns the rows and columns that both cores get together: the valid region of the source, in blocks all rows
        of the tile and whole blocks of columns."""
        rows, cols = source.valid_rows, source.valid_cols
        if dst.layout.kind != "NZ":
            return rows, cols
        block = _FRACTAL if self.mode == "dual_mode_split_m" else _COLUMNS
        return source.rows, min(round_up(cols, block), source.cols)


def converted(values: Array, source: AnyTile, dst: AnyTile) -> Array:
    """Returns storage of ``dst`` for values stored in ``source``: the same bits for equal sizes, otherwise a value
    conversion."""
    if _counts_numbers(source) != _counts_numbers(dst):
        raise Fault("unmodelled", f"4-bit numbers cannot be moved between {source.loc} and {dst.loc}")
    if source.fmt.storage == dst.fmt.storage:
        return values
    if source.fmt.bytes == dst.fmt.bytes and source.fmt.is_float == dst.fmt.is_float:
        return np.ascontiguousarray(values).view(dst.fmt.storage)
    return encode(decode(np.ascontiguousarray(values), source.fmt), dst.fmt, saturate=True)


def _counts_numbers(tile: AnyTile) -> bool:
    return isinstance(tile, Tile) and isinstance(tile.view, PackedView)


def _same_bytes(source: AnyTile, dst: AnyTile) -> bool:
    """Copies byte by byte where both tiles are whole and have equal layouts; returns False where they do not."""
    if not (isinstance(source, Tile) and isinstance(dst, Tile)) or source.layout != dst.layout:
        return False
    if source.fmt.name != dst.fmt.name or not (_whole_tile(source) and _whole_tile(dst)):
        return False
    _bytes(dst)[...] = _bytes(source)
    return True


def _bytes(tile: Tile) -> Array:
    """Returns the memory of a tile, whose handle has checked the bounds."""
    pointer = tile.pointer
    return pointer.arena.bytes[pointer.offset : pointer.offset + tile.layout.nbytes]


def _same_elements(source: AnyTile, dst: AnyTile) -> bool:
    """Returns the copies from layout to layout at once where the elements have one type; returns False where that is
    impossible."""
    if not (isinstance(source, Tile) and isinstance(dst, Tile)) or source.fmt.name != dst.fmt.name:
        return False
    if not (isinstance(source.view, MatrixView) and isinstance(dst.view, MatrixView)):
        return False
    rows, cols = dst.valid_rows, dst.valid_cols
    if rows > source.valid_rows or cols > source.valid_cols:
        return False
    return dst.view.copy_from(source.view, rows, cols)


def _whole_tile(tile: Tile) -> bool:
    """Returns whether a tile is all of its memory and completely valid."""
    layout = tile.layout
    full = (tile.valid_rows, tile.valid_cols) == (layout.rows, layout.cols)
    return full and layout.nbytes == layout.rows * layout.cols * layout.item_bytes


def _in_blocks(dst: AnyTile) -> bool:
    """Returns whether tiles of the matrix memory are in accumulator order."""
    if dst.loc != "mat":
        return False
    assert isinstance(dst, Tile)
    return dst.layout.kind == "NZ"


def _blocks(source: Tile, dst: Tile, table: AnyTile | None) -> tuple[int, int]:
    """Returns the rows and columns that the matrix unit writes of accumulators: all rows of the tile, whole blocks of
    columns.

    A table without entries for the rest of the last block ends the columns (docs/reference/numerics.md, "Write-back").
    """
    cols = round_up(source.valid_cols, dst.layout.inner[1])
    if table is not None:
        cols = min(cols, max(source.valid_cols, channel_entries(table)))
    return min(source.rows, dst.rows), min(cols, source.cols, dst.cols)


class Move:
    """dst = src in the layout of dst, with an optional start in the source (extract) or the destination (insert)."""

    def __init__(self, convert: AccumulatorOut | None, mode: str) -> None:
        self.label = "tmov" if mode == "move" else f"t{mode}"
        self.convert = convert
        self.mode = mode

    def __call__(
        self,
        source: AnyTile,
        dst: AnyTile,
        row: int = 0,
        col: int = 0,
        scalar: int | None = None,
        table: AnyTile | None = None,
    ) -> None:
        """Moves ``source`` to ``dst``; ``row`` and ``col`` are the start of the window, ``scalar`` and ``table`` are
        the scales of accumulators."""
        if self.mode == "insert":
            self.insert(source, dst, row, col, scalar, table)
            return
        rows, cols = dst.valid_rows, dst.valid_cols
        if self.mode == "move" and self.convert is None and (_same_bytes(source, dst) or _same_elements(source, dst)):
            return
        if self.mode == "extract":
            check_window(source, row, col, rows, cols)
            if isinstance(source, Tile):
                raw = source.view.window(row, col, rows, cols).read(rows, cols)
            else:
                raw = source.array[row : row + rows, col : col + cols]
        elif self.convert is not None and _in_blocks(dst):
            assert isinstance(source, Tile) and isinstance(dst, Tile)
            if isinstance(table, Tile):
                table = table.window(0, 0, table.rows, table.cols, table.rows, table.cols)
            rows, cols = _blocks(source, dst, table)
            values = self._value(source.view.read(rows, cols), source, dst, scalar, table)
            dst.view.window(0, 0, rows, cols).write(values)
            return
        else:
            raw = source.read()[:rows, :cols]
        dst.write(self._value(raw, source, dst, scalar, table, col))

    def insert(
        self,
        source: AnyTile,
        dst: AnyTile,
        row: int,
        col: int,
        scalar: int | None = None,
        table: AnyTile | None = None,
    ) -> None:
        """Writes all of ``source`` into ``dst`` from (row, col) on."""
        values = self._value(source.read(), source, dst, scalar, table)
        rows, cols = values.shape
        check_window(dst, row, col, rows, cols)
        if isinstance(dst, Tile):
            dst.view.window(row, col, rows, cols).write(values)
        else:
            dst.array[row : row + rows, col : col + cols] = values

    def _value(
        self, raw: Array, source: AnyTile, dst: AnyTile, scalar: int | None, table: AnyTile | None, first: int = 0
    ) -> Array:
        if self.convert is not None:
            return self.convert(raw, scalar, table, first)
        if source.loc == dst.loc == "vec" and source.fmt.bytes == dst.fmt.bytes:
            # The unified buffer is copied bit by bit, whatever the elements are.
            return np.ascontiguousarray(raw).view(dst.fmt.storage)
        return converted(raw, source, dst)


class ScaleOrder:
    """dst = the scales of src in the order of left MX operands: consecutive boxes of 16 x 2.

    Groups are along the rows of src (``axis`` 1; rows up to the next 16 are 0) or along its columns (0). A single row
    of src is a list of scales, as quantization writes them, of rows as long as those of dst.
    """

    label = "tmov_zz"

    def __init__(self, axis: int) -> None:
        self.axis = axis

    def __call__(self, source: AnyTile, dst: AnyTile) -> None:
        """Rearranges the bytes of ``source`` into ``dst``."""
        scales = np.ascontiguousarray(source.read()).view(np.uint8)
        groups = dst.valid_cols
        if scales.shape[0] == 1 and self.axis and dst.valid_rows > 1 and scales.size % groups == 0:
            scales = scales.reshape(-1, groups)
        elif not self.axis:
            scales = scales.T
        rows, groups = scales.shape
        full = np.zeros((round_up(rows, 16), round_up(groups, 2)), np.uint8)
        full[:rows, :groups] = scales
        boxes = full.reshape(-1, 16, full.shape[1] // 2, 2).transpose(0, 2, 1, 3).reshape(-1)
        if isinstance(dst, Tile):
            dst.pointer.check(boxes.size, "the scales")
            if boxes.size > dst.layout.nbytes:
                raise Fault("extract-bounds", f"{boxes.size} scales do not fit into {dst.rows}x{dst.cols}")
            np.copyto(strided_view(dst.pointer, boxes.shape, (1,), np.dtype(np.uint8)), boxes)
        else:
            write_linear(dst, boxes.view(dst.fmt.storage))


_MODES = {"pto.tmov": "move", "pto.tmov.fp": "move", "pto.textract": "extract", "pto.textract_fp": "extract"}


@kernel("pto.tmov", "pto.tmov.fp", "pto.textract", "pto.textract_fp", "pto.tinsert", "pto.tinsert_fp")
def tile_move(op: PtoOp, g: Generator) -> None:
    """dst = src in the layout and memory of dst; a window of the source or of the destination where offsets are
    given.
    """
    groups = g.operands(op)
    source = groups["src"][0]
    dst = g.destination(op)
    if dst in g.held:
        g.emitter.line(f"{g.held[dst]} = {g.held[source]}")
        return
    row, col = (groups.get(name, (0,))[0] for name in ("indexRow", "indexCol"))
    scalar, table = (next(iter(groups.get(name, ())), None) for name in ("preQuantScalar", "fp"))
    if "grpAxis" in op.attributes or (table is not None and getattr(table.type, "loc", "scaling") == "vec"):
        axis = enum_value(op, "grpAxis", "axis1")
        g.call(ScaleOrder(0 if axis == "axis0" else 1), source, dst, pipe=g.pipe(op))
        return
    convert = accumulator_out(op, g, source, dst, scalar is not None or table is not None)
    move = Move(convert, _MODES.get(op.name, "insert"))
    pipe, cores = g.pipe(op), enum_value(op, "accToVecMode", FIRST)
    if cores == FIRST:
        g.call(move, source, dst, row, col, scalar, table, pipe=pipe)
    elif not all(isinstance(value.type, TileBufType) for value in (source, dst)):
        raise g.error(
            "unmodelled", f"only tiles have addresses on both vector cores, which accToVecMode {cores} needs", op
        )
    else:
        g.call(MoveToCores(move, cores), g.core, source, dst, row, col, scalar, table, pipe=pipe)


def transpose(source: AnyTile, dst: AnyTile) -> None:
    """dst(c, r) = src(r, c)."""
    values = np.ascontiguousarray(source.read().T)[: dst.valid_rows, : dst.valid_cols]
    dst.write(converted(values, source, dst))


@kernel("pto.ttrans")
def ttrans(op: PtoOp, g: Generator) -> None:
    """dst(r,c) = src(c,r)."""
    g.call(transpose, named(op, "src"), g.destination(op), pipe=g.pipe(op))
