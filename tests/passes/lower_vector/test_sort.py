"""Sorting as instructions on memory. Source: docs/reference/tiles.md, "Irregular operations"."""

import numpy as np
import pytest
from cube_programs import Program, lowered, refusals

from pto_dialect import print_module

RNG = np.random.default_rng(47)


def program(rows: int, cols: int, merges: bool) -> Program:
    """Scores and positions sorted in groups of 32, and with ``merges`` four groups each merged."""
    found = Program(a="f32", i="i32", c="f32")
    for name, array, width in (("x", "a", cols), ("k", "i", cols), ("z", "c", 2 * cols)):
        kind = "i32" if name == "k" else "f32"
        found.view(f"v{name}", array, (rows, width), (width, 1))
        found.tile(name, "vec", rows, width, kind)
    found.op("tload", "vx", to="x")
    found.op("tload", "vk", to="k")
    found.op("tsort32", "x", "k", to="z")
    if merges:
        found.tile("w", "vec", rows, 2 * cols, "f32")
        found.tiles.append("%block = arith.constant 64 : i32")
        found.op("tmrgsort", "z", to="w", extra=", %block", extra_types=", i32")
    found.op("tstore", "w" if merges else "z", to="vz")
    return found


def sorted_records(a, i, group: int):
    """Records of each group, largest score first."""
    found = []
    for row, places in zip(a, i, strict=True):
        for start in range(0, row.size, group):
            order = np.argsort(-row[start : start + group], kind="stable") + start
            for place in order:
                found += [row[place : place + 1].view(np.uint32)[0], places[place]]
    return np.array(found, np.uint32)


@pytest.mark.parametrize(("rows", "cols", "merges"), [(3, 64, False), (1, 256, True), (1, 256 * 32, False)])
def test_records_are_sorted(rows, cols, merges):
    a = RNG.integers(-20, 20, (rows, cols)).astype(np.float32)
    i = np.arange(rows * cols, dtype=np.int32).reshape(rows, cols)
    out = np.zeros((rows, 2 * cols), np.float32)
    module, found = lowered(program(rows, cols, merges), "lower-vector", a=a, i=i, c=out)
    text = print_module(module)
    assert "tsort32" not in text
    assert "tmrgsort" not in text
    assert np.array_equal(found["c"].reshape(-1).view(np.uint32), sorted_records(a, i, 128 if merges else 32))


