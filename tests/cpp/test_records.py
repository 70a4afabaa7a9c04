"""Structures that kernels take by pointer: numpy's arrays of records are their memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import pto_dialect
from pto_dialect.runtime.errors import BindingError
from run_lines import run_command

KERNEL = """\
#include <pto/pto-inst.hpp>
struct Sizes { int32_t count; float factor; int64_t total; };
__global__ AICORE void k(__gm__ float *x, __gm__ Sizes *sizes) {
  for (int i = 0; i < sizes->count; ++i) x[i] *= sizes->factor;
  sizes->total = sizes->count + 1;
}
"""
FIELDS = np.dtype([("count", "i4"), ("factor", "f4"), ("total", "i8")])


def test_records_are_shared_with_the_kernel() -> None:
    module = pto_dialect.compile_cpp(KERNEL).module
    sizes, x = np.array([(3, 2.5, 0)], FIELDS), np.ones(4, np.float32)
    pto_dialect.run(module, {"x": x, "sizes": sizes})
    assert x.tolist() == [2.5, 2.5, 2.5, 1]
    assert sizes["total"].tolist() == [4]


@pytest.mark.parametrize("value", [np.zeros(1, [("a", "i2")]), np.array([("x",)], [("a", object)])])
def test_records_that_are_no_elements(value: np.ndarray) -> None:
    module = pto_dialect.compile_cpp(KERNEL).module
    with pytest.raises(BindingError, match="argument sizes needs elements of i"):
        pto_dialect.run(module, {"x": np.ones(4, np.float32), "sizes": value})


def test_records_of_integers_are_no_floats() -> None:
    module = pto_dialect.compile_cpp(KERNEL).module
    with pytest.raises(BindingError, match="argument x needs elements of f32"):
        pto_dialect.run(module, {"x": np.ones(4, [("a", "i4")]), "sizes": np.array([(3, 2.5, 0)], FIELDS)})


def test_structures_of_floats_are_records() -> None:
    text = KERNEL.replace("int32_t count; float factor; int64_t total;", "float count; float factor; float total;")
    sizes, x = np.array([(3, 2.5, 0)], [(name, "f4") for name in FIELDS.names or ()]), np.ones(4, np.float32)
    pto_dialect.run(pto_dialect.compile_cpp(text).module, {"x": x, "sizes": sizes})
    assert x.tolist() == [2.5, 2.5, 2.5, 1]
    assert sizes["total"].tolist() == [4]


def test_files_of_records_and_of_bytes(tmp_path: Path) -> None:
    kernel, sizes = tmp_path / "k.cpp", np.array([(3, 2.5, 0)], FIELDS)
    kernel.write_text(KERNEL)
    np.save(tmp_path / "sizes.npy", sizes)
    np.save(tmp_path / "bytes.npy", sizes.view(np.uint8))

    def ran(file: str) -> tuple[int, str]:
        given = ["--arg", "x=ones:f32:4", "--arg", f"sizes={tmp_path / file}"]
        done = run_command("pto-run", [str(kernel), *given])
        return done.exit_code, done.interleaved.decode()

    code, output = ran("sizes.npy")
    assert code == 0
    assert "x: f32 4 = [2.5 2.5 2.5 1. ]" in output
    code, output = ran("bytes.npy")
    assert code == 2
    assert "if they are bytes, array.view('int" in output
