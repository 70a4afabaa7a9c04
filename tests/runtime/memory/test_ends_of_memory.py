"""Accesses at the ends of memories, of views and of windows, and memories that cannot be shared. Source:
docs/reference/execution.md, "Pointers, tiles and views"; docs/reference/layouts.md, "Views of global memory".
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from run_time_tiles import refused

from pto_dialect.runtime.faults import Fault
from pto_dialect.runtime.memory.acc_store import AccStore, acc_store_split
from pto_dialect.runtime.memory.dma import Padding, copy_bursts
from pto_dialect.runtime.memory.fractal_load import gm_to_l1_frac
from pto_dialect.runtime.memory.gm_view import even_geometry
from pto_dialect.runtime.memory.layout import TileLayout
from pto_dialect.runtime.memory.memref import MemRef
from pto_dialect.runtime.memory.spaces import Arena, strided_view
from pto_dialect.runtime.memory.values import GmTensor
from pto_dialect.runtime.numerics.formats import format_of
from pto_dialect.runtime.run.windows import Layout
from pto_dialect.runtime.simt.addresses import Pointers

F32 = np.dtype(np.float32)


@pytest.mark.parametrize("read_only", [False, True])
@pytest.mark.parametrize("contiguous", [False, True])
@pytest.mark.parametrize("writable", [False, True])
def test_memory_of_an_array(contiguous: bool, writable: bool, read_only: bool) -> None:
    whole = np.arange(16, dtype=np.float32).reshape(4, 4)
    array = whole if contiguous else whole[:, :2]
    array.flags.writeable = writable
    if contiguous and (writable or read_only):
        arena = Arena.from_array(array, read_only=read_only)
        assert np.shares_memory(arena.bytes, whole) and arena.capacity == 64
    else:
        with pytest.raises(ValueError, match="writable, C-contiguous"):
            Arena.from_array(array, read_only=read_only)


@pytest.mark.parametrize(("start", "shape", "strides", "low", "high"), [
    (0, (), (), 0, 4), (60, (), (), 60, 64), (64, (), (), 64, 68), (-4, (), (), -4, 0), (0, (4, 4), (16, 4), 0, 64),
    (4, (4, 4), (16, 4), 4, 68), (60, (4, 4), (-16, -4), 0, 64), (56, (4, 4), (-16, -4), -4, 60),
    (12, (2, 4), (16, -4), 0, 32), (8, (2, 4), (16, -4), -4, 28),
])  # fmt: skip
def test_elements_at_a_distance(
    start: int, shape: tuple[int, ...], strides: tuple[int, ...], low: int, high: int
) -> None:
    data = np.arange(16, dtype=np.float32)
    pointer = Arena.from_array(data, name="a").pointer(0, F32).shifted(start)
    if low < 0 or high > 64:
        with pytest.raises(Fault) as caught:
            strided_view(pointer, shape, strides)
        text = "x".join(map(str, shape)) or "1"
        assert caught.value.rule == "mem-oob"
        assert f"access to {text} elements of float32: bytes [{low}, {high}) are outside" in caught.value.message
    else:
        found = strided_view(pointer, shape, strides)
        for place in np.ndindex(*shape):
            at = start + sum(i * stride for i, stride in zip(place, strides, strict=True))
            assert found[place] == data[at // 4]


@pytest.mark.parametrize(("start", "stride", "inside"), [(0, 4, True), (4, 4, False), (12, -4, True), (11, -4, False),
                                                        (15, -4, False), (3, 4, False)])  # fmt: skip
def test_rows_of_a_view_may_lie_in_either_direction(start: int, stride: int, inside: bool) -> None:
    """4 rows of 4 numbers in 16; a view that leaves the memory is no array of it."""
    data = np.arange(16, dtype=np.float32)
    view = GmTensor(Arena.from_array(data).pointer(4 * start, F32), (4, 4), (stride, 1), format_of("f32"))
    found = view.elements()
    assert (found is not None) == inside
    if found is not None:
        assert found.tolist() == [[start + stride * row + col for col in range(4)] for row in range(4)]


@pytest.mark.parametrize("shape", [(4, 8), (0, 8), (4, 0), (0, 0), (1, 1), (2, 2, 8), (2, 0, 8)])
def test_views_without_elements_have_no_geometry(shape: tuple[int, ...]) -> None:
    strides = tuple(int(np.prod(shape[axis + 1 :])) or 1 for axis in range(len(shape)))
    found = even_geometry(shape, strides, "nd", 4)
    assert (found is None) == (0 in shape)
    if found is not None:
        assert (found.low, found.high) == (0, 4 * int(np.prod(shape)))


@pytest.mark.parametrize(("sizes", "offset", "name"), [
    ({}, 0, None), ({"a": 64, "b": 32}, 0, "a"), ({"a": 64, "b": 32}, -1, None), ({"a": 64, "b": 32}, "end", None),
    ({"a": 64, "b": 32}, "last", "b"),
])  # fmt: skip
def test_windows_around_a_location(sizes: dict[str, int], offset: Any, name: str | None) -> None:
    """After the last buffer of a rank still lies that buffer's; before the first window and after the last, none."""
    layout = Layout(sizes, 2)
    ends: dict[Any, int] = {"end": layout.nbytes, "last": layout.nbytes - 1}
    place = ends[offset] if offset in ends else int(offset)
    found = layout.around(place)
    assert (None if found is None else found.name) == name
    if found is None:
        message = f"x: bytes [{place}, {place + 4}) are in the window of no rank"
        refused("mem-oob", message, lambda: layout.check(place, place + 4, "x"))


