"""Transfers with loops around their bursts, with padding, and by fractals: programs against models in Python."""

from __future__ import annotations

import numpy as np
import pytest
from function_programs import run

SPACES = {
    "mte_gm_ub": ("gm", "ub", "%n0, ", "i64, "), "mte_ub_gm": ("ub", "gm", "", ""),
    "mte_gm_l1": ("gm", "l1", "", ""), "mte_l1_ub": ("l1", "ub", "", ""),
}  # fmt: skip
BYTES = 8192


def moved(source: np.ndarray, burst: tuple[int, int, int, int], loops: list[tuple[int, int, int]]) -> np.ndarray:
    """Bytes after the bursts (length, count, source and destination stride) inside of loops, the first innermost."""
    found = np.zeros(BYTES, np.uint8)
    length, count, from_step, to_step = burst
    places = [(0, 0)]
    for number, source_step, target_step in loops[::-1]:
        places = [(a + i * source_step, b + i * target_step) for a, b in places for i in range(number)]
    for a, b in places:
        for i in range(count):
            start, end = a + i * from_step, b + i * to_step
            found[end : end + length] = source[start : start + length]
    return found


@pytest.mark.parametrize("depth", [0, 1, 2])
@pytest.mark.parametrize("op", SPACES)
def test_loops_around_bursts(op: str, depth: int) -> None:
    source_space, target_space, first, first_type = SPACES[op]
    s, d = f"!pto.ptr<f16, {source_space}>", f"!pto.ptr<f16, {target_space}>"
    source = np.random.default_rng(1).integers(0, 256, BYTES, np.uint8)
    memory = np.zeros(BYTES, np.uint8)
    loops = [(3, 512, 256), (2, 2048, 1024)][:depth]
    texts = [f"loop(%n{n}, %n{a}, %n{b})" for n, a, b in loops]
    types = ["loop i64, i64, i64"] * depth
    if op == "mte_l1_ub":
        # Counts of blocks, with gaps between them.
        numbers, burst = "%n2 nburst(%n2, %n1, %n0)", (64, 2, 96, 64)
    else:
        numbers, burst = "%n64 nburst(%n2, %n128, %n64)", (64, 2, 128, 64)
    kinds = ", ".join([s, d, f"{first_type}i64", "i64", "i64", "i64", *types])
    body = f"pto.{op} %s, %d, {first}{numbers} {' '.join(texts)} : {kinds}"
    run(body, {"s": (s, source.view(np.float16)), "d": (d, memory.view(np.float16))})
    assert (memory == moved(source, burst, loops)).all()


@pytest.mark.parametrize("sides", [(0, 0), (3, 5)])
def test_padding(sides: tuple[int, int]) -> None:
    """Rows of 10 numbers between as many others on each side, up to whole blocks."""
    left, right = sides
    g, u = "!pto.ptr<f32, gm>", "!pto.ptr<f32, ub>"
    source, memory = np.arange(40, dtype=np.float32) + 1, np.full(256, 9, np.float32)
    clause, types = (
        ("pad(%x)", "pad f32") if sides == (0, 0) else (f"pad(%x, %n{left}, %n{right})", "pad f32, i64, i64")
    )
    body = (
        f"pto.mte_gm_ub %g, %u, %n0, %n40 nburst(%n4, %n40, %n96) {clause} : {g}, {u}, i64, i64, i64, i64, i64, {types}"
    )
    run(body, {"g": (g, source), "u": (u, memory), "x": ("f32", -1.0)})
    for row in range(4):
        line = memory[24 * row : 24 * row + left + 10 + right]
        assert line[left : left + 10].tolist() == source[10 * row : 10 * row + 10].tolist()
        assert (line[:left] == -1).all() and (line[left + 10 :] == -1).all()


@pytest.mark.parametrize(("op", "left"), [("mte_l1_l0a", True), ("mte_l1_l0b", False)])
@pytest.mark.parametrize("flag", ["", " {transpose = true}"])
def test_fractals(op: str, left: bool, flag: str) -> None:
    """16 x 16 blocks of halves: block columns one after the other, in the source 5 blocks high, in the result 3."""
    s, d = "!pto.ptr<f16, l1>", f"!pto.ptr<f16, {'l0a' if left else 'l0b'}>"
    source = np.random.default_rng(4).random(5 * 6 * 256).astype(np.float16)
    out = np.zeros(4096, np.float16)
    body = f"pto.{op} %s, %d, %n1, %n2, %n2, %n3, %n5, %n3{flag} : {s}, {d}, i64, i64, i64, i64, i64, i64"
    run(body, {"s": (s, source), "d": (d, out)})
    blocks = source.reshape(6, 5, 16, 16)
    wanted = np.zeros((5, 3, 16, 16), np.float16)
    for m in range(2):
        for k in range(3):
            if flag:
                wanted[m, k] = blocks[2 + k, 1 + m].T
            else:
                wanted[k, m] = blocks[2 + k, 1 + m]
    assert (out[: wanted.size] == wanted.reshape(-1)).all() and not out[wanted.size :].any()
