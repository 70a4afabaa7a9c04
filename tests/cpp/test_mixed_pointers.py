"""Kernels that read and write local or global memory, as a value decides, against numpy."""

from __future__ import annotations

import numpy as np
import pytest

import pto_dialect

KERNEL = """\
#include <pto/pto-inst.hpp>
#ifndef PIPE_FIX
#define PIPE_FIX static_cast<pipe_t>(10)
#endif

struct Cache {
  int32_t rows[20];
  float shares[20];
  uint32_t count;
  bool is_used;
};
AICORE void fill(Cache *cache, __gm__ int32_t *table, int n) {
  for (int i = 0; i < n; ++i) {
    cache->rows[cache->count] = table[i] * 10;
    cache->shares[cache->count] = table[i] * 0.5f;
    cache->count += 1;
  }
}
extern "C" __global__ AICORE void k(
    __gm__ int32_t *table, __gm__ float *scaled, __gm__ int32_t *out, __gm__ float *shares, bool is_used, int32_t n) {
  Cache cache{};
  cache.is_used = is_used;
  fill(&cache, table, n);
  for (int i = 0; i < n; ++i) {
    out[i] = cache.is_used ? cache.rows[i] : table[i];
    shares[i] = cache.is_used ? cache.shares[i] : scaled[i];
  }
  int32_t last = 5;
  int32_t &chosen = *(n > 3 ? &last : out + n);
  chosen += 100;
  out[n + 1] = last;
}
"""


@pytest.mark.parametrize("is_used", [0, 1])
@pytest.mark.parametrize("n", [0, 3, 20])
def test_a_value_decides_which_memory_is_meant(is_used: int, n: int) -> None:
    kernel = pto_dialect.compile_cpp(KERNEL)
    table, scaled = np.arange(1, 23, dtype=np.int32), np.arange(22, dtype=np.float32) * 3
    out, shares = np.full(22, -1, np.int32), np.full(22, -1, np.float32)
    arrays = {"table": table, "scaled": scaled, "out": out, "shares": shares}
    pto_dialect.run(kernel.module, {**arrays, "is_used": is_used, "n": n})
    wanted = np.full(22, -1, np.int32)
    wanted[:n] = table[:n] * 10 if is_used else table[:n]
    wanted[n] += 0 if n > 3 else 100
    wanted[n + 1] = 105 if n > 3 else 5
    assert out.tolist() == wanted.tolist()
    assert shares[:n].tolist() == (table[:n] * 0.5 if is_used else scaled[:n]).tolist()
    assert (shares[n:] == -1).all()


def test_a_macro_for_a_pipe_says_nothing_about_the_core() -> None:
    assert "kernel_kind<vector>" in pto_dialect.compile_cpp(KERNEL).text


@pytest.mark.parametrize(("target", "value"), [("a2a3", 1), ("a5", 2)])
def test_a5_alone_has_the_engine_of_urma(target: str, value: int) -> None:
    text = """\
#include <pto/pto-inst.hpp>
extern "C" __global__ AICORE void k(__gm__ int32_t *out) {
#ifdef PTO_URMA_SUPPORTED
  out[0] = 2;
#else
  out[0] = 1;
#endif
}
"""
    out = np.zeros(1, np.int32)
    pto_dialect.run(pto_dialect.compile_cpp(text, target=target).module, {"out": out})
    assert out.tolist() == [value]
