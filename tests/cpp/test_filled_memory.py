"""Kernels for both cores that fill memory of L1, load into it, or move a tile of the unified buffer to it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import pto_dialect
from run_lines import run_command

KERNEL = """\
#include <pto/pto-inst.hpp>
using namespace pto;
using Lines = Tile<TileType::Vec, half, 32, 32>;
using Matrix = Tile<TileType::Mat, half, 32, 32>;
using Tensor = GlobalTensor<half, Shape<1, 1, 1, 32, 32>, Stride<1024, 1024, 1024, 32, 1>>;

extern "C" __global__ AICORE void kernel(__gm__ half *out, __gm__ half *in)
{
    Tensor source(in), all(out);
    Lines lines;
    Matrix matrix;
    TASSIGN(lines, 0);
    TASSIGN(matrix, 0);
    BOTH;
#ifdef __DAV_CUBE__
    CUBE;
    copy_cbuf_to_ubuf((__ubuf__ void *)lines.data(), (__cbuf__ void *)matrix.data(), 0, 1, 64, 0, 0);
    set_intra_block(PIPE_MTE1, 0);
#endif
#ifdef __DAV_VEC__
    if (get_subblockid() == 0) {
        VECTOR;
        wait_intra_block(PIPE_MTE3, 0);
        TSTORE(all, lines);
    }
#endif
}
"""
FLAG = "set_flag({0}, {1}, EVENT_ID0); wait_flag({0}, {1}, EVENT_ID0)"
LOADED = FLAG.format("PIPE_MTE2", "PIPE_MTE1")


def run(folder: Path, **macros: str) -> tuple[int, str]:
    """The exit code and the findings of a sanitized run."""
    text = KERNEL
    for name in ("BOTH", "CUBE", "VECTOR"):
        text = text.replace(f"    {name};\n", f"    {macros.get(name, '')};\n")
    (folder / "kernel.cpp").write_text(text, encoding="utf-8")
    words = ["--target", "a5", "--auto", "--sanitize", "--quiet"]
    done = run_command("pto-run", [str(folder / "kernel.cpp"), *words])
    return done.exit_code, done.stderr.decode()


@pytest.mark.parametrize(
    "cube",
    [
        f"TEXPANDS(matrix, half(1)); {LOADED}",
        f"TEXPANDS(matrix, half(1)); TLOAD(matrix, source); {LOADED}",
    ],
)
def test_memory_that_is_filled_has_the_order_of_loads(cube: str, tmp_path: Path) -> None:
    assert run(tmp_path, CUBE=cube) == (0, "")


def test_fill_without_a_flag_from_its_pipe_is_a_race(tmp_path: Path) -> None:
    code, found = run(tmp_path, CUBE=f"TEXPANDS(matrix, half(1)); {FLAG.format('PIPE_M', 'PIPE_MTE1')}")
    assert code == 3
    assert "MTE2 of AIC writes in TEXPANDS" in found
    assert "[race-raw]" in found


@pytest.mark.parametrize("both", ["TLOAD(matrix, source)", "TFILLPAD(matrix, matrix); TLOAD(matrix, source)"])
def test_what_fills_l1_outside_of_branches_is_for_the_cube_core(both: str, tmp_path: Path) -> None:
    assert run(tmp_path, BOTH=both, CUBE=LOADED) == (0, "")


def test_tile_of_the_unified_buffer_moves_to_l1_on_mte3(tmp_path: Path) -> None:
    moved = f"TLOAD(lines, source); {FLAG.format('PIPE_MTE2', 'PIPE_MTE3')}; TMOV(matrix, lines); "
    signal = "set_intra_block(PIPE_MTE3, 1)"
    code, found = run(tmp_path, CUBE="wait_intra_block(PIPE_MTE1, 1)", VECTOR=moved + signal)
    assert (code, "race" in found) == (0, False), found


NARROW = """\
    Tile<TileType::Mat, half, 32, 32, BLayout::RowMajor, 32, COLUMNS> narrow;
    GlobalTensor<half, Shape<1, 1, 1, 32, COLUMNS>, Stride<1024, 1024, 1024, 32, 1>> part(in);
    TASSIGN(narrow, 0);
    TLOAD(narrow, part)"""


@pytest.mark.parametrize(("columns", "rule"), [(30, ""), (17, ""), (16, "mem-uninit"), (15, "mem-uninit")])
def test_load_completes_the_last_32_bytes_of_a_row_of_l1(columns: int, rule: str, tmp_path: Path) -> None:
    """Rows have two units of 32 bytes; a load of 16 columns or fewer leaves the second one as it was."""
    code, found = run(tmp_path, CUBE=f"{NARROW.replace('COLUMNS', str(columns))}; {LOADED}")
    assert (code, found.count("[mem-uninit]")) == (3 if rule else 0, 1 if rule else 0), found


WITHOUT_ADDRESS = """\
#include <pto/pto-inst.hpp>
using namespace pto;

extern "C" __global__ AICORE void kernel(__gm__ float *in)
{
    using Tensor = GlobalTensor<float, Shape<1, 1, 1, 16, 224>, Stride<3584, 3584, 3584, 224, 1>>;
    Tensor source(in);
    Tile<TileType::Mat, float, 16, 256, BLayout::ColMajor, 16, 224, SLayout::RowMajor, 512> matrix;
    TLOAD(matrix, source);
    TFILLPAD(matrix, matrix);
}
"""


def test_a_tile_without_an_address_is_filled_where_it_lies() -> None:
    """The filled tile states what fills it, the loaded one does not; both are the same bytes."""
    text = pto_dialect.compile_cpp(WITHOUT_ADDRESS).text
    [allocated] = re.findall(r"(%\w+) = pto.alloc_tile", text)
    reshaped = re.search(rf"(%\w+) = pto.treshape {allocated} : .*-> !pto.tile_buf<[^>]*pad=1>", text)
    assert reshaped is not None
    window = re.search(rf"(%\w+) = pto.subview {reshaped[1]}\[", text)
    assert window is not None
    assert f"pto.tfillpad ins({window[1]} : " in text
