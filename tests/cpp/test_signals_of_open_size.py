"""Signals whose sizes are known in a run only: waits and tests take every one, a notification the first."""

from __future__ import annotations

import numpy as np
import pytest

import pto_dialect

KERNEL = """\
#include <pto/pto-inst.hpp>
#include <pto/comm/pto_comm_inst.hpp>
using namespace pto;
using Steps = Stride<DYNAMIC, DYNAMIC, DYNAMIC, DYNAMIC, DYNAMIC>;
using Open = GlobalTensor<int32_t, Shape<DYNAMIC, 1, 1, DYNAMIC, DYNAMIC>, Steps>;
__global__ AICORE void k(__gm__ int32_t *signals, __gm__ int32_t *out, int outer, int rows, int cols) {
  Open all(signals, Shape<DYNAMIC, 1, 1, DYNAMIC, DYNAMIC>(outer, rows, cols),
           Steps(40, 40, 40, 10, 3));
  out[0] = comm::TTEST(all, 4, comm::WaitCmp::GE);
  comm::TWAIT(all, 2, comm::WaitCmp::GE);
  comm::TNOTIFY(all, 7, comm::NotifyOp::AtomicAdd);
  out[1] = comm::TTEST(all, 4, comm::WaitCmp::GE);
}
"""


def ran(signals: np.ndarray, outer: int, rows: int, cols: int) -> list[int]:
    """What the kernel finds before and after its notification."""
    out = np.full(2, -1, np.int32)
    arguments = {"signals": signals, "out": out, "outer": outer, "rows": rows, "cols": cols}
    pto_dialect.run(pto_dialect.compile_cpp(KERNEL).module, arguments)
    return out.tolist()


def places(outer: int, rows: int, cols: int) -> list[int]:
    """Where the signals are, by the strides of the kernel."""
    return [40 * i + 10 * j + 3 * k for i in range(outer) for j in range(rows) for k in range(cols)]


@pytest.mark.parametrize("sizes", [(1, 1, 1), (1, 2, 3), (2, 3, 2), (2, 0, 3)])
def test_every_signal_counts(sizes: tuple[int, int, int]) -> None:
    taken = places(*sizes)
    for low in taken or [-1]:
        signals = np.zeros(80, np.int32)
        signals[taken] = 5
        if taken:
            signals[low] = 3
        expected = signals.copy()
        expected[0] += 7
        # The notification lifts the first signal above the number of the test.
        assert ran(signals, *sizes) == [int(not taken), int(low <= 0)]
        np.testing.assert_array_equal(signals, expected)


def test_a_wait_for_one_that_stays_low() -> None:
    signals = np.zeros(80, np.int32)
    signals[places(1, 2, 2)] = 3
    signals[10] = 1
    with pytest.raises(Exception, match="it holds 1"):
        ran(signals, 1, 2, 2)