def partial(element: str, rows: int, valid: int, room: int, shared: bool, backend: str) -> str:
    """Rows of ``valid`` scores sorted, of whose elements of records ``room`` are valid in each."""
    found = Program(a=element, i="ui32", c=element)
    cols, lists = -(-valid // 32) * 32, 1 if shared else rows
    out = max(cols * (2 if element == "f32" else 4), -(-room // 16) * 16)
    for name, array, height, width, whole in (
        ("x", "a", rows, valid, cols), ("k", "i", lists, valid, cols), ("z", "c", rows, room, out),
    ):  # fmt: skip
        found.view(f"v{name}", array, (height, width), (width, 1))
        kind = "ui32" if name == "k" else element
        found.tile(name, "vec", height, whole, kind, valid=f"{height}x{width}")
    for name in "xk":
        found.op("tload", f"v{name}", to=name)
    found.op("tsort32", "x", "k", to="z")
    found.op("tstore", "z", to="vz")
    return str(found).replace('"a5"}', f'"a5", pto.backend = "{backend}"}}', 1)


FILLERS = {
    ("f32", "emitc"): -np.inf,
    ("f16", "emitc"): -np.inf,
    ("f32", "vpto"): 2.0**32 - 2.0**23,
    ("f16", "vpto"): 64512,
}


@pytest.mark.parametrize("backend", ["emitc", "vpto"])
@pytest.mark.parametrize(
    ("element", "rows", "valid", "records", "shared"),
    [("f32", 2, 13, 32, False), ("f32", 1, 77, 96, True), ("f32", 2, 50, 54, True), ("f16", 3, 45, 64, False),
     ("f16", 2, 31, 31, True), ("f32", 1, 1, 1, False)],
)  # fmt: skip
def test_groups_that_are_not_full_are_filled_up(element, rows, valid, records, shared, backend):
    """What fills a group up is before smaller scores and after equal ones; what is no number comes last."""
    kind = np.float16 if element == "f16" else np.float32
    a = RNG.integers(-4, 4, (rows, valid)).astype(kind)
    some = np.array([np.nan, -0.0, 0.0, np.inf, -np.inf, np.nan, 65504, FILLERS[element, backend], np.nan, -np.inf])
    a[:, -some.size :] = RNG.permutation(some.astype(kind))[-valid:]
    places = RNG.integers(0, 1 << 32, (1 if shared else rows, valid)).astype(np.uint32)
    per_record = 8 // a.itemsize
    out = np.zeros((rows, records * per_record), kind)
    module, found = lowered(
        partial(element, rows, valid, records * per_record, shared, backend), "lower-vector", a=a, i=places, c=out
    )
    assert "tsort32" not in print_module(module)
    expected = []
    for row, own in zip(a, np.broadcast_to(places, a.shape), strict=True):
        line = []
        for start in range(0, valid, 32):
            group = [
                (score, int(place))
                for score, place in zip(row[start : start + 32], own[start : start + 32], strict=True)
            ]
            group += [(kind(FILLERS[element, backend]), 0)] * (32 - len(group))
            numbers = [one for one in group if not np.isnan(one[0])]
            line += sorted(numbers, key=lambda one: -float(one[0])) + [one for one in group if np.isnan(one[0])]
        expected += line[:records]
    words = found["c"].reshape(-1).view(np.uint32).reshape(-1, 2)
    assert words[:, 1].tolist() == [place for _, place in expected]
    bits = np.array([score for score, _ in expected], kind).view(f"u{a.itemsize}")
    assert words[:, 0].tolist() == bits.tolist()


def test_half_a_record_after_the_last_group_does_not_count():
    """There is room for 32 records and four bytes more, which stay as they are."""
    a, places = RNG.permutation(13).astype(np.float32)[None], np.arange(13, dtype=np.uint32)[None]
    out = np.full((1, 65), 7, np.float32)
    _, found = lowered(partial("f32", 1, 13, 65, True, "emitc"), "lower-vector", a=a, i=places, c=out)
    words = found["c"].reshape(-1)[:64].view(np.uint32).reshape(-1, 2)
    assert words[:13, 1].tolist() == np.argsort(-a[0]).tolist()


def test_destinations_that_end_in_the_midst_of_a_record_are_refused():
    text = partial("f32", 1, 13, 27, True, "vpto")
    reason = "its destination ends in the midst of a record"
    assert refusals(text, "lower-vector") == [f"pto.tsort32: {reason}"]


def merged(lists: list[list[tuple[float, int]]], room: int, stops: bool = False) -> list[tuple[float, int]]:
    """The largest that a list has in front, the first list's of equal ones, as far as it fits; with ``stops`` as
    long as no list is empty."""
    left, found = [list(one) for one in lists], []
    while len(found) < room and any(left) and not (stops and not all(left)):
        best = max((one for one in left if one), key=lambda one: one[0][0])
        found.append(best.pop(0))
    return found


def records(row: np.ndarray) -> list[tuple[float, int]]:
    """Scores and positions of a row of records."""
    step = 8 // row.dtype.itemsize
    return [(float(s), int(p)) for s, p in zip(row[::step], row.view(np.uint32)[1::2], strict=True)]


def drawn(count: int, element: str) -> np.ndarray:
    """A row of records in no order: scores with equals among them, positions without."""
    scores = RNG.integers(-9, 9, count).astype(np.float16 if element == "f16" else np.float32)
    row = np.zeros((count, 2), np.uint32)
    row[:, 1] = RNG.permutation(count)
    row.view(scores.dtype)[:, 0] = scores
    return row.reshape(-1).view(scores.dtype)


def for_backend(backend: str, program: Program) -> str:
    return str(program).replace('"a5"}', f'"a5", pto.backend = "{backend}"}}', 1)


@pytest.mark.parametrize("backend", ["emitc", "vpto"])
@pytest.mark.parametrize(("blocks", "element"), [(3, "f32"), (4, "f16"), (9, "f32"), (6, "f16")])
def test_blocks_that_are_left_over(backend, blocks, element):
    """Blocks of 16 records that do not make up four are 0 with emitc and what was there before with vpto."""
    width = blocks * 16 * (4 if element == "f16" else 2)
    found = Program(a=element, c=element)
    for name, array in (("x", "a"), ("z", "c")):
        found.view(f"v{name}", array, (1, width), (width, 1))
        found.tile(name, "vec", 1, width, element)
        found.op("tload", f"v{name}", to=name)
    found.tiles.append(f"%block = arith.constant {width // blocks} : i32")
    found.op("tmrgsort", "x", to="z", extra=", %block", extra_types=", i32")
    found.op("tstore", "z", to="vz")
    a, c = drawn(blocks * 16, element), drawn(blocks * 16, element)
    module, result = lowered(for_backend(backend, found), "lower-vector", a=a, c=c)
    assert "tmrgsort" not in print_module(module)
    lists = [records(part) for part in np.split(a, blocks)]
    expected = [one for first in range(0, blocks // 4 * 4, 4) for one in merged(lists[first : first + 4], 64)]
    rest = records(c)[len(expected) :]
    expected += [(0.0, 0)] * len(rest) if backend == "emitc" else rest
    assert records(result["c"]) == expected


def lists(sizes: tuple[int, ...], element: str, room: int, scratch: int, stops: bool = False) -> Program:
    """Lists of records merged into ``room`` records, with a scratch tile of ``scratch``."""
    step = 4 if element == "f16" else 2
    names = [f"x{number}" for number in range(len(sizes))]
    found = Program(**dict.fromkeys(names, element), c=element)
    for name, array, size in (*zip(names, names, sizes, strict=True), ("z", "c", room)):
        found.view(f"v{name}", array, (1, size * step), (size * step, 1))
        found.tile(f"t{name}", "vec", 1, size * step, element)
        found.op("tload", f"v{name}", to=f"t{name}")
    found.tile("tmp", "vec", 1, scratch * step, element)
    found.tiles.append("%counts = arith.constant dense<0> : vector<4xi16>")
    tiles = [f"t{name}" for name in names]
    operands, types = ", ".join(f"%{tile}" for tile in tiles), ", ".join(found.types[tile] for tile in tiles)
    found.lines.append(
        f"pto.tmrgsort ins({operands}, %tmp {{exhausted = {str(stops).lower()}}} : {types}, {found.types['tmp']}) "
        f"outs(%tz, %counts : {found.types['tz']}, vector<4xi16>)"
    )
    found.op("tstore", "tz", to="vz")
    return found


@pytest.mark.parametrize("element", ["f16", "f32"])
@pytest.mark.parametrize(
    ("sizes", "room", "stops"),
    [((32, 16), 48, False), ((32, 16, 8), 64, True), ((8, 8, 16, 32), 40, False), ((64, 48), 24, False),
     ((20, 12, 16, 8), 56, True)],
)  # fmt: skip
def test_lists_of_records(element, sizes, room, stops):
    arrays = [drawn(size, element) for size in sizes]
    c = drawn(room, element)
    given = {f"x{number}": array for number, array in enumerate(arrays)}
    module, found = lowered(lists(sizes, element, room, sum(sizes), stops), "lower-vector", **given, c=c)
    assert "tmrgsort" not in print_module(module)
    expected = merged([records(array) for array in arrays], room, stops)
    assert records(found["c"]) == expected + records(c)[len(expected) :]
    assert len(expected) == room or stops or room > sum(sizes)


@pytest.mark.parametrize(
    ("room", "scratch", "stops", "reason"),
    [
        (40, 48, True, "its destination may have no room for what it takes until a list is empty"),
        (40, 44, False, "neither its destination nor its scratch tile has room for all records"),
    ],
)
def test_lists_that_are_too_small_are_refused(room, scratch, stops, reason):
    assert refusals(lists((32, 16), "f32", room, scratch, stops), "lower-vector") == [f"pto.tmrgsort: {reason}"]


def test_bytes_after_blocks_that_become_zeros_stay():
    """Nine blocks of 16 records, of which eight are merged; %w lies after the destination."""
    width = 9 * 16 * 2
    found = Program(a="f32", c="f32", d="f32")
    for name, array in (("x", "a"), ("z", "c"), ("w", "d")):
        found.view(f"v{name}", array, (1, width), (width, 1))
        found.tile(name, "vec", 1, width, "f32", f"addr = %at{name}")
        found.op("tload", f"v{name}", to=name)
    places = {"x": 0, "z": 8192, "w": 8192 + 4 * width}
    found.tiles[:0] = [f"%at{name} = arith.constant {place} : i64" for name, place in places.items()]
    found.tiles.append("%block = arith.constant 32 : i32")
    found.op("tmrgsort", "x", to="z", extra=", %block", extra_types=", i32")
    found.op("tstore", "z", to="vz")
    found.op("tstore", "w", to="vw")
    a, c, d = (drawn(9 * 16, "f32") for _ in "acd")
    _, result = lowered(for_backend("emitc", found), "lower-vector", a=a, c=c, d=d)
    parts = [records(part) for part in np.split(a, 9)]
    assert records(result["c"]) == [*merged(parts[:4], 64), *merged(parts[4:8], 64), *[(0.0, 0)] * 16]
    assert result["d"].tobytes() == d.tobytes()


@pytest.mark.parametrize("groups", [255, 256])
def test_one_instruction_merges_255_times_four_blocks(groups):
    """Blocks of 8 records, four of which make a group."""
    width = groups * 4 * 16
    found = Program(a="f32", c="f32")
    for name, array in (("x", "a"), ("z", "c")):
        found.view(f"v{name}", array, (1, width), (width, 1))
        found.tile(name, "vec", 1, width, "f32")
    found.tiles.append("%block = arith.constant 16 : i32")
    found.op("tload", "vx", to="x")
    found.op("tmrgsort", "x", to="z", extra=", %block", extra_types=", i32")
    found.op("tstore", "z", to="vz")
    if groups > 255:
        reason = "one instruction merges at most 255 times four blocks"
        assert refusals(found, "lower-vector") == [f"pto.tmrgsort: {reason}"]
        return
    a = drawn(groups * 32, "f32")
    _, result = lowered(found, "lower-vector", a=a, c=np.zeros_like(a))
    expected = []
    for group in np.split(a, groups):
        expected += merged([records(block) for block in np.split(group, 4)], 32)
    assert records(result["c"]) == expected


def test_scratch_that_is_a_part_of_a_tile():
    """It begins at a multiple of 32 bytes."""
    found = lists((32, 16), "f32", 40, 48)
    part = found.types["tmp"]
    whole = part.replace("1x96xf32", "1x128xf32")
    found.tiles = [
        line.replace("%tmp", "%room").replace(part, whole) if line.startswith("%tmp") else line for line in found.tiles
    ]
    found.lines.insert(0, f"%tmp = pto.subview %room[%c0, %c8] sizes [1, 96] : {whole} -> {part}")
    found.numbers.add(8)
    arrays = [drawn(32, "f32"), drawn(16, "f32")]
    _, result = lowered(found, "lower-vector", x0=arrays[0], x1=arrays[1], c=np.zeros(80, np.float32))
    assert records(result["c"]) == merged([records(array) for array in arrays], 40)
