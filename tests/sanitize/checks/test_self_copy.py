"""Copies inside of one memory that overwrite what they read. Source: docs/reference/instrumentation.md, "Findings"."""

from __future__ import annotations

from random import Random
from types import SimpleNamespace
from typing import Any

import pytest

from pto_dialect.sanitize.checks import self_copy
from pto_dialect.sanitize.state.regions import Region

Copied = list[tuple[object, Region, bool]]


def overwritten(
    copied: Copied, monkeypatch: pytest.MonkeyPatch, repeated: bool = False
) -> list[tuple[object, set[int]]]:
    """The memories and bytes that a message names for a copy."""
    found: list[tuple[object, set[int]]] = []

    def tell(observer: Any, context: Any, arena: object, shared: Any) -> None:
        found.append((arena, {int(byte) for byte in shared}))

    monkeypatch.setattr(self_copy, "_report", tell)
    observer: Any = SimpleNamespace(sites=[None], findings=SimpleNamespace(repeated=lambda rule, site: repeated))
    context: Any = SimpleNamespace(mark=SimpleNamespace(site=0), copied=copied)
    self_copy.settle(observer, context)
    return found


ONE, OTHER = "one memory", "another one"


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        ((0, 8), (8, 8), set()),
        ((8, 8), (0, 8), set()),
        ((0, 8), (7, 8), {7}),
        ((7, 8), (0, 8), {7}),
        ((0, 8), (0, 8), set()),
        ((0, 8), (4, 2), {4, 5}),
        ((4, 2), (0, 8), {4, 5}),
    ],
)
def test_bytes_that_are_read_and_written(
    source: tuple[int, int], target: tuple[int, int], expected: set[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    copied: Copied = [(ONE, Region(*source), False), (ONE, Region(*target), True)]
    told = [(ONE, expected)] if expected else []
    assert overwritten(copied, monkeypatch) == told
    assert overwritten(copied, monkeypatch, repeated=True) == []
    assert overwritten(copied[:1], monkeypatch) == overwritten(copied[1:], monkeypatch) == []
    # Places of two memories have nothing in common, whatever their numbers are.
    apart: Copied = [(ONE, Region(*source), False), (OTHER, Region(*target), True)]
    assert overwritten(apart, monkeypatch) == []
    beside: Copied = [(OTHER, Region(0, 64), True), *copied, (OTHER, Region(64, 8), False)]
    assert overwritten(beside, monkeypatch) == told


@pytest.mark.parametrize("seed", range(8))
def test_several_parts_of_one_copy(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    random = Random(seed)
    for _ in range(30):
        sizes = [random.choice((1, 2, 4)) for _ in range(random.randint(1, 3))]
        places: list[list[int]] = []
        copied: Copied = []
        for writes in (False, True):
            begin = random.randrange(6)
            parts: list[int] = []
            for size in sizes:
                begin += random.randrange(3)
                copied.append((ONE, Region(begin, size), writes))
                parts += range(begin, begin + size)
                begin += size
            places.append(parts)
        moved = [(one, other) for one, other in zip(*places, strict=True) if one != other]
        expected = {one for one, _ in moved if one in places[1]} | {other for _, other in moved if other in places[0]}
        assert overwritten(copied, monkeypatch) == ([(ONE, expected)] if expected else [])
