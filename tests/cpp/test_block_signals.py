"""Signals between the cores of all blocks in C++ kernels, whose waits name a flag and no mode.

Source: docs/reference/execution.md, "Synchronisation".
"""

from __future__ import annotations

import numpy as np
import pytest

import pto_dialect

KERNEL = """\
#include <pto/pto-inst.hpp>
using namespace pto;

AICORE inline uint16_t message(uint16_t mode, uint16_t flag) { return 1 + (mode << 4) + (flag << 8); }

AICORE inline void everyone() {
  pipe_barrier(PIPE_ALL);
#if defined(__DAV_CUBE__)
  wait_flag_dev(12);
  ffts_cross_core_sync(PIPE_FIX, message(0, 11));
  wait_flag_dev(11);
  ffts_cross_core_sync(PIPE_MTE3, message(2, 13));
#elif defined(__DAV_VEC__)
  ffts_cross_core_sync(PIPE_MTE3, message(2, 12));
  wait_flag_dev(13);
#endif
}

extern "C" __global__ AICORE void k(__gm__ int32_t *out, __gm__ int32_t *seen, uint64_t ffts) {
  set_ffts_base_addr(ffts);
#if defined(__DAV_VEC__)
  int mine = get_block_idx() * 2 + get_subblockid(), all = get_block_num() * 2;
  out[mine] = mine + 1;
#endif
  everyone();
  // The flag that the cube cores exchange, between the cores of a block.
#if defined(__DAV_CUBE__)
  wait_flag_dev(11);
#elif defined(__DAV_VEC__)
  ffts_cross_core_sync(PIPE_MTE3, message(2, 11));
#endif
  everyone();
#if defined(__DAV_VEC__)
  int sum = 0;
  for (int n = 0; n < all; ++n)
    sum += out[n];
  seen[mine] = sum;
#endif
}
"""


@pytest.mark.parametrize("blocks", [1, 3])
def test_all_cores_of_all_blocks_meet(blocks: int) -> None:
    kernel = pto_dialect.compile_cpp(KERNEL)
    count = 2 * blocks
    out, seen = np.zeros(count, np.int32), np.zeros(count, np.int32)
    pto_dialect.run(kernel.module, {"out": out, "seen": seen, "ffts": 0}, blocks=blocks)
    assert out.tolist() == list(range(1, count + 1))
    assert seen.tolist() == [count * (count + 1) // 2] * count
