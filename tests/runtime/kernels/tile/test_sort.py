"""Sorting and merging of records with plain Python lists (docs/reference/tiles.md, "Irregular operations")."""

from __future__ import annotations

import struct
from itertools import chain
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sanitize_programs import diagnostics
from tile_run_helpers import DTYPES, program, run, tile
from tile_values import same

from pto_dialect import api
from pto_dialect.runtime.kernels.tile.sort import MergeLists, make_records, scores_of
from pto_dialect.runtime.numerics.formats import format_of
from pto_dialect.targets.backend import Backend

Record = tuple[float, int]


def pack(records: list[Record], element: str) -> bytes:
    """8 bytes for each record: f32 score or f16 score and padding, then the position."""
    return b"".join(struct.pack("<fI" if element == "f32" else "<e2xI", *r) for r in records)


def descending(records: list[Record]) -> list[Record]:
    """Falling scores; equal ones keep their order."""
    return sorted(records, key=lambda record: -record[0])


@pytest.mark.parametrize("element", ["f16", "f32"])
@pytest.mark.parametrize(("shape", "cols"), [((2, 64), 64), ((4, 32), 32), ((3, 64), 45), ((1, 32), 13)])
@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("backend", ["emitc", "vpto"])
def test_groups_of_32(element: str, shape: tuple[int, int], cols: int, shared: bool, backend: Backend) -> None:
    rng = np.random.default_rng(40)
    scores = rng.integers(-20, 20, shape).astype(DTYPES[element])
    scores[0, :3] = np.inf, -np.inf, 7
    positions = rng.integers(0, 1 << 32, shape, np.uint32)
    per_record = 8 // scores.dtype.itemsize
    width = -(-cols // 32) * 32 * per_record
    rows = shape[0]
    idx_valid = (1 if shared else rows, cols)
    found = run(
        "pto.tsort32 ins(%a, %i : {a}, {i}) outs(%d : {d})",
        tile("a", element, scores, (rows, cols)), tile("i", "ui32", positions, idx_valid),
        tile("d", element, np.ones((rows, width))), verify=False, backend=backend,
    )["d"]  # fmt: skip
    filler = -np.inf if backend == "emitc" else {"f16": 64512.0, "f32": 4286578688.0}[element]
    for r in range(rows):
        line = [(float(s), int(p)) for s, p in zip(scores[r, :cols], positions[0 if shared else r, :cols], strict=True)]
        line += [(filler, 0)] * (-cols % 32)
        ordered = [record for g in range(0, len(line), 32) for record in descending(line[g : g + 32])]
        assert found[r].tobytes() == pack(ordered, element)


def test_records_beyond_the_valid_columns_are_not_written() -> None:
    scores = np.arange(16, dtype=np.float32).reshape(1, 16)
    found = run(
        "pto.tsort32 ins(%a, %i : {a}, {i}) outs(%d : {d})",
        tile("a", "f32", scores, (1, 13)), tile("i", "ui32", np.arange(16).reshape(1, 16), (1, 13)),
        tile("d", "f32", np.full((1, 64), 5), (1, 26)), verify=False,
    )["d"]  # fmt: skip
    assert found[0, :26:2].tolist() == list(range(12, -1, -1))
    assert (found[0, 26:] == 5).all()


GROUPS = """
module attributes {{pto.target_arch = "a5"}} {{
  func.func @k(%a: !pto.ptr<f32>, %o: !pto.ptr<f32>) attributes {{pto.entry}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %at = arith.constant 0 : i64
    %idx_at = arith.constant 256 : i64
    %dst_at = arith.constant 512 : i64
    %next_at = arith.constant {next} : i64
    %av = pto.make_tensor_view %a, shape = [%c1, %c64], strides = [%c64, %c1] : !pto.tensor_view<?x?xf32>
    %ap = pto.partition_view %av, offsets = [%c0, %c0], sizes = [%c1, %c64]
      : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<1x64xf32>
    %ov = pto.make_tensor_view %o, shape = [%c1, %c64], strides = [%c64, %c1] : !pto.tensor_view<?x?xf32>
    %op = pto.partition_view %ov, offsets = [%c0, %c0], sizes = [%c1, %c64]
      : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<1x64xf32>
    %x = pto.alloc_tile addr = %at : !pto.tile_buf<vec, 1x64xf32>
    %i = pto.alloc_tile addr = %idx_at : !pto.tile_buf<vec, 1x64xi32>
    %y = pto.alloc_tile addr = %dst_at : !pto.tile_buf<vec, 1x{cols}xf32>
    %next = pto.alloc_tile addr = %next_at : !pto.tile_buf<vec, 1x64xf32>
    %zero = arith.constant 0 : i32
    %two = arith.constant 2.0 : f32
    pto.tload ins(%ap : !pto.partition_tensor_view<1x64xf32>) outs(%x : !pto.tile_buf<vec, 1x64xf32>)
    pto.tci ins(%zero : i32) outs(%i : !pto.tile_buf<vec, 1x64xi32>)
    pto.texpands ins(%two : f32) outs(%next : !pto.tile_buf<vec, 1x64xf32>)
    pto.tsort32 ins(%x, %i : !pto.tile_buf<vec, 1x64xf32>, !pto.tile_buf<vec, 1x64xi32>)
                outs(%y : !pto.tile_buf<vec, 1x{cols}xf32>)
    pto.tstore ins(%next : !pto.tile_buf<vec, 1x64xf32>) outs(%op : !pto.partition_tensor_view<1x64xf32>)
    return
  }}
}}
"""


@pytest.mark.parametrize(("cols", "beyond"), [(64, True), (128, False)])
def test_whole_groups_are_written(cols: int, beyond: bool) -> None:
    """Two groups are 128 elements. With room for one of them, the other one overwrites what comes after the tile."""
    text = GROUPS.format(cols=cols, next=512 + 4 * cols)
    scores, found = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    api.run(api.parse(text), {"a": scores, "o": found})
    assert found[::2].tolist() == ([*range(63, 31, -1)] if beyond else [2.0] * 32)
    assert found.view(np.uint32)[1::2].tolist() == ([*range(63, 31, -1)] if beyond else [0x40000000] * 32)
    rules = [one.rule for one in diagnostics(text, [scores, found])]
    assert ("mem-oob-tile" in rules) == beyond


def sorted_list(rng: np.random.Generator, count: int, element: str) -> list[Record]:
    scores = rng.integers(0, 40, count).astype(DTYPES[element]).astype(float)
    return descending([(float(s), int(p)) for s, p in zip(scores, rng.integers(0, 1 << 20, count), strict=True)])


def as_row(records: list[Record], element: str, width: int) -> np.ndarray:
    row = np.frombuffer(pack(records, element), DTYPES[element])
    return np.concatenate([row, np.zeros(width - row.size, row.dtype)]).reshape(1, -1)


@pytest.mark.parametrize("element", ["f16", "f32"])
@pytest.mark.parametrize("blocks", [4, 8, 6, 3])
def test_merge_of_blocks(element: str, blocks: int) -> None:
    """Groups of four blocks; what is left over gives 0 with emitc and leaves dst as it was with vpto."""
    rng = np.random.default_rng(41)
    per_record = 8 // np.dtype(DTYPES[element]).itemsize
    size = 64 // per_record
    lists = [sorted_list(rng, size, element) for _ in range(blocks)]
    row = as_row([*chain(*lists)], element, 64 * blocks)
    before = np.ones_like(row)
    merged = [record for g in range(blocks // 4) for record in descending([*chain(*lists[4 * g : 4 * g + 4])])]
    head = np.frombuffer(pack(merged, element), row.dtype)
    backends: tuple[Backend | None, ...] = (None, "emitc", "vpto")
    for backend in backends:
        found = run(
            "pto.tmrgsort ins(%a, %n : {a}, i32) outs(%d : {d})",
            tile("a", element, row), tile("d", element, before), scalars={"n": ("i32", 64)}, backend=backend,
        )["d"]  # fmt: skip
        wanted = before if backend == "vpto" else np.zeros_like(before)
        wanted[0, : head.size] = head
        assert found.tobytes() == wanted.tobytes()


@pytest.mark.parametrize("element", ["f16", "f32"])
@pytest.mark.parametrize("count", [2, 3, 4])
@pytest.mark.parametrize("exhausted", [False, True])
def test_merge_of_lists(element: str, count: int, exhausted: bool) -> None:
    rng = np.random.default_rng(42 + count)
    sizes = [32, 16, 48, 24][:count]
    lists = [sorted_list(rng, n, element) for n in sizes]
    per_record = 8 // np.dtype(DTYPES[element]).itemsize
    tiles = [
        tile(f"a{i}", element, as_row(x, element, 64 * per_record), (1, len(x) * per_record))
        for i, x in enumerate(lists)
    ]
    room = 40
    width = 256 * per_record
    target = tile("d", element, np.ones((1, width)), (1, room * per_record))
    names = ", ".join(f"%a{i}" for i in range(count))
    types = ", ".join(f"{{a{i}}}" for i in range(count))
    found = run(
        f"%ex = arith.constant dense<0> : vector<4xi16>\n"
        f"pto.tmrgsort ins({names}, %t {{exhausted = {str(exhausted).lower()}}} : {types}, {{t}}) "
        f"outs(%d, %ex : {{d}}, vector<4xi16>)",
        *tiles, target, tile("t", element, np.zeros((1, width))), verify=False,
    )["d"]  # fmt: skip
    merged = merge_by_hand(lists, room, exhausted)[0]
    head = np.frombuffer(pack(merged, element), DTYPES[element])
    assert found[0, : head.size].tobytes() == head.tobytes()
    assert (found[0, head.size :] == 1).all()


def merge_by_hand(lists: list[list[Record]], room: int, exhausted: bool) -> tuple[list[Record], list[int]]:
    """The largest head of all lists, the first list on ties, until there is no room (or a list is empty)."""
    taken = [0] * len(lists)
    out: list[Record] = []
    while len(out) < room:
        if exhausted and any(n == len(x) for n, x in zip(taken, lists, strict=True)):
            break
        heads = [(x[n][0], -i) for i, (n, x) in enumerate(zip(taken, lists, strict=True)) if n < len(x)]
        if not heads:
            break
        best = -max(heads)[1]
        out.append(lists[best][taken[best]])
        taken[best] += 1
    return out, taken


scores = st.floats(-100, 100, width=16)


@given(
    st.lists(st.lists(scores, min_size=1, max_size=12), min_size=2, max_size=4),
    st.integers(0, 40),
    st.booleans(),
    st.booleans(),
)
def test_merged_records_and_counts(parts: list[list[float]], room: int, exhausted: bool, falls: bool) -> None:
    """Lists that do not fall are merged by what they have in front as well."""
    lists = [[(s, 100 * i + k) for k, s in enumerate(part)] for i, part in enumerate(parts)]
    if falls:
        lists = [descending(part) for part in lists]
    fmt = format_of("f32")
    arrays = []
    for part in lists:
        found, positions = zip(*part, strict=True)
        arrays.append(make_records(np.array(found, np.float32), np.array(positions, np.uint32)))
    merged, counts = MergeLists(fmt, exhausted).merge(arrays, room)
    wanted = merge_by_hand(lists, room, exhausted)[0]
    assert scores_of(merged, fmt).tolist() == [record[0] for record in wanted]
    assert (merged >> np.uint64(32)).tolist() == [record[1] for record in wanted]
    # The merge goes to the scratch tile, whose size does not limit it.
    taken = merge_by_hand(lists, sum(map(len, lists)), exhausted)[1]
    assert counts.tolist() == taken + [0] * (4 - len(taken))


@pytest.mark.parametrize(
    ("exhausted", "room", "is_filled"), [(True, 80, False), (True, 8, True), (False, 80, False), (False, 72, True)]
)
def test_columns_after_the_merged_records_are_those_of_the_scratch_tile(
    exhausted: bool, room: int, is_filled: bool
) -> None:
    """They are not initialized then, whatever the destination held before."""
    lists = [sorted_list(np.random.default_rng(46), count, "f32") for count in (32, 40)]
    tiles = [tile(name, "f32", as_row(x, "f32", 80), (1, 2 * len(x))) for name, x in zip("ab", lists, strict=True)]
    text = program(
        f"%ex = arith.constant dense<0> : vector<4xi16>\n"
        f"pto.tmrgsort ins(%a, %b, %t {{exhausted = {str(exhausted).lower()}}} : {{a}}, {{b}}, {{t}}) "
        f"outs(%d, %ex : {{d}}, vector<4xi16>)",
        (*tiles, tile("d", "f32", np.ones((1, 160)), (1, 2 * room)), tile("t", "f32", np.zeros((1, 160)))), {},
    )  # fmt: skip
    values = [item.data.reshape(-1).copy() for item in tiles] + [np.ones(160, np.float32), np.zeros(160, np.float32)]
    stores = [number for number, line in enumerate(text.splitlines(), 1) if "tstore ins(%full_d" in line]
    found = [item.span.line for item in diagnostics(text, values) if item.rule == "mem-uninit" and item.span]
    assert any(line in stores for line in found) != is_filled


def test_blocks_that_do_not_fall_are_merged_by_what_they_have_in_front() -> None:
    rng = np.random.default_rng(44)
    lists = [[(float(s), int(s) + 50 * i) for s in rng.integers(0, 9, 8)] for i in range(8)]
    row = as_row([*chain(*lists)], "f32", 128)
    found = run(
        "pto.tmrgsort ins(%a, %n : {a}, i32) outs(%d : {d})",
        tile("a", "f32", row), tile("d", "f32", np.zeros_like(row)), scalars={"n": ("i32", 16)},
    )["d"]  # fmt: skip
    merged = [record for group in (lists[:4], lists[4:]) for record in merge_by_hand(group, 32, False)[0]]
    assert found.tobytes() == pack(merged, "f32")


def test_sort_and_merge_order_a_whole_row() -> None:
    rng = np.random.default_rng(43)
    values = rng.permutation(128).astype(np.float32).reshape(1, 128)
    found: dict[str, Any] = run(
        "pto.tsort32 ins(%a, %i : {a}, {i}) outs(%s : {s})\npto.tmrgsort ins(%s, %n : {s}, i32) outs(%d : {d})",
        tile("a", "f32", values), tile("i", "ui32", np.arange(128).reshape(1, 128)),
        tile("s", "f32", np.zeros((1, 256))), tile("d", "f32", np.zeros((1, 256))), scalars={"n": ("i32", 64)},
    )  # fmt: skip
    same(found["d"][:, ::2], np.arange(127, -1, -1, dtype=np.float32).reshape(1, 128))
    positions = found["d"].view(np.uint32)[0, 1::2]
    assert (values[0, positions] == np.arange(127, -1, -1)).all()
