"""Two tiles that one pipe loads into the same bytes: an error where both are used, nothing where they alternate."""

from __future__ import annotations

import numpy as np
import pytest
from sanitize_programs import instrumented

from pto_dialect.diagnostics.diagnostic import Severity

T = "!pto.tile_buf<vec, 8x16xf32>"
VIEW, PART = "!pto.tensor_view<?x?xf32>", "!pto.partition_tensor_view<8x16xf32>"
HEAD = """module attributes {pto.target_arch = "a5"} {
  func.func @k(%x: !pto.ptr<f32>, %w: !pto.ptr<f32>, %y: !pto.ptr<f32>) attributes {pto.entry} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %at0 = arith.constant 0 : i64
    %at1 = arith.constant AT : i64
    %at2 = arith.constant 4096 : i64
"""
VIEWS = [
    line
    for name in "xwy"
    for line in (
        f"%{name}v = pto.make_tensor_view %{name}, shape = [%c8, %c16], strides = [%c16, %c1] : {VIEW}",
        f"%{name}p = pto.partition_view %{name}v, offsets = [%c0, %c0], sizes = [%c8, %c16] : {VIEW} -> {PART}",
    )
]
TILES = [f"%{name} = pto.alloc_tile addr = %at{number} : {T}" for number, name in enumerate("abs")]


def flag(source: str, target: str) -> list[str]:
    pipes = f'"PIPE_{source}", "PIPE_{target}", "EVENT_ID0"'
    return [f"pto.set_flag[{pipes}]", f"pto.wait_flag[{pipes}]"]


def load(view: str, tile: str) -> str:
    return f"pto.tload ins(%{view} : {PART}) outs(%{tile} : {T})"


def add(one: str, other: str) -> str:
    return f"pto.tadd ins(%{one}, %{other} : {T}, {T}) outs(%s : {T})"


OUT = [*flag("V", "MTE3"), f"pto.tstore ins(%s : {T}) outs(%yp : {PART})"]
BACK = flag("V", "MTE2")
BOTH = [load("xp", "a"), load("wp", "b"), *flag("MTE2", "V"), add("a", "b"), *OUT]
TURNS = [
    load("xp", "a"),
    *flag("MTE2", "V"),
    add("a", "a"),
    *BACK,
    load("wp", "b"),
    *flag("MTE2", "V"),
    add("b", "b"),
    *OUT,
]
LATER = [load("xp", "a"), load("wp", "b"), *flag("MTE2", "V"), add("b", "b"), add("a", "a"), *OUT]
NEVER = [load("xp", "a"), "pto.barrier #pto.pipe<PIPE_MTE2>", load("wp", "b"), *flag("MTE2", "V"), add("b", "b"), *OUT]
REPEATED = [
    load("xp", "a"),
    "pto.barrier #pto.pipe<PIPE_MTE2>",
    load("wp", "a"),
    *flag("MTE2", "V"),
    add("a", "a"),
    *OUT,
]


def overlaps(lines: list[str], address: int = 0, by_hand: bool = True) -> list[Severity]:
    chosen = lines if by_hand else [line for line in lines if "_flag" not in line and "barrier" not in line]
    text = HEAD.replace("AT", str(address)) + "\n".join([*VIEWS, *TILES, *chosen, "return"]) + "\n  }\n}\n"
    kernel = instrumented(text, verify=False)
    kernel.run([np.ones((8, 16), np.float32) for _ in range(3)], 1)
    found = (finding.diagnostic() for finding in kernel.observer.findings.all)
    return [one.severity for one in found if one.rule == "mem-overlap"]


@pytest.mark.parametrize("by_hand", [True, False])
@pytest.mark.parametrize("lines", [BOTH, LATER], ids=["both", "later"])
def test_two_loads_whose_tiles_are_both_used(lines: list[str], by_hand: bool) -> None:
    assert overlaps(lines, 0, by_hand) == [Severity.ERROR]
    assert overlaps(lines, 256, by_hand) == [Severity.ERROR]
    assert overlaps(lines, 512, by_hand) == []


@pytest.mark.parametrize("by_hand", [True, False])
@pytest.mark.parametrize("lines", [TURNS, NEVER, REPEATED], ids=["turns", "never used", "one tile"])
def test_loads_that_alternate(lines: list[str], by_hand: bool) -> None:
    assert overlaps(lines, 0, by_hand) == []
