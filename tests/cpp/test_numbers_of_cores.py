"""The numbers of the physical cores that a C++ kernel runs on."""

from __future__ import annotations

import numpy as np

import pto_dialect

KERNEL = """\
#include <pto/pto-inst.hpp>
#include <pto/npu/a2a3/custom/TSyncCVID.hpp>
using namespace pto;

extern "C" __global__ AICORE void k(__gm__ int32_t *out, __gm__ uint8_t *slots, uint64_t ffts) {
  set_ffts_base_addr(ffts);
#if defined(__DAV_CUBE__)
  __gm__ int32_t *mine = out + 64 + get_block_idx() * 16;
#else
  __gm__ int32_t *mine = out + (get_block_idx() * 2 + get_subblockid()) * 16;
#endif
  mine[0] = get_coreid();
  mine[1] = TSYNC_CVID(get_block_idx(), slots);
  dcci(mine, SINGLE_CACHE_LINE);
}
"""


def test_each_block_is_on_the_cores_of_its_number() -> None:
    kernel = pto_dialect.compile_cpp(KERNEL)
    out = np.full(96, -1, np.int32)
    pto_dialect.run(kernel.module, {"out": out, "slots": np.zeros(1024, np.int32), "ffts": 0}, blocks=2)
    # Four vector cores, two for each block, and its cube core, whose number both sides of a block agree on.
    assert out[0:64:16].tolist() == [0, 1, 2, 3]
    assert out[64::16].tolist() == [0, 1]
    assert out[1:64:16].tolist() == [0, 0, 1, 1]
    assert out[65::16].tolist() == [0, 1]


OTHER_LIBRARY = """\
#include "kernel_operator.h"
#include <pto/pto-inst.hpp>

AICORE inline int32_t kind_of_core() {
  if ASCEND_IS_AIC {
    return 1;
  }
  if ASCEND_IS_AIV {
    return 2;
  }
  return 0;
}

extern "C" __global__ AICORE void k(__gm__ int32_t *out) {
#if defined(__DAV_CUBE__)
  __gm__ int32_t *mine = out;
#else
  __gm__ int32_t *mine = out + (1 + AscendC::GetSubBlockIdx()) * 16;
#endif
  mine[0] = kind_of_core();
  dcci(mine, SINGLE_CACHE_LINE);
}
"""


def test_kernels_ask_which_core_they_are_compiled_for() -> None:
    kernel = pto_dialect.compile_cpp(OTHER_LIBRARY)
    out = np.zeros(48, np.int32)
    pto_dialect.run(kernel.module, {"out": out})
    assert out[::16].tolist() == [1, 2, 2]
