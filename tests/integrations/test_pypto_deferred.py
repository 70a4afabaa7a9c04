"""Tasks that end when counters in windows are reached, as PyPTO's generated kernels register them."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pypto_chips import COLS, submit
from pypto_programs import orchestrated, wrapper

from pto_dialect.integrations.pypto.host import Orchestrator
from pto_dialect.integrations.pypto.interface import ChipCallable
from pto_dialect.integrations.pypto.worker import Worker
from pto_dialect.runtime.errors import BindingError

pytestmark = pytest.mark.skipif(
    not any(map(shutil.which, ("g++", "clang++", "c++"))), reason="no C++ compiler is installed"
)

PROGRAM = """
module attributes {pto.target_arch = "a2a3"} {
  func.func private @pypto_register_counter_completion(!pto.ptr<i64>, !pto.ptr<i32>, i64, i64)
  func.func @wait(%signal: !pto.ptr<i32>, %__pypto_deferred_raw_args: !pto.ptr<i64>)
      attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %zero = arith.constant 0 : i64
    %one = arith.constant EXPECTED : i64
    func.call @pypto_register_counter_completion(%__pypto_deferred_raw_args, %signal, %zero, %one)
        : (!pto.ptr<i64>, !pto.ptr<i32>, i64, i64) -> ()
    return
  }
  func.func @use(%data: !pto.ptr<f32>, %y: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %c0 = arith.constant 0 : index
    %v = pto.load_scalar %data[%c0] : !pto.ptr<f32> -> f32
    pto.store_scalar %v, %y[%c0] : !pto.ptr<f32>, f32
    return
  }
  func.func @publish(%x: !pto.ptr<f32>, %data: !pto.ptr<f32>, %signal: !pto.ptr<i32>, %ctx: !pto.ptr<i64>)
      attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %one = arith.constant 1 : i32
    %w4 = arith.constant 4 : i64
    %both = pto.load_scalar %ctx[%c2] : !pto.ptr<i64> -> i64
    %rank32 = arith.trunci %both : i64 to i32
    %other32 = arith.subi %one, %rank32 : i32
    %rank = arith.index_cast %rank32 : i32 to index
    %other = arith.index_cast %other32 : i32 to index
    %here = arith.addi %c4, %rank : index
    %there = arith.addi %c4, %other : index
    %mine = pto.load_scalar %ctx[%here] : !pto.ptr<i64> -> i64
    %theirs = pto.load_scalar %ctx[%there] : !pto.ptr<i64> -> i64
    %bytes = arith.subi %theirs, %mine : i64
    %far = arith.divsi %bytes, %w4 : i64
    %distance = arith.index_cast %far : i64 to index
    %v = pto.load_scalar %x[%c0] : !pto.ptr<f32> -> f32
    %pd = pto.addptr %data, %distance : !pto.ptr<f32> -> !pto.ptr<f32>
    pto.store_scalar %v, %pd[%c0] : !pto.ptr<f32>, f32
    %ps = pto.addptr %signal, %distance : !pto.ptr<i32> -> !pto.ptr<i32>
    %pv = pto.make_tensor_view %ps, shape = [%c1], strides = [%c1] : !pto.tensor_view<1xi32>
    %pp = pto.partition_view %pv, offsets = [%c0], sizes = [%c1] : !pto.tensor_view<1xi32>
      -> !pto.partition_tensor_view<1xi32>
    pto.comm.tnotify(%pp, %one : !pto.partition_tensor_view<1xi32>, i32) {notifyOp = #pto<notify_op atomic_add>}
    return
  }
}
"""
WRAPPER = """
#include <pto/pto-inst.hpp>
#include "tensor.h"
#if !__has_include("pto_async_kernel_api.h")
#error "the run time has no counters"
#endif
#include "pto_async_kernel_api.h"

using namespace pto;

