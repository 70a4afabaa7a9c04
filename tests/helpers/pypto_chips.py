"""A program of several chips as PyPTO hands it over: each reads what the next one has put into its window."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from pypto_programs import orchestrated, wrapper

from pto_dialect.integrations.pypto.host import Orchestrator
from pto_dialect.integrations.pypto.interface import (
    ChipCallable,
    CommBufferSpec,
    DataType,
    TaskArgs,
    Tensor,
    TensorArgType,
)

COLS = 64

NEXT = """
!view = !pto.tensor_view<1x64xf32>
!row = !pto.partition_tensor_view<1x64xf32>
!cell = !pto.partition_tensor_view<1x1xi32>
!tile = !pto.tile_buf<vec, 1x64xf32>
module attributes {pto.target_arch = "a2a3"} {
  func.func private @distance(%ctx: !pto.ptr<i64>, %peer: i64, %size: i64) -> index {
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %both = pto.load_scalar %ctx[%c2] : !pto.ptr<i64> -> i64
    %rank32 = arith.trunci %both : i64 to i32
    %rank = arith.index_cast %rank32 : i32 to index
    %to = arith.index_cast %peer : i64 to index
    %here = arith.addi %c4, %rank : index
    %there = arith.addi %c4, %to : index
    %mine = pto.load_scalar %ctx[%here] : !pto.ptr<i64> -> i64
    %other = pto.load_scalar %ctx[%there] : !pto.ptr<i64> -> i64
    %bytes = arith.subi %other, %mine : i64
    %elements = arith.divsi %bytes, %size : i64
    %moved = arith.index_cast %elements : i64 to index
    return %moved : index
  }
  func.func @NAME(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>, %data: !pto.ptr<f32>, %signal: !pto.ptr<i32>,
                  %ctx: !pto.ptr<i64>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c64 = arith.constant 64 : index
    %one = arith.constant 1 : i32
    %w1 = arith.constant 1 : i64
    %w4 = arith.constant 4 : i64
    %w32 = arith.constant 32 : i64
    %mask = arith.constant 4294967295 : i64
    %both = pto.load_scalar %ctx[%c2] : !pto.ptr<i64> -> i64
    %rank = arith.andi %both, %mask : i64
    %ranks = arith.shrui %both, %w32 : i64
    %up = arith.addi %rank, %w1 : i64
    %next = arith.remui %up, %ranks : i64
    %most = arith.subi %ranks, %w1 : i64
    %down = arith.addi %rank, %most : i64
    %before = arith.remui %down, %ranks : i64
    %xv = pto.make_tensor_view %x, shape = [%c1, %c64], strides = [%c64, %c1] : !view
    %yv = pto.make_tensor_view %y, shape = [%c1, %c64], strides = [%c64, %c1] : !view
    %dv = pto.make_tensor_view %data, shape = [%c1, %c64], strides = [%c64, %c1] : !view
    %xp = pto.partition_view %xv, offsets = [%c0, %c0], sizes = [%c1, %c64] : !view -> !row
    %yp = pto.partition_view %yv, offsets = [%c0, %c0], sizes = [%c1, %c64] : !view -> !row
    %dp = pto.partition_view %dv, offsets = [%c0, %c0], sizes = [%c1, %c64] : !view -> !row
    %t = pto.alloc_tile : !tile
    pto.tload ins(%xp : !row) outs(%t : !tile)
    pto.tstore ins(%t : !tile) outs(%dp : !row)
    %far = func.call @distance(%ctx, %before, %w4) : (!pto.ptr<i64>, i64, i64) -> index
    %ps = pto.addptr %signal, %far : !pto.ptr<i32> -> !pto.ptr<i32>
    %pv = pto.make_tensor_view %ps, shape = [%c1, %c1], strides = [%c1, %c1] : !pto.tensor_view<1x1xi32>
    %pp = pto.partition_view %pv, offsets = [%c0, %c0], sizes = [%c1, %c1] : !pto.tensor_view<1x1xi32> -> !cell
    %sv = pto.make_tensor_view %signal, shape = [%c1, %c1], strides = [%c1, %c1] : !pto.tensor_view<1x1xi32>
    %sp = pto.partition_view %sv, offsets = [%c0, %c0], sizes = [%c1, %c1] : !pto.tensor_view<1x1xi32> -> !cell
    pto.barrier <PIPE_ALL>
    pto.comm.tnotify(%pp, %one : !cell, i32) {notifyOp = #pto<notify_op atomic_add>}
    WAIT
    %near = func.call @distance(%ctx, %next, %w4) : (!pto.ptr<i64>, i64, i64) -> index
    %np = pto.addptr %data, %near : !pto.ptr<f32> -> !pto.ptr<f32>
    %nv = pto.make_tensor_view %np, shape = [%c1, %c64], strides = [%c64, %c1] : !view
    %nr = pto.partition_view %nv, offsets = [%c0, %c0], sizes = [%c1, %c64] : !view -> !row
    %r = pto.alloc_tile : !tile
    pto.tload ins(%nr : !row) outs(%r : !tile)
    pto.tstore ins(%r : !tile) outs(%yp : !row)
    return
  }
}
"""
WAIT = "pto.comm.twait(%sp, %one : !cell, i32) {cmp = #pto<wait_cmp ge>}"
WRAPPER = """
#include <pto/pto-inst.hpp>
#include "tensor.h"

using namespace pto;

@BODY@
extern "C" __aicore__ __attribute__((always_inline)) void kernel_entry(__gm__ int64_t* args)
{
    __gm__ float* values[3];
    for (int i = 0; i < 3; i++) {
        __gm__ ChipTensor* one = reinterpret_cast<__gm__ ChipTensor*>(args[i]);
        values[i] = reinterpret_cast<__gm__ float*>(one->buffer.addr) + one->start_offset;
    }
    __gm__ ChipTensor* signal_tensor = reinterpret_cast<__gm__ ChipTensor*>(args[3]);
    __gm__ int32_t* signal = reinterpret_cast<__gm__ int32_t*>(signal_tensor->buffer.addr);
    NAME(values[0], values[1], values[2], signal, reinterpret_cast<__gm__ int64_t*>(args[4]));
}
"""
BODY = """
    PTO2_SCOPE() {
        CoreTaskArgs params;
        params.add_input(orch_args.tensor(0).ref());
        params.add_output(orch_args.tensor(1).ref());
        params.add_inout(orch_args.tensor(2).ref());
        params.add_inout(orch_args.tensor(3).ref());
        params.add_scalar(orch_args.scalar(0));
        rt_submit_aiv_task(0, params);
    }
"""


def next_chip(folder: Path, name: str = "swap", wait: str = WAIT) -> ChipCallable:
    """The orchestration of one chip; ``wait`` is where it waits for the next one."""
    program = NEXT.replace("NAME", name).replace("WAIT", wait)
    return orchestrated(BODY, wrapper(folder, program, WRAPPER.replace("NAME", name), name))


def tensor(array: np.ndarray) -> Tensor:
    """An array of f32 as an argument."""
    return Tensor(array.ctypes.data, array.shape, DataType.FLOAT32, array)


def submit(
    orch: Orchestrator,
    chips: Sequence[ChipCallable],
    x: np.ndarray,
    y: np.ndarray,
    name: str = "d",
    workers: Sequence[int] | None = None,
) -> None:
    """Submits one orchestration for each chip of a domain, of which ``workers`` are the numbers."""
    numbers = range(len(chips)) if workers is None else workers
    specs = [CommBufferSpec("data", nbytes=4 * COLS), CommBufferSpec("signal", nbytes=32)]
    with orch.allocate_domain(name=name, workers=numbers, window_size=1024, buffers=specs) as domain:
        for rank, (worker, chip) in enumerate(zip(numbers, chips, strict=True)):
            args = TaskArgs()
            args.add_tensor(tensor(x[rank]), TensorArgType.INPUT)
            args.add_tensor(tensor(y[rank]), TensorArgType.OUTPUT_EXISTING)
            windows = domain[worker].buffers
            args.add_tensor(windows["data"].tensor((1, COLS), DataType.FLOAT32), TensorArgType.INOUT)
            args.add_tensor(windows["signal"].tensor((1, 1), DataType.INT32), TensorArgType.INOUT)
            args.add_scalar(domain[worker].device_ctx)
            orch.submit_next_level(chip, args, worker=worker)
