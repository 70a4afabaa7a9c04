"""What work-items decide together although the program leaves the choice to numbers: sizes of memory and control-flow
paths through blocks. Source: docs/reference/work-items.md, "Operations"."""

from __future__ import annotations

import numpy as np
import pytest
from simt_programs import run

from pto_dialect.runtime.errors import ProgramError

OUT = "%out: !pto.ptr<i32, gm>"
STORE = "pto.stg %r, %out[%at] : !pto.ptr<i32, gm>, i32"


@pytest.mark.parametrize("n", [1, 4])
def test_blocks_of_a_region_that_all_reach_together(n: int) -> None:
    body = f"""%some = arith.cmpi slt, %n, %i3 : i32
    %r = scf.execute_region -> i32 {{
      cf.cond_br %some, ^first, ^second
    ^first:
      %x = arith.addi %tid, %i100 : i32
      scf.yield %x : i32
    ^second:
      scf.yield %tid : i32
    }}
    {STORE}"""
    out = np.zeros(32, np.int32)
    run(body, f"{OUT}, %n: i32", out, n)
    assert (out == np.arange(32) + (100 if n < 3 else 0)).all()


def test_blocks_of_a_region_without_a_choice() -> None:
    body = f"""%r = scf.execute_region -> i32 {{
      cf.br ^next(%tid : i32)
    ^next(%x: i32):
      %y = arith.muli %x, %i3 : i32
      scf.yield %y : i32
    }}
    {STORE}"""
    out = np.zeros(32, np.int32)
    run(body, OUT, out)
    assert out.tolist() == [3 * item for item in range(32)]


@pytest.mark.parametrize("n", [1, 5])
def test_memory_of_a_size_that_all_share(n: int) -> None:
    """Each work-item has its own."""
    body = f"""%size = arith.index_cast %n : i32 to index
    %last = arith.subi %size, %c1 : index
    %m = memref.alloca(%size) : memref<?xi32>
    memref.store %tid, %m[%last] : memref<?xi32>
    %r = memref.load %m[%last] : memref<?xi32>
    {STORE}"""
    out = np.zeros(32, np.int32)
    run(body, f"{OUT}, %n: i32", out, n)
    assert out.tolist() == list(range(32))


def test_memory_of_sizes_that_differ() -> None:
    body = "%m = memref.alloca(%at) : memref<?xi32>"
    with pytest.raises(ProgramError, match="the size of this memory differs between work-items") as caught:
        run(body, OUT, np.zeros(32, np.int32))
    assert caught.value.rule == "unmodelled"


def test_a_pointer_that_blocks_use_which_work_items_reach_at_different_times() -> None:
    """Work-item i goes round i + 1 times, and stores after the loop where the pointer of its last iteration is."""
    body = """cf.br ^again(%i0 : i32)
    ^again(%n: i32):
    %turn = arith.index_cast %n : i32 to index
    %p = pto.addptr %out, %turn : !pto.ptr<i32, gm> -> !pto.ptr<i32, gm>
    %next = arith.addi %n, %i1 : i32
    %stay = arith.cmpi sle, %next, %tid : i32
    cf.cond_br %stay, ^again(%next : i32), ^end
    ^end:
    %value = arith.muli %tid, %i3 : i32
    pto.stg %value, %p[%c0] : !pto.ptr<i32, gm>, i32"""
    out = np.zeros(32, np.int32)
    run(body, OUT, out)
    assert out.tolist() == [3 * item for item in range(32)]


def test_numbers_that_all_share_are_computed_once() -> None:
    """Functions of numbers that no work-item changes, beside the same functions of numbers of each."""
    body = """%one = arith.constant 1.0 : f32
    %f = arith.sitofp %tid : i32 to f32
    %same = pto.fma %factor, %factor, %one : f32, f32, f32 -> f32
    %own = pto.fma %f, %factor, %same : f32, f32, f32 -> f32
    pto.stg %own, %out[%at] : !pto.ptr<f32, gm>, f32"""
    out = np.zeros(32, np.float32)
    run(body, "%out: !pto.ptr<f32, gm>, %factor: f32", out, 3.0)
    assert out.tolist() == [3.0 * item + 10 for item in range(32)]
