"""Tile layouts as strided numpy views: logical matrix coordinates on one side, bytes on the other.

Every layout (docs/reference/layouts.md, "Tile layouts") is separable, ``offset(r, c) = f(r) + g(c)``, and ``f`` and
``g`` are linear except for a jump at block borders. An :class:`Axis` describes one of them; a :class:`MatrixView` cuts
a window at the block borders into at most nine strided pieces, usually one, each copied by one numpy call.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np

from pto_dialect.ir.core.extents import round_up
from pto_dialect.targets.tile_layouts import C0_BYTES, FRACTAL_ROWS, LAYOUT_NAME, TileShape, native_shape

from .cast import copy_boxes, copy_cast
from .spaces import Arena, Array, ByteArray, DType, Pointer, strided_view


class Segment(NamedTuple):
    """A run of whole blocks, or a part of one block, of an axis."""

    start: int
    """First index, relative to the window."""
    stop: int
    offset: int
    """Element offset of the first index."""
    shape: tuple[int, ...]
    """(indices,) inside one block, (blocks, indices per block) for several."""
    strides: tuple[int, ...]
    """Element strides of ``shape``."""


class Axis(NamedTuple):
    """One summand of an element offset: ``(i // block)·block_stride + (i % block)·stride``.

    Block 0 means no blocks: ``i·stride``.
    """

    block: int
    block_stride: int
    stride: int

    def offset(self, index: int) -> int:
        """Element offset of ``index``."""
        if not self.block:
            return index * self.stride
        return index // self.block * self.block_stride + index % self.block * self.stride

    def segments(self, first: int, extent: int) -> list[Segment]:
        """Returns indices [first, first + extent) cut at block borders: partial head, whole blocks, partial tail."""
        if not self.block:
            return [Segment(0, extent, first * self.stride, (extent,), (self.stride,))]
        parts: list[Segment] = []
        index, end = first, first + extent
        while index < end:
            inside = index % self.block
            blocks = 0 if inside else (end - index) // self.block
            taken = blocks * self.block or min(self.block - inside, end - index)
            shape, strides = ((taken,), (self.stride,))
            if blocks > 1:
                shape, strides = ((blocks, self.block), (self.block_stride, self.stride))
            parts.append(Segment(index - first, index - first + taken, self.offset(index), shape, strides))
            index += taken
        return parts


@dataclass(frozen=True)
class TileLayout:
    """Physical layout of a tile (docs/reference/layouts.md, "Tile layouts"). Immutable and hashable; build it with
    :func:`tile_layout`.

    Attributes:
        rows, cols: physical extents R and C in elements.
        item_bytes: bytes per element; packed 4-bit pairs count as one element of one byte.
        blayout: order of the blocks, ``row_major`` or ``col_major``.
        slayout: order inside a block, ``row_major``, ``col_major`` or ``none_box``.
        fractal: bytes of a block: 512, 1024 (16x16 elements of L0C) or 32 (16x2 MX scales).

    Raises:
        ValueError: unknown layout names or fractal, or an element size that does not divide a block row.
    """

    rows: int
    cols: int
    item_bytes: int
    blayout: str = "row_major"
    slayout: str = "none_box"
    fractal: int = 512

    def __post_init__(self) -> None:
        if (self.blayout, self.slayout) not in LAYOUT_NAME:
            raise ValueError(f"unknown layout {self.blayout}/{self.slayout}")
        if self.slayout != "none_box":
            if self.fractal not in (32, 512, 1024):
                raise ValueError(f"unknown fractal size {self.fractal}")
            if self.fractal == 512 and C0_BYTES % self.item_bytes:
                raise ValueError(f"elements of {self.item_bytes} bytes do not fill a 512-byte fractal")

    @property
    def kind(self) -> str:
        """NZ, ZN, ZZ, NN, ND or DN."""
        return LAYOUT_NAME[self.blayout, self.slayout]

    @cached_property
    def inner(self) -> tuple[int, int]:
        """Inner block (ir, ic) in elements; (1, 1) without boxes (docs/reference/layouts.md, "Fractals")."""
        if self.slayout == "none_box":
            return 1, 1
        long = FRACTAL_ROWS
        short = {512: C0_BYTES // self.item_bytes, 1024: 16, 32: 2}[self.fractal]
        return (long, short) if self.slayout == "row_major" else (short, long)

    @cached_property
    def axes(self) -> tuple[Axis, Axis]:
        """Row and column summand of the element offset."""
        ir, ic = self.inner
        box = ir * ic
        kind = self.kind
        if kind == "ND":
            return Axis(0, 0, self.cols), Axis(0, 0, 1)
        if kind == "DN":
            return Axis(0, 0, 1), Axis(0, 0, self.rows)
        # In NZ the rows of all blocks of one block column are contiguous, so the row axis is not blocked; likewise the
        # columns in ZN.
        if kind == "NZ":
            return Axis(0, 0, ic), Axis(ic, self.rows * ic, 1)
        if kind == "ZN":
            return Axis(ir, self.cols * ir, 1), Axis(0, 0, ir)
        # ZZ and NN blocks are contiguous, so a partial last block would alias its neighbour without the
        # rounding.
        if kind == "ZZ":
            return Axis(ir, round_up(self.cols, ic) * ir, ic), Axis(ic, box, 1)
        return Axis(ir, box, 1), Axis(ic, round_up(self.rows, ir) * ic, ir)

    def offset(self, row: int, col: int) -> int:
        """Element offset of logical (row, col) from the tile base."""
        row_axis, col_axis = self.axes
        return row_axis.offset(row) + col_axis.offset(col)

    @cached_property
    def nbytes(self) -> int:
        """Bytes from the base to the end of the last element; rows·cols·item_bytes if all blocks are full."""
        if not (self.rows and self.cols):
            return 0
        return (self.offset(self.rows - 1, self.cols - 1) + 1) * self.item_bytes

    def view(self, memory: Pointer | ByteArray, base: int = 0, dtype: DType | None = None) -> Array:
        """Returns the whole tile as one writable strided view, without copying.

        Args: memory: pointer to the tile, or a byte array that contains it. base: further byte offset of the tile.
        dtype: storage dtype; required with a byte array, otherwise default the pointer's.

        Returns: [rows, cols] for ND and DN; [row blocks, ir, col blocks, ic] for boxed layouts, so that ``reshape(rows,
        cols)`` yields the logical matrix and ``view[...] = matrix.reshape(view.shape)`` stores one. An axis whose
        extent is not a multiple of its block appears as one block if its rows (NZ) or columns (ZN) are evenly spaced
        anyway.

        Raises: Fault: ``mem-oob``. ValueError: a partial block in another position; use :class:`TileView`.
        """
        if isinstance(memory, Pointer):
            pointer = memory.shifted(base)
        elif dtype is None:
            raise ValueError("a byte array needs an element dtype")
        else:
            pointer = Pointer(Arena.from_array(memory, name="bytes"), base, dtype)
        (row_shape, row_strides), (col_shape, col_strides) = (
            self._box_axis(axis, extent, inner)
            for axis, extent, inner in zip(self.axes, (self.rows, self.cols), self.inner, strict=True)
        )
        strides = tuple(stride * self.item_bytes for stride in row_strides + col_strides)
        return strided_view(pointer, row_shape + col_shape, strides, dtype)

    def _box_axis(self, axis: Axis, extent: int, inner: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        if self.slayout == "none_box":
            return (extent,), (axis.stride,)
        if extent % inner:
            if axis.block:
                raise ValueError(f"{self.kind} tile {self.rows}x{self.cols} has partial blocks")
            return (1, extent), (extent * axis.stride, axis.stride)
        block_stride = axis.block_stride if axis.block else inner * axis.stride
        return (extent // inner, inner), (block_stride, axis.stride)


@lru_cache(maxsize=1024)
def tile_layout(
    rows: int,
    cols: int,
    item_bytes: int,
    blayout: str = "row_major",
    slayout: str = "none_box",
    fractal: int = 512,
) -> TileLayout:
    """Returns the interned :class:`TileLayout`: equal arguments give one object, whose derived numbers are cached."""
    return TileLayout(rows, cols, item_bytes, blayout, slayout, fractal)


def native_layout(
    loc: str,
    target: str,
    rows: int,
    cols: int,
    item_bytes: int,
    blayout: str = "row_major",
    slayout: str = "none_box",
    fractal: int = 512,
    packed: bool = False,
) -> TileLayout:
    """Returns the layout that a tile of a given location actually has on a target (docs/reference/targets.md, "Layouts
    of locations").

    Args: loc: vec, mat, left, right, acc, bias or scaling. target: a2a3, a5 or cpu-sim. rows, cols, item_bytes,
    blayout, slayout, fractal: as the tile type states them. packed: as for :func:`native_shape`.
    """
    shape = native_shape(loc, target, TileShape(rows, cols, blayout, slayout, fractal), item_bytes, packed)
    return tile_layout(shape.rows, shape.cols, item_bytes, shape.blayout, shape.slayout, shape.fractal)


class Piece(NamedTuple):
    """One strided part of a window: ``view`` holds ``matrix[row_start:row_stop, col_start:col_stop]``."""

    row_start: int
    row_stop: int
    col_start: int
    col_stop: int
    view: Array


def _common_shape(first: tuple[int, ...], second: tuple[int, ...], rows: int) -> tuple[int, ...] | None:
    """Returns the axes of two one-piece views of a matrix with ``rows`` rows, where blocks of one split those of the
    other.

    ``None`` where both have blocks of different sizes.
    """
    common: tuple[int, ...] = ()
    for axes, others in zip(_directions(first, rows), _directions(second, rows), strict=True):
        if len(axes) == len(others) and axes != others:
            return None
        common += max(axes, others, key=len)
    return common


def _directions(shape: tuple[int, ...], rows: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Returns the row axes and the column axes of a one-piece view."""
    count = 1 if shape[0] == rows else 2
    return shape[:count], shape[count:]


class MatrixView:
    """A rows x cols matrix in memory: element (r, c) is ``row_axis(r) + col_axis(c)`` elements from a base.

    Args: pointer: address of the element at axis indices (0, 0). axes: row and column axis, in elements. rows, cols:
    extents of the matrix. row0, col0: axis indices of the matrix' element (0, 0).

    Reads and writes take a prefix of the matrix, e.g. a valid region, and touch nothing but its elements.
    """

    __slots__ = ("_extent", "_pair", "_pieces", "axes", "col0", "cols", "pointer", "row0", "rows")

    def __init__(
        self, pointer: Pointer, axes: tuple[Axis, Axis], rows: int, cols: int, row0: int = 0, col0: int = 0
    ) -> None:
        self.pointer = pointer
        self.axes = axes
        self.rows = rows
        self.cols = cols
        self.row0 = row0
        self.col0 = col0
        self._extent: tuple[int, int] | None = None
        self._pieces: list[Piece] = []
        self._pair: tuple[MatrixView, int, int, tuple[Array, Array] | None] | None = None

    @property
    def dtype(self) -> DType:
        """Storage dtype of the elements."""
        return self.pointer.dtype

    def pieces(self, rows: int, cols: int) -> list[Piece]:
        """Returns the first rows x cols elements as strided views; the last result is cached.

        Raises: Fault: ``mem-oob``.
        """
        if self._extent != (rows, cols):
            self._pieces = list(self._cut(rows, cols)) if rows > 0 and cols > 0 else []
            self._extent = (rows, cols)
        return self._pieces

    def _cut(self, rows: int, cols: int) -> Iterator[Piece]:
        size = self.pointer.item_bytes
        row_axis, col_axis = self.axes
        if not (row_axis.block or col_axis.block):
            row_step, col_step = row_axis.stride * size, col_axis.stride * size
            start = self.pointer.shifted(self.row0 * row_step + self.col0 * col_step)
            yield Piece(0, rows, 0, cols, strided_view(start, (rows, cols), (row_step, col_step)))
            return
        columns = col_axis.segments(self.col0, cols)
        for row in row_axis.segments(self.row0, rows):
            for col in columns:
                start = self.pointer.shifted((row.offset + col.offset) * size)
                strides = tuple(stride * size for stride in row.strides + col.strides)
                view = strided_view(start, row.shape + col.shape, strides)
                yield Piece(row.start, row.stop, col.start, col.stop, view)

    def read(self, rows: int | None = None, cols: int | None = None) -> Array:
        """Returns the first rows x cols elements (default all) as a [rows, cols] array of the storage dtype.

        Where no block border intervenes this is a view of the memory itself; otherwise a copy.

        Raises: Fault: ``mem-oob``.
        """
        rows = self.rows if rows is None else rows
        cols = self.cols if cols is None else cols
        pieces = self.pieces(rows, cols)
        if len(pieces) == 1:
            view = pieces[0].view
            if view.ndim == 2:
                return view
            matrix = np.empty((rows, cols), self.pointer.dtype)
            copy_boxes(matrix.reshape(view.shape), view)
            return matrix
        matrix = np.empty((rows, cols), self.pointer.dtype)
        for top, bottom, left, right, view in pieces:
            matrix[top:bottom, left:right] = view.reshape(bottom - top, right - left)
        return matrix

    def read_into(self, out: Array) -> None:
        """Fill ``out`` [r, c], of any strides, with the first r x c elements, widened to its dtype.

        Raises:
            Fault: ``mem-oob``.
        """
        rows, cols = out.shape
        for top, bottom, left, right, view in self.pieces(rows, cols):
            # Splitting an axis never copies, so this writes through to ``out``.
            copy_cast(out[top:bottom, left:right].reshape(view.shape), view)

    def write(self, matrix: Array, rows: int | None = None, cols: int | None = None) -> None:
        """Store the first rows x cols elements (default: the shape of ``matrix``) of a 2-D ``matrix``.

        Raises:
            Fault: ``mem-oob``; nothing is stored then.
        """
        rows = int(matrix.shape[0]) if rows is None else rows
        cols = int(matrix.shape[1]) if cols is None else cols
        pieces = self.pieces(rows, cols)
        if len(pieces) == 1 and matrix.shape == (rows, cols):
            view = pieces[0].view
            copy_boxes(view, matrix if view.ndim == 2 else matrix.reshape(view.shape))
            return
        for top, bottom, left, right, view in pieces:
            np.copyto(view, matrix[top:bottom, left:right].reshape(view.shape), casting="same_kind")

    def copy_from(self, source: MatrixView, rows: int, cols: int) -> bool:
        """Stores the first rows x cols elements of ``source``, which has the same dtype, without an intermediate copy.

        Returns False, with nothing stored, where either matrix is in several pieces or their blocks do not fit.

        Raises: Fault: ``mem-oob``.
        """
        pair = self._pair
        if pair is None or pair[:3] != (source, rows, cols):
            pair = self._pair = (source, rows, cols, self._as_one_shape(source, rows, cols))
        if pair[3] is None:
            return False
        copy_boxes(*pair[3])
        return True

    def _as_one_shape(self, source: MatrixView, rows: int, cols: int) -> tuple[Array, Array] | None:
        """Returns the memory of both matrices as arrays of one shape."""
        mine, theirs = self.pieces(rows, cols), source.pieces(rows, cols)
        if len(mine) != 1 or len(theirs) != 1:
            return None
        target, values = mine[0].view, theirs[0].view
        if target.shape != values.shape:
            shape = _common_shape(target.shape, values.shape, rows)
            if shape is None:
                return None
            # Splitting an axis never copies, so this writes through to the memory.
            target, values = target.reshape(shape), values.reshape(shape)
        return target, values

    def fill(self, value: object, rows: int | None = None, cols: int | None = None) -> None:
        """Store one value into the first rows x cols elements (default all).

        Raises:
            Fault: ``mem-oob``; nothing is stored then.
        """
        rows = self.rows if rows is None else rows
        cols = self.cols if cols is None else cols
        for piece in self.pieces(rows, cols):
            piece.view[...] = value

    def window(self, row: int, col: int, rows: int, cols: int) -> MatrixView:
        """Returns the rows x cols sub-matrix whose element (0, 0) is this matrix' (row, col)."""
        return MatrixView(self.pointer, self.axes, rows, cols, self.row0 + row, self.col0 + col)


class TileView(MatrixView):
    """A tile in memory: a :class:`MatrixView` whose axes come from a :class:`TileLayout`.

    Args:
        layout: physical layout of the allocation; a subview keeps its parent's.
        pointer: tile base.
        rows, cols: logical extents, default the layout's.
        row0, col0: origin of a subview inside the allocation.
    """

    __slots__ = ("layout",)

    def __init__(
        self,
        layout: TileLayout,
        pointer: Pointer,
        rows: int | None = None,
        cols: int | None = None,
        row0: int = 0,
        col0: int = 0,
    ) -> None:
        super().__init__(
            pointer,
            layout.axes,
            layout.rows - row0 if rows is None else rows,
            layout.cols - col0 if cols is None else cols,
            row0,
            col0,
        )
        self.layout = layout

    def window(self, row: int, col: int, rows: int, cols: int) -> TileView:
        """Returns the subview of rows x cols elements at (row, col): same allocation, same addresses."""
        return TileView(self.layout, self.pointer, rows, cols, self.row0 + row, self.col0 + col)
