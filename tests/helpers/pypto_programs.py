"""Programs as PyPTO hands them to its run time: orchestrations, wrappers of kernels, and `.pto` files."""

from __future__ import annotations

from pathlib import Path

from pto_dialect.integrations.pypto.assembler import assemble
from pto_dialect.integrations.pypto.interface import ChipCallable, CoreCallable
from pto_dialect.integrations.pypto.objects import packed

SCALE = """
module attributes {pto.target_arch = "a2a3"} {
  func.func @scale(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>, %factor: f32, %n: index, %block: i32, %count: i32)
      attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %b = arith.index_cast %block : i32 to index
    %i = arith.muli %b, %n : index
    scf.for %at = %c0 to %n step %c1 {
      %j = arith.addi %i, %at : index
      %v = pto.load_scalar %x[%j] : !pto.ptr<f32> -> f32
      %w = arith.mulf %v, %factor : f32
      pto.store_scalar %w, %y[%j] : !pto.ptr<f32>, f32
    }
    return
  }
}
"""
"""Each block scales %n numbers."""

SCALE_WRAPPER = """
#include <cstdint>
#ifndef __gm__
#define __gm__
#endif
#ifndef __aicore__
#define __aicore__ [aicore]
#endif
#include <pto/pto-inst.hpp>
#include "tensor.h"
#include "intrinsic.h"

using namespace pto;

@BODY@
extern "C" __aicore__ __attribute__((always_inline)) void kernel_entry(__gm__ int64_t* args)
{
    int32_t block = get_block_idx(args);
    int32_t count = get_block_num(args);
    __gm__ ChipTensor* x_tensor = reinterpret_cast<__gm__ ChipTensor*>(args[0]);
    __gm__ float* x = reinterpret_cast<__gm__ float*>(x_tensor->buffer.addr) + x_tensor->start_offset;
    __gm__ ChipTensor* y_tensor = reinterpret_cast<__gm__ ChipTensor*>(args[1]);
    __gm__ float* y = reinterpret_cast<__gm__ float*>(y_tensor->buffer.addr) + y_tensor->start_offset;
    union { uint64_t u64; float val; } factor_conv;
    factor_conv.u64 = args[2];
    float factor = factor_conv.val;
    int64_t n = static_cast<int64_t>(x_tensor->shapes[0]) / count;
    scale(x, y, factor, n, block, count);
}
"""

HEAD = """
#include "runtime.h"
#include <iostream>

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include "pto_orchestration_api.h"

extern "C" {
__attribute__((visibility("default")))
PTO2OrchestrationConfig aicpu_orchestration_config(const ChipTaskArgs& orch_args) {
    (void)orch_args;
    return PTO2OrchestrationConfig{
        .expected_arg_count = 3,
    };
}

__attribute__((visibility("default")))
void aicpu_orchestration_entry(const ChipTaskArgs& orch_args) {
"""
TAIL = "\n}\n}\n"


def wrapper(folder: Path, program: str, text: str, name: str = "kernel") -> str:
    """A kernel's wrapper around what the assembler makes of a program."""
    (folder / f"{name}.pto").write_text(program)
    assemble(str(folder / f"{name}.pto"), str(folder / f"{name}.cpp"), ["--enable-insert-sync", "--pto-arch=a3"])
    lines = (folder / f"{name}.cpp").read_text().splitlines(keepends=True)
    body = "".join(line for line in lines if "#include" not in line and line != "using namespace pto;\n")
    return text.replace("@BODY@", body.replace("AICORE void", "static __aicore__ void"))


def orchestrated(body: str, *wrappers: str) -> ChipCallable:
    """An orchestration with this body, whose kernels are numbered from 0."""
    children = [(number, CoreCallable.build((), packed(text))) for number, text in enumerate(wrappers)]
    return ChipCallable.build((), "aicpu_orchestration_entry", packed(HEAD + body + TAIL), children)


PAIR_WRAPPER = """
#include <pto/pto-inst.hpp>
#include "tensor.h"
#include "intrinsic.h"

using namespace pto;

@BODY@
extern "C" __aicore__ __attribute__((always_inline)) void kernel_entry(__gm__ int64_t* args)
{
    int32_t __pypto_spmd_block_idx = get_block_idx(args);
    int32_t __pypto_spmd_block_num = get_block_num(args);
    __gm__ ChipTensor* slots_tensor = reinterpret_cast<__gm__ ChipTensor*>(args[3]);
    int64_t part = static_cast<int64_t>(slots_tensor->shapes[0]) / __pypto_spmd_block_num;
    __gm__ float* slots = reinterpret_cast<__gm__ float*>(slots_tensor->buffer.addr) + slots_tensor->start_offset +
        static_cast<int64_t>(__pypto_spmd_block_idx) * part;
@ARGUMENTS@
}
"""
CUBE_ARGUMENTS = """
    __gm__ ChipTensor* a_tensor = reinterpret_cast<__gm__ ChipTensor*>(args[0]);
    __gm__ float* a = reinterpret_cast<__gm__ float*>(a_tensor->buffer.addr) + a_tensor->start_offset;
    __gm__ ChipTensor* b_tensor = reinterpret_cast<__gm__ ChipTensor*>(args[1]);
    __gm__ float* b = reinterpret_cast<__gm__ float*>(b_tensor->buffer.addr) + b_tensor->start_offset;
    cube(a, b, slots);
"""
VECTOR_ARGUMENTS = """
    __gm__ ChipTensor* out_tensor = reinterpret_cast<__gm__ ChipTensor*>(args[2]);
    __gm__ float* out = reinterpret_cast<__gm__ float*>(out_tensor->buffer.addr) + out_tensor->start_offset;
    vector(out, slots);
"""
