"""The products of matrices of the manual in C++, with addresses and flags and without, equal their `.pto` forms."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import numpy as np
import pytest

import pto_dialect
from pto_dialect import parse
from pto_dialect.cpp.kernel import compile_kernel
from pto_dialect.cpp.options import CppOptions
from pto_dialect.diagnostics.diagnostic import Severity
from pto_dialect.diagnostics.engine import DiagnosticEngine
from pto_dialect.passes.forms.level2 import ToLevel2Pass
from pto_dialect.runtime.run.machine import RunOptions
from pto_dialect.sanitize.launch import InstrumentedKernel
from pto_dialect.sanitize.options import SanitizeOptions
from run_lines import run_command

FOLDER = Path(__file__).parent / "products"
NAMES = sorted(path.stem for path in FOLDER.glob("*.cpp"))
BY_HAND = re.compile(r"^  (?:TASSIGN|set_flag|wait_flag)\(.*\n", re.MULTILINE)
"""What the automatic mode leaves to the compiler."""


def text_of(file: str) -> str:
    return (FOLDER / file).read_text(encoding="utf-8")


def data(name: str) -> dict[str, np.ndarray]:
    """The arguments by name, in order; their products are exact."""
    rng = np.random.default_rng(3)
    rows = 1 if name.startswith("tgemv") else 16
    shapes = {"x": (rows, 16), "w": (16, 16)} | ({"u": (rows, 16)} if name.endswith("_acc") else {})
    given: dict[str, np.ndarray] = {"out": np.full((rows, 16), np.nan, np.float32)}
    given |= {one: rng.integers(-5, 6, shape).astype(np.float16) for one, shape in shapes.items()}
    if name.endswith("_bias"):
        given["y"] = rng.integers(-50, 51, (1, 16)).astype(np.float32)
    return given


def exact(given: dict[str, np.ndarray]) -> np.ndarray:
    """(x + u) w + y."""
    left = given["x"] + given.get("u", np.float16(0))
    return left.astype(np.float32) @ given["w"].astype(np.float32) + given.get("y", np.float32(0))


def compiled(text: str, name: str, target: str) -> str:
    return compile_kernel(text, str(FOLDER / f"{name}.cpp"), CppOptions(target=target)).text


@pytest.mark.parametrize("target", ["a2a3", "a5"])
@pytest.mark.parametrize("name", NAMES)
def test_product_is_the_same_in_every_form(name: str, target: str) -> None:
    manual = text_of(f"{name}.cpp")
    automatic, removed = BY_HAND.subn("", manual)
    assert removed >= 11
    buffers = parse(text_of(f"{name}.pto"), f"{name}.pto")
    ToLevel2Pass().run(buffers, DiagnosticEngine())
    modules = {
        "manual": parse(compiled(manual, name, target), f"{name}.cpp"),
        "automatic": parse(compiled(automatic, name, target), f"{name}.cpp"),
        "values": parse(text_of(f"{name}.pto"), f"{name}.pto"),
        "buffers": buffers,
    }
    for form, module in modules.items():
        given = data(name)
        kernel = InstrumentedKernel(module, None, target, RunOptions(fill="poison"), SanitizeOptions())
        kernel.run(list(given.values()), 1)
        assert [one.rule for one in kernel.observer.findings.all] == [], form
        assert np.array_equal(given["out"], exact(given)), form


FORBIDDEN = [
    ("TASSIGN(bias, 0x0)", "TASSIGN(bias, 0x3000)", "TASSIGN takes bytes 12288 to 12352, bias has 1024 on a2a3"),
    ("TileLeft<half, 1, 16>", "TileLeft<half, 1, 32>", "K of TGEMV_BIAS is 32 (columns of lhs) but 16 (rows of rhs)"),
    ("TileAcc<float", "TileAcc<half", "TGEMV_BIAS has no form f16 x f16 -> f16"),
    ("c, a, b, bias", "c, b, a, bias", "lhs and rhs of TGEMV_BIAS are swapped: lhs is in left, rhs in right"),
    ("c, a, b, bias", "c, a, b", "no matching function for call to 'TGEMV_BIAS'"),
    (
        "Bias, float, 1, 16",
        "Bias, half, 1, 16",
        "bias of TGEMV_BIAS must have the element type of dst (f32), found f16",
    ),
]


@pytest.mark.parametrize(("old", "new", "message"), FORBIDDEN, ids=[new for _, new, _ in FORBIDDEN])
def test_what_the_manual_forbids_is_named_in_terms_of_cpp(old: str, new: str, message: str, tmp_path: Path) -> None:
    text = text_of("tgemv_bias.cpp")
    assert old in text
    shutil.copy(FOLDER / "tensors.hpp", tmp_path)
    (tmp_path / "k.cpp").write_text(text.replace(old, new), encoding="utf-8")
    result = run_command("pto-opt", [str(tmp_path / "k.cpp"), "--verify-only"])
    shown = result.stderr.decode()
    assert (result.exit_code, f": error: {message}" in shown) == (1, True), shown


PART = """\
#include <pto/pto-inst.hpp>
using namespace pto;

__global__ AICORE void k(__gm__ float *out) {
  TileLeft<half, 16, 32> left;
  TileRight<half, 32, 64> right;
  TileAcc<float, 32, 64, -1, -1> product(16, 64);
  TASSIGN(left, 0x0);
  TASSIGN(right, 0x0);
  TASSIGN(product, 0x0);
  TMATMUL(product, left, right);
}
"""


def test_a_product_fills_the_valid_part_of_its_tile() -> None:
    """The accumulator has more rows than the product, and a constructor states which of them are valid."""
    kernel = pto_dialect.compile_cpp(PART)
    found = [one for one in pto_dialect.check(kernel.text).diagnostics if one.severity is Severity.ERROR]
    assert not found
    assert "acc, 32x64xf32, valid=16x?" in kernel.text


@pytest.mark.parametrize(
    ("left", "right", "product"),
    [
        ("-1, -1> left(8, 24)", "24, 64> right", "8, 64> product"),
        ("8, -1> left(24)", "-1, -1> right(24, 48)", "-1, -1> product(8, 48)"),
        ("-1, 24> left(rows)", "-1, 64> right(24)", "-1, -1> product(rows, 64)"),
    ],
)
def test_all_tiles_of_a_product_state_the_same_sizes(left: str, right: str, product: str) -> None:
    """Constant sizes that constructors give are those that types of other tiles have."""
    text = PART.replace("float *out", "float *out, int rows").replace("float, 32", "float, 16")
    text = (
        text.replace("> left", f", {left}").replace("> right", f", {right}").replace("-1, -1> product(16, 64)", product)
    )
    kernel = pto_dialect.compile_cpp(text)
    found = [one for one in pto_dialect.check(kernel.text).diagnostics if one.severity is Severity.ERROR]
    assert not found
