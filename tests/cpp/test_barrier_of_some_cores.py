"""A barrier that some blocks of a launch reach. Source: docs/reference/execution.md, "Synchronisation"."""

from __future__ import annotations

import numpy as np
import pytest
from sanitize_programs import diagnostics

from pto_dialect.cpp.kernel import compile_kernel
from pto_dialect.cpp.options import CppOptions

KERNEL = """\
#include <pto/pto-inst.hpp>
using namespace pto;
using Line = GlobalTensor<int32_t, Shape<1, 1, 1, 1, 8>, Stride<8, 8, 8, 8, 1>>;

extern "C" __global__ AICORE void k(__gm__ int32_t *workspace, __gm__ int32_t *lines, __gm__ int32_t *out, int used) {
  const int block = get_block_idx();
  if (block >= used)
    return;
  Tile<TileType::Vec, int32_t, 1, 8> mine, next;
  TASSIGN(mine, 0);
  TASSIGN(next, 0x100);
  TEXPANDS(mine, block + 1);
  set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  Line own(lines + block * 8), other(lines + (block + 1) % used * 8), result(out + block * 8);
  TSTORE(own, mine);
  GlobalTensor<int32_t, Shape<>, Stride<>> counters(workspace);
  SYNCALL<SyncAllMode::Soft>(counters, used);
  TLOAD(next, other);
  set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
  wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
  TSTORE(result, next);
}
"""


@pytest.mark.parametrize("used", [1, 2, 3, 4])
def test_the_first_cores_wait_for_each_other_alone(used: int) -> None:
    """Each core reads what the next one of them has stored before the barrier."""
    blocks = 4
    lines, out = np.zeros(blocks * 8, np.int32), np.zeros(blocks * 8, np.int32)
    text = compile_kernel(KERNEL, "k.cpp", CppOptions()).text
    assert not diagnostics(text, [np.zeros(blocks * 8, np.int32), lines, out, used], blocks)
    wanted = [(block + 1) % used + 1 if block < used else 0 for block in range(blocks)]
    assert out.reshape(blocks, 8).tolist() == [[one] * 8 for one in wanted]
