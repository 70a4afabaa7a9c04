"""Tile layouts against the offset formulas of the docs/reference/layouts.md, "Tile layouts", evaluated element by
element.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pto_dialect.runtime.faults import Fault
from pto_dialect.runtime.memory.cast import copy_cast
from pto_dialect.runtime.memory.layout import (
    Axis,
    MatrixView,
    TileLayout,
    TileView,
    native_layout,
    round_up,
    tile_layout,
)
from pto_dialect.runtime.memory.spaces import Arena
from pto_dialect.targets.tile_layouts import native_blayout

SPELLING = {
    "NZ": ("col_major", "row_major"),
    "ZN": ("row_major", "col_major"),
    "ZZ": ("row_major", "row_major"),
    "NN": ("col_major", "col_major"),
    "ND": ("row_major", "none_box"),
    "DN": ("col_major", "none_box"),
}
DTYPES = {1: np.uint8, 2: np.uint16, 4: np.uint32}


def make(kind: str, rows: int, cols: int, size: int, fractal: int = 512) -> TileLayout:
    return tile_layout(rows, cols, size, *SPELLING[kind], fractal)


def block(kind: str, size: int, fractal: int) -> tuple[int, int]:
    """Inner block ir x ic, docs/reference/layouts.md, "Fractals"."""
    width = {512: 32 // size, 1024: 16, 32: 2}[fractal]
    return (16, width) if SPELLING[kind][1] == "row_major" else (width, 16)


def formula(kind: str, rows: int, cols: int, size: int, fractal: int, r: int, c: int) -> int:
    """Element offset, docs/reference/layouts.md, "Tile layouts"."""
    if kind == "ND":
        return r * cols + c
    if kind == "DN":
        return c * rows + r
    ir, ic = block(kind, size, fractal)
    inside = (r % ir) * ic + c % ic if kind in ("NZ", "ZZ") else (c % ic) * ir + r % ir
    if kind in ("NZ", "NN"):
        return (c // ic) * rows * ic + (r // ir) * ir * ic + inside
    return (r // ir) * cols * ir + (c // ic) * ir * ic + inside


def fresh(nbytes: int, space: str = "l1") -> Arena:
    arena = Arena(space, nbytes)
    arena.bytes[:] = 0xA5
    return arena


def numbered(rows: int, cols: int, size: int) -> npt.NDArray[Any]:
    """Matrix whose elements differ as much as their size allows and never equal the background pattern."""
    values = np.arange(rows * cols, dtype=np.uint64) * 7 + 3
    return (
        (values % (0xA5A5A5A5 if size == 4 else 0xA5A5 if size == 2 else 0xA5)).astype(DTYPES[size]).reshape(rows, cols)
    )


TABLE = {
    (0, 1): (1, 16, 1, 16, 1, 32),
    (1, 0): (16, 1, 16, 1, 48, 1),
    (17, 0): (272, 769, 784, 257, 816, 17),
    (0, 17): (513, 272, 257, 528, 17, 544),
    (17, 18): (786, 1057, 1042, 801, 834, 593),
}


@pytest.mark.parametrize("place", TABLE)
def test_worked_numbers_f16(place: tuple[int, int]) -> None:
    found = [make(kind, 32, 48, 2).offset(*place) for kind in ("NZ", "ZN", "ZZ", "NN", "ND", "DN")]
    assert tuple(found) == TABLE[place]


def test_worked_numbers_other_types() -> None:
    assert make("NZ", 32, 24, 4).inner == (16, 8)
    assert make("NZ", 32, 24, 4).offset(17, 9) == 393
    assert make("NZ", 32, 64, 1).inner == (16, 32)
    assert make("NZ", 32, 64, 1).offset(17, 33) == 1569
    accumulator = make("NZ", 48, 32, 4, 1024)
    assert accumulator.inner == (16, 16)
    assert accumulator.offset(17, 18) == 1042 and 4 * accumulator.offset(17, 18) == 4168
    assert make("NZ", 48, 64, 2).offset(33, 20) == 1300
    assert make("NZ", 64, 32, 2).offset(33, 20) == 1556
    assert make("ZN", 64, 32, 2).offset(33, 20) == 1345
    assert make("ZZ", 32, 2, 1, 32).offset(17, 1) == 35


def test_inner_blocks() -> None:
    assert make("ZN", 32, 32, 1).inner == (32, 16)
    assert make("ZZ", 32, 4, 1, 32).inner == (16, 2)
    assert make("NN", 4, 32, 1, 32).inner == (2, 16)
    assert make("NZ", 16, 8, 8).inner == (16, 4)
    assert make("ND", 3, 5, 2).inner == (1, 1)


def test_layouts_are_interned_and_comparable() -> None:
    assert make("NZ", 32, 48, 2) is make("NZ", 32, 48, 2)
    assert TileLayout(32, 48, 2, "col_major", "row_major") == make("NZ", 32, 48, 2)
    assert hash(TileLayout(32, 48, 2, "col_major", "row_major")) == hash(make("NZ", 32, 48, 2))
    assert [make(kind, 32, 32, 1).kind for kind in SPELLING] == list(SPELLING)


@pytest.mark.parametrize(
    "arguments",
    [
        (16, 16, 2, "row", "none_box", 512),
        (16, 16, 2, "row_major", "row_major", 256),
        (16, 16, 3, "row_major", "row_major", 512),
    ],
)
def test_impossible_layouts(arguments: tuple[int, int, int, str, str, int]) -> None:
    with pytest.raises(ValueError):
        TileLayout(*arguments)


@st.composite
def layouts(draw: st.DrawFn) -> tuple[str, int, int, int, int]:
    """(kind, rows, cols, element size, fractal) with whole blocks, except rows of NZ and columns of ZN."""
    kind = draw(st.sampled_from(sorted(SPELLING)))
    size = draw(st.sampled_from([1, 2, 4]))
    fractal = draw(st.sampled_from([512, 1024, 32]))
    ir, ic = (1, 1) if kind in ("ND", "DN") else block(kind, size, fractal)
    rows, cols = ir * draw(st.integers(1, 3)), ic * draw(st.integers(1, 3))
    if kind == "NZ" and draw(st.booleans()):
        rows = draw(st.integers(1, 40))
    if kind == "ZN" and draw(st.booleans()):
        cols = draw(st.integers(1, 40))
    return kind, rows, cols, size, fractal


@given(layouts())
def test_offset_and_size(case: tuple[str, int, int, int, int]) -> None:
    kind, rows, cols, size, fractal = case
    layout = make(kind, rows, cols, size, fractal)
    offsets = [formula(*case, r, c) for r in range(rows) for c in range(cols)]
    assert [layout.offset(r, c) for r in range(rows) for c in range(cols)] == offsets
    assert layout.nbytes == (max(offsets) + 1) * size
    if rows % layout.inner[0] == 0 and cols % layout.inner[1] == 0:
        assert layout.nbytes == rows * cols * size


@given(layouts(), st.integers(0, 7), st.data())
def test_window_read_and_write(case: tuple[str, int, int, int, int], base: int, data: st.DataObject) -> None:
    """Any window of any layout at any byte address: exactly its elements move, and to the right place."""
    kind, rows, cols, size, fractal = case
    r0 = data.draw(st.integers(0, rows - 1))
    c0 = data.draw(st.integers(0, cols - 1))
    height = data.draw(st.integers(1, rows - r0))
    width = data.draw(st.integers(1, cols - c0))
    layout = make(kind, rows, cols, size, fractal)
    matrix = numbered(height, width, size)
    arena = fresh(base + layout.nbytes + 5)
    expected = arena.bytes.copy()
    for r in range(height):
        for c in range(width):
            at = base + formula(*case, r0 + r, c0 + c) * size
            expected[at : at + size] = np.frombuffer(matrix[r, c].tobytes(), np.uint8)

    tile = TileView(layout, arena.pointer(base, DTYPES[size]))
    window = tile.window(r0, c0, height, width)
    window.write(matrix)
    assert arena.bytes.tobytes() == expected.tobytes()
    assert (window.read() == matrix).all() and window.read().shape == (height, width)
    wide = np.zeros((height, width * 2), np.uint64)[:, ::2]
    window.read_into(wide)
    assert (wide == matrix).all()
    again = TileView(layout, arena.pointer(base, DTYPES[size]), height, width, r0, c0)
    assert (again.read() == matrix).all()
    inner = window.window(height // 2, width // 3, height - height // 2, width - width // 3)
    assert (inner.read() == matrix[height // 2 :, width // 3 :]).all()


@given(layouts(), st.data())
def test_valid_region(case: tuple[str, int, int, int, int], data: st.DataObject) -> None:
    """Reads and writes of a prefix leave the rest of the tile alone, whatever prefix was used before."""
    kind, rows, cols, size, fractal = case
    layout = make(kind, rows, cols, size, fractal)
    arena = fresh(layout.nbytes)
    tile = TileView(layout, arena.pointer(0, DTYPES[size]))
    matrix = numbered(rows, cols, size)
    tile.write(matrix)
    for _ in range(2):
        height = data.draw(st.integers(0, rows))
        width = data.draw(st.integers(0, cols))
        part = tile.read(height, width)
        assert part.shape == (height, width) and (part == matrix[:height, :width]).all()
        replacement = matrix[::-1, ::-1]
        tile.write(replacement, height, width)
        matrix[:height, :width] = replacement[:height, :width].copy()
        assert (tile.read() == matrix).all()
    tile.fill(5, rows - 1, cols)
    matrix[: rows - 1] = 5
    assert (tile.read() == matrix).all()


@given(layouts())
def test_whole_tile_view(case: tuple[str, int, int, int, int]) -> None:
    kind, rows, cols, size, fractal = case
    layout = make(kind, rows, cols, size, fractal)
    arena = fresh(layout.nbytes + 3)
    matrix = numbered(rows, cols, size)
    view = layout.view(arena.pointer(1, DTYPES[size]), 2)
    assert np.shares_memory(view, arena.bytes)
    view[...] = matrix.reshape(view.shape)
    assert (TileView(layout, arena.pointer(3, DTYPES[size])).read() == matrix).all()
    assert (view.reshape(rows, cols) == matrix).all()
    same = layout.view(arena.bytes, 3, np.dtype(DTYPES[size]))
    assert (same == view).all() and np.shares_memory(same, view)
    ir, ic = layout.inner
    if kind in ("ND", "DN"):
        assert view.shape == (rows, cols)
    elif rows % ir == 0 and cols % ic == 0:
        assert view.shape == (rows // ir, ir, cols // ic, ic)


def test_matrix_view_of_free_axes() -> None:
    """Rows every 7 elements; columns in blocks of 4 that lie 50 elements apart, every second element used."""
    arena = fresh(1024)
    values = arena.bytes.view(np.uint16)
    values[:] = np.arange(512)
    view = MatrixView(arena.pointer(6, np.uint16), (Axis(0, 0, 7), Axis(4, 50, 2)), 6, 11)
    expected = [[3 + 7 * r + 50 * (c // 4) + 2 * (c % 4) for c in range(11)] for r in range(6)]
    assert view.read().tolist() == expected
    window = view.window(1, 2, 5, 9)
    assert window.read().tolist() == [row[2:] for row in expected[1:]]
    assert window.window(2, 3, 2, 4).read().tolist() == [row[5:9] for row in expected[3:5]]


def test_whole_tile_view_refuses_partial_blocks() -> None:
    with pytest.raises(ValueError, match="partial"):
        make("NZ", 16, 20, 2).view(fresh(4096).pointer(0, np.float16))
    with pytest.raises(ValueError, match="dtype"):
        make("ND", 16, 16, 2).view(fresh(4096).bytes)
    assert make("NZ", 20, 32, 2).view(fresh(4096).pointer(0, np.float16)).shape == (1, 20, 2, 16)


@pytest.mark.parametrize(("kind", "rows", "cols"), [("ZZ", 32, 1), ("NN", 1, 32), ("ZZ", 20, 3), ("NN", 3, 40)])
def test_partial_scale_blocks_do_not_alias(kind: str, rows: int, cols: int) -> None:
    """K = 32 gives one scale per row, half of a 16x2 block."""
    layout = make(kind, rows, cols, 1, 32)
    offsets = {layout.offset(r, c) for r in range(rows) for c in range(cols)}
    assert len(offsets) == rows * cols
    full = make(kind, round_up(rows, layout.inner[0]), round_up(cols, layout.inner[1]), 1, 32)
    assert all(layout.offset(r, c) == full.offset(r, c) for r in range(rows) for c in range(cols))


def test_single_row_tile_is_contiguous() -> None:
    arena = fresh(4096)
    row = np.arange(64, dtype=np.float16).reshape(1, 64)
    TileView(make("NZ", 1, 64, 2), arena.pointer(0, np.float16)).write(row)
    assert (arena.bytes[:128].view(np.float16) == row).all()


def test_unboxed_reads_are_views_and_boxed_ones_copies() -> None:
    arena = fresh(4096)
    for kind in ("ND", "DN"):
        tile = TileView(make(kind, 16, 16, 4), arena.pointer(0, np.float32))
        assert np.shares_memory(tile.read(), arena.bytes) and np.shares_memory(tile.read(3, 5), arena.bytes)
    boxed = TileView(make("NZ", 16, 16, 4), arena.pointer(0, np.float32))
    assert not np.shares_memory(boxed.read(), arena.bytes)
    assert boxed.dtype == np.float32 and (boxed.rows, boxed.cols) == (16, 16)


def test_out_of_bounds_tile_writes_nothing() -> None:
    arena = fresh(1000)
    tile = TileView(make("NZ", 16, 32, 2), arena.pointer(0, np.uint16))
    before = arena.bytes.copy()
    with pytest.raises(Fault) as caught:
        tile.write(numbered(16, 32, 2))
    assert caught.value.rule == "mem-oob"
    assert (arena.bytes == before).all()
    with pytest.raises(Fault):
        tile.read()
    with pytest.raises(Fault):
        TileView(make("ND", 4, 8, 4), arena.pointer(-4, np.float32)).read()
    tile.write(numbered(14, 32, 2))


@pytest.mark.parametrize("rows", [128, 16, 8])
def test_f16_tile_into_f32_buffer_is_exact(rows: int) -> None:
    """All bit patterns, NaN payloads and subnormals included, on both conversion paths."""
    cols = 16 if rows == 8 else 128
    patterns = np.arange(1 << 16, dtype=np.uint16)
    for start in range(0, 1 << 16, rows * cols):
        arena = Arena("l1", rows * cols * 2)
        tile = TileView(make("NZ", rows, cols, 2), arena.pointer(0, np.float16))
        matrix = patterns[start : start + rows * cols].view(np.float16).reshape(rows, cols)
        tile.write(matrix)
        out = np.empty((rows, cols), np.float32)
        tile.read_into(out)
        assert (out.view(np.uint32) == matrix.astype(np.float32).view(np.uint32)).all()


@pytest.mark.parametrize("dtype", [ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2, np.int8])
def test_other_types_widen(dtype: type) -> None:
    size = np.dtype(dtype).itemsize
    matrix = np.arange(-8, 8).repeat(64).reshape(16, 64).astype(dtype)
    arena = Arena("l1", 4096)
    tile = TileView(make("NZ", 16, 64, size), arena.pointer(0, dtype))
    tile.write(matrix)
    out = np.empty((16, 64), np.float32)
    tile.read_into(out)
    assert (out == np.arange(-8, 8).repeat(64).reshape(16, 64)).all()


def test_copy_cast_refuses_lossy_kinds() -> None:
    with pytest.raises(TypeError):
        copy_cast(np.zeros(4, np.int8), np.ones(4, np.float32))
    target = np.zeros(8, np.float32)[::2]
    copy_cast(target, np.array([1, 2, 3, 4], np.float16))
    assert target.tolist() == [1, 2, 3, 4]


def test_native_layouts() -> None:
    assert native_blayout("left", "a2a3", "col_major") == "row_major"
    assert native_blayout("left", "a5", "row_major") == "col_major"
    assert native_blayout("left", "cpu-sim", "row_major") == "col_major"
    assert native_blayout("mat", "a2a3", "col_major") == "col_major"
    for spelling in ("row_major", "col_major"):
        assert native_layout("left", "a2a3", 32, 64, 2, spelling, "row_major").kind == "ZZ"
        assert native_layout("left", "a5", 32, 64, 2, spelling, "row_major").kind == "NZ"
    assert native_layout("right", "a5", 32, 64, 2, "row_major", "col_major").kind == "ZN"
    assert native_layout("acc", "a5", 48, 32, 4, "col_major", "row_major", 512).inner == (16, 16)
    assert native_layout("vec", "a5", 8, 64, 4).kind == "ND"


def test_native_layout_of_packed_operands() -> None:
    """Two 4-bit elements per byte: 64 logical elements fill one 32-byte block row."""
    left = native_layout("left", "a5", 32, 128, 1, "col_major", "row_major", 512, packed=True)
    assert (left.rows, left.cols, left.inner, left.nbytes) == (32, 64, (16, 32), 32 * 64)
    right = native_layout("right", "a5", 128, 48, 1, "row_major", "col_major", 512, packed=True)
    assert (right.rows, right.cols, right.inner, right.nbytes) == (64, 48, (32, 16), 64 * 48)
    assert native_layout("mat", "a5", 6, 10, 1, packed=True).cols == 5
