"""Moves between tiles in memory, in one of several orders, and tile values: every pair, whole and in parts."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from groups import in_groups
from run_time_tiles import held, refused, table, value

from pto_dialect.runtime.kernels.tile.memory import Load, load_part, load_view, store_part, store_view
from pto_dialect.runtime.kernels.tile.move import Move, converted
from pto_dialect.runtime.memory.gm_parts import GmParts
from pto_dialect.runtime.memory.layout import tile_layout
from pto_dialect.runtime.memory.spaces import Arena
from pto_dialect.runtime.memory.values import Tile
from pto_dialect.runtime.numerics.formats import format_of

ROWS, COLS = 16, 32
ORDERS = {
    "rows": ("row_major", "none_box", 512),
    "columns": ("col_major", "none_box", 512),
    "NZ": ("col_major", "row_major", 512),
    "ZN": ("row_major", "col_major", 512),
    "ZZ": ("row_major", "row_major", 512),
}
KINDS = [*ORDERS, "matrix", "window", "value"]
NUMBERS = np.arange(ROWS * COLS).reshape(ROWS, COLS) % 100 + 1


def made(kind: str, element: str, valid: tuple[int, int], numbers: Any) -> Any:
    """A tile with the numbers; a matrix lies in the memory of matrices, a window in a wider tile; a value has its valid
    part alone."""
    rows, cols = valid
    if kind == "value":
        return value(rows, cols, element, numbers[:rows, :cols])
    if kind == "window":
        around = held(ROWS + 2, COLS + 8, element)
        found = around.window(2, 8, ROWS, COLS, ROWS, COLS)
    else:
        found = held(ROWS, COLS, element, layout=ORDERS.get(kind, ORDERS["NZ"]))
        found.loc = "mat" if kind == "matrix" else "vec"
    found.view.write(numbers.astype(found.fmt.storage))
    found.set_valid(rows, cols)
    return found


def whole(tile: Any) -> Any:
    """Everything that the tile has, valid or not."""
    return tile.view.read() if isinstance(tile, Tile) else tile.array


TYPES = [("f16", "f16"), ("f16", "f32"), ("i16", "f16"), ("i16", "ui16")]
PARTS = [(ROWS, COLS), (5, 7), (ROWS, 7), (5, COLS)]


@in_groups(("source", "target"), [*product(KINDS, KINDS)])
def test_a_move(source: str, target: str) -> None:
    """The valid part of the destination takes the numbers of the source, or their bits between elements of one size in
    the unified buffer; what is outside keeps its own."""
    for (element, result), valid in product(TYPES, PARTS):
        rows, cols = valid
        src, dst = made(source, element, valid, NUMBERS), made(target, result, valid, NUMBERS + 100)
        before = whole(src).tobytes()
        Move(None, "move")(src, dst)
        wanted = NUMBERS + 100 if isinstance(dst, Tile) else (NUMBERS + 100)[:rows, :cols]
        wanted = wanted.astype(dst.fmt.storage)
        moved = NUMBERS[:rows, :cols]
        if src.loc == dst.loc == "vec" and src.fmt.bytes == dst.fmt.bytes:
            moved = moved.astype(src.fmt.storage).view(dst.fmt.storage)
        wanted[:rows, :cols] = moved
        assert (whole(dst) == wanted).all(), (element, result, valid)
        assert whole(src).tobytes() == before


@in_groups(("source", "target"), [*product(KINDS, KINDS)])
def test_a_smaller_destination_takes_the_first_part(source: str, target: str) -> None:
    for result in ("f16", "f32"):
        src, dst = made(source, "f16", (ROWS, COLS), NUMBERS), made(target, result, (3, 4), NUMBERS + 100)
        Move(None, "move")(src, dst)
        assert (dst.read() == NUMBERS[:3, :4]).all()
        if isinstance(dst, Tile):
            assert (whole(dst)[3:] == NUMBERS[3:] + 100).all() and (whole(dst)[:, 4:] == NUMBERS[:, 4:] + 100).all()


def test_numbers_of_half_a_byte_stay_in_their_memory() -> None:
    """Operands of products hold such numbers two to a byte, other tiles count pairs: no move leads from one to the
    other, in either direction."""
    fmt = format_of("f4E2M1x2")

    def tile(loc: str) -> Tile:
        layout = tile_layout(16, 64, fmt.bytes, "row_major", "row_major" if loc == "left" else "none_box", 512)
        arena = Arena("l0a" if loc == "left" else "ub", 4096)
        return Tile(arena.pointer(0, fmt.storage), layout, fmt, loc, 16, 64, 16, 64)

    for first, second in (("left", "vec"), ("vec", "left")):
        source, dst = tile(first), tile(second)
        message = f"4-bit numbers cannot be moved between {first} and {second}"
        refused("unmodelled", message, lambda s=source, d=dst: Move(None, "move")(s, d))
        refused("unmodelled", message, lambda s=source, d=dst: converted(s.view.read(), s, d))


@in_groups(("source", "target"), [*product(KINDS, KINDS)])
def test_a_larger_destination_keeps_the_rest(source: str, target: str) -> None:
    for (rows, cols), result in product(((3, 4), (3, COLS), (ROWS, 4)), ("f16", "f32")):
        src, dst = made(source, "f16", (rows, cols), NUMBERS), made(target, result, (ROWS, COLS), NUMBERS + 100)
        Move(None, "move")(src, dst)
        wanted = NUMBERS + 100
        wanted[:rows, :cols] = NUMBERS[:rows, :cols]
        assert (dst.read() == wanted).all(), (rows, cols, result)


# --- views ------------------------------------------------------------------------------------------------


def view(rows: int, cols: int, element: str = "f32") -> Any:
    return table(rows, cols, element)


@pytest.mark.parametrize("part", [False, True])
def test_stores_without_a_conversion(part: bool) -> None:
    """Equal shapes, other shapes of as many elements, and other types of as many bytes."""

    def store(source: Any, dst: Any) -> Any:
        if part:
            store_part(source, GmParts(dst, dst.shape), 0)
        else:
            store_view(source, dst)
        return dst.matrix().read()

    numbers = np.arange(32, dtype=np.float32) - 7
    assert (store(numbers.reshape(4, 8), view(4, 8)) == numbers.reshape(4, 8)).all()
    assert (store(numbers.reshape(2, 16), view(4, 8)) == numbers.reshape(4, 8)).all()
    assert (store(numbers.reshape(4, 8), view(4, 8, "i32")) == numbers.view(np.int32).reshape(4, 8)).all()
    for rows, cols in ((1, 8), (4, 1), (1, 1)):
        message = f"the tile has {rows}x{cols} valid elements, the view 4x8"
        refused("tload-count", message, lambda r=rows, c=cols: store(numbers[: r * c].reshape(r, c), view(4, 8)))
    refused("tstore-elem", "elements of float16 stored to f32", lambda: store(np.zeros((4, 8), np.float16), view(4, 8)))
    if part:
        outside = "access to 4x8 elements of float32: bytes [4, 132) are outside gm 'a', which has 128 bytes"
        refused("mem-oob", outside, lambda: store_part(numbers.reshape(4, 8), GmParts(view(4, 8), (4, 8)), 1))
    untouched = view(4, 8)
    assert (store(np.zeros((0, 8), np.float32), untouched) == np.arange(32).reshape(4, 8)).all()


@pytest.mark.parametrize("part", [False, True])
def test_loads_without_a_conversion(part: bool) -> None:
    def load(source: Any, out: Any) -> Any:
        if part:
            load_part(GmParts(source, source.shape), 0, out)
        else:
            load_view(source, out)
        return out

    wanted = np.arange(32)
    assert (load(view(4, 8), np.zeros((4, 8), np.float32)).reshape(-1) == wanted).all()
    assert (load(view(4, 8), np.zeros((2, 16), np.float32)).reshape(-1) == wanted).all()
    bits = load(view(4, 8), np.zeros((4, 8), np.int32))
    assert (bits.view(np.float32).reshape(-1) == wanted).all()


@pytest.mark.parametrize(
    ("layout", "valid"), [("rows", (4, 30)), ("rows", (4, 33)), ("rows", (4, 64)), ("columns", (30, 4))]
)
def test_a_load_that_completes_units_of_32_bytes(layout: str, valid: tuple[int, int]) -> None:
    rows, cols = (4, 64) if layout == "rows" else (64, 4)
    tile = held(rows, cols, "i8", layout=ORDERS[layout])
    tile.view.write(np.full((rows, cols), 7, np.int8))
    tile.set_valid(*valid)
    numbers = np.arange(valid[0] * valid[1]).astype(np.int8).reshape(valid)
    Load(format_of("i8"), None, completes=True)(table(*valid, "i8"), tile)
    wanted = np.full((rows, cols), 7, np.int8)
    end = [-(-size // 32) * 32 if size > 4 else size for size in valid]
    wanted[: end[0], : end[1]] = 0
    wanted[: valid[0], : valid[1]] = numbers
    assert np.array_equal(tile.view.read(), wanted)
