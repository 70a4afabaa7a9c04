"""The critical path of schedules that were worked out by hand, and of random ones against all of their paths."""

from __future__ import annotations

import random
from typing import NamedTuple

from pto_dialect.analysis.cycles.critical import critical_path, end_without
from pto_dialect.analysis.cycles.schedule import ORDER, STARTS, Schedule, placed


class Why(NamedTuple):
    kind: str
    awaited: str


def schedule(*threads: int) -> Schedule:
    """An empty schedule whose thread i is part of block ``threads[i]``."""
    made = Schedule()
    made.blocks = {number: (1, block) for number, block in enumerate(threads)}
    made.units = {number: f"unit {number}" for number in range(len(threads))}
    return made


def load_compute_store(buffers: int) -> tuple[Schedule, dict[str, int]]:
    """Three iterations of a load (10), an operation (4) and a store (6) through so many buffers."""
    made = schedule(0, 0, 0)
    numbers = {
        "data": made.number_of("V", Why("reads", "MTE2")),
        "result": made.number_of("MTE3", Why("reads", "V")),
        "free": made.number_of("MTE2", Why("overwrites", "MTE3")),
    }
    free = [0.0, 0.0, 0.0]
    last = [-1, -1, -1]
    stores: list[int] = []
    for number in range(3):
        before: list[tuple[int, int]] = []
        for thread, (cycles, resource) in enumerate(((10.0, "gm:ub"), (4.0, "vector"), (6.0, "ub:gm"))):
            edges = [*before]
            if last[thread] >= 0:
                edges.append((last[thread], ORDER))
            if thread == 0 and number >= buffers:
                edges.append((stores[number - buffers], numbers["free"]))
            start = max([free[thread], *(made.end(one) for one, _ in edges)])
            step = made.add(thread, start, cycles, resource, edges)
            free[thread], last[thread] = start + cycles, step
            before = [(step, numbers["data"] if thread == 0 else numbers["result"])]
        stores.append(last[2])
    return made, numbers


def test_with_one_buffer_the_pipes_alternate() -> None:
    made, numbers = load_compute_store(1)
    path = critical_path(made, 32)
    # Load, operation and store of every iteration, one after the other: 3 * (10 + 4 + 6).
    assert end_without(made, 32) == 60
    assert path.resources == {"gm:ub": 30.0, "vector": 12.0, "ub:gm": 18.0}
    # The operation waits 10 for the first load, then for store and load of each iteration; the store for load and
    # operation; the load for operation and store.
    assert path.causes == {numbers["data"]: 10.0 + 2 * 16, numbers["result"]: 3 * 14.0, numbers["free"]: 2 * 10.0}
    assert [part.step for part in path.parts] == list(range(9))
    # With free buffers the loads follow one another: 3 * 10 + 4 + 6.
    assert end_without(made, 32, [numbers["free"]]) == 40
    # Without data dependence each operation starts when its pipe is free, the load still waits for stores: the store of
    # an iteration waits for its operation at 4, 8 and 12, and loads start at 0, 10 and 20.
    assert end_without(made, 32, [numbers["data"]]) == 30
    # Without the wait for results the stores end at 6, 12 and 18, so loads run at 0, 10 and 20, and the last operation.
    assert end_without(made, 32, [numbers["result"]]) == 34


def test_three_buffers_leave_the_loads() -> None:
    made, numbers = load_compute_store(3)
    path = critical_path(made, 32)
    assert end_without(made, 32) == 40
    assert path.resources == {"gm:ub": 30.0, "vector": 4.0, "ub:gm": 6.0}
    # The last operation waits for its load since 24, the last store for its operation since 30.
    assert path.causes == {numbers["data"]: 6.0, numbers["result"]: 4.0}
    assert end_without(made, 32, [numbers["free"]]) == 40


def test_transfers_that_overlap_start_in_order() -> None:
    made = schedule(0)
    first = made.add(0, 0.0, 10.0, "l1:l0a")
    second = made.add(0, 0.0, 25.0, "l1:l0b", [(first, STARTS)])
    third = made.add(0, 10.0, 10.0, "l1:l0a", [(first, ORDER), (second, STARTS)])
    assert end_without(made, 1) == 25
    assert critical_path(made, 1).resources == {"l1:l0b": 25.0, "l1:l0a": 0.0}
    assert third == 2


def test_causes_that_end_later_than_a_step_starts_are_none() -> None:
    made = schedule(0, 0)
    cause = made.number_of("V", Why("reads", "MTE2"))
    late = made.add(0, 0.0, 50.0, "gm:ub")
    made.add(1, 20.0, 5.0, "vector", [(late, cause)])
    assert end_without(made, 1, [cause]) == 50
    path = critical_path(made, 1)
    assert (path.resources, path.unknown) == ({"gm:ub": 50.0}, 0.0)
    made.add(1, 60.0, 5.0, "vector", [(late, cause)])
    assert critical_path(made, 1).unknown == 10.0
    # What is left of the wait for which no cause is known.
    assert end_without(made, 1, [cause]) == 50


def test_blocks_take_the_cores_that_become_free() -> None:
    ends = {(1, 0): 10.0, (1, 1): 4.0, (1, 2): 5.0}
    assert placed(ends, 2) == {(1, 0): (0, 0.0), (1, 1): (1, 0.0), (1, 2): (1, 4.0)}
    made = schedule(0, 1, 2)
    for thread, cycles in enumerate((10.0, 7.0, 5.0)):
        made.add(thread, 0.0, cycles, f"work {thread}")
    # Blocks 1 and 2 follow one another on the second core.
    assert end_without(made, 2) == 12
    assert critical_path(made, 2).resources == {"work 1": 7.0, "work 2": 5.0}
    assert end_without(made, 1) == 22
    assert end_without(made, 3) == 10


def longest_chain(cycles: list[float], edges: list[list[tuple[int, int]]], removed: set[int]) -> float:
    """The longest of all chains of steps, by enumeration."""

    def chains(step: int) -> list[float]:
        kept = [before for before, cause in edges[step] if cause not in removed]
        return [cycles[step]] + [cycles[step] + rest for before in kept for rest in chains(before)]

    return max(length for step in range(len(cycles)) for length in chains(step))


def test_random_schedules_end_with_their_longest_chain() -> None:
    random_ = random.Random(5)
    for _ in range(60):
        made = schedule(0, 0, 0)
        numbers = [made.number_of("V", Why("reads", str(one))) for one in range(3)]
        cycles: list[float] = []
        edges: list[list[tuple[int, int]]] = []
        for step in range(random_.randint(2, 9)):
            cycles.append(float(random_.randint(1, 20)))
            known = random_.sample(range(step), min(step, random_.randint(0, 2)))
            edges.append([(before, random_.choice(numbers)) for before in known])
            start = max((made.end(before) for before in known), default=0.0)
            made.add(random_.randrange(3), start, cycles[-1], "work", edges[-1])
        for removed in (set[int](), {numbers[0]}, {numbers[1], numbers[2]}):
            assert end_without(made, 4, removed) == longest_chain(cycles, edges, removed)
        path = critical_path(made, 4)
        assert sum(path.resources.values()) == longest_chain(cycles, edges, set())
