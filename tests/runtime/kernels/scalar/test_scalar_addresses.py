"""Numbers in memory one at a time, addresses as numbers, fences, and what a work-item knows of its launch."""

from __future__ import annotations

import numpy as np
import pytest
from function_programs import run
from simt_programs import run as run_items


@pytest.mark.parametrize("target", ["a5", "a2a3"])
def test_single_words_of_global_memory(target: str) -> None:
    g = "!pto.ptr<i64, gm>"
    memory = np.arange(8, dtype=np.int64) * 10
    body = f"""%a = pto.ld_dev %p[%c3] : {g} -> i64
    %b = arith.addi %a, %n7 : i64
    pto.st_dev %b, %p[%c5] : {g}, i64
    %r = pto.ld_dev %p[%c5] : {g} -> i64"""
    assert run(body, {"p": (g, memory)}, {"a": "i64", "r": "i64"}, target=target) == [30, 37]
    assert memory.tolist() == [0, 10, 20, 30, 40, 37, 60, 70]


@pytest.mark.parametrize("back", ["inttoptr", "castptr"])
@pytest.mark.parametrize("target", ["a5", "a2a3"])
def test_an_address_is_the_same_location_again(back: str, target: str) -> None:
    g = "!pto.ptr<f32, gm>"
    memory = np.arange(8, dtype=np.float32)
    body = f"""%address = pto.ptrtoint %p : {g} -> i64
    %moved = arith.addi %address, %n8 : i64
    %q = pto.{back} %moved : i64 -> {g}
    %r = pto.load_scalar %q[%c1] : {g} -> f32"""
    assert run(body, {"p": (g, memory)}, {"r": "f32"}, target=target) == [3.0]


@pytest.mark.parametrize("target", ["a5", "a2a3"])
def test_the_start_of_a_view(target: str) -> None:
    g, v, part = "!pto.ptr<f32, gm>", "!pto.tensor_view<4x8xf32>", "!pto.partition_tensor_view<2x8xf32>"
    memory = np.arange(32, dtype=np.float32)
    body = f"""%v = pto.make_tensor_view %p, shape = [%c4, %c8], strides = [%c8, %c1] : {v}
    %w = pto.partition_view %v, offsets = [%c2, %c0], sizes = [%c2, %c8] : {v} -> {part}
    %a = pto.tensor_view_addr %v : {v} -> {g}
    %b = pto.tensor_view_addr %w : {part} -> {g}
    %x = pto.load_scalar %a[%c1] : {g} -> f32
    %y = pto.load_scalar %b[%c1] : {g} -> f32"""
    assert run(body, {"p": (g, memory)}, {"x": "f32", "y": "f32"}, target=target) == [1.0, 17.0]


FENCES = [
    *(f'pto.dsb "{word}"' for word in ("ALL", "DDR", "UB", "SEQ")),
    *(f"pto.fence.barrier_all <{word}>" for word in ("local_memory", "gm", "all")),
    *(f'pto.dcci %p "SINGLE_CACHE_LINE", "CACHELINE_{word}" : !pto.ptr<i64, gm>' for word in ("ALL", "UB", "ATOMIC")),
    'pto.dcci %p "SINGLE_CACHE_LINE" : !pto.ptr<i64, gm>',
    'pto.dcci %p "ENTIRE_DATA_CACHE", "CACHELINE_OUT" : !pto.ptr<i64, gm>',
    "pto.cmo.cacheinvalid all #pto.address_space<gm>",
]


@pytest.mark.parametrize("fence", FENCES)
@pytest.mark.parametrize("target", ["a5", "a2a3"])
def test_fences_change_no_number(fence: str, target: str) -> None:
    g = "!pto.ptr<i64, gm>"
    memory = np.arange(4, dtype=np.int64)
    body = f"""pto.st_dev %n9, %p[%c1] : {g}, i64
    {fence}
    %r = pto.ld_dev %p[%c1] : {g} -> i64"""
    assert run(body, {"p": (g, memory)}, {"r": "i64"}, target=target) == [9]
    assert memory.tolist() == [0, 9, 2, 3]


def test_what_work_items_know() -> None:
    """Sizes of the launch along each axis, the location in a group of 32, and the numbers of blocks and cores."""
    queries = {
        "block_dim_x": 8, "block_dim_y": 4, "block_dim_z": 3, "block_idx_x": 0, "block_idx_y": 0, "block_idx_z": 0,
        "grid_dim_y": 0, "grid_dim_z": 0, "veccoreid": 0,
    }  # fmt: skip
    items = 8 * 4 * 3
    out = np.full(items * (len(queries) + 1), -1, np.int32)
    body = ""
    for number, name in enumerate((*queries, "laneid")):
        body += f"""%q{number} = pto.get_{name} : i32
        %o{number} = arith.constant {number * items} : index
        %p{number} = arith.addi %at, %o{number} : index
        pto.stg %q{number}, %out[%p{number}] : !pto.ptr<i32, gm>, i32
        pto.threadfence
        """
    run_items(body, "%out: !pto.ptr<i32, gm>", out, dims=(8, 4, 3))
    found = out.reshape(-1, items)
    for number, (name, wanted) in enumerate(queries.items()):
        assert (found[number] == wanted).all(), name
    assert found[-1].tolist() == [item % 32 for item in range(items)]


@pytest.mark.parametrize(
    ("source", "value", "target", "result"),
    [("i32", 7, "i32", 7), ("ui8", 200, "i8", -56), ("i16", -1, "ui16", 65535), ("ui32", 5, "si32", 5)],
)
def test_a_conversion_that_remains_after_compilation(source: str, value: int, target: str, result: int) -> None:
    body = f"""%bits = pto.load_scalar %x[%c0] : !pto.ptr<{source}, gm> -> {source}
    %r = builtin.unrealized_conversion_cast %bits : {source} to {target}"""
    dtype = np.dtype(f"{'u' if source.startswith('u') else ''}int{source.lstrip('ui')}")
    x = (f"!pto.ptr<{source}, gm>", np.array([value], dtype))
    assert run(body, {"x": x}, {"r": target}) == [result]
