"""GM views in tile coordinate order against the mapping table of the docs/reference/layouts.md, "Views of global
memory".
"""

from __future__ import annotations

from itertools import product
from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pto_dialect.runtime.faults import Fault
from pto_dialect.runtime.memory.gm_view import GmMatrix, GmView, gm_matrix_index
from pto_dialect.runtime.memory.spaces import Arena

LAYOUTS = ("nd", "dn", "nz")


def place(layout: str, d: tuple[int, ...], i: tuple[int, ...]) -> tuple[int, int]:
    if layout == "nd":
        return ((i[0] * d[1] + i[1]) * d[2] + i[2]) * d[3] + i[3], i[4]
    if layout == "dn":
        return i[3], ((i[0] * d[1] + i[1]) * d[2] + i[2]) * d[4] + i[4]
    return i[2] * d[3] + i[3], (i[0] * d[1] + i[1]) * d[4] + i[4]


def extents(layout: str, d: tuple[int, ...]) -> tuple[int, int]:
    if layout == "nd":
        return d[0] * d[1] * d[2] * d[3], d[4]
    if layout == "dn":
        return d[3], d[0] * d[1] * d[2] * d[4]
    return d[2] * d[3], d[0] * d[1] * d[4]


def coordinate(matrix: GmMatrix, index: tuple[int, ...], shape: tuple[int, ...]) -> tuple[int, int]:
    """Row and column of an element, by the dims that the matrix names, the last one fastest."""
    row, col = (
        sum(index[dim] * prod(shape[after] for after in dims[place + 1 :]) for place, dim in enumerate(dims))
        for dims in (matrix.row_dims, matrix.col_dims)
    )
    return row, col


@given(st.sampled_from(LAYOUTS), st.tuples(*[st.integers(1, 4)] * 5))
def test_index_mapping(layout: str, shape: tuple[int, ...]) -> None:
    matrix = gm_matrix_index(shape, layout)
    assert (matrix.rows, matrix.cols) == extents(layout, shape)
    for index in product(*map(range, shape)):
        assert coordinate(matrix, index, shape) == place(layout, shape, index)


@given(
    st.sampled_from(LAYOUTS),
    st.lists(st.tuples(st.integers(1, 4), st.integers(0, 40)), min_size=1, max_size=5),
    st.sampled_from([np.uint8, np.uint16, np.float32]),
    st.integers(0, 5),
)
def test_read_any_strides(layout: str, dims: list[tuple[int, int]], dtype: type, base: int) -> None:
    shape, strides = (tuple(column) for column in zip(*dims, strict=True))
    elements = sum((extent - 1) * stride for extent, stride in dims) + 1
    size = np.dtype(dtype).itemsize
    arena = Arena("gm", base + elements * size)
    values = arena.bytes[base:].view(dtype)
    values[:] = np.arange(elements) % 251
    full = (1,) * (5 - len(shape)) + shape
    steps = (0,) * (5 - len(shape)) + strides
    rows, cols = extents(layout, full)
    expected = np.zeros((rows, cols), dtype)
    for index in product(*map(range, full)):
        expected[place(layout, full, index)] = values[sum(i * s for i, s in zip(index, steps, strict=True))]

    view = GmView(arena.pointer(base, dtype), shape, strides, layout)
    assert (view.rows, view.cols) == (rows, cols)
    assert (view.read() == expected).all()
    out = np.zeros((rows, 2 * cols), np.float64)[:, ::2]
    view.read_into(out)
    assert (out == expected).all()


@given(
    st.sampled_from(LAYOUTS),
    st.tuples(*[st.integers(1, 3)] * 5),
    st.permutations(range(5)),
    st.integers(0, 3),
)
def test_write_any_dim_order(layout: str, shape: tuple[int, ...], order: list[int], gap: int) -> None:
    """A dense tensor stored with its dims in any order of memory, with a gap after each innermost run."""
    strides = [0] * 5
    step = 1
    for position, dim in enumerate(order):
        strides[dim] = step
        step *= shape[dim] + (gap if position == 0 else 0)
    arena = Arena("gm", 2 * step)
    arena.bytes[:] = 0xEE
    rows, cols = extents(layout, shape)
    matrix = np.arange(rows * cols, dtype=np.uint16).reshape(rows, cols)
    expected = np.full(step, 0xEEEE, np.uint16)
    for index in product(*map(range, shape)):
        address = sum(i * s for i, s in zip(index, strides, strict=True))
        expected[address] = matrix[place(layout, shape, index)]
    view = GmView(arena.pointer(0, np.uint16), shape, strides, layout)
    view.write(matrix)
    assert (arena.bytes.view(np.uint16) == expected).all()
    assert (view.read() == matrix).all()


def test_dense_nd_view_is_two_dimensional_memory() -> None:
    arena = Arena("gm", 4 * 24 * 8)
    view = GmView(arena.pointer(0, np.float32), (2, 3, 4, 8), (96, 32, 8, 1))
    assert view.array.shape == (24, 8) and np.shares_memory(view.read(), arena.bytes)
    column = GmView(arena.pointer(0, np.float32), (16, 8), (1, 16), "dn")
    assert column.array.shape == (16, 8) and np.shares_memory(column.read(), arena.bytes)


def test_empty_view() -> None:
    view = GmView(Arena("gm", 16).pointer(0, np.float32), (0, 8), (8, 1))
    assert view.read().shape == (0, 8)


def test_view_past_the_buffer() -> None:
    arena = Arena("gm", 64, name="x")
    GmView(arena.pointer(0, np.float32), (2, 8), (8, 1))
    with pytest.raises(Fault) as caught:
        GmView(arena.pointer(0, np.float32), (2, 8), (9, 1))
    assert caught.value.rule == "mem-oob" and "'x'" in caught.value.message
    with pytest.raises(Fault):
        GmView(arena.pointer(-4, np.float32), (1,), (1,))
    with pytest.raises(Fault):
        GmView(arena.pointer(0, np.float32), (2,), (2**62,))