static_assert(MAX_COMPLETIONS_PER_TASK == 64, "as many as generated kernels allow");
static __aicore__ void pypto_register_counter_completion(
    __gm__ int64_t* raw_args, __gm__ int32_t* counter, int64_t offset, int64_t expected) {
    AsyncCtx ctx = get_async_ctx(raw_args);
    if (!async_ctx_is_deferred(ctx)) pto2::detail::defer_flush(ctx);
    save_expected_notification_counter(ctx, reinterpret_cast<volatile __gm__ void*>(counter + offset), expected);
}
@BODY@
static __gm__ float* elements(__gm__ int64_t* args, int n) {
    __gm__ ChipTensor* one = reinterpret_cast<__gm__ ChipTensor*>(args[n]);
    return reinterpret_cast<__gm__ float*>(one->buffer.addr) + one->start_offset;
}
extern "C" __aicore__ void kernel_entry(__gm__ int64_t* args)
{
    @CALL@
}
"""
CALLS = (
    "wait(reinterpret_cast<__gm__ int32_t*>(elements(args, 0)), args);",
    "use(elements(args, 0), elements(args, 1));",
    "publish(elements(args, 0), elements(args, 1), reinterpret_cast<__gm__ int32_t*>(elements(args, 2)), args[3]);",
)
BODY = """
    PTO2_SCOPE(PTO2ScopeMode::MANUAL) {
        const ChipTensor &x = orch_args.tensor(0).ref(), &y = orch_args.tensor(1).ref();
        const ChipTensor &data = orch_args.tensor(2).ref(), &signal = orch_args.tensor(3).ref();
        CoreTaskArgs wait, use, publish;
        wait.add_input(signal);
        PTO2TaskId first = rt_submit_aiv_task(0, wait).task_id();
        @BETWEEN@
        use.add_input(data);
        use.add_output(y);
        use.set_dependencies(&first, 1);
        rt_submit_aiv_task(1, use);
        publish.add_input(x);
        publish.add_inout(data, signal);
        publish.add_scalar(orch_args.scalar(0));
        rt_submit_aiv_task(2, publish);
    }
"""
DUMMY = """
        CoreTaskArgs joined;
        joined.set_dependencies(&first, 1);
        first = rt_submit_dummy_task(joined).task_id();
"""


def chip(folder: Path, between: str = "", expected: int = 1) -> ChipCallable:
    """An orchestration that waits, uses what the other chip has written, and writes to it last."""
    program = PROGRAM.replace("EXPECTED", str(expected))
    wrappers = [wrapper(folder, program, WRAPPER.replace("@CALL@", call), f"k{n}") for n, call in enumerate(CALLS)]
    return orchestrated(BODY.replace("@BETWEEN@", between), *wrappers)


@pytest.mark.parametrize("between", ["", DUMMY])
def test_later_tasks_run_before_those_that_follow_a_counter(tmp_path: Path, between: str) -> None:
    x = np.arange(1, 2 * COLS + 1, dtype=np.float32).reshape(2, 1, COLS)
    y = np.zeros_like(x)
    one = chip(tmp_path, between)
    Worker(level=3).submit(lambda orch, *_: submit(orch, [one, one], x, y)).result()
    assert y[:, 0, 0].tolist() == [x[1, 0, 0], x[0, 0, 0]]
    assert not y[:, 0, 1:].any()


def test_counters_that_nobody_changes_are_reported(tmp_path: Path) -> None:
    x = np.ones((2, 1, COLS), np.float32)
    one = chip(tmp_path, expected=3)
    handle = Worker(level=3).submit(lambda orch, *_: submit(orch, [one, one], x, np.zeros_like(x)))
    with pytest.raises(BindingError, match="nobody changes: a counter is 1, and has to be at least 3"):
        handle.result()


def test_a_counter_has_to_be_in_a_window(tmp_path: Path) -> None:
    x = np.ones((1, 1, COLS), np.float32)
    one = chip(tmp_path)

    def orchestration(orch: Orchestrator, *_: Any) -> None:
        submit(orch, [one], x, np.zeros_like(x))
        args = orch.jobs[0].args
        args.tensors[3] = args.tensors[0]

    with pytest.raises(BindingError, match="a counter that is in no window"):
        Worker(level=3).submit(orchestration).result()


def test_tasks_of_a_scope_that_is_not_manual_follow_those_whose_tensors_they_write(tmp_path: Path) -> None:
    """The publisher writes what the consumer reads, so it follows it, and nobody reaches the counters."""
    x = np.ones((2, 1, COLS), np.float32)
    wrappers = [wrapper(tmp_path, PROGRAM.replace("EXPECTED", "1"), WRAPPER.replace("@CALL@", one)) for one in CALLS]
    one = orchestrated(BODY.replace("@BETWEEN@", "").replace("PTO2ScopeMode::MANUAL", ""), *wrappers)
    handle = Worker(level=3).submit(lambda orch, *_: submit(orch, [one, one], x, np.zeros_like(x)))
    with pytest.raises(BindingError, match="a counter is 0, and has to be at least 1"):
        handle.result()
