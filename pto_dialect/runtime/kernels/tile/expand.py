"""A row or column vector broadcast over a tile, alone or combined with it. Source: docs/reference/tiles.md, "Broadcasts
and reductions".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from xdsl.ir import SSAValue

from pto_dialect.ir.core import types as t
from pto_dialect.ir.core.base import PtoOp
from pto_dialect.ir.tile.expand import TColExpandOp
from pto_dialect.runtime.compile.generator import Expr, Generator
from pto_dialect.runtime.memory.spaces import Array
from pto_dialect.runtime.memory.values import Tile

from ..registry import kernel
from .apply import computation
from .formulas import BROADCAST, Compute
from .operands import AnyTile, region, same_static_regions, static_region, store, tile_format, tile_operand

_VECTOR_BYTES = 32
"""Bytes that a row-major vector has in each row."""


def copy(source: Array, out: Array) -> None:
    """``out`` = ``source``, broadcast."""
    np.copyto(out, source)


def fills(tile: AnyTile, dst: AnyTile) -> bool:
    """Returns whether an operand has the valid region of the destination."""
    return (tile.valid_rows, tile.valid_cols) == (dst.valid_rows, dst.valid_cols)


class RowVector:
    """dst(r,c) = a(r,c) op b(0,c), or b(0,c) alone."""

    def __init__(self, compute: Compute, label: str) -> None:
        self.compute = compute
        self.label = label

    def __call__(self, *operands: AnyTile) -> None:
        """Computes over the valid region of the last operand, which receives the result; the one before is
        the vector."""
        *full, vector, dst = operands
        rows, cols = dst.valid_rows, dst.valid_cols
        if rows and cols:
            arrays = [*(region(x, rows, cols) for x in full), region(vector, 1, cols)]
            store(dst, lambda out: self.compute(*arrays, out))


class ColumnVector:
    """dst(r,c) = a(r,c) op b(r,0), or b(r,0) alone; the first operand of two may be the vector as well.

    A row-major vector has 32 bytes of values in each row. With ``cyclic``, column c uses value c modulo their number;
    otherwise the first value is used.
    """

    def __init__(self, compute: Compute, label: str, cyclic: bool = False) -> None:
        self.compute = compute
        self.label = label
        self.cyclic = cyclic

    def __call__(self, *operands: AnyTile) -> None:
        """Computes over the valid region of the last operand, which receives the result."""
        *sources, dst = operands
        rows, cols = dst.valid_rows, dst.valid_cols
        if not (rows and cols):
            return
        first = len(sources) > 1 and not fills(sources[0], dst) and fills(sources[1], dst)
        vector = 0 if first else len(sources) - 1
        arrays = [x if i == vector else region(x, rows, cols) for i, x in enumerate(sources)]
        arrays[vector] = self.spread(sources[vector], rows, cols)
        store(dst, lambda out: self.compute(*arrays, out))

    def spread(self, vector: AnyTile, rows: int, cols: int) -> Array:
        """Returns the values of each row: one, or one for each column."""
        if not (self.cyclic and cyclic_vector(vector)):
            return region(vector, rows, 1)
        return repeated(region(vector, rows, vector.valid_cols), cols)


def cyclic_vector(vector: AnyTile) -> bool:
    """Returns whether a tile is row-major with 32 bytes of values in each row."""
    row_major = not isinstance(vector, Tile) or vector.layout.blayout != "col_major"
    return row_major and vector.valid_cols * vector.fmt.bytes == _VECTOR_BYTES


def repeated(values: Array, cols: int) -> Array:
    """Returns ``cols`` columns that repeat those of ``values``."""
    return values.take(np.arange(cols) % values.shape[1], axis=1)


@dataclass(eq=False)
class Cyclic:
    """``compute`` with operand ``position`` repeated over ``cols`` columns."""

    compute: Compute
    position: int
    cols: int
    label: str

    def __call__(self, *operands: Array) -> None:
        """Computes on arrays; the last operand receives the result."""
        arrays = list(operands)
        arrays[self.position] = repeated(arrays[self.position], self.cols)
        self.compute(*arrays)


def sliced(g: Generator, value: SSAValue, rows: bool) -> Expr | None:
    """Returns the first row (or column) of a tile's view; ``None`` without a view."""
    view, shape = g.view(value), static_region(value)
    if view is None:
        return None
    assert shape is not None
    if 0 in shape:
        return None
    if shape[0 if rows else 1] == 1:
        return view
    return Expr(f"{view}[:1]" if rows else f"{view}[:, :1]")


