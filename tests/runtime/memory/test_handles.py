"""Handles of tiles: valid regions, windows, slots, and what has no memory."""

from __future__ import annotations

import numpy as np
from run_time_tiles import held, refused

from pto_dialect.runtime.memory.values import FREED, UNBOUND, MultiTile


def test_valid_regions() -> None:
    for rows, cols in ((9, 4), (8, 5), (-1, 4), (8, -1)):
        message = f"valid region {rows}x{cols} exceeds tile 8x4"
        refused("tile-valid-le-shape", message, lambda r=rows, c=cols: held(8, 4, valid=(r, c)))
        tile = held(8, 4)
        refused("setvalid-dynamic", message, lambda t=tile, r=rows, c=cols: t.set_valid(r, c))
        refused("tile-valid-le-shape", message, lambda t=tile, r=rows, c=cols: t.with_valid(r, c))
    for valid in ((0, 0), (8, 4), (0, 4), (8, 0)):
        tile = held(8, 4)
        tile.set_valid(*valid)
        assert (tile.valid_rows, tile.valid_cols) == valid == held(8, 4, valid=valid).array.shape


def test_windows() -> None:
    tile = held(8, 4)
    tile.write(np.arange(32, dtype=np.float32).reshape(8, 4))
    inner = tile.window(2, 1, 6, 3, 4, 2)
    assert inner.array.tolist() == [[9, 10], [13, 14], [17, 18], [21, 22]]
    assert inner.window(1, 1, 5, 2, 5, 2).array[:, 0].tolist() == [14, 18, 22, 26, 30]
    for row, col, valid in ((-1, 0, (1, 1)), (0, -1, (1, 1)), (7, 0, (2, 1)), (0, 3, (1, 2)), (9, 0, (0, 1))):
        height, width = valid
        message = f"valid part {height}x{width} of the subview at ({row}, {col}) leaves the tile 8x4"
        refused("subview-bounds", message, lambda r=row, c=col, v=valid: tile.window(r, c, 2, 2, *v))
    for place in ((6, 2, 2, 2), (0, 0, 8, 4)):
        assert tile.window(*place, *place[2:]).array[-1, -1] == 31


def test_a_window_that_reaches_beyond_its_tile_ends_with_it() -> None:
    tile = held(8, 4)
    inner = tile.window(6, 3, 4, 4, 2, 1)
    assert (inner.rows, inner.cols) == (2, 1)
    inner.write(np.array([[5], [6]], np.float32))
    assert tile.array[5:, 2:].tolist() == [[0, 0], [0, 5], [0, 6]]
    refused("setvalid-dynamic", "valid region 3x1 exceeds tile 2x1", lambda: inner.set_valid(3, 1))
    assert tile.window(8, 4, 2, 2, 0, 0).array.shape == (0, 0)


def test_handles_without_memory() -> None:
    for handle, message in (
        (FREED, "the popped entry was freed"),
        (UNBOUND, "no entry was popped or allocated for this handle"),
    ):
        refused("pipe-slot", message, lambda handle=handle: handle.read())
        refused("pipe-slot", message, lambda handle=handle: setattr(handle, "rows", 1))
        refused("pipe-slot", message, lambda handle=handle: np.asarray(handle))


def test_slots_of_a_multi_buffer() -> None:
    tiles = [held(2, 2), held(2, 2)]
    multi = MultiTile(tiles)
    assert multi.get(0) is tiles[0] and multi.get(1) is tiles[1]
    for index in (-1, 2):
        message = f"slot {index} of a multi-tile buffer with 2 slots"
        refused("mem-oob-tile", message, lambda index=index: multi.get(index))
