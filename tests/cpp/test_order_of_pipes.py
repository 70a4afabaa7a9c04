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
