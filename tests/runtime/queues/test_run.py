"""Pipes as queues: waits that precede their sets, cross-core signals, deadlocks."""

from __future__ import annotations

import numpy as np
import pytest
from parse_helpers import parsed
from transfer_programs import program

from pto_dialect.runtime.errors import ProgramError
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import RunOptions


def kernel(text: str, **options) -> Kernel:
    module, found = parsed(text)
    assert found == []
    return Kernel(module, None, None, RunOptions(**options))


COPY = (
    "pto.mte_gm_ub %p, %ub, %z, %len nburst(%one, %z, %z)"
    " : !pto.ptr<f32, gm>, !pto.ptr<f32, ub>, i64, i64, i64, i64, i64"
)
BACK = "pto.mte_ub_gm %ub, %q, %len nburst(%one, %z, %z) : !pto.ptr<f32, ub>, !pto.ptr<f32, gm>, i64, i64, i64, i64"


def arrays():
    return np.arange(16, dtype=np.float32), np.zeros(16, np.float32)


def test_flags_in_program_order_need_no_queues():
    source, target = arrays()
    flag = "flag[<PIPE_MTE2>, <PIPE_MTE3>, <EVENT_ID0>]"
    k = kernel(program(f"{COPY}\npto.set_{flag}\npto.wait_{flag}\n{BACK}"))
    k.run([source, target])
    assert (target == source).all()


def test_a_wait_may_precede_its_set_in_the_text():
    """Only the waiting pipe stalls, so the store runs after the load although it is written first."""
    source, target = arrays()
    flag = "flag[<PIPE_MTE2>, <PIPE_MTE3>, <EVENT_ID0>]"
    k = kernel(program(f"pto.wait_{flag}\n{BACK}\n{COPY}\npto.set_{flag}"))
    k.run([source, target])
    assert (target == source).all()


def test_without_the_flag_program_order_holds():
    source, target = arrays()
    kernel(program(f"{BACK}\n{COPY}")).run([source, target])
    assert (target == 0).all()


def test_a_wait_without_a_set_is_a_located_deadlock():
    k = kernel(program(f"{COPY}\npto.wait_flag[<PIPE_MTE2>, <PIPE_MTE3>, <EVENT_ID3>]\n{BACK}"))
    with pytest.raises(ProgramError) as caught:
        k.run(list(arrays()))
    assert caught.value.rule == "sync-deadlock"
    assert caught.value.notes == ("core: PIPE_MTE3 waits for a flag from PIPE_MTE2, EVENT_ID3",)


def test_buffers_are_as_before_when_the_run_starts_over_with_queues():
    """The first attempt has already stored to global memory when it meets the early wait."""
    source, target = arrays()
    body = (
        "pto.mte_gm_ub %q, %ub, %z, %len nburst(%one, %z, %z)"
        " : !pto.ptr<f32, gm>, !pto.ptr<f32, ub>, i64, i64, i64, i64, i64\n"
        "pto.set_flag[<PIPE_MTE2>, <PIPE_MTE3>, <EVENT_ID0>]\npto.wait_flag[<PIPE_MTE2>, <PIPE_MTE3>, <EVENT_ID0>]\n"
        "pto.mte_ub_gm %ub, %p, %len nburst(%one, %z, %z) : !pto.ptr<f32, ub>, !pto.ptr<f32, gm>, i64, i64, i64, i64\n"
        "pto.set_flag[<PIPE_MTE3>, <PIPE_MTE2>, <EVENT_ID0>]\npto.wait_flag[<PIPE_MTE3>, <PIPE_MTE2>, <EVENT_ID0>]\n"
        "pto.wait_flag[<PIPE_V>, <PIPE_S>, <EVENT_ID1>]"
    )
    with pytest.raises(ProgramError):
        kernel(program(body)).run([source, target])
    first, second = arrays()
    kernel(program(body.rsplit("\n", 1)[0])).run([first, second])
    assert (first == 0).all()


SIGNALS = """
  pto.section.cube {{
    {cube}
  }}
  pto.section.vector {{
    %who = pto.get_subblock_idx
    %first = arith.cmpi eq, %who, %z : i64
    scf.if %first {{
      {vector}
    }}
  }}
"""


def test_the_vector_core_waits_for_the_cube_core():
    source, target = arrays()
    cube = (
        "%l1 = pto.castptr %z : i64 -> !pto.ptr<f32, l1>\n"
        "pto.mte_gm_l1 %p, %l1, %len nburst(%one, %z, %z) : !pto.ptr<f32, gm>, !pto.ptr<f32, l1>, i64, i64, i64, i64\n"
        "pto.set_flag[<PIPE_MTE2>, <PIPE_MTE1>, <EVENT_ID0>]\npto.wait_flag[<PIPE_MTE2>, <PIPE_MTE1>, <EVENT_ID0>]\n"
        "%two = arith.constant 2 : i64\n"
        "pto.mte_l1_ub %l1, %ub, %two nburst(%one, %z, %z)"
        " : !pto.ptr<f32, l1>, !pto.ptr<f32, ub>, i64, i64, i64, i64\n"
        "pto.set_intra_block <PIPE_MTE1>, 3"
    )
    k = kernel(program(SIGNALS.format(cube=cube, vector="pto.wait_intra_block <PIPE_MTE3>, 3\n" + BACK)))
    k.run([source, target])
    assert (target == source).all()


def test_crossed_waits_between_cores_are_a_deadlock():
    cube = "pto.wait_intra_block <PIPE_MTE1>, 1\npto.set_intra_block <PIPE_MTE1>, 2"
    vector = "pto.wait_intra_block <PIPE_MTE3>, 2\npto.set_intra_block <PIPE_MTE3>, 1"
    with pytest.raises(ProgramError) as caught:
        kernel(program(SIGNALS.format(cube=cube, vector=vector))).run(list(arrays()))
    assert caught.value.rule == "sync-deadlock"
    assert [note.split(":")[0] for note in caught.value.notes] == ["AIC", "AIV0"]


def test_blocks_meet_in_a_syncall():
    """Block 1 reads what block 0 wrote before the barrier."""
    text = """module attributes {pto.target_arch = "a5"} {
func.func @k(%p: !pto.ptr<i32>, %q: !pto.ptr<i32>) {
  %c0 = arith.constant 0 : index
  %b = pto.get_block_idx
  %i = arith.index_cast %b : i64 to index
  %v = arith.trunci %b : i64 to i32
  %c7 = arith.constant 7 : i32
  %w = arith.addi %v, %c7 : i32
  pto.store_scalar %w, %p[%i] : !pto.ptr<i32>, i32
  pto.syncall() mode = #pto.sync_all_mode<hard>, core_type = #pto.sync_core_type<mix>
  %n = pto.get_block_num
  %c1 = arith.constant 1 : i64
  %next = arith.addi %b, %c1 : i64
  %other = arith.remsi %next, %n : i64
  %j = arith.index_cast %other : i64 to index
  %r = pto.load_scalar %p[%j] : !pto.ptr<i32> -> i32
  pto.store_scalar %r, %q[%i] : !pto.ptr<i32>, i32
  return
}
}"""
    shared, read = np.zeros(3, np.int32), np.zeros(3, np.int32)
    kernel(text).run([shared, read], blocks=3)
    assert shared.tolist() == [7, 8, 9]
    assert read.tolist() == [8, 9, 7]
