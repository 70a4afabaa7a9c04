"""Which queued instruction runs next, and what the scalar unit waits for. Source: docs/reference/execution.md,
"Scheduling".
"""

from __future__ import annotations

from typing import Any

import pytest

from pto_dialect.runtime.queues.run import Deadlock, OrderedCore, QueueCore, describe, run_queued
from pto_dialect.runtime.queues.schedule import Schedule
from pto_dialect.runtime.run.machine import Block, RunOptions
from pto_dialect.targets.choice import get_profile

FLAG, OTHER = ("PIPE_M", "PIPE_V", 3), ("PIPE_M", "PIPE_MTE3", 0)


def core(kind: type[QueueCore] = QueueCore, schedule: str = "") -> Any:
    """The core of a block of one core."""
    options = RunOptions(schedule=Schedule.parse(schedule) if schedule else None)
    (found,) = Block(0, 1, get_profile("a5"), options, False, ("all",), core_class=kind).cores
    return found


def emptied(one: Any) -> int:
    """How many entries of the queues can run."""
    count = 0
    while one.step():
        count += 1
    return count


@pytest.mark.parametrize(("there", "goes_on"), [(0, False), (1, False), (2, True), (3, True)])
def test_a_level_is_reached_with_as_many_tokens_and_takes_none(there: int, goes_on: bool) -> None:
    one = core()
    one.await_level("PIPE_V", FLAG, 2)
    assert one.waiting == 1
    one.flags[FLAG] = there
    assert one.step() is goes_on and one.flags[FLAG] == there and one.waiting == (not goes_on)
    late = core()
    late.flags[FLAG] = there
    # What is reached already waits for nothing.
    late.await_level("PIPE_V", FLAG, 2)
    assert late.waiting == (not goes_on)


@pytest.mark.parametrize("there", [0, 1, 2, 3])
def test_the_scalar_unit_waits_for_a_level(there: int) -> None:
    one = core()
    one.await_level("PIPE_S", FLAG, 2)
    assert one.waiting == 0
    one.flags[FLAG] = there
    turns = iter(one.join_scalar())
    if there < 2:
        next(turns)
        one.flags[FLAG] = 2
    assert list(turns) == [] and one.scalar_level is None and one.flags[FLAG] == max(there, 2)
    assert one.join_scalar() == ()


def test_the_scalar_unit_waits_for_tokens() -> None:
    one = core()
    one.await_signals("PIPE_S", (FLAG, OTHER))
    one.flags[FLAG] = 1
    turns = iter(one.join_scalar())
    next(turns)
    assert one.flags == {FLAG: 1}
    one.flags[OTHER] = 2
    assert list(turns) == [] and one.flags == {FLAG: 0, OTHER: 1} and one.scalar_wait == ()
    one.await_signals("PIPE_S", (OTHER,))
    assert one.join_scalar() == () and one.flags[OTHER] == 0 and one.scalar_wait == ()


@pytest.mark.parametrize("schedule", ["", "oldest", "newest"])
def test_a_wait_holds_its_pipe_and_no_other(schedule: str) -> None:
    one, done = core(schedule=schedule), list[str]()
    one.await_signals("PIPE_V", (FLAG,))
    one.issue("PIPE_V", 1, done.append, "behind")
    one.issue("PIPE_M", 2, done.append, "beside")
    emptied(one)
    assert done == ["beside"] and one.waiting == 2
    one.signal("PIPE_M", ((one, FLAG),))
    emptied(one)
    assert done == ["beside", "behind"] and one.waiting == 0 and one.flags[FLAG] == 0


def test_pipes_in_turn_keep_the_order_of_the_text() -> None:
    done = list[str]()
    for turns, wanted in (((), ["V", "MTE3", "M"]), (("PIPE_M", "PIPE_V"), ["MTE3"])):
        one = core(schedule="newest")
        one.in_turn = turns
        one.chooser.steps = lambda: 0
        one.await_signals("PIPE_M", (FLAG,))
        one.issue("PIPE_M", 1, done.append, "M")
        one.issue("PIPE_MTE3", 2, done.append, "MTE3")
        one.issue("PIPE_V", 3, done.append, "V")
        emptied(one)
        assert done == [name for name in wanted if name != "M"]
        one.flags[FLAG] = 1
        emptied(one)
        assert sorted(done) == ["M", "MTE3", "V"]
        # Without an order, what waits comes last; in turn, the younger pipe has waited for it.
        assert done.index("M") < done.index("V") if turns else done[-1] == "M"
        done.clear()


@pytest.mark.parametrize("waiting", [True, False])
@pytest.mark.parametrize("kind", [QueueCore, OrderedCore])
def test_the_scalar_unit_waits_for_all_that_is_queued(kind: Any, waiting: bool) -> None:
    one = core(kind)
    if waiting:
        one.await_signals("PIPE_V", (FLAG,))
    assert len([*zip(one.join_all(), range(3), strict=False)]) == (3 if waiting else 0)


def test_an_ordered_core_takes_no_token_before_those_that_wait() -> None:
    one, done = core(OrderedCore), list[str]()
    one.await_signals("PIPE_V", (FLAG,))
    one.flags[OTHER] = 1
    one.await_signals("PIPE_V", (OTHER,))
    one.issue("PIPE_V", 1, done.append, "behind both")
    assert one.flags[OTHER] == 1 and emptied(one) == 0
    one.flags[FLAG] = 1
    assert emptied(one) == 3 and done == ["behind both"] and set(one.flags.values()) == {0}
    one.issue("PIPE_V", 1, done.append, "at once")
    assert done[1:] == ["at once"] and one.waiting == 0


def test_what_each_unit_waits_for_is_reported() -> None:
    one = core()
    one.await_signals("PIPE_V", (FLAG, OTHER))
    one.await_level("PIPE_M", OTHER, 2)
    one.await_level("PIPE_MTE1", (7, "x"), 1)
    one.issue("PIPE_MTE2", 1, print, OTHER)
    one.await_signals("PIPE_S", (FLAG,))
    one.flags[FLAG] = 1
    told = ["PIPE_V waits for a flag from PIPE_M, EVENT_ID0", "PIPE_M waits for a flag from PIPE_M, EVENT_ID0",
            "PIPE_MTE1 waits for signal x of another core"]  # fmt: skip
    assert [text for text, _ in one.blocked()] == [f"core: {text}" for text in told]
    one.await_level("PIPE_S", OTHER, 1)
    assert one.blocked()[3:] == [("core: PIPE_S waits for a flag from PIPE_M, EVENT_ID0", 0)]
    assert describe(("queue", 4)) == "signal 4 of another core"


def test_a_stopped_run_may_be_continued() -> None:
    """Called when nothing can; what it lets continue runs, and where it says no, the program is stuck."""
    one, asked = core(), list[int]()

    def program() -> Any:
        yield from one.join_all()
        return ["ended"]

    def relieve() -> bool:
        asked.append(1)
        one.flags[FLAG] = 1
        return len(asked) < 3

    one.await_signals("PIPE_V", (FLAG,))
    one.await_signals("PIPE_V", (FLAG,))
    assert run_queued([(one, program())], relieve) == [["ended"]] and len(asked) == 2
    one.flags.clear()
    for allowed in (None, lambda: False):
        stuck = core()
        stuck.await_signals("PIPE_V", (FLAG,))
        with pytest.raises(Deadlock) as caught:
            run_queued([(stuck, iter(()))], allowed)  # pyright: ignore[reportArgumentType]
        assert caught.value.notes == ("core: PIPE_V waits for a flag from PIPE_M, EVENT_ID3",)
