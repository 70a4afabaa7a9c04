"""Contents of memory within a limit. Source: docs/report.md, "Limits"."""

from __future__ import annotations

import base64
import zlib
from itertools import pairwise

import numpy as np
import pytest
from read_pages import column

from pto_dialect.report import contents
from pto_dialect.report.contents import NONE, Contents


def read(made: Contents) -> dict[int, bytes | None]:
    places, chunks = made.document()
    table = {name: column(one) for name, one in places.items()}
    found: dict[int, bytes | None] = {}
    for number in range(1, len(table["chunk"])):
        chunk, offset, length = (int(table[name][number]) for name in ("chunk", "offset", "length"))
        whole = zlib.decompress(base64.b64decode(chunks[chunk])) if chunk else None
        found[number] = None if whole is None else whole[offset : offset + length]
    return found


def test_each_sequence_of_bytes_is_kept_once() -> None:
    made = Contents()
    one, other = np.arange(100, dtype=np.uint8), np.arange(100, 164, dtype=np.uint8)
    numbers = [made.add(one), made.add(other), made.add(one.copy())]
    assert numbers[0] == numbers[2] != numbers[1]
    assert read(made) == {numbers[0]: one.tobytes(), numbers[1]: other.tobytes()}
    assert not made.dropped


def test_what_strides_is_kept_in_the_order_of_its_elements() -> None:
    made = Contents()
    part = np.arange(64, dtype=np.uint8).reshape(8, 8)[::2, :4]
    number = made.add(part)
    assert read(made)[number] == part.tobytes()


def test_beginning_and_end_stay_when_there_is_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contents, "CHUNK", 1000)
    made = Contents(most=20_000)
    random = np.random.default_rng(1)
    blocks = [random.integers(0, 256, 900, np.uint8) for _ in range(60)]
    numbers = [made.add(block) for block in blocks]
    found = read(made)
    known = [found[number] is not None for number in numbers]
    assert made.dropped and known[0] and known[-1] and not all(known)
    assert all(found[number] in (None, block.tobytes()) for number, block in zip(numbers, blocks, strict=True))
    # One gap in the middle.
    assert sum(a != b for a, b in pairwise(known)) == 2
    assert sum(len(block) for block, there in zip(blocks, known, strict=True) if there) <= 21_000


def test_removed_values_are_cached_again_when_they_return(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contents, "CHUNK", 1000)
    made = Contents(most=4_000)
    random = np.random.default_rng(2)
    blocks = [random.integers(0, 256, 900, np.uint8) for _ in range(12)]
    numbers = [made.add(block) for block in blocks]
    again = made.add(blocks[4])
    assert again != numbers[4] and read(made)[again] == blocks[4].tobytes()


def test_what_exceeds_the_limit_is_not_cached(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contents, "_LARGEST", 50)
    made = Contents()
    assert made.add(np.zeros(51, np.uint8)) == NONE and made.dropped
