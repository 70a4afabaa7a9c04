"""Whom signals without a mode mean: the option of pto-run and of launch files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

# The cube core sends 7 to both vector cores with one signal; each stores what it has read.
PROGRAM = """module attributes {pto.target_arch = "a5"} {
func.func @send(%x: !pto.ptr<i32, gm>) attributes {pto.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %seven = arith.constant 7 : i32
  %sub64 = pto.get_subblock_idx
  %sub = arith.index_cast %sub64 : i64 to index
  pto.section.cube {
    pto.store_scalar %seven, %x[%c0] : !pto.ptr<i32, gm>, i32
    pto.sync.set <PIPE_FIX>, 3
  }
  pto.section.vector {
    pto.sync.wait <PIPE_V>, 3
    pto.barrier <PIPE_ALL>
    %got = pto.load_scalar %x[%c0] : !pto.ptr<i32, gm> -> i32
    %place = arith.addi %sub, %c1 : index
    pto.store_scalar %got, %x[%place] : !pto.ptr<i32, gm>, i32
  }
  return
}
}
"""
LAUNCH = """program = "send.pto"
[arguments]
x = "zeros:i32:4"
[expect]
x = "x.npy"
"""


@pytest.mark.parametrize("mode", [(), ("--cross-core", "auto"), ("--cross-core", "block")])
def test_signals_of_the_block(pto_run, mode: tuple[str, ...]) -> None:
    np.save("x.npy", np.array([7, 7, 7, 0], np.int32))
    pto_run.good(PROGRAM, "--arg", "x=zeros:i32:4", "--expect", "x=x.npy", *mode)


def test_signals_of_one_vector_core(pto_run) -> None:
    said = pto_run.bad(1, PROGRAM, "--arg", "x=zeros:i32:4", "--cross-core", "p2p")
    assert "[sync-deadlock]" in said


def test_on_a2a3_signals_are_for_the_block(pto_run) -> None:
    np.save("x.npy", np.array([7, 7, 7, 0], np.int32))
    program = PROGRAM.replace('"a5"', '"a3"')
    outcome = pto_run(program, "--arg", "x=zeros:i32:4", "--expect", "x=x.npy", "--cross-core", "p2p")
    assert outcome.code == 0, outcome


def test_launch_files_take_the_option(pto_run, tmp_path: Path) -> None:
    np.save("x.npy", np.array([7, 7, 7, 0], np.int32))
    (tmp_path / "send.pto").write_text(PROGRAM)
    (tmp_path / "send.launch.toml").write_text(LAUNCH)
    assert pto_run.raw("send.launch.toml").code == 0
    outcome = pto_run.raw("send.launch.toml", "--cross-core", "p2p")
    assert (outcome.code, "[sync-deadlock]" in outcome.err) == (1, True)


def test_other_keywords_are_refused(pto_run) -> None:
    assert "'ffts' is not one of" in pto_run.bad(2, PROGRAM, "--arg", "x=zeros:i32:4", "--cross-core", "ffts")
