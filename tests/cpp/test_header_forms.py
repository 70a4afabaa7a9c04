"""Forms that the headers of the C++ interface have and the dialect has not: warnings in kernels, errors in programs."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

pto_opt = import_module("pto_dialect.tools.pto_opt").main
pto_run = import_module("pto_dialect.tools.pto_run").main

KERNEL = """\
#include <pto/pto-inst.hpp>
using namespace pto;

extern "C" __global__ AICORE void kernel(__gm__ ELEMENT *out, __gm__ ELEMENT *a, __gm__ ELEMENT *b)
{
    using Tensor = GlobalTensor<ELEMENT, Shape<1, 1, 1, 4, 32>, Stride<128, 128, 128, 32, 1>>;
    Tile<TileType::Vec, ELEMENT, 4, 32> x, y, z;
    Tensor first(a), second(b), result(out);
    TASSIGN(x, 0);
    TASSIGN(y, 0x1000);
    TASSIGN(z, 0x2000);
    TLOAD(x, first);
    TLOAD(y, second);
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    STATEMENT;
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    TSTORE(result, z);
}
"""


def written(folder: Path, element: str, statement: str) -> str:
    path = folder / "kernel.cpp"
    path.write_text(KERNEL.replace("ELEMENT", element).replace("STATEMENT", statement), encoding="utf-8")
    return str(path)


def checked(kernel: str, target: str) -> Result:
    return CliRunner().invoke(pto_opt, [kernel, "--target", target, "--verify-only"])


def result_of(kernel: str, folder: Path, a: list[int], b: list[int], bits: int = 64) -> tuple[list[int], str]:
    """What an instrumented run on a5 computes from 128 integers of so many bits each, and what it reports."""
    arguments = [
        "--arg",
        f"out=zeros:i{bits}:128",
        "--out",
        f"out={folder / 'out.npy'}",
        "--target",
        "a5",
        "--sanitize",
    ]
    for name, values in (("a", a), ("b", b)):
        np.save(folder / f"{name}.npy", np.array(values, f"int{bits}"))
        arguments += ["--arg", f"{name}={folder / f'{name}.npy'}"]
    result = CliRunner().invoke(pto_run, [kernel, *arguments])
    assert result.exit_code == 0, result.stderr
    return np.load(folder / "out.npy").tolist(), result.stderr


def wrapped(value: int) -> int:
    """The integer of 64 bits with a sign that has the low bits of ``value``."""
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)


@pytest.mark.parametrize(
    ("statement", "formula"),
    [
        ("TADD(z, x, y)", lambda a, b: wrapped(a + b)),
        ("TMUL(z, x, y)", lambda a, b: wrapped(a * b)),
        ("TMAX(z, x, y)", max),
        ("TSHL(z, x, y)", lambda a, b: wrapped(a << (b % 64))),
        ("TSHR(z, x, y)", lambda a, b: a >> (b % 64)),
    ],
)
def test_integers_of_64_bits(statement: str, formula: Callable[[int, int], int], tmp_path: Path) -> None:
    """With carries from the lower to the upper half, both ends of the range, and counts beyond the width."""
    ends = [-(1 << 63), (1 << 63) - 1, -1, 0, 1, (1 << 32) - 1, 1 << 32, -(1 << 31)]
    a = [*ends, *(wrapped(number * 0x0123_4567_89AB_CDEF) for number in range(120))]
    b = [*reversed(ends), *(number - 20 for number in range(120))]
    found, reported = result_of(written(tmp_path, "int64_t", statement), tmp_path, a, b)
    assert found == [formula(x, y) for x, y in zip(a, b, strict=True)]
    assert f"kernel.cpp:16:5: warning: src0 of {statement[:4]} has element type i64 [tile-dtype]" in reported
    assert "help: the headers have this form" in reported


@pytest.mark.parametrize(
    ("element", "statement", "target"),
    [
        # Headers of a5 alone have 64-bit numbers, and no headers have their exponential.
        ("int64_t", "TADD(z, x, y)", "a2a3"),
        ("int64_t", "TEXP(z, x)", "a5"),
        ("int32_t", "TEXP(z, x)", "a2a3"),
        ("bfloat16_t", "TMUL(z, x, y)", "a2a3"),
        # Instructions of a2a3 combine 16 bits.
        ("float", "TAND(z, x, y)", "a2a3"),
    ],
)
def test_types_that_the_headers_do_not_have_are_errors(
    element: str, statement: str, target: str, tmp_path: Path
) -> None:
    result = checked(written(tmp_path, element, statement), target)
    assert result.exit_code == 1
    assert f"error: src{'0' if ', y' in statement else ''} of {statement[:4]} has element type" in result.stderr


@pytest.mark.parametrize(
    ("element", "statement", "target"),
    [
        ("int32_t", "TABS(z, x)", "a5"),
        ("int16_t", "TEXTRACT(z, x, 0, 0)", "a2a3"),
        ("bfloat16_t", "TMUL(z, x, y)", "a5"),
        ("int32_t", "TNOT(z, x)", "a2a3"),
        ("half", "TOR(z, x, y)", "a2a3"),
        ("bfloat16_t", "TAND(z, x, y)", "a5"),
    ],
)
def test_types_that_the_headers_have_are_warnings(element: str, statement: str, target: str, tmp_path: Path) -> None:
    result = checked(written(tmp_path, element, statement), target)
    assert result.exit_code == 0
    assert re.search(r"warning: (src0?|dst) of T\w+ has element type \w+ \[tile-dtype\]", result.stderr)


@pytest.mark.parametrize(("name", "combine"), [("TAND", np.bitwise_and), ("TOR", np.bitwise_or)])
@pytest.mark.parametrize(("element", "bits"), [("float", 32), ("half", 16)])
def test_bits_of_floats(name: str, combine: np.ufunc, element: str, bits: int, tmp_path: Path) -> None:
    """Masks of signs and exponents, and patterns that are not numbers."""
    words = np.random.default_rng(3).integers(0, 1 << bits, (2, 128), f"u{bits // 8}")
    words[1, :64] = (1 << (bits - 1)) - 1
    kernel = written(tmp_path, element, f"{name}(z, x, y)")
    arguments = ["--arg", f"out=zeros:f{bits}:128", "--out", f"out={tmp_path / 'out.npy'}", "--target", "a5"]
    for argument, values in zip("ab", words, strict=True):
        np.save(tmp_path / f"{argument}.npy", values.view(f"f{bits // 8}"))
        arguments += ["--arg", f"{argument}={tmp_path / f'{argument}.npy'}"]
    result = CliRunner().invoke(pto_run, [kernel, *arguments, "--sanitize"])
    assert result.exit_code == 0, result.stderr
    assert np.array_equal(np.load(tmp_path / "out.npy").view(f"u{bits // 8}"), combine(*words))


BLOCKS = """\
#include <pto/pto-inst.hpp>
using namespace pto;

