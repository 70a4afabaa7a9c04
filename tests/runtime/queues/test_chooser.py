"""Choices of schedules: every one that is possible comes, and the same for the same seed. Source:
docs/reference/execution.md, "Scheduling".
"""

from __future__ import annotations

from itertools import permutations

import pytest

from pto_dialect.runtime.queues.schedule import Chooser, Schedule


def chooser(text: str, salt: str = "core") -> Chooser:
    found = Schedule.parse(text).chooser(salt)
    assert found is not None
    return found


def test_cores_have_their_turn_in_every_order() -> None:
    one, other = chooser("random:5"), chooser("random:5")
    orders = [one.order(3) for _ in range(200)]
    assert {tuple(order) for order in orders} == set(permutations(range(3)))
    assert [other.order(3) for _ in range(200)] == orders
    assert chooser("newest").order(4) == [3, 2, 1, 0]


@pytest.mark.parametrize("salt", ["core", "between cores"])
def test_every_head_and_length_of_an_iteration_occurs(salt: str) -> None:
    one = chooser("random:1", salt)
    assert {one.head([7, 3, 9]) for _ in range(100)} == {0, 1, 2}
    assert {one.quantum() for _ in range(200)} == {1, 2, 3, 4, 5, 6}
    latest = chooser("newest", salt)
    assert (latest.head([7, 3, 9]), latest.quantum(), latest.steps(), latest.skips(0)) == (2, 0, 0, False)


def test_pipes_run_none_to_six_instructions_or_none_at_all() -> None:
    """In half of the schedules the scalar unit runs ahead of its pipes."""
    seen = [{one.steps() for _ in range(300)} for one in (chooser(f"random:{seed}") for seed in range(60))]
    ahead = sum(steps == {0} for steps in seen)
    assert all(steps in ({0}, {0, 1, 2, 3, 4, 5, 6}) for steps in seen)
    assert 15 < ahead < 45


def test_some_cores_are_slower_than_others() -> None:
    """A core never, half of the times or nearly always misses its turn, all the time."""
    one = chooser("random:2")
    shares = [sum(one.skips(core) for _ in range(400)) / 400 for core in range(40)]
    assert all(share == 0 or 0.4 < share < 0.6 or 0.9 < share < 1 for share in shares)
    assert {round(share * 2) for share in shares} == {0, 1, 2}
