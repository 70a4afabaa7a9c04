"""Times of instructions: slots, attempts that are repeated, and what other processes have measured."""

from __future__ import annotations

from typing import Any

import pytest

from pto_dialect.runtime.run import profiling
from pto_dialect.runtime.run.profiling import ProfileLog


class Op:
    """An operation, as far as it is named."""

    def __init__(self, name: str) -> None:
        self.name = name


def log(*names: str | None) -> ProfileLog:
    found = ProfileLog()
    operations: Any = [None if name is None else Op(name) for name in names]
    assert [found.slot(op) for op in operations] == list(range(len(names)))
    return found


def test_operations_are_added_up_slowest_first() -> None:
    found = log("pto.a", "pto.b", "pto.a", None)
    for slot, seconds in ((0, 1.0), (1, 2.5), (2, 2.0), (2, 0.5), (3, 0.25)):
        found.add(slot, seconds)
    assert found.by_operation() == [("pto.a", 3, 3.5), ("pto.b", 1, 2.5), ("?", 1, 0.25)]


def test_an_attempt_that_is_repeated_does_not_count() -> None:
    found = log("pto.a", "pto.b")
    found.add(0, 1.0)
    mark = found.mark()
    found.add(0, 2.0)
    found.add(1, 3.0)
    assert found.since(mark) == ([1, 1], [2.0, 3.0])
    late: Any = Op("pto.c")
    found.add(found.slot(late), 4.0)
    assert found.since(mark) == ([1, 1, 1], [2.0, 3.0, 4.0])
    found.rewind(mark)
    assert (found.calls, found.seconds) == ([1, 0, 1], [1.0, 0.0, 4.0])


def test_times_of_another_process_are_added() -> None:
    found = log("pto.a", "pto.b")
    found.add(1, 1.0)
    found.add_times(None)
    # It has a slot that only it has made.
    found.add_times(([1, 2, 9], [0.5, 0.25, 9.0]))
    assert (found.calls, found.seconds) == ([1, 3], [0.5, 1.25])


def test_a_call_that_runs_later_is_timed_then(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter((10.0, 10.5))
    monkeypatch.setattr(profiling, "perf_counter", lambda: next(clock))
    found, given = log("pto.a", "pto.b"), []
    call = found.timed(1, lambda *arguments: given.append(arguments))
    assert found.calls == [0, 0]
    call(1, 2)
    assert given == [(1, 2)] and (found.calls, found.seconds) == ([0, 1], [0.0, 0.5])
