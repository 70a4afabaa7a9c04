"""Widening f16 in bulk, and moves from layout to layout, against numpy and against element formulas."""

from __future__ import annotations

from itertools import product

import ml_dtypes
import numpy as np
import pytest
from groups import in_groups

from pto_dialect.runtime.memory.cast import copy_cast
from pto_dialect.runtime.memory.layout import TileView, tile_layout
from pto_dialect.runtime.memory.spaces import Arena

PATTERNS = np.arange(1 << 16, dtype=np.uint16).view(np.float16)


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("special", ["finite", "inf", "-inf", "nan", "-nan", "all"])
def test_wide_values_are_those_of_numpy(special: str, transposed: bool) -> None:
    """Zeros, subnormals, normals of both signs; one special value among them changes nothing for the others."""
    codes = {"inf": 0x7C00, "-inf": 0xFC00, "nan": 0x7E01, "-nan": 0xFD55}
    values = PATTERNS[np.isfinite(PATTERNS)] if special != "all" else PATTERNS
    values = values[: values.size // 64 * 64].copy()
    if special in codes:
        values.view(np.uint16)[777] = codes[special]
    matrix = values.reshape(64, -1).T if transposed else values.reshape(64, -1)
    out = np.full(matrix.shape, 7, np.float32)
    copy_cast(out, matrix)
    assert (out.view(np.uint32) == matrix.astype(np.float32).view(np.uint32)).all()


LAYOUTS = [
    ("row_major", "none_box"),
    ("col_major", "none_box"),
    ("col_major", "row_major"),
    ("row_major", "col_major"),
    ("row_major", "row_major"),
    ("col_major", "col_major"),
]


@pytest.mark.parametrize(
    ("rows", "cols", "row", "col"), [(64, 64, 0, 0), (32, 48, 16, 16), (17, 33, 0, 0), (5, 3, 9, 2)]
)
def test_moves_between_all_layouts(rows: int, cols: int, row: int, col: int) -> None:
    """Whatever cannot be copied at once is refused and leaves the target alone."""
    copied = 0
    for (source_kind, source_fractal), (target_kind, target_fractal) in product(
        product(LAYOUTS, (512, 1024)), product(LAYOUTS, (512, 1024))
    ):
        source_arena, target_arena = (Arena("l1", 64 * 64 * 4) for _ in range(2))
        pointers = [arena.pointer(0, np.float32) for arena in (source_arena, target_arena)]
        source = TileView(tile_layout(64, 64, 4, *source_kind, source_fractal), pointers[0], row0=row, col0=col)
        target = TileView(tile_layout(64, 64, 4, *target_kind, target_fractal), pointers[1])
        source.write(np.arange(1, rows * cols + 1, dtype=np.float32).reshape(rows, cols))
        expected = np.zeros((64, 64), np.float32)
        if target.copy_from(source, rows, cols):
            copied += 1
            for r, c in product(range(rows), range(cols)):
                expected[r, c] = r * cols + c + 1
        assert (target.read() == expected).all()
    assert copied >= (60 if rows == 64 else 16)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, ml_dtypes.bfloat16, np.int8, np.float64])
@in_groups("kind", LAYOUTS)
def test_rows_of_boxes_keep_their_bits(kind: tuple[str, str], dtype: type) -> None:
    """Every bit pattern survives, also of NaNs, and nothing outside the prefix changes."""
    size = np.dtype(dtype).itemsize
    arena = Arena("l1", 96 * 64 * size)
    arena.bytes[:] = 0xA5
    tile = TileView(tile_layout(96, 64, size, *kind), arena.pointer(0, dtype))
    bits = np.random.default_rng(0).integers(0, 256, (64, 48 * size), np.uint8)
    tile.write(bits.view(dtype))
    expected = np.full((96, 64 * size), 0xA5, np.uint8)
    expected[:64, : 48 * size] = bits
    assert (np.ascontiguousarray(tile.read()).view(np.uint8) == expected).all()
    assert (np.ascontiguousarray(tile.read(64, 48)).view(np.uint8) == bits).all()
