"""``mgather`` and ``mscatter``: rows or elements of a table in global memory by index.

Source: docs/reference/tiles.md, "Irregular operations".
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import SSAValue

from pto_dialect.analysis.type_facts import enumerator
from pto_dialect.ir.core import types as t
from pto_dialect.ir.core.base import PtoOp
from pto_dialect.runtime.compile.generator import Generator
from pto_dialect.runtime.faults import Fault
from pto_dialect.runtime.memory.spaces import Array, strided_view
from pto_dialect.runtime.memory.values import GmTensor, ValueTile

from ..registry import kernel
from .operands import AnyTile, region, tile_format, tile_operand

ATOMICS: dict[str, np.ufunc] = {"add": np.add, "max": np.maximum, "min": np.minimum}


def whole_rows(coalesce: str, idx: AnyTile, data: AnyTile) -> bool:
    """Returns whether an index selects a row of the table instead of one element: the attribute, otherwise one index
    per data row."""
    if coalesce:
        return coalesce == "row"
    shape = (idx.valid_rows, idx.valid_cols)
    return 1 in shape and max(shape) == data.valid_rows and shape != (data.valid_rows, data.valid_cols)


def bounded(indices: Array, size: int, mode: str) -> tuple[Array, Array]:
    """Returns indices brought into [0, size), and which of them are used.

    ``clamp`` and ``wrap`` map the others, ``zero`` and ``skip`` omit them; ``undefined`` raises ``Fault``
    (``mem-oob``). Indices are unsigned, so that -1 clamps to the last one.
    """
    if mode in ("clamp", "wrap") and size:
        unsigned = indices.astype(f"u{indices.dtype.itemsize}").astype(np.int64)
        moved = unsigned % size if mode == "wrap" else np.minimum(unsigned, size - 1)
        return moved, np.ones(indices.shape, np.bool_)
    wide = indices.astype(np.int64)
    inside = (wide >= 0) & (wide < size)
    if mode == "undefined" and not inside.all():
        raise Fault("mem-oob", f"index {int(wide[~inside][0])} of a table with {size} entries")
    return np.clip(wide, 0, max(size - 1, 0)), inside


def index_tile(indices: GmTensor) -> ValueTile:
    """Returns indices in global memory as a tile."""
    matrix = indices.matrix().read()
    rows, cols = matrix.shape
    return ValueTile(rows, cols, indices.fmt, matrix)


def index_list(idx: AnyTile, count: int) -> Array:
    """Returns one index per data row from a row or a column of indices."""
    values = region(idx, idx.valid_rows, idx.valid_cols).reshape(-1)
    if values.size < count:
        raise Fault("mgs-index", f"{values.size} indices for {count} rows")
    return values[:count]


def table_rows(mem: GmTensor, packed: bool) -> Array:
    """Returns the rows of a table, as instructions find them: at the row pitch of its view, whatever the pitch of its
    outer extents is, or, with ``packed``, one after the other."""
    if mem.layout != "nd" or not mem.shape:
        return mem.matrix().read()
    cols, pointer = mem.shape[-1], mem.pointer
    pitch = cols if packed or len(mem.shape) == 1 else mem.strides[-2]
    size = pointer.item_bytes
    return strided_view(pointer, (prod(mem.shape[:-1]), cols), (pitch * size, size))


def row_limit(mem: GmTensor, packed: bool, mode: str) -> int:
    """Returns the end of the indices of rows: ``packed`` rows are limited to those of the innermost matrix where a mode
    limits them."""
    if packed and mode != "undefined" and mem.layout == "nd" and len(mem.shape) > 1:
        return mem.shape[-2]
    return prod(mem.shape[:-1]) if mem.layout == "nd" else mem.matrix().rows


def table_elements(mem: GmTensor, at: Array) -> tuple[Array, Any]:
    """Returns the elements of a table, and ``at`` as their index. Instructions count them from the first one on in
    memory, whatever the strides of the view are, and in the layout nz along its rows."""
    if mem.layout != "nd":
        table = mem.matrix().read()
        return table, np.divmod(at, table.shape[1])
    return strided_view(mem.pointer, (prod(mem.shape),), (mem.pointer.item_bytes,)), at


class TableGather:
    """dst row r = table row idx(r), or dst(r,c) = table element idx(r,c); ``packed`` as in ``table_rows``."""

    label = "mgather"

    def __init__(self, coalesce: str, mode: str, packed: bool = False) -> None:
        self.coalesce = coalesce
        self.mode = mode
        self.packed = packed

    def __call__(self, mem: GmTensor, idx: AnyTile | GmTensor, dst: AnyTile) -> None:
        """Gathers from ``mem`` at ``idx`` into the valid region of ``dst``; indices outside of the table follow the
        mode."""
        rows, cols = dst.valid_rows, dst.valid_cols
        if not (rows and cols):
            return
        if isinstance(idx, GmTensor):
            idx = index_tile(idx)
        if whole_rows(self.coalesce, idx, dst):
            table = table_rows(mem, self.packed)
            if cols > table.shape[1]:
                raise Fault("mem-oob", f"{cols} columns of a table with {table.shape[1]}")
            at, inside = bounded(index_list(idx, rows), row_limit(mem, self.packed, self.mode), self.mode)
            values = table[at, :cols] if inside.any() else np.zeros((rows, cols), table.dtype)
            inside = inside[:, None]
        else:
            at, inside = bounded(region(idx, rows, cols), prod(mem.shape), self.mode)
            table, positions = table_elements(mem, at)
            values = table[positions] if inside.any() else np.zeros((rows, cols), table.dtype)
        result = np.where(inside, values, np.zeros((), values.dtype))
        dst.write(result.view(dst.fmt.storage) if result.dtype != dst.fmt.storage else result)


class TableScatter:
    """Table row idx(r) = src row r, or table element idx(r,c) = src(r,c), in row order; later writers win. ``packed``
    as in ``table_rows``."""

    label = "mscatter"

    def __init__(self, coalesce: str, mode: str, atomic: str, packed: bool = False) -> None:
        self.coalesce = coalesce
        self.mode = mode
        self.atomic = ATOMICS.get(atomic)
        self.packed = packed

    def __call__(self, src: AnyTile, idx: AnyTile, mem: GmTensor) -> None:
        """Scatters the valid region of ``src`` to ``mem`` at ``idx``; indices outside of the table follow the mode."""
        rows, cols = src.valid_rows, src.valid_cols
        if not (rows and cols):
            return
        values = region(src, rows, cols)
        if values.dtype != mem.fmt.storage:
            values = np.ascontiguousarray(values).view(mem.fmt.storage)
        if whole_rows(self.coalesce, idx, src):
            table = table_rows(mem, self.packed)
            if cols > table.shape[1]:
                raise Fault("mem-oob", f"{cols} columns of a table with {table.shape[1]}")
            at, inside = bounded(index_list(idx, rows), row_limit(mem, self.packed, self.mode), self.mode)
            target, positions = table[:, :cols], at[inside]
        else:
            at, inside = bounded(region(idx, rows, cols), prod(mem.shape), self.mode)
            table, positions = table_elements(mem, at[inside])
            target = table
        if self.atomic is None:
            target[positions] = values[inside]
        else:
            self.atomic.at(target, positions, values[inside])
        if mem.layout != "nd":
            view = mem.matrix()
            if not np.shares_memory(table, view.array):
                view.write(table)


def _is_packed(g: Generator, tile: SSAValue) -> bool:
    """Returns whether rows of a table follow each other whatever its view states: where work-items of a5 compute their
    addresses, not for transfers to L1."""
    return g.profile.arch == "a5" and getattr(tile.type, "loc", "vec") != "mat"


def _table(op: PtoOp, g: Generator) -> SSAValue:
    mem = g.operand(op, "mem")
    if mem is None or not isinstance(mem.type, (t.ShapedView, MemRefType)):
        raise g.error("unmodelled", f"{op.name} needs a view of global memory")
    return mem


@kernel("pto.mgather")
def mgather(op: PtoOp, g: Generator) -> None:
    """dst = rows or elements of a table in global memory or L1 at the indices of another tile."""
    idx, dst = g.operand(op, "idx"), g.destination(op)
    if idx is None or not isinstance(idx.type, t.ShapedView):
        idx = tile_operand(op, g, "idx")
    tile_format(dst, g)
    mode = enumerator(op, "gatherOob") or "undefined"
    instruction = TableGather(enumerator(op, "coalesce"), mode, _is_packed(g, dst))
    g.call(instruction, _table(op, g), idx, dst, pipe=g.pipe(op))


@kernel("pto.mscatter")
def mscatter(op: PtoOp, g: Generator) -> None:
    """Rows or elements of a table in global memory, at the indices of another tile, = src, or combined with it."""
    src, idx = tile_operand(op, g, "src"), tile_operand(op, g, "idx")
    oob, atomic = enumerator(op, "scatterOob") or "undefined", enumerator(op, "scatterAtomicOp") or "none"
    instruction = TableScatter(enumerator(op, "coalesce"), oob, atomic, _is_packed(g, src))
    g.call(instruction, src, idx, _table(op, g), pipe=g.pipe(op))
