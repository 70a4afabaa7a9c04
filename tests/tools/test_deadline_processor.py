"""Limits of processor time: waiting does not count, up to a bound by the clock."""

from __future__ import annotations

import threading
from collections.abc import Callable
from time import monotonic, sleep

import pytest

from pto_dialect.deadline import PATIENCE, TimedOut, deadline


def limited(work: Callable[[], None], seconds: float, thread: str) -> bool:
    """Whether work is cut off by its limit of processor time."""
    cut: list[bool] = []

    def run() -> None:
        try:
            with deadline(seconds, processor=True):
                work()
            cut.append(False)
        except TimedOut:
            cut.append(True)

    if thread == "main":
        run()
    else:
        other = threading.Thread(target=run)
        other.start()
        other.join()
    return cut == [True]


def wait(seconds: float) -> None:
    end = monotonic() + seconds
    while monotonic() < end:
        sleep(0.01)


def compute() -> None:
    end = monotonic() + 30
    while monotonic() < end:
        pass


@pytest.mark.parametrize("thread", ["main", "other"])
def test_waiting_does_not_count(thread: str) -> None:
    assert not limited(lambda: wait(0.6), 0.3, thread)


@pytest.mark.parametrize("thread", ["main", "other"])
def test_computing_counts(thread: str) -> None:
    assert limited(compute, 0.1, thread)


@pytest.mark.parametrize("thread", ["main", "other"])
def test_the_clock_bounds_waiting(thread: str) -> None:
    begun = monotonic()
    assert limited(lambda: wait(60), 0.05, thread)
    assert monotonic() - begun >= 0.05 * PATIENCE * 0.9
