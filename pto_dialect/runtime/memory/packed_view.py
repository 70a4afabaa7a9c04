"""4-bit numbers in the memories of the matrix unit. Source: docs/reference/layouts.md, "Fractals", "Tile layouts".

There a tile counts single numbers, two of which share a byte along the direction that is contiguous inside a block. In
the unified buffer and in global memory an element is one pair, so those are not special.
"""

from __future__ import annotations

import numpy as np

from ..faults import Fault
from ..numerics.decode import decode
from ..numerics.formats import Format
from .layout import TileLayout, TileView
from .spaces import Array, DType, Pointer


class PackedView:
    """A matrix of 4-bit numbers, read and written as one number in each byte.

    ``layout`` describes the bytes; ``rows``, ``cols``, ``row0`` and ``col0`` count numbers.
    """

    __slots__ = ("_axis", "bytes", "col0", "cols", "layout", "pointer", "row0", "rows")

    def __init__(
        self, layout: TileLayout, pointer: Pointer, rows: int, cols: int, row0: int = 0, col0: int = 0
    ) -> None:
        self._axis = pair_axis(layout.blayout, layout.slayout)
        if (row0, col0)[self._axis] % 2:
            raise Fault("unmodelled", f"4-bit numbers from ({row0}, {col0}) on start in the middle of a byte")
        self.layout, self.pointer = layout, pointer
        self.rows, self.cols, self.row0, self.col0 = rows, cols, row0, col0
        self.bytes = TileView(layout, pointer, *self._pairs(rows, cols), *self._pairs(row0, col0))

    def _pairs(self, rows: int, cols: int) -> tuple[int, int]:
        return _pairs(rows, cols, self._axis)

    @property
    def dtype(self) -> DType:
        """Storage dtype of the pairs."""
        return self.pointer.dtype

    def read(self, rows: int | None = None, cols: int | None = None) -> Array:
        """Returns the first rows x cols numbers (default all), a copy.

        Raises:
            Fault: ``mem-oob``.
        """
        rows = self.rows if rows is None else rows
        cols = self.cols if cols is None else cols
        return single_numbers(self.bytes.read(*self._pairs(rows, cols)), self._axis)[:rows, :cols]

    def read_into(self, out: Array) -> None:
        """Fills ``out`` with its shape's prefix."""
        out[...] = self.read(*out.shape)

    def write(self, matrix: Array) -> None:
        """Stores the numbers of ``matrix``; the other half of a byte at its edge is unchanged."""
        rows, cols = matrix.shape
        pairs = self.bytes.read(*self._pairs(rows, cols))
        wide = single_numbers(pairs, self._axis)
        wide[:rows, :cols] = matrix
        low, high = (wide[:, ::2], wide[:, 1::2]) if self._axis else (wide[::2], wide[1::2])
        self.bytes.write(low | high << 4)

    def fill(self, value: object, rows: int | None = None, cols: int | None = None) -> None:
        """Stores one number into the first rows x cols positions (default all)."""
        shape = (self.rows if rows is None else rows, self.cols if cols is None else cols)
        self.write(np.full(shape, value, np.uint8))

    def window(self, row: int, col: int, rows: int, cols: int) -> PackedView:
        """Returns the part of rows x cols numbers at (row, col)."""
        return PackedView(self.layout, self.pointer, rows, cols, self.row0 + row, self.col0 + col)


def pair_axis(blayout: str, slayout: str) -> int:
    """Returns the direction in which the two numbers of a byte are adjacent: 1 along rows, 0 along columns."""
    return 1 if (blayout if slayout == "none_box" else slayout) == "row_major" else 0


def pair_shape(rows: int, cols: int, blayout: str, slayout: str) -> tuple[int, int]:
    """Returns rows and columns of the bytes of rows x cols 4-bit numbers."""
    return _pairs(rows, cols, pair_axis(blayout, slayout))


def _pairs(rows: int, cols: int, axis: int) -> tuple[int, int]:
    return (rows, -(-cols // 2)) if axis else (-(-rows // 2), cols)


def single_numbers(pairs: Array, axis: int = 1) -> Array:
    """Returns the two adjacent numbers of each byte along ``axis``, the low one first."""
    rows, cols = pairs.shape
    both = np.stack((pairs & 0xF, pairs >> 4), axis=axis + 1)
    return both.reshape((rows, 2 * cols) if axis else (2 * rows, cols))


def number_values(numbers: Array, fmt: Format) -> Array:
    """Returns single numbers of a packed format as float32."""
    return decode(np.ascontiguousarray(numbers), fmt)[:, ::2]
