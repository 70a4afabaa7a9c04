"""Signals between the cores of a block that a kernel stores at the address of ``set_ffts_base_addr``.

Source: docs/cpp.md, "Operations".
"""

from __future__ import annotations

import numpy as np
import pytest

import pto_dialect
from pto_dialect.api import CompiledCpp
from pto_dialect.cpp.kernel import CppError
from pto_dialect.runtime.errors import ProgramError

KERNEL = """\
#include <pto/pto-inst.hpp>
using namespace pto;

AICORE inline uint16_t message(uint16_t mode, uint16_t flag) { return 1 + (mode << 4) + (flag << 8); }

extern "C" __global__ AICORE void k(__gm__ uint64_t *ffts, __gm__ int32_t *out, int32_t given) {
  set_ffts_base_addr((uint64_t)ffts);
#if defined(__DAV_CUBE__)
  for (int n = 0; n < 2; ++n)
    st_dev(MESSAGE, ffts, 0);
  wait_flag_dev(4);
#elif defined(__DAV_VEC__)
  wait_flag_dev(3);
  wait_flag_dev(3);
  out[get_subblockid()] = 7;
  ffts_cross_core_sync(PIPE_MTE3, message(2, 4));
#endif
}
"""


def compiled(message: str) -> CompiledCpp:
    return pto_dialect.compile_cpp(KERNEL.replace("MESSAGE", message), target="a2a3")


def test_each_store_is_a_signal_to_both_vector_cores() -> None:
    kernel = compiled("message(2, 3)")
    assert "pto.sync.set <PIPE_S>, 3 {ffts_mode = 2 : i32, pto.ffts_base}" in pto_dialect.print_module(kernel.module)
    signals, out = np.full(1, 5, np.uint64), np.zeros(2, np.int32)
    pto_dialect.run(kernel.module, {"ffts": signals, "out": out, "given": 3})
    assert out.tolist() == [7, 7]
    assert signals.tolist() == [5]


def test_a_signal_with_another_flag_is_waited_for_in_vain() -> None:
    with pytest.raises(ProgramError, match="cannot continue"):
        pto_dialect.run(
            compiled("message(2, 5)").module,
            {"ffts": np.zeros(1, np.uint64), "out": np.zeros(2, np.int32), "given": 3},
        )


def test_a_message_that_is_not_constant_is_refused() -> None:
    with pytest.raises(CppError, match="the message that is stored as a signal between cores is not constant"):
        compiled("message(2, given)")
