"""Sequences, triangles and random words (docs/reference/tiles.md, "Irregular operations")."""

from __future__ import annotations

import numpy as np
import pytest
from tile_run_helpers import run, tile
from tile_values import same, wrapped


@pytest.mark.parametrize("element", ["i16", "i32"])
@pytest.mark.parametrize("start", [0, -5, 32760])
@pytest.mark.parametrize("descending", [False, True])
def test_sequence(element: str, start: int, descending: bool) -> None:
    attribute = " {descending = true}" if descending else ""
    before = np.full((1, 64), 9)
    found = run(
        f"pto.tci ins(%s{attribute} : {element}) outs(%d : {{d}})",
        tile("d", element, before, (1, 50)), scalars={"s": (element, start)},
    )["d"]  # fmt: skip
    wanted = before.astype(found.dtype)
    wanted[0, :50] = [wrapped(start - c if descending else start + c, element) for c in range(50)]
    same(found, wanted)


def test_a_sequence_fills_one_row() -> None:
    found = run("pto.tci ins(%s : i32) outs(%d : {d})", tile("d", "i32", np.full((4, 8), 7)), scalars={"s": ("i32", 1)})
    assert found["d"].tolist() == [list(range(1, 9)), *[[7] * 8] * 3]


@pytest.mark.parametrize("element", ["i8", "i16", "i32", "f16", "bf16", "f32"])
@pytest.mark.parametrize("diagonal", [0, 3, -4, 40, -40])
@pytest.mark.parametrize("upper", [False, True])
def test_triangle(element: str, diagonal: int, upper: bool) -> None:
    valid = (13, 21)
    found = run(
        f"pto.ttri ins(%s {{upperOrLower = {int(upper)} : i32}} : i32) outs(%d : {{d}})",
        tile("d", element, np.full((16, 32), 5), valid), scalars={"s": ("i32", diagonal)},
    )["d"]  # fmt: skip
    wanted = np.full((16, 32), 5).astype(found.dtype)
    for r, c in np.ndindex(*valid):
        wanted[r, c] = c >= r + diagonal if upper else c <= r + diagonal
    same(found, wanted)


def philox(counter: int, keys: tuple[int, int], rounds: int) -> list[int]:
    """Four words of one 128-bit counter, with Python integers."""
    words = [counter >> (32 * i) & 0xFFFFFFFF for i in range(4)]
    k0, k1 = keys
    for _ in range(rounds):
        first, second = 0xD2511F53 * words[0], 0xCD9E8D57 * words[2]
        words = [
            (second >> 32) ^ words[1] ^ k0, second & 0xFFFFFFFF, (first >> 32) ^ words[3] ^ k1, first & 0xFFFFFFFF,
        ]  # fmt: skip
        k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
    return words


def test_published_vectors() -> None:
    """Published vectors of Philox 4x32 with 10 rounds."""
    assert philox(0, (0, 0), 10) == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
    ones = 0xFFFFFFFF
    assert philox((1 << 128) - 1, (ones, ones), 10) == [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]


@pytest.mark.parametrize("element", ["i32", "ui32"])
@pytest.mark.parametrize("rounds", [7, 10])
@pytest.mark.parametrize(
    ("shape", "valid"), [((4, 256), (4, 256)), ((3, 304), (3, 300)), ((2, 64), (2, 50)), ((1, 512), (1, 512))]
)
def test_random_words(element: str, rounds: int, shape: tuple[int, int], valid: tuple[int, int]) -> None:
    words = [-1, 5, -2, 0x7FFFFFFF, -1, -1]
    scalars = {f"s{i}": ("i32", w) for i, w in enumerate(words)}
    names = ", ".join(f"%s{i}" for i in range(6))
    found = run(
        f"pto.trandom ins({names} {{rounds = {rounds} : i32}} : {', '.join(['i32'] * 6)}) outs(%d : {{d}})",
        tile("d", element, np.full(shape, 3), valid), scalars=scalars,
    )["d"]  # fmt: skip
    keys = (words[0] & 0xFFFFFFFF, words[1] & 0xFFFFFFFF)
    counter = sum((w & 0xFFFFFFFF) << (32 * i) for i, w in enumerate(words[2:]))
    wanted = np.full(shape, 3, np.uint32)
    rows, cols = valid
    for r in range(rows):
        line: list[int] = []
        steps = -(-cols // 256)
        for step in range(steps):
            for lane in range(64):
                line += philox((counter + lane) % (1 << 128), keys, rounds)
            counter += 64 if step < steps - 1 else (cols - 1) % 64 + 1
        wanted[r, :cols] = line[:cols]
    same(found.view(np.uint32), wanted)
