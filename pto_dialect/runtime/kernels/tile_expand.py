"""A row or column vector broadcast over a tile, alone or combined with it. Source: numerics page, section 6."""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from ...ir.base import PtoOp
from ..generator import Expr, Generator
from ..memory import Array
from .formulas import BROADCAST, Compute
from .registry import kernel
from .tile_apply import computation
from .tile_operands import AnyTile, region, same_static_regions, static_region, store, tile_format, tile_operand

_EITHER = frozenset(("max", "min", "expdif"))
"""Row broadcasts whose first operand may be the vector."""


def copy(source: Array, out: Array) -> None:
    """``out`` = ``source``, broadcast."""
    np.copyto(out, source)


def fills(tile: AnyTile, dst: AnyTile) -> bool:
    """True for an operand with the valid region of the destination."""
    return (tile.valid_rows, tile.valid_cols) == (dst.valid_rows, dst.valid_cols)


class RowVector:
    """dst(r,c) = a(r,c) op b(0,c), or b(0,c) alone."""

    def __init__(self, compute: Compute, label: str) -> None:
        self.compute = compute
        self.label = label

    def __call__(self, *operands: AnyTile) -> None:
        *full, vector, dst = operands
        rows, cols = dst.valid_rows, dst.valid_cols
        if rows and cols:
            arrays = [*(region(x, rows, cols) for x in full), region(vector, 1, cols)]
            store(dst, lambda out: self.compute(*arrays, out))


class ColumnVector:
    """dst(r,c) = a(r,c) op b(r,0), or b(r,0) alone; ``either`` lets the first operand be the vector.

    A vector may fill 32 bytes of each row with copies of its value; the first one counts.
    """

    def __init__(self, compute: Compute, label: str, either: bool = False) -> None:
        self.compute = compute
        self.label = label
        self.either = either

    def __call__(self, *operands: AnyTile) -> None:
        *sources, dst = operands
        rows, cols = dst.valid_rows, dst.valid_cols
        if not (rows and cols):
            return
        first = self.either and not fills(sources[0], dst) and fills(sources[1], dst)
        vector = 0 if first else len(sources) - 1
        arrays = [region(x, rows, 1 if i == vector else cols) for i, x in enumerate(sources)]
        store(dst, lambda out: self.compute(*arrays, out))


def sliced(g: Generator, value: SSAValue, rows: bool) -> Expr | None:
    """The first row (or column) of a tile's view; ``None`` without a view."""
    view, shape = g.view(value), static_region(value)
    if view is None or shape is None or 0 in shape:
        return None
    if shape[0 if rows else 1] == 1:
        return view
    return Expr(f"{view}[:1]" if rows else f"{view}[:, :1]")


@kernel("pto.tcolexpand", "pto.trowexpand")
def expand(op: PtoOp, g: Generator) -> None:
    src, dst = tile_operand(op, g, "src"), g.destination(op)
    by_columns = op.name == "pto.tcolexpand"
    label = op.name.removeprefix("pto.")
    source, target, pipe = sliced(g, src, by_columns), g.view(dst), op.active_pipe(g.profile.arch)
    axis = 1 if by_columns else 0
    extents = {shape[axis] for shape in (static_region(src), static_region(dst)) if shape is not None}
    if source is not None and target is not None and len(extents) == 1:
        g.call(np.copyto, target, source, pipe=pipe)
    else:
        g.call((RowVector if by_columns else ColumnVector)(copy, label), src, dst, pipe=pipe)


@kernel(*(f"pto.tcolexpand{name}" for name in BROADCAST))
def column_arithmetic(op: PtoOp, g: Generator) -> None:
    full, vector, dst, compute, label = _arithmetic(op, g, "pto.tcolexpand")
    pipe = op.active_pipe(g.profile.arch)
    row, views = sliced(g, vector, rows=True), (g.view(full), g.view(dst))
    shape, width = static_region(dst), static_region(vector)
    fits = shape and width and width[1] == shape[1] and same_static_regions((full, dst))
    if fits and row is not None and None not in views:
        g.call(compute, views[0], row, views[1], pipe=pipe)
    else:
        g.call(RowVector(compute, label), full, vector, dst, pipe=pipe)


@kernel(*(f"pto.trowexpand{name}" for name in BROADCAST))
def row_arithmetic(op: PtoOp, g: Generator) -> None:
    first, second, dst, compute, label = _arithmetic(op, g, "pto.trowexpand")
    pipe = op.active_pipe(g.profile.arch)
    either = label.removeprefix("trowexpand") in _EITHER
    shape = static_region(dst)
    swapped = either and static_region(second) == shape and static_region(first) != shape
    full, vector = (second, first) if swapped else (first, second)
    views = [g.view(full), sliced(g, vector, rows=False), g.view(dst)]
    if swapped:
        views[:2] = reversed(views[:2])
    heights = {(static_region(x) or (-1, -1))[0] for x in (vector, dst)}
    if None not in views and same_static_regions((full, dst)) and len(heights) == 1:
        g.call(compute, *views, pipe=pipe)
    else:
        g.call(ColumnVector(compute, label, either), first, second, dst, pipe=pipe)


def _arithmetic(op: PtoOp, g: Generator, prefix: str) -> tuple[SSAValue, SSAValue, SSAValue, Compute, str]:
    first, second, dst = tile_operand(op, g, "src0"), tile_operand(op, g, "src1"), g.destination(op)
    formats = [tile_format(x, g) for x in (first, second)]
    compute = computation(BROADCAST[op.name.removeprefix(prefix)], formats, tile_format(dst, g), op, g)
    return first, second, dst, compute, op.name.removeprefix("pto.")
