"""Broadcasts of rows on a2a3, which read their values with the scalar unit after a flag from V.

Source: docs/sanitizers.md, "Race".
"""

from __future__ import annotations

import numpy as np
import pytest
from parse_helpers import parsed

from pto_dialect.runtime.run.machine import RunOptions
from pto_dialect.sanitize.launch import InstrumentedKernel
from pto_dialect.sanitize.options import SanitizeOptions

TEXT = """!column = !pto.tile_buf<vec, 16x1xf32, blayout=col_major>
!wide = !pto.tile_buf<vec, 16x{width}xf32>
module attributes {{pto.target_arch = "{target}"}} {{
  func.func @k(%p: !pto.ptr<f32>) attributes {{pto.entry}} {{
    %x = arith.constant 0 : i64
    %y = arith.constant 4096 : i64
    %z = arith.constant 8192 : i64
    %one = arith.constant 1.0 : f32
    %v = pto.alloc_tile addr = %x : !column
    %w = pto.alloc_tile addr = %y : !wide
    %s = pto.alloc_tile addr = %z : !wide
    pto.texpands ins(%one : f32) outs(%v : !column)
    {between}
    pto.trowexpand ins(%v : !column) outs(%w : !wide)
    {after}
    return
  }}
}}
"""
BARRIER = "pto.barrier #pto.pipe<PIPE_V>"
SUM = "pto.tadd ins(%w, %w : !wide, !wide) outs(%s : !wide)"


def findings(target: str, width: int, between: str = "", after: str = "") -> list[str]:
    module, wrong = parsed(TEXT.format(target=target, width=width, between=between, after=after))
    assert not wrong, wrong
    watched = InstrumentedKernel(module, None, None, RunOptions(), SanitizeOptions(sync="strict"))
    watched.run([np.zeros(16, np.float32)], 1)
    return [one.rule for one in watched.observer.findings.all]


@pytest.mark.parametrize(("width", "expected"), [(16, []), (8, ["race-same-pipe"])])
def test_a_broadcast_waits_for_what_it_reads_unless_its_result_is_one_block_wide(
    width: int, expected: list[str]
) -> None:
    assert findings("a2a3", width) == expected
    assert findings("a2a3", width, BARRIER) == findings("a5", width) == []


def test_what_follows_a_broadcast_does_not_wait() -> None:
    assert findings("a2a3", 16, after=SUM) == ["race-same-pipe"]
    assert findings("a2a3", 16, after=f"{BARRIER}\n    {SUM}") == []
