"""When an instruction may begin, by its data. Source: docs/reference/cycles.md, "Pipes"."""

from __future__ import annotations

from typing import Any

import pytest

from pto_dialect.sanitize.instrument import cycles
from pto_dialect.sanitize.instrument.cycle_waits import Cause
from pto_dialect.sanitize.instrument.cycles import Access, CycleObserver
from pto_dialect.sanitize.state.regions import Region


class Memory:
    """Only its identity matters."""


ONE, OTHER = Memory(), Memory()


def observer() -> Any:
    found: Any = object.__new__(CycleObserver)
    found.accessed = {}
    return found


def access(of: Any, pipe: str, site: int, end: float, *regions: tuple[Memory, int, int, bool]) -> None:
    """``pipe`` accesses bytes from, to, as written or read, until ``end``."""
    of.regions = [(memory, Region(low, high - low), writes) for memory, low, high, writes in regions]
    of.remember(Access(pipe, site, -1), end)


def ready(of: Any, *regions: tuple[Memory, int, int, bool]) -> tuple[float, Cause | None]:
    of.regions = [(memory, Region(low, high - low), writes) for memory, low, high, writes in regions]
    return latest(of)


def latest(of: Any) -> tuple[float, Cause | None]:
    """When the operation may begin, and the first of the causes that hold it back so long."""
    return max(((time, cause) for time, cause, _ in of.ready(9)), key=lambda one: one[0], default=(0, None))


@pytest.mark.parametrize(
    ("low", "high", "meets"),
    [
        (0, 64, False),
        (0, 65, True),
        (64, 65, True),
        (127, 128, True),
        (128, 192, False),
        (127, 192, True),
        (0, 192, True),
    ],
)
def test_only_bytes_in_common_count(low: int, high: int, meets: bool) -> None:
    """Bytes 64 to 127 are written until 5 and read until 8."""
    of = observer()
    access(of, "PIPE_MTE2", 1, 5, (ONE, 64, 128, True))
    access(of, "PIPE_V", 2, 8, (ONE, 64, 128, False))
    read, write = (5, Cause("reads", "PIPE_MTE2", 9, 1)), (8, Cause("overwrites", "PIPE_V", 9, 2))
    assert ready(of, (ONE, low, high, False)) == (read if meets else (0, None))
    assert ready(of, (ONE, low, high, True)) == (write if meets else (0, None))
    assert ready(of, (OTHER, low, high, True)) == (0, None)


def test_the_latest_of_several_accesses_is_the_cause() -> None:
    of = observer()
    access(of, "PIPE_MTE2", 1, 5, (ONE, 0, 64, True))
    access(of, "PIPE_V", 2, 4, (ONE, 0, 64, True))
    assert ready(of, (ONE, 0, 64, True)) == (5, Cause("rewrites", "PIPE_MTE2", 9, 1))
    access(of, "PIPE_V", 3, 5, (ONE, 0, 64, True), (ONE, 0, 64, False))
    assert ready(of, (ONE, 0, 64, True)) == (5, Cause("rewrites", "PIPE_MTE2", 9, 1))
    access(of, "PIPE_MTE3", 4, 7, (ONE, 0, 64, False))
    access(of, "PIPE_V", 5, 7, (ONE, 0, 64, False))
    access(of, "PIPE_V", 6, 6, (ONE, 0, 64, False))
    assert ready(of, (ONE, 0, 64, True)) == (7, Cause("overwrites", "PIPE_MTE3", 9, 4))
    assert ready(of, (ONE, 0, 64, False)) == (5, Cause("reads", "PIPE_MTE2", 9, 1))
    access(of, "PIPE_V", 7, 9, (ONE, 32, 96, True))
    assert ready(of, (ONE, 0, 32, True))[0] == 7
    assert ready(of, (ONE, 0, 33, True)) == (9, Cause("rewrites", "PIPE_V", 9, 7))


def test_the_range_that_was_left_alone_longest_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cycles, "_MOST", 2)
    of = observer()
    for place in (0, 64, 0, 128):
        access(of, "PIPE_V", 1 + place, 1 + place, (ONE, place, place + 64, True))
    assert [ready(of, (ONE, place, place + 64, False))[0] for place in (0, 64, 128)] == [1, 0, 129]


def test_interleaved_runs_do_not_depend_on_each_other() -> None:
    """Two cores fill rows of 32 bytes alternately: between the first and the last byte of both, none in common."""
    of = observer()
    even, odd = Region(0, 32, ((8, 64),)), Region(32, 32, ((8, 64),))
    of.regions = [(ONE, even, True)]
    of.remember(Access("PIPE_MTE3", 1, -1), 100.0)
    of.regions = [(ONE, odd, True)]
    assert latest(of) == (0, None)
    of.regions = [(ONE, even, False)]
    assert latest(of) == (100, Cause("reads", "PIPE_MTE3", 9, 1))
    of.regions = [(ONE, Region(31, 2), False)]
    assert latest(of)[0] == 100


def test_each_pipe_and_kind_of_access_holds_back_an_operation() -> None:
    """The steps of all of them are known, so that a run without one of them can be timed."""
    of = observer()
    of.regions = [(ONE, Region(0, 64), True)]
    of.remember(Access("PIPE_MTE2", 1, 11), 5.0)
    of.regions = [(ONE, Region(0, 64), False)]
    of.remember(Access("PIPE_V", 2, 12), 8.0)
    of.regions = [(ONE, Region(32, 64), True)]
    of.remember(Access("PIPE_MTE2", 3, 13), 6.0)
    of.regions = [(ONE, Region(0, 64), True)]
    assert sorted((step, cause.kind) for _, cause, step in of.ready(9)) == [(12, "overwrites"), (13, "rewrites")]
    of.regions = [(ONE, Region(0, 32), False)]
    assert of.ready(9) == [(5.0, Cause("reads", "PIPE_MTE2", 9, 1), 11)]
