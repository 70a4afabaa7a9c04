"""Arithmetic of locations in memory, against counting bytes."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pytest

from pto_dialect.accel.replay.demand import _Marks
from pto_dialect.accel.replay.graph import (
    Graph,
    Node,
    Ref,
    _apart,
    _bytes_of,
    _Content,
    _covers,
    _dense,
    _meet,
    _rows,
    dense_strides,
    span,
)  # fmt: skip
from pto_dialect.accel.replay.record import _Straight
from pto_dialect.accel.replay.steps import Box, Foreign, Step, Style
from pto_dialect.runtime.memory.layout import tile_layout

F32 = np.dtype(np.float32)


class Layout(NamedTuple):
    """How a tile in blocks lies, as far as a graph needs it."""

    rows: int
    cols: int
    nbytes: int


@pytest.mark.parametrize("shape", [(), (5,), (1,), (2, 3), (4, 1), (2, 3, 4), (1, 7, 1, 2)])
@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_strides_of_consecutive_elements(shape: tuple[int, ...], dtype: type) -> None:
    values = np.empty(shape, dtype)
    assert dense_strides(shape, values.itemsize) == values.strides
    assert _dense(shape, values.strides, values.itemsize)


@pytest.mark.parametrize(
    ("shape", "strides", "dense"),
    [((4, 2), (8, 4), True), ((4, 2), (12, 4), False), ((4, 2), (4, 16), False), ((1, 2), (99, 4), True),
     ((2, 1), (4, 99), True), ((2, 1), (8, 99), False), ((), (), True)],
)  # fmt: skip
def test_whether_elements_are_consecutive(shape: Any, strides: Any, dense: bool) -> None:
    assert _dense(shape, strides, 4) == dense


def touched(low: int, shape: tuple[int, ...], strides: tuple[int, ...], item: int) -> set[int]:
    places = product(*(range(count) for count in shape))
    starts = [low + sum(i * s for i, s in zip(place, strides, strict=True)) for place in places]
    return {start + byte for start in starts for byte in range(item)}


@pytest.mark.parametrize(
    ("shape", "strides"), [((3,), (4,)), ((3,), (-4,)), ((2, 3), (16, 4)), ((2, 3), (4, -16)), ((), ())]
)
def test_bytes_between_which_an_array_is(shape: tuple[int, ...], strides: tuple[int, ...]) -> None:
    memory = np.zeros(256, np.uint8)
    view = np.ndarray(shape, F32, memory, 128, strides)
    low, high = (end - memory.__array_interface__["data"][0] for end in span(view))
    offsets = touched(128, shape, strides, 4)
    assert (low, high) == (min(offsets), max(offsets) + 1)
    marks = np.zeros(256, np.bool_)
    _bytes_of(marks, 128, shape, strides, 4)[...] = True
    assert set(np.flatnonzero(marks).tolist()) == offsets


def content(low: int, shape: tuple[int, ...], strides: tuple[int, ...]) -> _Content:
    node = Node(0, shape, F32, dense_strides(shape, 4))
    high = max(touched(low, shape, strides, 4)) + 1
    return _Content(low, high, shape, strides, None, Ref(node, 0, shape, node.strides, F32))


@pytest.mark.parametrize("seed", range(4))
def test_contents_without_a_common_byte(seed: int) -> None:
    """Of rows with one distance, that of the first, the answer is exact; otherwise a yes is never wrong."""
    rng = np.random.default_rng(seed)
    exact = 0
    for _ in range(400):
        pitch = int(rng.choice([16, 24]))
        both = []
        for _ in range(2):
            rows, cols = int(rng.integers(1, 4)), int(rng.integers(1, 5))
            step = pitch if rng.integers(4) else 20
            both.append((int(rng.integers(0, 20)) * 4, (rows, cols), (step, 4)))
        one, other = (content(*part) for part in both)
        first, second = (touched(*part, 4) for part in both)  # pyright: ignore[reportCallIssue]
        apart = not first & second
        assert apart or not _apart(one, other)
        exact += _apart(one, other) == apart
    assert exact > 300


def in_blocks(start: int, row: int, col: int, rows: int, cols: int) -> tuple[_Content, set[int]]:
    """A rectangle of a tile of 16x16 elements in blocks of 16x8, one after the other, and the bytes that it has."""
    places = [(c // 8 * 128 + r * 8 + c % 8) * 4 for r in range(row, row + rows) for c in range(col, col + cols)]
    touched_bytes = {start + place + byte for place in places for byte in range(4)}
    layout = tile_layout(16, 16, 4, "col_major", "row_major", 512)
    ref = content(0, (rows, cols), (4 * cols, 4)).ref
    box = Box(start, layout, row, col, rows, cols, F32)
    return _Content(min(touched_bytes), max(touched_bytes) + 1, (rows, cols), (0, 0), box, ref), touched_bytes


@pytest.mark.parametrize("seed", range(2))
def test_contents_in_blocks_without_a_common_byte(seed: int) -> None:
    """Of two rectangles of one tile the answer is exact; beside bytes that lie otherwise a yes is never wrong."""
    rng = np.random.default_rng(seed)
    answers: Counter[tuple[bool, bool]] = Counter()
    for _ in range(300):
        parts: list[tuple[_Content, set[int]]] = []
        for _ in range(2):
            row, col = rng.integers(0, 14, 2).tolist()
            rows, cols = int(rng.integers(1, 17 - row)), int(rng.integers(1, 17 - col))
            if rng.integers(3):
                parts.append(in_blocks(int(rng.choice([0, 0, 0, 1024])), row, col, rows, cols))
            else:
                dense = 64 * row, (rows, cols), (4 * cols, 4)
                parts.append((content(*dense), touched(*dense, 4)))
        (one, first), (other, second) = parts
        apart = not first & second
        assert apart or not _apart(one, other)
        assert _apart(one, other) == _apart(other, one)
        if one.box is not None and other.box is not None and one.box.start == other.box.start:
            assert _apart(one, other) == apart
        answers[one.box is None, other.box is None] += _apart(one, other)
    assert min(answers[kind] for kind in ((False, False), (True, False), (False, True))) > 0


@pytest.mark.parametrize("other", [tile_layout(16, 32, 4, "col_major", "row_major", 512), tile_layout(16, 16, 4)])
def test_rectangles_of_other_tiles_may_share_bytes(other: Any) -> None:
    one, _ = in_blocks(0, 0, 0, 4, 4)
    same, _ = in_blocks(0, 8, 0, 4, 4)
    assert same.box is not None
    for layout, dtype in ((other, F32), (same.box.layout, np.dtype(np.float16))):
        changed = replace(same, low=0, box=replace(same.box, layout=layout, dtype=dtype))
        assert not _apart(one, changed) and not _apart(changed, one)
    assert _apart(replace(one, high=1024), replace(same, low=0))


def test_contents_that_are_no_rows_may_share_bytes() -> None:
    columns, row = content(0, (2, 3), (4, 16)), content(4, (2,), (4,))
    assert not _apart(columns, row) and not _apart(row, columns)


@pytest.mark.parametrize(("low", "apart"), [(0, True), (4, False), (8, False), (15, False), (16, True), (40, True)])
def test_runs_without_a_common_byte(low: int, apart: bool) -> None:
    one, other = content(8, (2,), (4,)), content(low, (2,), (4,))
    assert _apart(one, other) == _apart(other, one) == apart


@pytest.mark.parametrize(
    ("shape", "strides", "rows"),
    [((6,), (4,), (1, 24, 24)), ((2, 3), (12, 4), (1, 24, 24)), ((2, 3), (16, 4), (2, 16, 12)), ((2, 3), (4, 16), None),
     ((3,), (8,), None), ((2, 3), (8, 4), None), ((2, 3), (32, 8), None), ((2, 2, 2), (32, 16, 4), None)],
)  # fmt: skip
def test_rows_without_gaps(shape: Any, strides: Any, rows: Any) -> None:
    assert _rows(content(0, shape, strides)) == _rows(content(64, shape, strides)) == rows


def box(row: int, col: int, rows: int, cols: int) -> Any:
    return Box(0, None, row, col, rows, cols, F32)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("seed", range(3))
def test_rectangles(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(100):
        parts = [(*rng.integers(0, 4, 2).tolist(), *rng.integers(1, 4, 2).tolist()) for _ in range(2)]
        one, other = (box(*part) for part in parts)
        cells = [{(r + i, c + j) for i in range(h) for j in range(w)} for r, c, h, w in parts]
        assert _meet(one, other) == bool(cells[0] & cells[1])
        assert _covers(one, other) == (cells[1] <= cells[0])


def test_whose_bytes_they_are() -> None:
    """Those of an argument, or of a memory of a core; neither has bytes that reach beyond."""
    memory = np.zeros(300, np.uint8)
    graph = Graph([memory[100:150], memory[200:240]], [memory[150:200]], [])
    base = memory.__array_interface__["data"][0]
    for low, high, number in (
        (100, 150, 0),
        (149, 150, 0),
        (150, 151, -1),
        (199, 200, -1),
        (200, 240, 1),
        (239, 240, 1),
    ):
        assert graph._buffer(base + low, base + high) == number
    for low, high in ((50, 60), (90, 101), (100, 151), (149, 151), (199, 201), (200, 241), (240, 241), (250, 260)):
        with pytest.raises(Foreign, match="elsewhere"):
            graph._buffer(base + low, base + high)


def test_a_store_replaces_what_was_there() -> None:
    """Parts of rows in order stay before and after; other parts of an argument cannot be kept."""
    memory = np.zeros(400, np.uint8)
    graph = Graph([memory], [], [])

    def put(*parts: tuple[int, tuple[int, ...], tuple[int, ...]]) -> list[tuple[int, int]]:
        graph._contents.clear()
        for part in parts:
            graph._put(content(*part), 0)
        return sorted((one.low, one.high) for one in graph._contents[0])

    assert put((0, (8,), (4,)), (8, (2,), (4,))) == [(0, 8), (8, 16), (16, 32)]
    assert put((0, (8,), (4,)), (0, (8,), (4,))) == [(0, 32)]
    assert put((0, (4,), (4,)), (8, (4,), (4,))) == [(0, 8), (8, 24)]
    assert put((8, (4,), (4,)), (0, (4,), (4,))) == [(0, 16), (16, 24)]
    assert put((0, (4,), (4,)), (16, (4,), (4,))) == [(0, 16), (16, 32)]
    assert put((0, (2, 2), (16, 4)), (8, (2, 2), (16, 4))) == [(0, 24), (8, 32)]
    assert put((0, (2, 2), (16, 4)), (0, (2, 2), (16, 4))) == [(0, 24)]
    for second in ((0, (8,), (4,)), (4, (2, 2), (16, 4)), (0, (2, 3), (16, 4))):
        with pytest.raises(Foreign, match="stored over a part"):
            put((0, (2, 2), (16, 4)), second)
    with pytest.raises(Foreign, match="stored over a part"):
        put((0, (8,), (4,)), (0, (2, 2), (16, 4)))


def test_a_step_reads_what_an_earlier_one_has_stored() -> None:
    memory = np.zeros(256, np.uint8)
    a, b, c = (memory[at : at + 16].view(F32) for at in (0, 64, 128))
    steps = [Step(Style.EACH, np.negative, [a], b), Step(Style.EACH, np.negative, [b], c)]
    graph = Graph([memory], [], steps)
    outer = next(one.ref.node for one in graph.outputs if one.offset == 128)
    (inner,) = outer.inputs
    assert isinstance(inner, Ref) and inner.node.function is np.negative
    (leaf,) = inner.node.inputs
    assert isinstance(leaf, Ref) and (leaf.node.buffer, leaf.node.offset) == (0, 0)
    assert graph.changed == set()
    assert Graph([memory], [], [Step(Style.EACH, np.negative, [a], a)]).changed == {0}


SIZE = _Marks.SIZE


@pytest.mark.parametrize(
    ("low", "high"),
    [(0, 1), (5, 900), (SIZE - 1, SIZE), (SIZE - 1, SIZE + 1), (7, SIZE), (9, 3 * SIZE + 4), (2 * SIZE, 3 * SIZE)],
)
def test_marks_of_bytes(low: int, high: int) -> None:
    """Pieces by page, one after the other, of all bytes and no others."""
    marks = _Marks()
    assert marks.parts(low, high, False) == [] and marks.extent(low, high) is None
    parts = marks.parts(low, high, True)
    assert sum(stop - start for _, _, start, stop in parts) == high - low
    assert [begin for begin, *_ in parts] == [low, *range((low // SIZE + 1) * SIZE, high, SIZE)]
    assert [start for _, _, start, _ in parts] == [begin % SIZE for begin, *_ in parts]
    marks.set(low, high, True)
    assert marks.extent(0, 4 * SIZE) == (low, high)
    assert marks.extent(low, high) == (low, high) and marks.extent(high, high + 9) is None
    middle = (low + high) // 2
    marks.set(low, middle, False)
    assert marks.extent(0, 4 * SIZE) == (middle, high)
    marks.set(middle, high, False)
    assert marks.extent(0, 4 * SIZE) is None


def test_marks_in_several_pages() -> None:
    marks = _Marks()
    marks.set(3 * SIZE + 8, 3 * SIZE + 10, True)
    marks.set(SIZE - 4, SIZE - 2, True)
    assert marks.extent(0, 9 * SIZE) == (SIZE - 4, 3 * SIZE + 10)
    assert marks.extent(SIZE, 9 * SIZE) == (3 * SIZE + 8, 3 * SIZE + 10)
    assert marks.extent(SIZE - 3, 3 * SIZE + 9) == (SIZE - 3, 3 * SIZE + 9)


def test_contents_that_are_no_rows_are_apart_where_one_ends_before_the_other() -> None:
    first, second = content(0, (3,), (8,)), content(20, (3,), (8,))
    assert _apart(first, second) and _apart(second, first)
    between = content(4, (3,), (8,))
    assert not _apart(first, between) and not _apart(between, first)


def test_a_recording_ends_where_an_instruction_would_wait() -> None:
    with pytest.raises(Foreign, match="waits"):
        _Straight._append(_Straight.__new__(_Straight), "PIPE_V", ())


def test_what_is_computed_twice_is_one_value() -> None:
    """The same elements and the same bits of numbers; other locations, shapes, types, functions and numbers are
    others."""
    memory = np.zeros(1024, np.uint8)
    a, b, c = (memory[at : at + 64].view(F32) for at in (0, 64, 128))
    out = [memory[at : at + 64].view(F32) for at in range(256, 1024, 64)]

    def nodes(*steps: tuple[Any, list[Any]]) -> int:
        made = [Step(Style.EACH, function, inputs, out[n]) for n, (function, inputs) in enumerate(steps)]
        return len({id(one.ref.node) for one in Graph([memory], [], made).outputs})

    assert nodes((np.negative, [a]), (np.negative, [a])) == 1
    assert nodes((np.add, [a, b]), (np.add, [a, b]), (np.add, [b, a])) == 2
    assert nodes((np.negative, [a]), (np.negative, [b]), (np.absolute, [a])) == 3
    assert nodes((np.multiply, [a, 0.0]), (np.multiply, [a, -0.0]), (np.multiply, [a, 0])) == 3
    loads = [Step(Style.SAME, None, [part], out[n]) for n, part in enumerate((a, a, b, c, memory[:64].view(np.int32)))]
    graph = Graph([memory], [], loads[:4])
    assert len({id(one.ref.node) for one in graph.outputs}) == len(graph.nodes) == 3
    twice = Graph([memory], [], [loads[0], Step(Style.SAME, None, [a.view(np.int32)], out[1].view(np.int32))])
    assert len(twice.nodes) == 2


def test_constants_are_computed_when_the_plan_is_made() -> None:
    memory, inner = np.zeros(256, np.uint8), np.zeros(256, np.uint8)
    y, zeros, more = memory[64:128].view(F32), inner[:64].view(F32), inner[64:128].view(F32)
    steps = [
        Step(Style.EACH, np.add, [zeros, 2.5], more),
        Step(Style.ROWS, np.add, [more.reshape(4, 4)], inner[128:144].view(F32).reshape(4, 1)),
        Step(Style.EACH, np.multiply, [more, more], y),
    ]
    (output,) = Graph([memory], [inner], steps).outputs
    assert output.ref.node.values is not None and (output.ref.node.values == 6.25).all()
    assert output.ref.node.inputs == ()


def test_parts_of_a_tile_in_blocks_are_read_together() -> None:
    """Bands of whole rows one below the other make up a value; other parts are not known as a whole."""
    memory, inner = np.zeros(1024, np.uint8), np.zeros(1024, np.uint8)
    start = inner.__array_interface__["data"][0]
    layout: Any = Layout(8, 4, 128)
    parts = [memory[at : at + 64].view(F32).reshape(4, 4) for at in (0, 64)]
    out = memory[512:640].view(F32).reshape(8, 4)

    def at(row: int, col: int, rows: int, cols: int) -> Box:
        return Box(start, layout, row, col, rows, cols, F32)

    def stored(*places: tuple[int, int, int, int], read: tuple[int, int, int, int] = (0, 0, 8, 4)) -> Ref:
        steps = [
            Step(Style.SAME, None, [parts[n][: place[2], : place[3]]], at(*place)) for n, place in enumerate(places)
        ]
        target = out[: read[2], : read[3]]
        (output,) = Graph([memory], [inner], [*steps, Step(Style.SAME, None, [at(*read)], target)]).outputs
        return output.ref

    whole = stored((0, 0, 4, 4), (4, 0, 4, 4))
    first, second = whole.node.inputs
    assert (first.node.offset, second.node.offset, whole.shape, whole.strides) == (0, 64, (8, 4), (16, 4))
    turned = stored((4, 0, 4, 4), (0, 0, 4, 4))
    assert [one.node.offset for one in turned.node.inputs] == [64, 0]
    part = stored((0, 0, 4, 4), read=(1, 2, 2, 2))
    assert (part.node.buffer, part.offset, part.shape, part.strides) == (0, 16 + 8, (2, 2), (16, 4))
    for places, read, reason in [
        (((0, 0, 4, 4),), (0, 0, 8, 4), "not written"),
        (((1, 0, 4, 4),), (0, 0, 4, 4), "in parts"),
        (((0, 0, 4, 2), (0, 2, 4, 2)), (0, 0, 4, 4), "in parts"),
        (((0, 0, 3, 4), (4, 0, 4, 4)), (0, 0, 8, 4), "in parts"),
        (((0, 0, 4, 4), (4, 0, 4, 4)), (2, 0, 4, 4), "in parts"),
    ]:
        with pytest.raises(Foreign, match=reason):
            stored(*places, read=read)
    array = Step(Style.SAME, None, [parts[0][:1]], inner[:16].view(F32).reshape(1, 4))
    with pytest.raises(Foreign, match="another tile"):
        Graph([memory], [inner], [array, Step(Style.SAME, None, [at(0, 0, 8, 4)], out)])
    other: Any = Layout(4, 8, 128)
    steps = [Step(Style.SAME, None, [parts[0]], at(0, 0, 4, 4)),
             Step(Style.SAME, None, [Box(start, other, 0, 0, 4, 4, F32)], out[:4])]  # fmt: skip
    with pytest.raises(Foreign, match="another tile"):
        Graph([memory], [inner], steps)


def test_parts_of_a_row_are_read_together() -> None:
    memory, inner = np.zeros(1024, np.uint8), np.zeros(1024, np.uint8)
    a, b = (memory[at : at + 32].view(F32) for at in (0, 32))

    def read(low: int, high: int, *places: tuple[int, int], dtype: Any = F32) -> Ref:
        steps = [Step(Style.SAME, None, [(a, b)[n][: (stop - first) // 4]], inner[first:stop].view(F32))
                 for n, (first, stop) in enumerate(places)]  # fmt: skip
        target = memory[512 : 512 + high - low].view(dtype)
        (output,) = Graph(
            [memory], [inner], [*steps, Step(Style.SAME, None, [inner[low:high].view(dtype)], target)]
        ).outputs
        return output.ref

    assert read(64, 96, (64, 96)).node.offset == 0
    assert read(72, 80, (64, 96))[1:4] == (8, (2,), (4,))
    both = read(72, 104, (64, 96), (96, 128))
    assert [(one.node.offset, one.offset, one.shape) for one in both.node.inputs] == [(0, 8, (6,)), (32, 0, (2,))]
    gaps = np.ndarray((2, 2), F32, inner, 640, (16, 4))
    steps = [
        Step(Style.SAME, None, [a[:4].reshape(2, 2)], gaps),
        Step(Style.EACH, np.negative, [gaps], b[:4].reshape(2, 2)),
    ]
    (output,) = Graph([memory], [inner], steps).outputs
    assert [(one.node.buffer, one.offset) for one in output.ref.node.inputs] == [(0, 0)]
    untouched = read(256, 288, (64, 96)).node.values
    assert untouched is not None and untouched.tolist() == [0.0] * 8
    for low, high, places, reason in [
        (64, 128, ((64, 96),), "not written"), (60, 92, ((64, 96),), "in parts"),
        (64, 128, ((64, 92), (96, 128)), "in parts"),
    ]:  # fmt: skip
        with pytest.raises(Foreign, match=reason):
            read(low, high, *places)
    with pytest.raises(Foreign, match="another type"):
        read(64, 96, (64, 96), dtype=np.dtype(np.int32))


def test_what_was_lost_is_no_zero() -> None:
    """A part of a strided content that something else covers: its bytes are not known, those beside it are."""
    memory, inner = np.zeros(256, np.uint8), np.zeros(1024, np.uint8)
    gaps = np.ndarray((4,), F32, inner, 64, (16,))
    steps = [Step(Style.SAME, None, [memory[:16].view(F32)], gaps),
             Step(Style.SAME, None, [memory[:16].view(F32)], inner[72:88].view(F32))]  # fmt: skip

    def read(low: int, high: int) -> Ref:
        target = memory[128 : 128 + high - low].view(F32)
        return (
            Graph([memory], [inner], [*steps, Step(Style.SAME, None, [inner[low:high].view(F32)], target)])
            .outputs[0]
            .ref
        )

    end = 64 + 3 * 16 + 4
    for low, high in ((48, 64), (end, end + 16)):
        values = read(low, high).node.values
        assert values is not None and not values.any()
    for low, high in ((48, 68), (end - 4, end), (96, 100)):
        with pytest.raises(Foreign, match="in parts"):
            read(low, high)
