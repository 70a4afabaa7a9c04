"""Copies that fill: padding and concatenation. Source: docs/reference/tiles.md, "Irregular operations";
docs/reference/layouts.md, "Moves between tiles".
"""

from __future__ import annotations

import numpy as np

from pto_dialect.ir.core.base import PtoOp
from pto_dialect.runtime.compile.generator import Generator
from pto_dialect.runtime.faults import Fault
from pto_dialect.runtime.memory.spaces import Array
from pto_dialect.runtime.memory.values import Tile
from pto_dialect.targets.backend import Backend

from ..registry import kernel
from .memory import pad_value
from .operands import AnyTile, memory_of, region, tile_format, tile_operand, write_at


class FillPad:
    """dst = valid region of src, and the pad value of dst in the rest of it.

    In vector tiles the rest ends with the valid rows of dst, with the templates of ``vpto`` also with its valid
    columns; in L1 it is all of dst's physical extent.
    """

    label = "tfillpad"

    def __init__(self, backend: Backend | None) -> None:
        self.backend: Backend | None = backend

    def __call__(self, src: AnyTile, dst: AnyTile) -> None:
        """Copies the valid region of ``src`` and fills the rest of ``dst``. Raises ``Fault``: ``fillpad-shape``."""
        values = src.read()
        rows, cols = values.shape
        if rows > dst.rows or cols > dst.cols:
            raise Fault("fillpad-shape", f"{rows}x{cols} valid elements do not fit into {dst.rows}x{dst.cols}")
        if values.dtype != dst.fmt.storage:
            values = np.ascontiguousarray(values).view(dst.fmt.storage)
        dst.write(values)
        if not dst.pad:
            return
        assert isinstance(dst, Tile)
        pad = pad_value(dst.fmt, dst.pad, self.backend)
        last_row, last_col = self._ends(dst, rows, cols)
        if memory_of(dst) is not None:
            padded = dst.view.read(dst.rows, dst.cols)
            padded[:rows, cols:last_col] = pad
            padded[rows:last_row, :last_col] = pad
            return
        dst.view.window(0, cols, rows, last_col - cols).fill(pad)
        dst.view.window(rows, 0, last_row - rows, last_col).fill(pad)

    def _ends(self, dst: Tile, rows: int, cols: int) -> tuple[int, int]:
        """Returns the row and the column where padding ends after ``rows`` x ``cols`` elements."""
        if dst.loc != "vec":
            return dst.rows, dst.cols
        last_col = dst.valid_cols if self.backend == "vpto" else dst.cols
        return max(rows, dst.valid_rows), max(cols, last_col)


@kernel("pto.tfillpad", "pto.tfillpad_expand", "pto.tfillpad_inplace")
def tfillpad(op: PtoOp, g: Generator) -> None:
    """dst = src, and the pad value of its type in the rest of dst."""
    src, dst = tile_operand(op, g, "src"), g.destination(op)
    if tile_format(src, g).bytes != tile_format(dst, g).bytes:
        raise g.error("fillpad-elem", f"{op.name} between elements of different sizes cannot be executed")
    g.call(FillPad(g.options.backend), src, dst, pipe=g.pipe(op))


def concatenate(src0: AnyTile, src1: AnyTile, dst: AnyTile) -> None:
    """Row r of dst = the valid columns of src0, then those of src1."""
    rows = dst.valid_rows
    first, second = src0.valid_cols, src1.valid_cols
    if first + second > dst.cols:
        raise Fault("tconcat-cols", f"{first} + {second} columns do not fit into {dst.cols}")
    dst.write(np.concatenate([region(src0, rows, first), region(src1, rows, second)], axis=1))


def _counts(counts: AnyTile, rows: int) -> list[int]:
    """Returns the count of each row in elements; a number with a sign counts as one without."""
    numbers = region(counts, rows, 1)[:, 0]
    return [int(number) // numbers.itemsize for number in numbers.astype(np.uint64)]


def _leading(src: AnyTile, rows: int, counts: list[int]) -> Array:
    """Returns the columns of ``src`` that the largest count needs. Raises ``Fault`` (``tile-valid-cols``)."""
    cols = max(counts, default=0)
    if cols > src.cols:
        raise Fault("tile-valid-cols", f"a count of {cols} elements of a source with {src.cols} columns")
    return region(src, rows, cols)


def concatenate_counted(src0: AnyTile, src1: AnyTile, counts0: AnyTile, counts1: AnyTile, dst: AnyTile) -> None:
    """Row r of dst = the leading elements of both sources, as many as the first column of the count tiles states.

    Counts are in units of the size of a count: 4 means one element in i32, two in i16. They end at the valid columns of
    dst, not at those of their source, and the following elements of dst are unchanged.
    """
    rows, cols = dst.valid_rows, dst.valid_cols
    taken = [min(count, cols) for count in _counts(counts0, rows)]
    added = [min(count, cols - start) for count, start in zip(_counts(counts1, rows), taken, strict=True)]
    first, second = (_leading(src, rows, counts) for src, counts in ((src0, taken), (src1, added)))
    joined = [np.concatenate((first[row, : taken[row]], second[row, : added[row]])) for row in range(rows)]
    for row, values in enumerate(joined):
        if values.size:
            write_at(dst, row, values.reshape(1, -1))


@kernel("pto.tconcat")
def tconcat(op: PtoOp, g: Generator) -> None:
    """dst row r = row r of src0 followed by row r of src1."""
    src0, src1, dst = tile_operand(op, g, "src0"), tile_operand(op, g, "src1"), g.destination(op)
    g.call(concatenate, src0, src1, dst, pipe=g.pipe(op))


@kernel("pto.tconcatidx")
def tconcatidx(op: PtoOp, g: Generator) -> None:
    """dst row r = the counted elements of row r of src0 followed by those of src1, and their number."""
    sources = [tile_operand(op, g, name) for name in ("src0", "src1", "src0Idx", "src1Idx")]
    g.call(concatenate_counted, *sources, g.destination(op), pipe=g.pipe(op))
