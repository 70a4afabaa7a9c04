"""Signals between cores: what one has stored before it signals, the other reads after its wait, and not before."""

from __future__ import annotations

import numpy as np
import pytest
from parse_helpers import parsed

from pto_dialect.runtime.errors import ProgramError
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import CrossCore, RunOptions

KERNEL = """module attributes {{pto.target_arch = "{target}"}} {{
  func.func @k(%x: !pto.ptr<i32, gm>) attributes {{pto.kernel}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %one = arith.constant 1 : i32
    %seven = arith.constant 7 : i32
    %five = arith.constant 5 : index
    %block64 = pto.get_block_idx
    %block = arith.index_cast %block64 : i64 to index
    %sub64 = pto.get_subblock_idx
    %sub = arith.index_cast %sub64 : i64 to index
    pto.section.cube {{
{cube}
    }}
    pto.section.vector {{
{vector}
    }}
    return
  }}
}}
"""
# Element 0 goes from cube to vector cores, elements 1 and 2 (one for each vector core) come back doubled.
SEND = "pto.store_scalar %seven, %x[%c0] : !pto.ptr<i32, gm>, i32\n"
ANSWER = """%got = pto.load_scalar %x[%c0] : !pto.ptr<i32, gm> -> i32
%twice = arith.addi %got, %got : i32
%place = arith.addi %sub, %c1 : index
pto.store_scalar %twice, %x[%place] : !pto.ptr<i32, gm>, i32
"""
COLLECT = """%a = pto.load_scalar %x[%c1] : !pto.ptr<i32, gm> -> i32
%b = pto.load_scalar %x[%c2] : !pto.ptr<i32, gm> -> i32
%sum = arith.addi %a, %b : i32
pto.store_scalar %sum, %x[%c4] : !pto.ptr<i32, gm>, i32
"""


def run(target: str, cube: str, vector: str, blocks: int = 1, cross_core: CrossCore = "auto") -> np.ndarray:
    """The buffer after the run."""
    module, found = parsed(KERNEL.format(target=target, cube=cube, vector=vector))
    assert module is not None and not found, found
    x = np.zeros(64, np.int32)
    Kernel(module, "k", None, RunOptions(cross_core=cross_core)).run([x], blocks)
    return x


def pair(mnemonic: str, mode: str = "") -> tuple[str, str]:
    """Signal and wait of a family, with the number left open."""
    if mnemonic == "sync":
        mode = mode.replace("{", "{{").replace("}", "}}")
        return f"pto.sync.set <PIPE_S>, {{}}{mode}\n", f"pto.sync.wait <PIPE_S>, {{}}{mode}\n"
    return f"pto.set_{mnemonic} <PIPE_S>, {{}}\n", f"pto.wait_{mnemonic} <PIPE_S>, {{}}\n"


@pytest.mark.parametrize("mnemonic", ["intra_block", "sync"])
def test_semaphores_between_two_cores(mnemonic: str) -> None:
    """On a5 the cube core names the second vector core by 16 more; that core itself says the same number."""
    signal, wait = pair(mnemonic)
    cube = SEND + signal.format(3) + signal.format(19) + wait.format(4) + wait.format(20) + COLLECT
    x = run("a5", cube, wait.format(3) + ANSWER + signal.format(4))
    assert x[:5].tolist() == [7, 14, 14, 0, 28]


@pytest.mark.parametrize("mnemonic", ["intra_block", "sync"])
def test_a_semaphore_reaches_one_vector_core_only(mnemonic: str) -> None:
    signal, wait = pair(mnemonic)
    cube = SEND + signal.format(3) + wait.format(4) + wait.format(20)
    with pytest.raises(ProgramError) as error:
        run("a5", cube, wait.format(3) + ANSWER + signal.format(4), cross_core="p2p")
    assert error.value.rule == "sync-deadlock"


@pytest.mark.parametrize(
    ("target", "mode", "option"),
    [
        ("a2a3", "", "auto"),
        ("a5", "", "block"),
        ("a2a3", "", "p2p"),
        ("a5", "", "auto"),
        ("a5", " {ffts_mode = 2 : i32}", "auto"),
        ("a2a3", " {ffts_mode = 2 : i32}", "auto"),
    ],
)
def test_signals_of_the_whole_block(target: str, mode: str, option: CrossCore) -> None:
    """One signal of the cube core is for both vector cores, and its wait is for both of them."""
    signal, wait = pair("sync", mode)
    x = run(target, SEND + signal.format(3) + wait.format(4) + COLLECT, wait.format(3) + ANSWER + signal.format(4),
            cross_core=option)  # fmt: skip
    assert x[:5].tolist() == [7, 14, 14, 0, 28]


