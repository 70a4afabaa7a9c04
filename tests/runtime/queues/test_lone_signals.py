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
