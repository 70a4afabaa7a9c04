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