def test_an_option_says_what_a_signal_without_mode_means() -> None:
    signal, wait = pair("sync")
    cube, vector = SEND + signal.format(3) + wait.format(4) + COLLECT, wait.format(3) + ANSWER + signal.format(4)
    with pytest.raises(ProgramError, match="cannot continue"):
        run("a5", cube, vector, cross_core="p2p")


def test_signals_between_the_vector_cores() -> None:
    """Mode 1: each waits for both, so each sees what the other has stored."""
    signal, wait = pair("sync", " {ffts_mode = 1 : i32}")
    vector = f"""%place = arith.addi %sub, %c1 : index
    pto.store_scalar %seven, %x[%place] : !pto.ptr<i32, gm>, i32
    {signal.format(2)}{wait.format(2)}
    %a = pto.load_scalar %x[%c1] : !pto.ptr<i32, gm> -> i32
    %b = pto.load_scalar %x[%c2] : !pto.ptr<i32, gm> -> i32
    %sum = arith.addi %a, %b : i32
    %out = arith.addi %place, %c2 : index
    pto.store_scalar %sum, %x[%out] : !pto.ptr<i32, gm>, i32"""
    x = run("a2a3", "%unused = arith.constant 0 : i32", vector)
    assert x[:5].tolist() == [0, 7, 7, 14, 14]


@pytest.mark.parametrize(
    ("target", "family"),
    [
        ("a5", "cross_block"),
        ("a2a3", "cross_block"),
        ("a2a3", " {ffts_mode = 0 : i32}"),
        ("a5", " {ffts_mode = 0 : i32}"),
    ],
)
def test_signals_between_blocks(target: str, family: str) -> None:
    """The cube cores of all blocks wait for each other, and then add up what all have stored."""
    signal, wait = pair(family) if family.endswith("block") else pair("sync", family)
    cube = f"""%number = arith.index_cast %block : index to i32
    %mine = arith.addi %number, %one : i32
    pto.store_scalar %mine, %x[%block] : !pto.ptr<i32, gm>, i32
    {signal.format(6)}{wait.format(6)}
    %a = pto.load_scalar %x[%c0] : !pto.ptr<i32, gm> -> i32
    %b = pto.load_scalar %x[%c1] : !pto.ptr<i32, gm> -> i32
    %c = pto.load_scalar %x[%c2] : !pto.ptr<i32, gm> -> i32
    %ab = arith.addi %a, %b : i32
    %abc = arith.addi %ab, %c : i32
    %place = arith.addi %block, %c4 : index
    pto.store_scalar %abc, %x[%place] : !pto.ptr<i32, gm>, i32"""
    x = run(target, cube, "%unused = arith.constant 0 : i32", blocks=3)
    assert x[:8].tolist() == [1, 2, 3, 0, 6, 6, 6, 0]


@pytest.mark.parametrize("kinds", ["mix", "aic_only", "aiv_only"])
def test_a_barrier_of_all_cores(kinds: str) -> None:
    """Those that take part see what all of them have stored before."""
    barrier = f"pto.syncall() mode = #pto.sync_all_mode<hard>, core_type = #pto.sync_core_type<{kinds}>\n"
    before = "pto.store_scalar %seven, %x[%{place}] : !pto.ptr<i32, gm>, i32\n"
    after = """%a = pto.load_scalar %x[%{place}] : !pto.ptr<i32, gm> -> i32
    pto.store_scalar %a, %x[%{out}] : !pto.ptr<i32, gm>, i32\n"""
    cube = before.format(place="c0") + barrier
    vector = before.format(place="c1") + barrier
    cube += after.format(place="c1" if kinds == "mix" else "c0", out="c4")
    vector += after.format(place="c0" if kinds == "mix" else "c1", out="five")
    assert run("a5", cube, vector)[:6].tolist() == [7, 7, 0, 0, 7, 7]
