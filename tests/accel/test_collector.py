"""Pausing the collector leaves it as it was, and nothing uncollected for good."""

import gc
import subprocess
import sys
import weakref
from collections.abc import Iterator

import pytest

from pto_dialect.accel import collector
from pto_dialect.accel.collector import paused


class Knot:
    """An object that only the collector can free."""

    def __init__(self) -> None:
        self.me = self


def knots(number: int) -> list[weakref.ref[Knot]]:
    return [weakref.ref(Knot()) for _ in range(number)]


@pytest.fixture(autouse=True)
def unfrozen(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The collector as Python has it, not as all tests share it."""
    monkeypatch.setattr(collector._Aside, "count", 0)
    monkeypatch.setattr(collector._Aside, "shared", False)
    before = gc.get_threshold()
    gc.unfreeze()
    gc.set_threshold(700, 10, 10)
    yield
    gc.set_threshold(*before)
    gc.freeze()


@pytest.fixture
def rounds(request: pytest.FixtureRequest) -> list[int]:
    """The generations of which collections begin."""
    seen: list[int] = []

    def note(phase: str, info: dict[str, int]) -> None:
        if phase == "start":
            seen.append(info["generation"])

    gc.callbacks.append(note)
    request.addfinalizer(lambda: gc.callbacks.remove(note))
    return seen


def test_what_is_made_meanwhile_is_not_looked_at(rounds: list[int]) -> None:
    if gc.get_freeze_count():
        pytest.skip("somebody keeps objects from the collector")
    gc.collect()
    rounds.clear()
    with paused():
        made = [[number] for number in range(50_000)]
    for _ in range(100):
        made.append([])
    assert gc.isenabled() and rounds == [] and gc.get_freeze_count() == 0


def test_garbage_is_found_by_a_full_collection() -> None:
    if gc.get_freeze_count():
        pytest.skip("somebody keeps objects from the collector, as Python 3.12 does")
    with paused():
        left = knots(5_000)
    assert any(one() is not None for one in left)
    gc.collect()
    assert all(one() is None for one in left)


def test_garbage_is_found_before_there_is_much(monkeypatch: pytest.MonkeyPatch, rounds: list[int]) -> None:
    if gc.get_freeze_count():
        pytest.skip("somebody keeps objects from the collector")
    monkeypatch.setattr(collector, "_MOST", 2_000)
    with paused(anew=True):
        left = knots(5_000)
    with paused():
        pass
    assert any(one() is not None for one in left)
    rounds.clear()
    with paused(anew=True):
        assert all(one() is None for one in left) and rounds == [2]


def test_the_collector_of_others_stays_off() -> None:
    gc.disable()
    try:
        with paused(anew=True):
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


FROZEN = """
import gc
from pto_dialect.accel.collector import paused
gc.freeze()
count = gc.get_freeze_count()
for _ in range(2):
    with paused():
        kept = [[] for _ in range(5000)]
assert gc.get_freeze_count() == count
"""


def test_objects_that_somebody_froze_stay_frozen() -> None:
    subprocess.run([sys.executable, "-c", FROZEN], check=True)
