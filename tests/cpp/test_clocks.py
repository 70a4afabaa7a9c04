"""Loops that wait for the clock, which does not advance in a run: they end at once."""

from __future__ import annotations

import numpy as np
import pytest

import pto_dialect

HEAD = """\
#include <pto/pto-inst.hpp>
using namespace pto;
AICORE inline void pause(uint64_t ticks) {
  const uint64_t end = get_sys_cnt() + ticks;
  while (get_sys_cnt() < end) { __asm__ __volatile__(""); }
}
"""
KERNEL = "__global__ AICORE void k(__gm__ volatile int32_t *x, __gm__ int32_t *y, int32_t n) {\n%s\n}\n"

# Statements, and what is stored then, with two elements 7 and 8 in x.
WAITS = {
    "a constant time": ("  pause(3);\n  y[0] = x[0];", [7, 0]),
    "a time that a value says": ("  pause(n);\n  y[0] = x[0];", [7, 0]),
    "a difference": (
        "  const uint64_t t = get_sys_cnt();\n  while (get_sys_cnt() - t < 90ull) {}\n  y[0] = x[0];",
        [7, 0],
    ),
    "within a loop": ("  for (int i = 0; i < n; ++i) { pause(5); y[i] = x[i] + i; }", [7, 9]),
    "a loop that counts": ("  int i = 0;\n  do { ++i; } while (get_sys_cnt() < 5);\n  y[0] = x[i];", [8, 0]),
    "within a wait for a number": ("  while (x[0] != 7) pause(3);\n  y[1] = 1;", [0, 1]),
    "a wait that may give up": (
        "  const uint64_t t = get_sys_cnt();\n"
        "  while (x[0] != 7) { if (get_sys_cnt() - t > 9) { y[0] = -1; return; } }\n  y[1] = 1;",
        [0, 1],
    ),
}


@pytest.mark.parametrize("what", WAITS)
def test_wait_for_the_clock(what: str) -> None:
    body, expected = WAITS[what]
    kernel = pto_dialect.compile_cpp(HEAD + KERNEL % body)
    out = np.zeros(2, np.int32)
    pto_dialect.run(kernel.module, {"x": np.array([7, 8], np.int32), "y": out, "n": 2})
    assert out.tolist() == expected


def test_the_clock_does_not_advance() -> None:
    body = "  const uint64_t t = get_sys_cnt();\n  y[0] = x[0];\n  y[1] = get_sys_cnt() - t;"
    out = np.ones(2, np.int32)
    kernel = pto_dialect.compile_cpp(HEAD + KERNEL % body)
    pto_dialect.run(kernel.module, {"x": np.array([7, 8], np.int32), "y": out, "n": 2})
    assert out.tolist() == [7, 0]
