"""Which tasks wait for which, and in which orders they run."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pto_dialect.runtime.errors import BindingError
from pto_dialect.runtime.tasks import Task, Use, connect, earlier, in_order

MEMORY = np.zeros(64, np.uint8)


def task(name: str, *uses: tuple[int, int, str], after: tuple[Task, ...] = ()) -> Task:
    return Task(name, [Use(MEMORY[low:high], direction) for low, high, direction in uses], after)


def waits(*tasks: Task) -> dict[str, set[str]]:
    connect(tasks)
    return {one.name: {other.name for other in one.waits} for one in tasks}


def test_readers_and_writers_wait_for_the_last_writer() -> None:
    found = waits(
        task("w", (0, 8, "out")),
        task("r1", (0, 8, "in")),
        task("r2", (4, 6, "in")),
        task("w2", (0, 8, "inout")),
        task("r3", (0, 8, "in")),
        task("else", (8, 16, "in")),
    )
    # Earlier readers of what is overwritten are not waited for.
    assert found == {"w": set(), "r1": {"w"}, "r2": {"w"}, "w2": {"w"}, "r3": {"w2"}, "else": set()}


def test_writers_of_parts_stay_known() -> None:
    found = waits(
        task("left", (0, 8, "out")), task("right", (8, 16, "out")), task("middle", (4, 12, "inout")),
        task("all", (0, 16, "in")), task("none", (0, 16, "none")),
    )  # fmt: skip
    assert found["middle"] == {"left", "right"}
    assert found["all"] == {"left", "right", "middle"}
    assert found["none"] == set()


def test_named_tasks_are_waited_for() -> None:
    first = task("a", (0, 8, "in"))
    assert waits(first, task("b", (0, 8, "out"), after=(first,)))["b"] == {"a"}


@given(st.lists(st.tuples(st.integers(0, 7), st.integers(1, 8), st.sampled_from(["in", "out", "inout"])), max_size=12),
       st.integers(0, 99))  # fmt: skip
def test_random_orders_keep_every_wait(uses, seed: int) -> None:
    tasks = [task(str(n), (low, low + size, direction)) for n, (low, size, direction) in enumerate(uses)]
    connect(tasks)
    order = in_order(tasks, f"random:{seed}")
    assert sorted(one.name for one in order) == sorted(one.name for one in tasks)
    place = {one: number for number, one in enumerate(order)}
    before = earlier(tasks)
    assert all(place[other] < place[one] for one in tasks for other in before[one])
    for number, one in enumerate(tasks):
        for other in tasks[:number]:
            (low, high), (first, last) = one.uses[0].span, other.uses[0].span
            written = other.uses[0].direction != "in"
            assert not (written and low < last and first < high) or other in before[one]


def test_the_same_seed_gives_the_same_order() -> None:
    tasks = [task(str(n)) for n in range(20)]
    connect(tasks)
    assert in_order(tasks, "submitted") == tasks
    assert in_order(tasks, "random:3") == in_order(tasks, "random:3") != tasks
    assert sorted(task.name for task in in_order(tasks, "random:" + "9" * 20)) == sorted(task.name for task in tasks)


@pytest.mark.parametrize("text", ["random", "random:", "random:x", "sorted", "random:-1", "random:" + "9" * 21])
def test_other_orders(text: str) -> None:
    with pytest.raises(BindingError, match="is no order of tasks, expected submitted or random:SEED"):
        in_order([], text)
