"""Launches that come again on other buffers."""

from __future__ import annotations

import numpy as np
from parse_helpers import parsed

from pto_dialect.accel.replay import keep
from pto_dialect.runtime.compile.group import Member, join
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import RunOptions


def test_larger_buffers_are_no_other_launch() -> None:
    """A plan fits all buffers that have what it accesses."""
    text = """func.func @negate(%a: !pto.ptr<f32>, %b: !pto.ptr<f32>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c64 = arith.constant 64 : index
      %p0 = arith.constant 0 : i64
      %va = pto.make_tensor_view %a, shape = [%c2, %c64], strides = [%c64, %c1] : !pto.tensor_view<?x?xf32>
      %vb = pto.make_tensor_view %b, shape = [%c2, %c64], strides = [%c64, %c1] : !pto.tensor_view<?x?xf32>
      %x = pto.alloc_tile addr = %p0 : !pto.tile_buf<vec, 2x64xf32>
      %p = pto.partition_view %va, offsets = [%c0, %c0], sizes = [%c2, %c64]
        : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<2x64xf32>
      %q = pto.partition_view %vb, offsets = [%c0, %c0], sizes = [%c2, %c64]
        : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<2x64xf32>
      pto.tload ins(%p : !pto.partition_tensor_view<2x64xf32>) outs(%x : !pto.tile_buf<vec, 2x64xf32>)
      pto.tneg ins(%x : !pto.tile_buf<vec, 2x64xf32>) outs(%x : !pto.tile_buf<vec, 2x64xf32>)
      pto.tstore ins(%x : !pto.tile_buf<vec, 2x64xf32>) outs(%q : !pto.partition_tensor_view<2x64xf32>)
      return
    }"""
    module, found = parsed(text)
    assert found == []
    joined = Kernel(None, None, "a5", RunOptions(), group=join([Member(module, None, "vector0")]))
    for kernel in (Kernel(module, None, "a5", RunOptions()), joined):
        replays = keep.Replays(kernel, 0)
        done: list[bool] = []
        for size, extra in ((128, 0), (128, 64), (500, 1), (64, 0), (128, 0)):
            a, b = np.arange(size, dtype=np.float32), np.ones(size + extra, np.float32)
            done.append(replays.run([a, b], 1))
            if done[-1]:
                assert b.tobytes() == np.concatenate([-a[:128], np.ones(size + extra - 128, np.float32)]).tobytes()
        assert done == [False, True, True, False, True]
