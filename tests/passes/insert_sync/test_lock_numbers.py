"""Which buffer id each flag becomes. Source: docs/reference/synchronisation.md, "Buffer ids"."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from pto_dialect.ir.core.base import Pipe
from pto_dialect.passes.accesses.items import NUMBER, SCALAR, Flag, Leaf, Loop, Sequence
from pto_dialect.passes.insert_sync.locks import NUMBERS, assign_lock_ids

V, MTE2 = NUMBER[Pipe.V], NUMBER[Pipe.MTE2]
ANY: Any = SimpleNamespace()


def sequence(*ends: tuple[int, int], target: int = V) -> tuple[Sequence, list[Flag]]:
    """Operations with flags from after one to before another."""
    found = Sequence(ANY, 0, [Leaf(ANY, V, (), ()) for _ in range(1 + max(before for _, before in ends))])
    flags = [Flag(MTE2, target, after, before, found) for after, before in ends]
    for flag in flags:
        found.add(flag)
    return found, flags


@pytest.mark.parametrize("used", [set(), {0, 1}, {1, 3}])
def test_flags_in_flight_together_have_distinct_numbers(used: set[int]) -> None:
    """The third begins with an operation between the end of the first and itself, and may have its number."""
    whole, flags = sequence((0, 2), (1, 4), (4, 6))
    assign_lock_ids(whole, used)
    free = [number for number in range(NUMBERS) if number not in used]
    assert [flag.event for flag in flags] == [free[0], free[1], free[0]]


def test_a_flag_that_ends_right_before_the_next_begins_is_still_in_flight() -> None:
    whole, flags = sequence((0, 2), (3, 4))
    assign_lock_ids(whole, set())
    assert [flag.event for flag in flags] == [0, 1]


def test_where_all_numbers_are_used_they_are_used_again() -> None:
    whole, flags = sequence((0, 2), (1, 3))
    assign_lock_ids(whole, set(range(NUMBERS)))
    assert [flag.event for flag in flags] == [0, 1]
    whole, flags = sequence((0, 2), (1, 3))
    assign_lock_ids(whole, set(range(NUMBERS - 1)))
    assert [flag.event for flag in flags] == [NUMBERS - 1] * 2


def test_flags_of_the_scalar_unit_are_no_locks() -> None:
    whole, flags = sequence((0, 2), target=SCALAR)
    assign_lock_ids(whole, set())
    assert [flag.event for flag in flags] == [-1]


@pytest.mark.parametrize(
    ("counts", "used", "kept"),
    [
        ((2, 3), set(), True),
        ((NUMBERS - 1,), set(), True),
        ((NUMBERS,), set(), False),
        ((NUMBERS - 2, 2), set(), False),
        ((2, 3), {9}, False),
    ],
)
def test_slots_have_numbers_of_their_own_where_there_are_enough(
    counts: tuple[int, ...], used: set[int], kept: bool
) -> None:
    """One number at least is left for the others."""
    whole, flags = sequence(*((number, number + 1) for number in range(len(counts))), (0, 9))
    for flag, count in zip(flags, counts, strict=False):
        flag.slot, flag.count = ANY, count
    assign_lock_ids(whole, used)
    assert [flag.slot is not None for flag in flags] == [kept] * len(counts) + [False]
    if kept:
        starts = [sum(counts[:number]) for number in range(len(counts) + 1)]
        assert [flag.event for flag in flags] == starts
        assert [flag.count for flag in flags[:-1]] == list(counts)
    else:
        assert {flag.count for flag in flags} == {1}


def test_carried_flags_are_in_flight_in_the_whole_loop() -> None:
    inner, (flag,) = sequence((0, 1))
    loop = Loop(ANY, inner, None, 4)
    back = Flag(MTE2, V, 1, 0, inner, True)
    inner.add(back)
    loop.carried.append(back)
    work = [Leaf(ANY, V, (), ()) for _ in range(4)]
    whole = Sequence(ANY, 0, [work[0], loop, *work[1:]])
    over, behind = Flag(MTE2, V, 0, 2, whole), Flag(MTE2, V, 3, 4, whole)
    whole.add(over)
    whole.add(behind)
    assign_lock_ids(whole, set())
    assert len({one.event for one in (over, back, flag)}) == 3
    assert behind.event != over.event and behind.event in (back.event, flag.event)
