"""Scatters that combine elements as the headers of the C++ interface do and the dialect does not, against Python."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import pto_dialect
from run_lines import run_command

KERNEL = """\
#include <pto/pto-inst.hpp>
using namespace pto;
template <class T, int N>
using Line = GlobalTensor<T, Shape<1, 1, 1, 1, N>, Stride<N, N, N, N, 1>>;

extern "C" __global__ AICORE void kernel(__gm__ ELEMENT *table, __gm__ ELEMENT *x, __gm__ int32_t *at) {
  Line<ELEMENT, 64> all(table);
  Line<ELEMENT, 32> given(x);
  Line<int32_t, 32> places(at);
  Tile<TileType::Vec, ELEMENT, 1, 32> values;
  Tile<TileType::Vec, int32_t, 1, 32> indices;
  TASSIGN(values, 0x0);
  TASSIGN(indices, 0x1000);
  TLOAD(values, given);
  TLOAD(indices, places);
  set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  MSCATTER<Coalesce::Elem, ScatterAtomicOp::MODE>(all, values, indices);
}
"""
FORMULAS: dict[str, Callable[[int, int], int]] = {"Add": lambda a, b: a + b, "Max": max, "Min": min}


@pytest.mark.parametrize(
    ("target", "element", "dtype", "mode"),
    [
        ("a5", "bfloat16_t", ml_dtypes.bfloat16, "Add"),
        ("a5", "uint32_t", np.uint32, "Max"),
        ("a5", "uint32_t", np.uint32, "Min"),
        ("a2a3", "bfloat16_t", ml_dtypes.bfloat16, "Add"),
        ("a2a3", "int16_t", np.int16, "Add"),
        ("a2a3", "int8_t", np.int8, "Add"),
    ],
)
def test_scatter_combines_elements(target: str, element: str, dtype: type, mode: str) -> None:
    kernel = pto_dialect.compile_cpp(KERNEL, target=target, defines={"ELEMENT": element, "MODE": mode})
    rng = np.random.default_rng(3)
    largest = 2**32 if dtype is np.uint32 else 9
    table, x = (rng.integers(0, largest, count).astype(dtype) for count in (64, 32))
    at = rng.integers(0, 64, 32).astype(np.int32)
    expected = [int(value) for value in table]
    for place, value in zip(at, x, strict=True):
        expected[place] = FORMULAS[mode](expected[place], int(value))
    pto_dialect.run(kernel.module, {"table": table, "x": x, "at": at})
    assert [int(value) for value in table] == expected


@pytest.mark.parametrize(("target", "element", "mode"), [("a2a3", "uint32_t", "Max"), ("a5", "int8_t", "Add")])
def test_scatter_that_the_headers_of_the_chip_refuse(target: str, element: str, mode: str, tmp_path: Path) -> None:
    (tmp_path / "kernel.cpp").write_text(KERNEL, encoding="utf-8")
    defines = ["-D", f"ELEMENT={element}", "-D", f"MODE={mode}"]
    done = run_command("pto-opt", [str(tmp_path / "kernel.cpp"), "--target", target, *defines, "--verify-only"])
    assert done.exit_code == 1
    assert b"[mgs-atomic]" in done.stderr
