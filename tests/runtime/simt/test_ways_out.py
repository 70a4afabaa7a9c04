"""Work-items that leave a body in different blocks, and what they make of pointers and memrefs."""

from __future__ import annotations

import numpy as np
import pytest
from simt_programs import run

from pto_dialect.runtime.errors import ProgramError


def test_work_items_return_from_different_blocks() -> None:
    body = """%some = arith.cmpi slt, %tid, %i5 : i32
    cf.cond_br %some, ^first, ^second
    ^first:
    pto.stg %i7, %out[%at] : !pto.ptr<i32, gm>, i32
    return
    ^second:
    %twice = arith.addi %tid, %tid : i32
    pto.stg %twice, %out[%at] : !pto.ptr<i32, gm>, i32"""
    out = np.zeros(32, np.int32)
    run(body, "%out: !pto.ptr<i32, gm>", out)
    assert out.tolist() == [7 if item < 5 else 2 * item for item in range(32)]


def test_a_pointer_of_each_work_item_to_other_elements() -> None:
    body = """%p = pto.addptr %in, %at : !pto.ptr<f32, gm> -> !pto.ptr<f32, gm>
    %q = pto.castptr %p : !pto.ptr<f32, gm> -> !pto.ptr<i32, gm>
    %r = pto.ldg %q[%c1] : !pto.ptr<i32, gm> -> i32
    pto.stg %r, %out[%at] : !pto.ptr<i32, gm>, i32"""
    source, out = np.random.default_rng(1).standard_normal(33).astype(np.float32), np.zeros(32, np.int32)
    run(body, "%in: !pto.ptr<f32, gm>, %out: !pto.ptr<i32, gm>", source, out)
    assert (out == source[1:].view(np.int32)).all()


def test_a_memref_of_a_work_item_with_an_open_extent() -> None:
    body = """%m = memref.alloca() : memref<4xi32>
    %w = memref.cast %m : memref<4xi32> to memref<?xi32>
    memref.store %tid, %w[%c2] : memref<?xi32>
    %r = memref.load %m[%c2] : memref<4xi32>
    pto.stg %r, %out[%at] : !pto.ptr<i32, gm>, i32"""
    out = np.zeros(32, np.int32)
    run(body, "%out: !pto.ptr<i32, gm>", out)
    assert out.tolist() == list(range(32))


def test_blocks_of_a_region_are_reached_together() -> None:
    body = """%some = arith.cmpi slt, %tid, %i5 : i32
    scf.execute_region {
      cf.cond_br %some, ^first, ^second
    ^first:
      scf.yield
    ^second:
      scf.yield
    }"""
    with pytest.raises(ProgramError, match="blocks work-items reach separately") as caught:
        run(body, "%out: !pto.ptr<i32, gm>", np.zeros(32, np.int32))
    assert caught.value.rule == "unmodelled"


def test_values_of_a_block_that_work_items_leave_at_different_times() -> None:
    """Work-item i goes round i + 1 times; what it has loaded last, and the sum so far, are used after the loop."""
    body = """cf.br ^again(%i0, %i0 : i32, i32)
    ^again(%n: i32, %sum: i32):
    %turn = arith.index_cast %n : i32 to index
    %seen = pto.ldg %in[%turn] : !pto.ptr<i32, gm> -> i32
    %more = arith.addi %sum, %seen : i32
    %next = arith.addi %n, %i1 : i32
    %stay = arith.cmpi sle, %next, %tid : i32
    cf.cond_br %stay, ^again(%next, %more : i32, i32), ^out
    ^out:
    %high = arith.muli %more, %i100 : i32
    %value = arith.addi %high, %seen : i32
    pto.stg %value, %out[%at] : !pto.ptr<i32, gm>, i32"""
    given, out = np.random.default_rng(2).integers(1, 90, 32).astype(np.int32), np.zeros(32, np.int32)
    run(body, "%in: !pto.ptr<i32, gm>, %out: !pto.ptr<i32, gm>", given, out)
    assert out.tolist() == [int(given[: item + 1].sum()) * 100 + int(given[item]) for item in range(32)]


def test_memory_is_not_kept_for_work_items_that_come_later() -> None:
    body = """%some = arith.cmpi slt, %tid, %i5 : i32
    cf.cond_br %some, ^first, ^second
    ^first:
    %p = memref.alloca() : memref<4xi32>
    memref.store %tid, %p[%c0] : memref<4xi32>
    cf.br ^second
    ^second:
    pto.stg %tid, %out[%at] : !pto.ptr<i32, gm>, i32
    cf.cond_br %some, ^third, ^fourth
    ^third:
    %v = memref.load %p[%c0] : memref<4xi32>
    cf.br ^fourth
    ^fourth:"""
    with pytest.raises(ProgramError, match="used in blocks that work-items reach separately") as caught:
        run(body, "%out: !pto.ptr<i32, gm>", np.zeros(32, np.int32))
    assert caught.value.rule == "unmodelled"
