"""Which locations views, layouts and copies speak of, at the ends of their ranges."""

from __future__ import annotations

from itertools import product
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from groups import in_groups

from pto_dialect.runtime.faults import Fault
from pto_dialect.runtime.memory.acc_store import _collides
from pto_dialect.runtime.memory.cast import copy_boxes, copy_cast
from pto_dialect.runtime.memory.layout import Axis, native_layout
from pto_dialect.runtime.memory.memref import MemRef
from pto_dialect.runtime.memory.spaces import Arena
from pto_dialect.runtime.memory.values import GmTensor
from pto_dialect.runtime.numerics.formats import format_of

F32 = format_of("f32")


# ------------------------------------------------------------ pairs of 4-bit numbers


def bytes_of_pairs(shape: tuple[int, ...], strides: tuple[int, ...], first: int) -> list[int] | None:
    """The bytes of a view of single numbers, in its order; ``None`` where some byte is not a pair side by side in the
    last direction that is dense."""
    dense = [axis for axis, (size, step) in enumerate(zip(shape, strides, strict=True)) if step == 1 and size > 1]
    if not dense or shape[dense[-1]] % 2:
        return None
    found: list[int] = []
    sizes = [size // 2 if axis == dense[-1] else size for axis, size in enumerate(shape)]
    for place in product(*map(range, sizes)):
        where = [2 * n if axis == dense[-1] else n for axis, n in enumerate(place)]
        number = first + sum(n * step for n, step in zip(where, strides, strict=True))
        if number % 2:
            return None
        found.append(number // 2)
    return found


PAIRED = [
    ((4, 6), (6, 1), 0), ((4, 6), (8, 1), 0), ((4, 6), (7, 1), 0), ((4, 5), (6, 1), 0), ((4, 6), (6, 1), 3),
    ((4, 6), (6, 1), 8), ((6, 4), (1, 6), 0), ((6, 4), (1, 6), 2), ((5, 4), (1, 6), 0), ((6, 4), (1, 7), 0),
    ((1, 6), (7, 1), 0), ((4, 1), (2, 1), 0), ((1, 1), (1, 1), 0), ((6, 1), (1, 1), 0), ((6, 1), (1, 5), 0),
    ((2, 3, 4), (12, 4, 1), 0), ((2, 3, 4), (13, 4, 1), 0), ((2, 3, 4), (12, 5, 1), 0), ((4, 6), (2, 3), 0),
    ((2, 6), (1, 1), 0), ((2, 2), (2, 1), 0), ((2, 2), (1, 2), 1),
]  # fmt: skip


@pytest.mark.parametrize(("shape", "strides", "first"), PAIRED)
def test_views_of_single_numbers_as_pairs(shape: tuple[int, ...], strides: tuple[int, ...], first: int) -> None:
    """``first`` counts numbers; a part is identified by it."""
    memory = Arena.from_array(np.arange(64, dtype=np.uint8))
    fmt = format_of("f4E2M1x2")
    whole = GmTensor(memory.pointer(0, fmt.storage), (64,), (1,), fmt)
    part = whole.part((first,), (1,))
    part.shape, part.strides = shape, strides
    wanted = bytes_of_pairs(shape, strides, first)
    if wanted is None:
        with pytest.raises(Fault, match="single numbers splits pairs"):
            part.pairs()
        return
    found = part.pairs()
    places = [sum(n * step for n, step in zip(place, found.strides, strict=True))
              for place in product(*map(range, found.shape))]  # fmt: skip
    assert [found.pointer.offset + place for place in places] == wanted


# ------------------------------------------------------------ layouts


ROWS, COLUMNS, NONE = "row_major", "col_major", "none_box"


@pytest.mark.parametrize(
    ("loc", "rows", "item", "blocks", "boxes", "fractal", "found"),
    [
        # Scales of a left operand are a plain list where they have one row, with blocks of 32 bytes in L1.
        ("mat", 1, 1, ROWS, ROWS, 32, NONE), ("mat", 2, 1, ROWS, ROWS, 32, ROWS),
        ("mat", 1, 1, COLUMNS, COLUMNS, 32, COLUMNS),
        ("scaling", 1, 1, ROWS, ROWS, 32, NONE), ("mat", 1, 1, ROWS, ROWS, 512, ROWS),
        ("mat", 1, 1, COLUMNS, ROWS, 512, ROWS),
        ("vec", 1, 1, ROWS, ROWS, 512, NONE), ("vec", 1, 1, ROWS, ROWS, 32, NONE),
        ("vec", 16, 1, ROWS, ROWS, 512, ROWS),
        ("vec", 1, 1, COLUMNS, ROWS, 512, ROWS), ("vec", 1, 2, ROWS, ROWS, 512, ROWS),
        ("right", 1, 1, ROWS, ROWS, 32, ROWS),
    ],
)  # fmt: skip
def test_scales_of_one_row_are_a_list(
    loc: str, rows: int, item: int, blocks: str, boxes: str, fractal: int, found: str
) -> None:
    layout = native_layout(loc, "a5", rows, 64, item, blocks, boxes, fractal)
    assert layout.slayout == found
    if loc == "vec" and item == 1 and (blocks, boxes) == (ROWS, ROWS):
        assert layout.fractal == 32
    else:
        assert layout.fractal == fractal


# ------------------------------------------------------------ elements that share a destination


@pytest.mark.parametrize("seed", range(4))
def test_elements_with_one_destination_are_noticed(seed: int) -> None:
    """A yes may be too careful, a no is never wrong, and without blocks of columns it is exact for rows that do not
    reach into each other."""
    rng = np.random.default_rng(seed)
    answers = {True: 0, False: 0}
    for _ in range(500):
        rows, cols = (int(n) for n in rng.integers(1, 7, 2))
        row = Axis(0, 0, int(rng.integers(0, 9)))
        col = Axis(0, 0, int(rng.integers(0, 5)))
        if rng.integers(2):
            col = Axis(int(rng.integers(1, 4)), int(rng.integers(0, 12)), 1)
        places = [row.offset(r) + col.offset(c) for r in range(rows) for c in range(cols)]
        shared = len(set(places)) < len(places)
        found = _collides((row, col), rows, cols)
        assert found or not shared or (col.block and _rows_meet(row.stride, rows, min(cols, col.block)))
        answers[found] += 1
    assert min(answers.values()) > 50


def _rows_meet(stride: int, rows: int, width: int) -> bool:
    """Rows of one block that reach into each other, which no layout has."""
    return rows > 1 and stride < width


@pytest.mark.parametrize(
    ("row", "rows", "col", "cols", "shared"),
    [
        (4, 3, Axis(0, 0, 1), 4, False), (3, 3, Axis(0, 0, 1), 4, True), (1, 4, Axis(0, 0, 4), 3, False),
        (1, 5, Axis(0, 0, 4), 3, True), (0, 1, Axis(0, 0, 1), 4, False), (0, 2, Axis(0, 0, 1), 4, True),
        (4, 1, Axis(0, 0, 0), 2, True), (4, 5, Axis(0, 0, 0), 1, False), (0, 1, Axis(0, 0, 0), 1, False),
        (1, 1, Axis(0, 0, 1), 4, False), (1, 2, Axis(0, 0, 1), 1, False), (1, 2, Axis(0, 0, 1), 2, True),
        # Blocks of two columns, each after the other's last row.
        (2, 3, Axis(2, 6, 1), 4, False), (2, 3, Axis(2, 5, 1), 4, True), (2, 3, Axis(2, 5, 1), 2, False),
        (2, 1, Axis(2, 2, 1), 4, False), (2, 1, Axis(2, 1, 1), 4, True), (2, 3, Axis(4, 0, 1), 2, False),
    ],
)  # fmt: skip
def test_where_columns_end_and_rows_begin(row: int, rows: int, col: Axis, cols: int, shared: bool) -> None:
    places = [row * r + col.offset(c) for r in range(rows) for c in range(cols)]
    assert (len(set(places)) < len(places)) is shared
    assert _collides((Axis(0, 0, row), col), rows, cols) is shared


# ------------------------------------------------------------ parts of memrefs


@pytest.mark.parametrize(
    ("offset", "size", "step", "inside"),
    [(0, 8, 1, True), (1, 8, 1, False), (7, 1, 1, True), (8, 1, 1, False), (8, 0, 1, True), (9, 0, 1, True),
     (-1, 0, 1, False), (-1, 2, 1, False), (0, 4, 2, True), (1, 4, 2, True), (2, 4, 2, False), (7, 1, 9, True)],
)  # fmt: skip
def test_ends_of_a_part_of_a_memref(offset: int, size: int, step: int, inside: bool) -> None:
    whole = MemRef(Arena.from_array(np.zeros(8, np.float32)).pointer(0, np.float32), (8,), (1,), F32)
    if inside:
        part = whole.subview((offset,), (size,), (step,), (0,))
        assert (part.offset, part.shape, part.strides) == (offset, (size,), (step,)) or part.shape == [size]
    else:
        with pytest.raises(Fault) as caught:
            whole.subview((offset,), (size,), (step,), (0,))
        assert caught.value.rule == "mem-oob"


# ------------------------------------------------------------ copies


@pytest.mark.parametrize(
    ("source", "target"),
    [(np.float16, np.float32), (np.float16, np.float64), (np.float32, np.float64), (np.float16, np.float16),
     (ml_dtypes.bfloat16, np.float32), (np.int32, np.float32), (np.int8, np.int32)],
)  # fmt: skip
@pytest.mark.parametrize("copy", [copy_cast, copy_boxes])
@in_groups("shape", [(3, 5), (64, 64), (8, 16, 8), (4, 4, 16, 8)])
def test_copies_keep_numbers(copy: Any, source: Any, target: Any, shape: tuple[int, ...]) -> None:
    numbers = (np.arange(np.prod(shape)) % 101).reshape(shape)
    given, out = numbers.astype(source), np.zeros(shape, target)
    copy(out, given)
    assert out.astype(np.int64).tolist() == numbers.tolist()
    wide = np.zeros((*shape[:-1], 2 * shape[-1]), target)
    copy(wide[..., ::2], given)
    assert wide[..., ::2].astype(np.int64).tolist() == numbers.tolist() and not wide[..., 1::2].astype(bool).any()
    turned = np.zeros(shape[::-1], target).T
    copy(turned, given)
    assert turned.astype(np.int64).tolist() == numbers.tolist()
