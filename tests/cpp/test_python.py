"""C++ kernels as Python functions, and in tests under the pytest plug-in."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import cast

import pytest

import pto_dialect
from pto_dialect.cpp.kernel import CppError
from pto_dialect.integrations.function import jit

KERNEL = """\
#include <pto/pto-inst.hpp>
#include "factor.h"
using namespace pto;
template <typename T, int W>
__global__ AICORE void scale(__gm__ T *x, __gm__ T *y) {
  GlobalTensor<T, Shape<1, 1, 1, 1, W>, Stride<W, W, W, W, 1>> gx(x), gy(y);
  Tile<TileType::Vec, T, 1, W> t;
  TASSIGN(t, 0);
  TLOAD(t, gx);
  set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  TMULS(t, t, FACTOR * TIMES);
  set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  TSTORE(gy, t);
}
"""
WAIT = "  wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);\n"
TESTS = """
import numpy as np
import pto_dialect
from pto_dialect.integrations.function import jit

HOW = {"entry": "scale<float, 64>", "defines": {"TIMES": 2}, "includes": ["include"]}

@jit("scale.cpp", returns="y", **HOW)
def scale(x):
    return {"x": x, "y": np.zeros_like(x)}

@jit("race.cpp", returns="y", **HOW)
def race(x):
    return {"x": x, "y": np.zeros_like(x)}

def test_right():
    assert (scale(np.ones(64, np.float32)) == 20).all()

def test_race():
    assert (race(np.ones(64, np.float32)) == 20).all()

def test_called():
    kernel = pto_dialect.compile_cpp("race.cpp", **HOW)
    pto_dialect.run(kernel.module, {"x": np.ones(64, np.float32), "y": np.ones(64, np.float32)})
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "factor.h").write_text("constexpr float FACTOR = 10.f;\n", encoding="utf-8")
    (tmp_path / "scale.cpp").write_text(KERNEL, encoding="utf-8")
    (tmp_path / "race.cpp").write_text(KERNEL.replace(WAIT, "\n"), encoding="utf-8")
    (tmp_path / "test_kernels.py").write_text(TESTS, encoding="utf-8")
    return tmp_path


def test_findings_of_kernels_fail_tests_at_their_cpp_lines(folder: Path) -> None:
    command = [sys.executable, "-m", "pytest", "--pto-sanitize", "-q", "-p", "no:cacheprovider", "test_kernels.py"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)
    line = KERNEL[: KERNEL.index("TSTORE")].count("\n") + 1
    assert "2 failed, 1 passed" in done.stdout, done.stdout + done.stderr
    assert f"/race.cpp:{line}:3: error: MTE3 of core reads" in done.stdout
    assert f"\nrace.cpp:{line}:3: error: MTE3 of core reads" in done.stdout
    assert "pto." not in done.stdout


def test_kernel_that_does_not_compile_is_named_by_the_first_call(folder: Path) -> None:
    @jit(folder / "scale.cpp", "scale<float, 64>", defines={"TIMES": "many"}, includes=["include"])
    def scale(x: object, y: object) -> None: ...

    with pytest.raises(CppError, match=r"scale\.cpp:12:24: error: use of undeclared identifier 'many'"):
        scale(None, None)


def test_definitions_that_are_no_mapping(tmp_path: Path) -> None:
    kernel = tmp_path / "k.cpp"
    kernel.write_text("")
    with pytest.raises(TypeError, match=r"defines are macros with their values, as in \{'N': 4\}, not \['N=4'\]"):
        pto_dialect.compile_cpp(kernel, defines=cast("dict[str, object]", ["N=4"]))
