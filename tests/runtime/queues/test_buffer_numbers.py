"""Buffer ids as locks: what each pipe waits for and announces, call by call."""

from __future__ import annotations

from typing import Any

import pytest

from pto_dialect.runtime.faults import Fault
from pto_dialect.runtime.kernels.sync.buffers import check_number, get_buffer, release_buffer


class Recorder:
    """A core that notes what is waited for and signalled, as (what, pipe, kind, number, level)."""

    def __init__(self) -> None:
        self.state: dict[Any, Any] = {}
        self.calls: list[tuple[Any, ...]] = []

    def await_level(self, pipe: str, key: Any, level: int, line: int) -> None:
        self.calls.append(("wait", pipe, key.kind, key.number, level))

    def signal(self, pipe: str, targets: Any) -> None:
        self.calls += [("signal", pipe, key.kind, key.number) for core, key in targets if core is self]

    def after(self, *steps: tuple[Any, str, int, int]) -> list[tuple[Any, ...]]:
        """What the last step does."""
        for function, pipe, number, mode in steps:
            self.calls.clear()
            function(self, pipe, number, mode)
        return list(self.calls)


GET, RELEASE = get_buffer, release_buffer
V, M = "PIPE_V", "PIPE_MTE2"


def test_a_get_waits_for_all_releases_before_it() -> None:
    assert Recorder().after((GET, V, 3, 0)) == [("wait", V, "release", 3, 0)]
    steps = [(GET, V, 3, 0), (RELEASE, V, 3, 0), (GET, M, 3, 0)]
    assert Recorder().after(*steps) == [("wait", M, "release", 3, 1)]
    assert Recorder().after(*steps, (RELEASE, M, 3, 0), (GET, V, 3, 0)) == [("wait", V, "release", 3, 2)]
    # Numbers are locks of their own.
    assert Recorder().after(*steps[:2], (GET, M, 4, 0)) == [("wait", M, "release", 4, 0)]


def test_a_get_that_only_marks_waits_for_nothing() -> None:
    assert Recorder().after((GET, V, 3, 0), (RELEASE, V, 3, 0), (GET, M, 3, 1)) == []


def test_a_release() -> None:
    assert Recorder().after((GET, V, 3, 0), (RELEASE, V, 3, 0)) == [("signal", V, "release", 3)]


def test_a_release_of_what_others_hold_waits_for_them() -> None:
    steps = [(GET, V, 5, 1), (GET, M, 5, 1), (RELEASE, V, 5, 1)]
    first = [
        ("signal", M, "mark", 5),
        ("wait", V, "mark", 5, 1),
        ("wait", V, "release", 5, 0),
        ("signal", V, "release", 5),
    ]
    assert Recorder().after(*steps) == first
    # The other one holds it alone now: no marks, but the release before it.
    last = [("wait", M, "mark", 5, 1), ("wait", M, "release", 5, 1), ("signal", M, "release", 5)]
    assert Recorder().after(*steps, (RELEASE, M, 5, 1)) == last


def test_what_is_held_twice_is_released_twice() -> None:
    steps = [(GET, M, 5, 1), (GET, M, 5, 1), (RELEASE, M, 5, 1), (GET, V, 5, 1)]
    assert ("signal", M, "mark", 5) in Recorder().after(*steps, (RELEASE, V, 5, 1))
    after = Recorder().after(*steps[:3], (RELEASE, M, 5, 1), (GET, V, 5, 1), (RELEASE, V, 5, 1))
    assert ("signal", M, "mark", 5) not in after


def test_names_of_what_is_waited_for() -> None:
    texts: list[str] = []
    recorder: Any = Recorder()
    recorder.await_level = lambda pipe, key, level, line: texts.append(key.text)
    recorder.after((GET, V, 5, 0), (GET, M, 5, 1), (RELEASE, V, 5, 1))
    release = "the release of buffer 5"
    assert texts == [release, "what is bracketed with buffer 5", release]


@pytest.mark.parametrize("call", [GET, RELEASE])
def test_numbers_that_do_not_exist(call: Any) -> None:
    with pytest.raises(Fault):
        call(Recorder(), V, 32, 0)


@pytest.mark.parametrize("number", [-1, 0, 31, 32])
def test_range(number: int) -> None:
    if 0 <= number <= 31:
        assert check_number(number) == number
        return
    with pytest.raises(Fault, match=f"0 to 31, found {number}") as caught:
        check_number(number)
    assert caught.value.rule == "sync-buf-range"