@kernel("pto.tcolexpand", "pto.trowexpand")
def expand(op: PtoOp, g: Generator) -> None:
    """dst(r,c) = src(0,c), or src(r,0)."""
    by_columns = isinstance(op, TColExpandOp)
    src, dst = tile_operand(op, g, "src"), g.destination(op)
    label = op.name.removeprefix("pto.")
    source, target, pipe = sliced(g, src, by_columns), g.view(dst), g.pipe(op)
    axis = 1 if by_columns else 0
    extents = {shape[axis] for shape in (static_region(src), static_region(dst)) if shape is not None}
    if source is not None and target is not None and len(extents) == 1:
        g.call(np.copyto, target, source, pipe=pipe)
    else:
        g.call((RowVector if by_columns else ColumnVector)(copy, label), src, dst, pipe=pipe)


@kernel(*(f"pto.tcolexpand{name}" for name in BROADCAST))
def column_arithmetic(op: PtoOp, g: Generator) -> None:
    """dst(r,c) = src0(r,c) op src1(0,c)."""
    full, vector, dst, compute, label = _arithmetic(op, g, "pto.tcolexpand")
    pipe = g.pipe(op)
    row, views = sliced(g, vector, rows=True), (g.view(full), g.view(dst))
    widths = {(static_region(x) or (-1, -1))[1] for x in (vector, dst)}
    if row is not None and None not in views and len(widths) == 1 and same_static_regions((full, dst)):
        g.call(compute, views[0], row, views[1], pipe=pipe)
    else:
        g.call(RowVector(compute, label), full, vector, dst, pipe=pipe)


@kernel(*(f"pto.trowexpand{name}" for name in BROADCAST))
def row_arithmetic(op: PtoOp, g: Generator) -> None:
    """dst(r,c) = src0(r,c) op src1(r,0), where either operand may be the vector."""
    first, second, dst, compute, label = _arithmetic(op, g, "pto.trowexpand")
    pipe = g.pipe(op)
    shape = static_region(dst)
    swapped = static_region(second) == shape and static_region(first) != shape
    full, vector = (second, first) if swapped else (first, second)
    cyclic = g.options.backend == "emitc"
    heights = {(static_region(x) or (-1, -1))[0] for x in (vector, dst)}
    views = [g.view(full), g.view(vector), g.view(dst)]
    empty = any(0 in (static_region(x) or (1,)) for x in (vector, dst))
    if empty or None in views or not same_static_regions((full, dst)) or len(heights) != 1:
        g.call(ColumnVector(compute, label, cyclic), first, second, dst, pipe=pipe)
        return
    assert shape is not None
    if cyclic and _is_cyclic(vector, g):
        compute = Cyclic(compute, 0 if swapped else 1, shape[1], label)
    else:
        views[1] = sliced(g, vector, rows=False)
    if swapped:
        views[:2] = reversed(views[:2])
    g.call(compute, *views, pipe=pipe)


def _is_cyclic(vector: SSAValue, g: Generator) -> bool:
    """Returns ``cyclic_vector`` for a tile with a static region."""
    region_, type_ = static_region(vector), vector.type
    assert region_ is not None
    row_major = not isinstance(type_, t.TileBufType) or type_.blayout != "col_major"
    return row_major and region_[1] * tile_format(vector, g).bytes == _VECTOR_BYTES


def _arithmetic(op: PtoOp, g: Generator, prefix: str) -> tuple[SSAValue, SSAValue, SSAValue, Compute, str]:
    first, second, dst = tile_operand(op, g, "src0"), tile_operand(op, g, "src1"), g.destination(op)
    formats = [tile_format(x, g) for x in (first, second)]
    compute = computation(BROADCAST[op.name.removeprefix(prefix)], formats, tile_format(dst, g), op, g)
    return first, second, dst, compute, op.name.removeprefix("pto.")
