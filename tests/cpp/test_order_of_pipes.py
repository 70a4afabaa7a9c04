"""C++ kernels with addresses of tiles order their pipes themselves, also where they have no flag at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from run_lines import run_command

KERNEL = """\
#include <pto/pto-inst.hpp>
using namespace pto;
using Row = Tile<TileType::Vec, float, 1, 64>;
__global__ AICORE void k(__gm__ float *x, __gm__ float *y) {
  GlobalTensor<float, Shape<1, 1, 1, 1, 64>, Stride<64, 64, 64, 64, 1>> gx(x), gy(y);
  Row a, b;
  TASSIGN(a, 0);
  TASSIGN(b, 256);
  TLOAD(a, gx);
  TEXP(b, a);
  TSTORE(gy, b);
}
"""
PLACES = "  TASSIGN(a, 0);\n  TASSIGN(b, 256);\n"


def sanitized(folder: Path, text: str, *options: str) -> tuple[int, str]:
    """The exit code and the output of a sanitized run."""
    kernel = folder / "k.cpp"
    kernel.write_text(text)
    done = run_command("pto-run", [str(kernel), "--auto", "--sanitize", *options])
    return done.exit_code, done.interleaved.decode()


def test_a_kernel_without_flags(tmp_path: Path) -> None:
    code, output = sanitized(tmp_path, KERNEL)
    assert code == 3
    assert "k.cpp:10:3: error: V of core reads bytes [0, 256) of ub (through a) that MTE2 of core writes" in output
    assert "k.cpp:11:3: error: MTE3 of core reads bytes [256, 512) of ub (through b) that V of core writes" in output
    assert "set_flag(PIPE_MTE2, PIPE_V, EVENT_IDn) after line 9" in output


def test_flags_that_order_it(tmp_path: Path) -> None:
    text = KERNEL.replace("  TEXP", "  PtoSetWaitFlag<PIPE_MTE2, PIPE_V>();\n  TEXP")
    text = text.replace("  TSTORE", "  PtoSetWaitFlag<PIPE_V, PIPE_MTE3>();\n  TSTORE")
    assert sanitized(tmp_path, text)[0] == 0


@pytest.mark.parametrize("automatic", ["tiles without addresses", "the macro of the mode"])
def test_the_automatic_mode_of_the_compiler(tmp_path: Path, automatic: str) -> None:
    is_macro = automatic == "the macro of the mode"
    options = ("-D", "__PTO_AUTO__") if is_macro else ()
    code, output = sanitized(tmp_path, KERNEL if is_macro else KERNEL.replace(PLACES, ""), *options)
    assert code == 0
    assert "not checked: order of the pipes: the program leaves it to the compiler" in output


BETWEEN_CORES = """\
#include <pto/pto-inst.hpp>
using namespace pto;
__global__ AICORE void k(__gm__ half *c) {
  Tile<TileType::Vec, float, 16, 32> ub, o;
  TASSIGN(ub, 0);
  TASSIGN(o, 0x1000);
#if defined(__DAV_CUBE__)
  TileAcc<float, 32, 32> acc;
  TileLeft<half, 32, 32> left;
  TileRight<half, 32, 32> right;
  Tile<TileType::Mat, half, 32, 32, BLayout::ColMajor, 32, 32, SLayout::RowMajor> l1;
  TASSIGN(acc, 0);
  TASSIGN(left, 0);
  TASSIGN(right, 0);
  TASSIGN(l1, 0);
  GlobalTensor<half, Shape<1, 1, 1, 32, 32>, Stride<1, 1, 1, 32, 1>> a(c);
  TLOAD(l1, a);
  PtoSetWaitFlag<PIPE_MTE2, PIPE_MTE1>();
  TMOV(left, l1);
  TMOV(right, l1);
  PtoSetWaitFlag<PIPE_MTE1, PIPE_M>();
  TMATMUL(acc, left, right);
  PtoSetWaitFlag<PIPE_M, PIPE_FIX>();
  TMOV<decltype(ub), decltype(acc), AccToVecMode::DualModeSplitM>(ub, acc);
#endif
#if defined(__DAV_VEC__)
  TRELU(o, ub);
#endif
}
"""


def test_signals_between_cores_are_those_of_the_chip(tmp_path: Path) -> None:
    code, output = sanitized(tmp_path, BETWEEN_CORES, "--target", "a5", "--arg", "c=zeros:f16:1024")
    assert code == 3
    assert "k.cpp:27:3: error: V of AIV0 reads bytes" in output
    assert (
        "orders them: set_intra_block of the pipe that is meant to be first after its access, wait_intra_block"
        in output
    )
