"""Operands of tile instructions: their formats, their valid regions, and numbers converted to a tile's element type.

Source: docs/reference/tiles.md, "Elementwise"; docs/reference/execution.md, "Pointers, tiles and views".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import IntegerType, MemRefType
from xdsl.ir import Attribute, SSAValue

from pto_dialect.ir.core import types as t
from pto_dialect.ir.core.base import PtoOp
from pto_dialect.runtime.compile.generator import Expr, Generator
from pto_dialect.runtime.faults import Fault
from pto_dialect.runtime.memory.memref import MemRef, dense_strides
from pto_dialect.runtime.memory.spaces import Array, Pointer, strided_view
from pto_dialect.runtime.memory.values import Tile, ValueTile
from pto_dialect.runtime.numerics.decode import decode
from pto_dialect.runtime.numerics.encode import encode
from pto_dialect.runtime.numerics.formats import Format

AnyTile = Tile | ValueTile | MemRef
TILES = (Tile, ValueTile, MemRef)
"""Classes of the run-time values that tile operations take."""


def is_tile(value: SSAValue) -> bool:
    """Returns whether a value is a tile handle, tile value or memref."""
    return isinstance(value.type, (t.TileBufType, t.TileType, MemRefType))


def tile_format(value: SSAValue, g: Generator) -> Format:
    """Returns the element format of a tile operand; raises an error of the operation for operands that are
    not tiles."""
    type_ = value.type
    if isinstance(type_, MemRefType):
        return g.format(type_.element_type)
    if not isinstance(type_, (t.TileBufType, t.TileType)):
        raise g.error("unmodelled", f"an operand of type {t.type_text(type_)} is not a tile that can be executed")
    return g.format(type_.element)


def tile_operand(op: PtoOp, g: Generator, name: str) -> SSAValue:
    """Returns a tile operand by declared name; raises an error of the operation when it is absent or not a tile."""
    value = g.operand(op, name)
    if value is None:
        raise g.error("unmodelled", f"{op.name} without {name} cannot be executed")
    tile_format(value, g)
    return value


def static_region(value: SSAValue) -> tuple[int, int] | None:
    """Returns the valid rows and columns that a tile's type states; ``None`` where they change at run time."""
    type_ = value.type
    if isinstance(type_, t.TileType):
        return type_.rows, type_.cols
    if isinstance(type_, t.TileBufType) and t.DYNAMIC not in (type_.valid_rows, type_.valid_cols):
        return type_.valid_rows, type_.valid_cols
    return None


def region(tile: AnyTile, rows: int, cols: int) -> Array:
    """Returns the first rows x cols elements of a source tile, storage dtype: the memory itself or a copy.

    Raises ``Fault`` (``tile-valid-rows``, ``tile-valid-cols``) when the tile has fewer elements.
    """
    if rows > tile.rows:
        raise Fault("tile-valid-rows", f"{rows} rows of a tile with {tile.rows} rows")
    if cols > tile.cols:
        raise Fault("tile-valid-cols", f"{cols} columns of a tile with {tile.cols} columns")
    if isinstance(tile, Tile):
        return tile.view.read(rows, cols)
    return tile.array[:rows, :cols]


def memory_of(dst: AnyTile) -> Array | None:
    """Returns the valid region of a destination as an array of its memory; ``None`` where that is not one strided
    array."""
    if isinstance(dst, MemRef) or (isinstance(dst, Tile) and dst.layout.slayout != "none_box"):
        return None
    return dst.array


def store(dst: AnyTile, compute: Callable[[Array], None]) -> None:
    """Fills the valid region of ``dst`` by ``compute``: in its memory, or in a copy that is written afterwards."""
    out = memory_of(dst)
    if out is None:
        out = np.empty((dst.valid_rows, dst.valid_cols), dst.fmt.storage)
        compute(out)
        dst.write(out)
    else:
        compute(out)


def write_linear(dst: AnyTile, values: Array, width: int | None = None) -> None:
    """Stores a list of elements in row order: over the first ``width`` columns of ``dst``, without it over its valid
    region, or over all of it for a longer list.

    The caller has checked that the elements fit.
    """
    if width is None:
        width = dst.valid_cols if dst.valid_rows * dst.valid_cols >= values.size else dst.cols
    full = values.size // width if width else 0
    for row, count, part in ((0, full, values[: full * width]), (full, 1, values[full * width :])):
        if part.size:
            write_at(dst, row, part.reshape(count, -1))


def write_at(dst: AnyTile, row: int, matrix: Array) -> None:
    """Stores a matrix from row ``row``, column 0 on."""
    rows, cols = matrix.shape
    if isinstance(dst, Tile):
        dst.view.window(row, 0, rows, cols).write(matrix)
    elif isinstance(dst, ValueTile):
        dst.array[row : row + rows, :cols] = matrix
    else:
        content = dst.array.copy()
        content[row : row + rows, :cols] = matrix
        dst.write(content)


def write_all(dst: AnyTile, matrix: Array) -> None:
    """Stores all elements of a tile, valid or not."""
    if isinstance(dst, Tile):
        dst.view.write(matrix)
    else:
        dst.write(matrix)


def in_row_order(tile: AnyTile) -> Pointer | None:
    """Returns the address of the first element of a tile in row-major order; ``None`` for other orders."""
    if isinstance(tile, Tile) and tile.layout.kind == "ND":
        return tile.pointer.advance(tile.layout.offset(tile.row0, tile.col0))
    if isinstance(tile, MemRef) and tile.strides == dense_strides(tile.shape):
        return tile.pointer
    return None


def linear_memory(tile: AnyTile) -> Array:
    """Returns the elements from the first one of a tile on, in memory order.

    They reach to the end of the memory, because addresses that the program computes are not bound to the tile. For
    tiles in other orders: a copy of the tile's elements in row order.
    """
    start = in_row_order(tile)
    if start is None:
        return region(tile, tile.rows, tile.cols).reshape(-1)
    count = (start.arena.capacity - start.offset) // start.item_bytes
    return strided_view(start, (count,), (start.item_bytes,))


def number(g: Generator, value: SSAValue, fmt: Format) -> Expr:
    """Returns a scalar operand as a Python number of element format ``fmt``.

    Integers wrap, floats round to nearest; a float becomes an integer toward zero (docs/reference/tiles.md,
    "Elementwise").
    """
    name = g.name(value)
    text = t.element_name(value.type)
    if text == fmt.name:
        return name
    if isinstance(value.type, IntegerType) and not fmt.is_float:
        if value.type.width.data == fmt.bits and fmt.kind == "int":
            return name
        mask, half = (1 << fmt.bits) - 1, 1 << (fmt.bits - 1)
        if fmt.kind == "uint":
            return Expr(f"({name} & {mask})")
        return Expr(f"(({name} + {half} & {mask}) - {half})")
    return Expr(f"{g.argument(_converter(value.type, fmt))}({name})")


def _converter(source: Attribute, fmt: Format) -> Callable[[Any], Any]:
    letter = "R" if fmt.is_float else "Z"
    dtype = np.int64 if isinstance(source, IntegerType) else np.float64

    def convert(value: Any) -> Any:
        raw = encode(np.array([value], dtype), fmt, rounding=letter, saturate=not fmt.is_float)
        return decode(raw, fmt)[0].item()

    convert.__name__ = f"to_{fmt.name}"
    return convert


def same_static_regions(values: Sequence[SSAValue]) -> bool:
    """Returns whether all tiles among ``values`` have one valid region that their types state."""
    regions = {static_region(value) for value in values if is_tile(value)}
    return len(regions) == 1 and None not in regions
