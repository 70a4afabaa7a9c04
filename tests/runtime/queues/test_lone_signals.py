"""Code for both kinds of cores in one function without sections: one core runs it and meets its own signals."""

from __future__ import annotations

import numpy as np
import pytest

import pto_dialect
from pto_dialect.runtime.errors import ProgramError

SET, WAIT = "pto.set_intra_block <PIPE_FIX>, {}", "pto.wait_intra_block <PIPE_V>, {}"


def run(*lines: str) -> float:
    """Runs ``lines`` and then vector code; the number that it stores."""
    tile = "!pto.tile_buf<vec, 1x8xf32>"
    body = "\n    ".join(lines)
    text = f"""module attributes {{pto.target_arch = "a5"}} {{
  func.func @f(%out: !pto.partition_tensor_view<1x8xf32>, %v: f32) {{
    %t = pto.alloc_tile : {tile}
    {body}
    pto.texpands ins(%v : f32) outs(%t : {tile})
    pto.tstore ins(%t : {tile}) outs(%out : !pto.partition_tensor_view<1x8xf32>)
    return
  }}
}}"""
    out = np.zeros((1, 8), np.float32)
    pto_dialect.compile(pto_dialect.parse(text))(out, 3.0)
    return float(out[0, 0])


def test_a_signal_for_the_vector_part() -> None:
    assert run(SET.format(0), SET.format(16), WAIT.format(0)) == 3


def test_a_wait_before_its_signal() -> None:
    assert run(WAIT.format(2), SET.format(2)) == 3


def test_a_signal_that_nobody_sends() -> None:
    with pytest.raises(ProgramError) as error:
        run(SET.format(1), WAIT.format(2))
    assert error.value.rule == "sync-deadlock"


def test_a_deadlock_is_at_the_wait_of_the_pipe_and_not_where_the_scalar_unit_stopped() -> None:
    text = """module attributes {pto.target_arch = "a5"} {
  func.func @k() {
    pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]
    pto.wait_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]
    pto.wait_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]
    pto.barrier <PIPE_ALL>
    return
  }
}"""
    with pytest.raises(ProgramError) as error:
        pto_dialect.compile(pto_dialect.parse(text))()
    span = error.value.diagnostic().span
    assert error.value.rule == "sync-deadlock" and span is not None and span.line == 5


def test_a_deadlock_between_brackets_is_at_the_get() -> None:
    """A release in the middle of a bracket of another pipe that waits for a flag."""
    text = """module attributes {pto.target_arch = "a5"} {
  func.func @k() {
    pto.get_buf #pto.pipe<PIPE_V>, 0, 0
    pto.wait_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]
    pto.rls_buf #pto.pipe<PIPE_V>, 0, 0
    pto.get_buf #pto.pipe<PIPE_MTE2>, 0, 0
    pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]
    pto.rls_buf #pto.pipe<PIPE_MTE2>, 0, 0
    return
  }
}"""
    with pytest.raises(ProgramError) as error:
        pto_dialect.compile(pto_dialect.parse(text))()
    assert [note.message for note in error.value.diagnostic().notes] == [
        "core: PIPE_V waits for a flag from PIPE_MTE2, EVENT_ID0",
        "core: PIPE_MTE2 waits for the release of buffer 0",
    ]
    span = error.value.diagnostic().span
    assert span is not None and span.line == 4
