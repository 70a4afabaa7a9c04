"""Which cores a C++ kernel is compiled for, by the conditions that it has on them."""

from __future__ import annotations

import numpy as np
import pytest

import pto_dialect
from pto_dialect.cpp.launches import find_cores

BOTH = ("vector", "cube")
CUBE, VECTOR = "TMATMUL(c, a, b);", "TADD(c, a, b);"


@pytest.mark.parametrize(
    ("text", "cores"),
    [
        (VECTOR, ("vector",)),
        (CUBE, ("cube",)),
        (f"#if defined(__DAV_CUBE__)\n{CUBE}\n#endif", ("cube",)),
        (f"#if defined(__DAV_CUBE__)\n{CUBE}\n#endif\n#if defined(__DAV_VEC__)\n{VECTOR}\n#endif", BOTH),
        (f"#if defined(__DAV_CUBE__)\n{CUBE}\n#else\n{VECTOR}\n#endif", BOTH),
        (f"#ifdef __DAV_CUBE__\n{CUBE}\n#elif 1\n{VECTOR}\n#endif", BOTH),
        (f"#ifndef __DAV_CUBE__\n{VECTOR}\n#endif\n{CUBE}", BOTH),
        (f"#if !defined(__DAV_VEC__)\n{CUBE}\n#endif", BOTH),
        (f"#ifdef __DAV_CUBE__\n{CUBE}\n#else\n#ifdef FAST\n{VECTOR}\n#endif\n#endif", BOTH),
        # The other branch has nothing to do, or belongs to another condition.
        (f"#ifdef __DAV_CUBE__\n{CUBE}\n#else\n(void)a;  // nothing; at all\nreturn;\n#endif", ("cube",)),
        (f"#ifdef FAST\n#define N 1\n#else\n#define N 2\n#endif\n#ifdef __DAV_CUBE__\n{CUBE}\n#endif", ("cube",)),
        (f"#ifdef __DAV_CUBE__\n#ifdef FAST\n{CUBE}\n#else\n{CUBE}\n#endif\n#endif", ("cube",)),
        (f"#ifdef __DAV_CUBE__\n{CUBE}\n#endif // #else\n", ("cube",)),
    ],
)
def test_cores_with_code(text: str, cores: tuple[str, ...]) -> None:
    assert find_cores(text) == cores


KERNEL = """\
#include <pto/pto-inst.hpp>
using namespace pto;

extern "C" __global__ AICORE void k(__gm__ int32_t *out) {
  __gm__ int32_t *mine = out;
#if defined(__DAV_CUBE__)
  mine[0] = 1;
#else
  mine += (1 + get_subblockid()) * 16;
  mine[0] = 2 + get_subblockid();
#endif
  dcci(mine, SINGLE_CACHE_LINE);
}
"""


def test_branch_for_the_other_core_runs() -> None:
    out = np.zeros(48, np.int32)
    pto_dialect.run(pto_dialect.compile_cpp(KERNEL).module, {"out": out}, blocks=1)
    assert out[::16].tolist() == [1, 2, 3]