extern "C" __global__ AICORE void kernel(__gm__ float *out, __gm__ float *table, __gm__ int32_t *which)
{
    GlobalTensor<float, Shape<1, 2, 2, 16, 8>, Stride<512, 256, 128, 8, 1>, Layout::NZ> whole(WHOLE);
    GlobalTensor<float, Shape<1, 2, 1, 16, 8>, Stride<256, 128, 128, 8, 1>, Layout::NZ> moved(MOVED);
    GlobalTensor<int32_t, Shape<1, 1, 1, ROWS, 16>, Stride<256, 256, 256, 16, 1>> positions(which);
    Tile<TileType::Vec, float, 16, 16, BLayout::ColMajor, 16, 16, SLayout::RowMajor, 512> tile;
    Tile<TileType::Vec, int32_t, ROWS, 16> idx;
    TASSIGN(tile, 0);
    TASSIGN(idx, 0x1000);
    TLOAD(idx, positions);
STATEMENTS
}
"""
GATHERED = """\
    set_flag(PIPE_MTE2, PIPE_S, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_S, EVENT_ID0);
    MGATHER<Coalesce::MODE>(tile, whole, idx);
    set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
    TSTORE(moved, tile);"""
SCATTERED = """\
    TLOAD(tile, moved);
    set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
    set_flag(PIPE_MTE2, PIPE_S, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_S, EVENT_ID0);
    MSCATTER<Coalesce::MODE>(whole, tile, idx);"""


def in_blocks(matrix: np.ndarray) -> np.ndarray:
    """The elements of a matrix in the order of blocks of 16 x 8, column of blocks by column of blocks."""
    rows, cols = matrix.shape
    return matrix.reshape(rows // 16, 16, cols // 8, 8).transpose(2, 0, 1, 3).reshape(-1)


@pytest.mark.parametrize("gathers", [True, False])
@pytest.mark.parametrize("mode", ["Row", "Elem"])
def test_a_table_in_blocks(mode: str, gathers: bool, tmp_path: Path) -> None:
    """Rows, or elements, of a table of 32 x 16 floats in blocks; on a5 tables are in rows."""
    rng = np.random.default_rng(5)
    table, part = rng.permutation(512).astype(np.float32).reshape(32, 16), np.arange(256, dtype=np.float32)
    part = part.reshape(16, 16) + 1000
    which = rng.permutation(32)[:16] if mode == "Row" else rng.permutation(512)[:256].reshape(16, 16)
    text = BLOCKS.replace("STATEMENTS", GATHERED if gathers else SCATTERED).replace("MODE", mode)
    text = text.replace("WHOLE", "table" if gathers else "out").replace("MOVED", "out" if gathers else "table")
    kernel = tmp_path / "kernel.cpp"
    kernel.write_text(text.replace("ROWS", "1" if mode == "Row" else "16"), encoding="utf-8")
    expected = np.zeros((32, 16), np.float32)
    if gathers:
        expected = table[which] if mode == "Row" else table.reshape(-1)[which]
    elif mode == "Row":
        expected[which] = part
    else:
        expected.reshape(-1)[which] = part
    arguments = ["--arg", f"out=zeros:f32:{expected.size}", "--out", f"out={tmp_path / 'out.npy'}", "--sanitize"]
    for name, values in (("table", in_blocks(table if gathers else part)), ("which", which.astype(np.int32))):
        np.save(tmp_path / f"{name}.npy", values)
        arguments += ["--arg", f"{name}={tmp_path / f'{name}.npy'}"]
    result = CliRunner().invoke(pto_run, [str(kernel), *arguments, "--target", "a2a3"])
    assert result.exit_code == 0, result.stderr
    assert "[mgs-table]" in result.stderr
    assert "[mgs-layout]" in result.stderr
    assert np.array_equal(np.load(tmp_path / "out.npy"), in_blocks(expected))
    assert checked(str(kernel), "a5").exit_code == 1


SELECTION = """
    Tile<TileType::Vec, uint32_t, 4, 8> mask;
    Tile<TileType::Vec, uint32_t, 1, 16> scratch;
    TASSIGN(mask, 0x3000);
    TASSIGN(scratch, 0x4000);
    TCMP(mask, x, y, CmpMode::GT);
    pipe_barrier(PIPE_V);
    TSEL(z, mask, x, y, scratch)"""


def test_a_comparison_packs_words(tmp_path: Path) -> None:
    """The larger of two numbers by a comparison and a selection."""
    a, b = [k * 37 % 101 - 50 for k in range(128)], [k * 53 % 89 - 40 for k in range(128)]
    kernel = written(tmp_path, "int32_t", SELECTION)
    found, reported = result_of(kernel, tmp_path, a, b, 32)
    assert found == list(map(max, a, b))
    assert "warning: dst of TCMP holds packed bits and must be i8, found ui32 [tile-cmp-dst]" in reported
    assert checked(kernel, "a2a3").exit_code == 1


def test_the_printed_program_is_refused(tmp_path: Path) -> None:
    """It is for the compiler of the dialect."""
    kernel = written(tmp_path, "int64_t", "TADD(z, x, y)")
    assert checked(kernel, "a5").exit_code == 0
    printed = tmp_path / "kernel.pto"
    assert CliRunner().invoke(pto_opt, [kernel, "--target", "a5", "-o", str(printed)]).exit_code == 0
    result = checked(str(printed), "a5")
    assert result.exit_code == 1
    assert "error: src0 of pto.tadd has element type i64 [tile-dtype]" in result.stderr


@pytest.mark.parametrize("bits", [8, 16, 32])
def test_elements_of_unsigned_tiles(bits: int, tmp_path: Path) -> None:
    """Numbers of unsigned tiles are unsigned in C++; those of the dialect have no sign, which is not reported."""
    kernel = tmp_path / "kernel.cpp"
    kernel.write_text(f"""#include <pto/pto-inst.hpp>
using namespace pto;
__global__ AICORE void k(__gm__ uint{bits}_t *x) {{
  Tile<TileType::Vec, uint{bits}_t, 1, 64> t;
  TASSIGN(t, 0);
  TEXPANDS(t, (uint{bits}_t)3);
  set_flag(PIPE_V, PIPE_S, EVENT_ID0);
  wait_flag(PIPE_V, PIPE_S, EVENT_ID0);
  t.SetValue(1, (uint{bits}_t)-1);
  for (int i = 0; i < 4; ++i) x[i] = t.GetValue(i) / 2;
}}
""")
    words = [str(kernel), "--arg", f"x=zeros:ui{bits}:4", "--out", f"x={tmp_path / 'x.npy'}", "--sanitize", "--quiet"]
    done = CliRunner().invoke(pto_run, [*words, "--target", "a5"])
    assert (done.exit_code, done.stderr) == (0, "")
    assert np.load(tmp_path / "x.npy").tolist() == [1, (2**bits - 1) // 2, 1, 1]
