"""GM tensor views in the coordinate order of the tile that is loaded from or stored to them (docs/reference/layouts.md,
"Views of global memory").
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from .cast import copy_cast
from .spaces import Array, Pointer, strided_view


class GmMatrix(NamedTuple):
    """How the five dims of a GM view become tile rows and columns (docs/reference/layouts.md, "Views of global
    memory").
    """

    rows: int
    cols: int
    row_dims: tuple[int, ...]
    col_dims: tuple[int, ...]


_GM_DIMS = {
    "nd": ((0, 1, 2, 3), (4,)),
    "dn": ((3,), (0, 1, 2, 4)),
    "nz": ((2, 3), (0, 1, 4)),
    "mx_a_zz": ((0, 1, 3), (2, 4)),
    "mx_b_nn": ((2, 4), (0, 1, 3)),
}


def gm_matrix_index(shape: Sequence[int], layout: str = "nd") -> GmMatrix:
    """Tile matrix of a GM view of five extents in one of the layouts (docs/reference/layouts.md, "Views of global
    memory", "MX scales").
    """
    row_dims, col_dims = _GM_DIMS[layout]
    rows = cols = 1
    for dim in row_dims:
        rows *= shape[dim]
    for dim in col_dims:
        cols *= shape[dim]
    return GmMatrix(rows, cols, row_dims, col_dims)


class GmView:
    """A GM tensor view in tile coordinate order.

    Args:
        pointer: address of view element (0, …, 0).
        shape: up to five extents; missing leading ones are 1.
        strides: element strides, one per extent.
        layout: ``nd``, ``dn``, ``nz``, ``mx_a_zz`` or ``mx_b_nn``.

    Attributes:
        rows, cols: extents of the tile matrix.
        array: strided view of the memory whose axes are the row dims followed by the column dims, merged
            where they are evenly spaced; ``array.reshape(rows, cols)`` is the tile matrix.

    Raises:
        Fault: ``mem-oob`` when a view element lies outside the buffer.
    """

    __slots__ = ("array", "cols", "rows")

    def __init__(self, pointer: Pointer, shape: Sequence[int], strides: Sequence[int], layout: str = "nd") -> None:
        self.rows, self.cols, extents, steps = _geometry(tuple(shape), tuple(strides), layout, pointer.item_bytes)
        self.array = strided_view(pointer, extents, steps)

    def read(self) -> Array:
        """Returns the matrix [rows, cols]: a view of the memory if it is evenly spaced in both directions, otherwise
        a copy."""
        return self.array.reshape(self.rows, self.cols)

    def read_into(self, out: Array) -> None:
        """Fill ``out`` [rows, cols], of any strides, widened to its dtype."""
        # Splitting an axis never copies, so this writes through to ``out``.
        copy_cast(out.reshape(self.array.shape), self.array)

    def write(self, matrix: Array) -> None:
        """Store a matrix [rows, cols]. Elements that share an address receive one of their values."""
        np.copyto(self.array, matrix.reshape(self.array.shape), casting="same_kind")


@lru_cache(4096)
def _geometry(
    shape: tuple[int, ...], strides: tuple[int, ...], layout: str, item_bytes: int
) -> tuple[int, int, tuple[int, ...], tuple[int, ...]]:
    """Rows and columns of the tile matrix, and extents and byte strides of the memory, row dims first."""
    missing = 5 - len(shape)
    extents = (1,) * missing + tuple(map(int, shape))
    steps = (0,) * missing + tuple(int(stride) * item_bytes for stride in strides)
    matrix = gm_matrix_index(extents, layout)
    row_shape, row_strides = _merge_dims(matrix.row_dims, extents, steps)
    col_shape, col_strides = _merge_dims(matrix.col_dims, extents, steps)
    return matrix.rows, matrix.cols, row_shape + col_shape, row_strides + col_strides


class EvenMatrix(NamedTuple):
    """A GM view whose tile rows and columns are evenly spaced.

    ``shape`` is rows and columns, ``strides`` are in bytes; counted from the first element, all lie in the bytes
    [``low``, ``high``).
    """

    shape: tuple[int, int]
    strides: tuple[int, int]
    low: int
    high: int


@lru_cache(4096)
def even_geometry(shape: tuple[int, ...], strides: tuple[int, ...], layout: str, item_bytes: int) -> EvenMatrix | None:
    """Returns the matrix of a view with elements of ``item_bytes`` bytes; ``None`` for other views and for empty
    ones."""
    rows, cols, extents, steps = _geometry(shape, strides, layout, item_bytes)
    if len(extents) != 2 or min(extents) <= 0:
        return None
    ends = [(extent - 1) * step for extent, step in zip(extents, steps, strict=True)]
    low, high = (sum(pick(end, 0) for end in ends) for pick in (min, max))
    return EvenMatrix((rows, cols), (steps[0], steps[1]), low, high + item_bytes)


def _merge_dims(
    dims: Sequence[int], shape: Sequence[int], strides: Sequence[int]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    extents: list[int] = []
    steps: list[int] = []
    for dim in dims:
        extent, step = shape[dim], strides[dim]
        if extent == 1:
            continue
        if extents and steps[-1] == extent * step:
            extents[-1] *= extent
            steps[-1] = step
        else:
            extents.append(extent)
            steps.append(step)
    return (tuple(extents), tuple(steps)) if extents else ((1,), (0,))