@pytest.mark.parametrize(("item", "fractal", "boxes", "works"), [
    (1, 512, True, True), (4, 512, True, True), (3, 512, True, False), (3, 512, False, True), (64, 1024, True, True),
    (64, 512, True, False), (3, 32, True, True), (4, 64, True, False), (4, 64, False, True),
])  # fmt: skip
def test_elements_fill_the_rows_of_a_box(item: int, fractal: int, boxes: bool, works: bool) -> None:
    """A row of a box of 512 bytes has 32 of them."""
    order = "row_major" if boxes else "none_box"
    if works:
        assert TileLayout(32, 32, item, "col_major", order, fractal).item_bytes == item
    else:
        with pytest.raises(ValueError, match=r"unknown fractal|do not fill"):
            TileLayout(32, 32, item, "col_major", order, fractal)


def test_memrefs_of_no_dimension() -> None:
    fmt = format_of("f32")
    arena = Arena.from_array(np.arange(8, dtype=np.float32))
    one, other = MemRef(arena.pointer(12, F32), (), (), fmt), MemRef(arena.pointer(20, F32), (), (), fmt)
    four = MemRef(arena.pointer(0, F32), (4,), (1,), fmt)
    one.copy_from(other)
    assert arena.bytes.view(np.float32)[3] == 5 and (one.rows, one.cols) == (1, 1)
    refused("memref-shape", "a memref of shape 4 copied to one of shape ()", lambda: one.copy_from(four))
    refused("memref-shape", "a memref of shape () copied to one of shape 4", lambda: four.copy_from(one))


@pytest.mark.parametrize(("axis", "m", "n", "rule"), [
    ("m", 16, 32, None), ("m", 15, 32, "fixp-ub-split-m-even"), ("m", 16, 16, None), ("n", 16, 64, None),
    ("n", 15, 64, None), ("n", 16, 48, "fixp-ub-split-n-32"), ("n", 16, 32, None),
])  # fmt: skip
def test_halves_of_accumulators(axis: Any, m: int, n: int, rule: str | None) -> None:
    """Only what is split has to be even."""
    numbers = np.arange(m * n, dtype=np.float32).reshape(m, n)
    memory = np.zeros((-(-n // 16), 16, 16), np.float32)
    for block in range(memory.shape[0]):
        part = numbers[:, block * 16 : block * 16 + 16]
        memory[block, :m, : part.shape[1]] = part
    source = Arena("l0c", memory.nbytes)
    source.bytes[...] = memory.reshape(-1).view(np.uint8)
    halves = [Arena("ub", 8192) for _ in range(2)]
    pointers: Any = [half.pointer(0, F32) for half in halves]
    store = AccStore(m, n, 16, n)
    if rule is not None:
        with pytest.raises(Fault) as caught:
            acc_store_split(source.pointer(0, F32), pointers, store, axis, lambda values: values)
        assert caught.value.rule == rule
        return
    acc_store_split(source.pointer(0, F32), pointers, store, axis, lambda values: values)
    for half, wanted in zip(halves, np.split(numbers, 2, axis=0 if axis == "m" else 1), strict=True):
        rows = half.bytes.view(np.float32)[: wanted.shape[0] * n].reshape(-1, n)[:, : wanted.shape[1]]
        assert (rows == wanted).all()


@pytest.mark.parametrize("length", [0, 8])
@pytest.mark.parametrize("pad", [None, (2, 3)])
@pytest.mark.parametrize("bursts", [0, 2])
def test_bursts_without_bytes(length: int, pad: tuple[int, int] | None, bursts: int) -> None:
    """Padding is written around nothing as well."""
    source, target = Arena.from_array(np.arange(64, dtype=np.uint8) + 1), Arena("ub", 128)
    element = np.array([7], np.uint16).tobytes()
    padding = None if pad is None else Padding(element, *pad)
    copy_bursts(target.pointer(0, np.uint8), source.pointer(0, np.uint8), length, bursts, 32, 32, pad=padding)
    wanted = np.zeros(128, np.uint8)
    for burst in range(bursts):
        row = list(range(32 * burst + 1, 32 * burst + 1 + length))
        if pad is not None:
            row = [7, 0] * pad[0] + row
            row += ([7, 0] * 16)[: 32 - len(row)]
        wanted[32 * burst : 32 * burst + len(row)] = row
    assert (target.bytes == wanted).all()


@pytest.mark.parametrize("extents", [(2, 20, 3), (0, 20, 3), (2, 0, 3), (2, 20, 0)])
def test_fractals_of_nothing(extents: tuple[int, int, int]) -> None:
    """Nothing is read or written where rows, columns or groups are none."""
    n, d, groups = extents
    source = Arena.from_array(np.arange(1, 201, dtype=np.uint16)[: 200 if all(extents) else 1])
    target = Arena("l1", 4096)
    gm_to_l1_frac(target.pointer(0, np.uint16), source.pointer(0, np.uint16), "nd2nz", n, d, 40, 80, groups, 1, 2, 8)
    assert target.bytes.any() == all(extents)


@pytest.mark.parametrize("item_bytes", [None, 2, 8])
def test_pointers_of_work_items_to_other_elements(item_bytes: int | None) -> None:
    arena = Arena("ub", 64)
    mine = Pointers((arena,), None, np.array([0, 8]), F32, 4)
    found = mine.with_dtype(np.float64, item_bytes)
    assert (found.dtype, found.item_bytes) == (np.dtype(np.float64), item_bytes or 8)
    assert found.advance(2).offset.tolist() == [2 * (item_bytes or 8), 8 + 2 * (item_bytes or 8)]
