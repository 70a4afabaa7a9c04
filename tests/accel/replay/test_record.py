"""Launches whose text has a wait before the set that ends it: their steps are those of queues."""

from __future__ import annotations

import numpy as np
import pytest
from parse_helpers import parsed

from pto_dialect.accel.replay import keep
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import RunOptions

TYPES = "!t = !pto.tile_buf<vec, 16x16xf32>\n!p = !pto.partition_tensor_view<16x16xf32>\n"
LATE = """module attributes {{pto.target_arch = "{target}"}} {{
  func.func @k(%a: !pto.ptr<f32>, %b: !pto.ptr<f32>) attributes {{pto.entry}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %two = arith.constant 2.0 : f32
    %at0 = arith.constant 0 : i64
    %at1 = arith.constant 4096 : i64
    %va = pto.make_tensor_view %a, shape = [%c16, %c16], strides = [%c16, %c1] : !pto.tensor_view<16x16xf32>
    %vb = pto.make_tensor_view %b, shape = [%c16, %c16], strides = [%c16, %c1] : !pto.tensor_view<16x16xf32>
    %pa = pto.partition_view %va, offsets = [%c0, %c0], sizes = [%c16, %c16] : !pto.tensor_view<16x16xf32> -> !p
    %pb = pto.partition_view %vb, offsets = [%c0, %c0], sizes = [%c16, %c16] : !pto.tensor_view<16x16xf32> -> !p
    %x = pto.alloc_tile addr = %at0 : !t
    %w = pto.alloc_tile addr = %at1 : !t
    pto.texpands ins(%two : f32) outs(%x : !t)
    pto.barrier #pto.pipe<PIPE_V>
    pto.wait_flag["PIPE_V", "PIPE_MTE2", "EVENT_ID1"]
    pto.tload ins(%pa : !p) outs(%x : !t)
    pto.tadd ins(%x, %x : !t, !t) outs(%w : !t)
    pto.set_flag["PIPE_V", "PIPE_MTE2", "EVENT_ID1"]
    pto.set_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]
    pto.wait_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]
    pto.barrier #pto.pipe<PIPE_V>
    pto.tadd ins(%x, %w : !t, !t) outs(%w : !t)
    pto.set_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]
    pto.wait_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]
    pto.tstore ins(%w : !t) outs(%pb : !p)
    return
  }}
}}"""


@pytest.mark.parametrize("target", ["a5", "a2a3"])
@pytest.mark.parametrize("blocks", [1, 2])
def test_steps_are_recorded_in_the_order_of_queues(target: str, blocks: int) -> None:
    """V adds what it has put there itself before MTE2, which waits for that, overwrites it."""
    module, found = parsed(TYPES + LATE.format(target=target))
    assert found == []
    kernel = Kernel(module, None, target, RunOptions())
    replays = keep.Replays(kernel, 0)
    wanted = [float(number + 4) for number in range(256)]
    a, b = np.arange(256, dtype=np.float32), np.zeros(256, np.float32)
    kernel.run([a, b], blocks)
    assert b.tolist() == wanted and kernel.side_by_side
    for launch in range(3):
        b[:] = 0
        # The first launch that comes again is only counted.
        assert replays.run([a, b], blocks) is (launch > 0)
        assert b.tolist() == (wanted if launch else [0.0] * 256)
