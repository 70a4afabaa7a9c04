"""What a read reports about the bytes that it finds: never written, good, or made of such that were never written."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from pto_dialect.runtime.memory.spaces import Arena
from pto_dialect.sanitize.checks.unwritten import DOUBTFUL, GOOD, NEVER, Unwritten
from pto_dialect.sanitize.context import Context
from pto_dialect.sanitize.instrument.observer import RunObserver
from pto_dialect.sanitize.options import SanitizeOptions
from pto_dialect.sanitize.state import shadow as module
from pto_dialect.sanitize.state.arena import InstrumentedArena
from pto_dialect.sanitize.state.regions import Region

ACTOR: Any = SimpleNamespace(pipe="PIPE_V")
MARK: Any = SimpleNamespace(site=3, loops=())
MARKS = {0: NEVER, 64: GOOD, 128: DOUBTFUL, 192: NEVER}


def read(monkeypatch: pytest.MonkeyPatch, places: int, *parts: tuple[int, int]) -> tuple[bool, bool, list[list[int]]]:
    """Whether reads of ``parts`` find good and doubtful bytes, and the first and last offset of all that are not good
    in each."""
    monkeypatch.setattr(module, "MAX_RANGES", places)
    observer = RunObserver(SanitizeOptions(), False)
    arena = InstrumentedArena(Arena("ub", 256), observer, np.zeros(256, np.uint8))
    check = Unwritten(observer)
    for start, mark in MARKS.items():
        region = Region(start, 64)
        check._mark(arena, region, arena.shadow.locate(region), mark)
    context = Context(ACTOR, MARK)
    for start, stop in parts:
        region = Region(start, stop - start)
        check.read(context, arena, region, arena.shadow.locate(region))
    assert list(context.unwritten) == [(arena, 3)] * len(context.offsets)
    return context.good, context.doubtful, [[int(part[0]), int(part[-1]) + 1] for part in context.offsets]


@pytest.mark.parametrize("places", [1024, 2])
@pytest.mark.parametrize(
    ("parts", "good", "doubtful", "found"),
    [
        ([(64, 128)], True, False, []),
        ([(0, 64)], False, False, [[0, 64]]),
        ([(128, 192)], False, True, [[128, 192]]),
        ([(128, 192), (0, 64)], False, True, [[128, 192], [0, 64]]),
        ([(128, 192), (64, 128)], True, True, [[128, 192]]),
        ([(64, 128), (0, 64)], True, False, [[0, 64]]),
        ([(0, 128)], True, False, [[0, 64]]),
        ([(64, 192)], True, True, [[128, 192]]),
        ([(0, 256)], True, True, [[0, 256]]),
        ([(128, 256)], False, True, [[128, 256]]),
    ],
)
def test_marks_of_what_is_read(
    parts: list[tuple[int, int]],
    good: bool,
    doubtful: bool,
    found: list[list[int]],
    places: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert read(monkeypatch, places, *parts) == (good, doubtful, found)
