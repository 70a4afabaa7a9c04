"""What pipes know of one another, and which accesses count, worked out by hand."""

from __future__ import annotations

from itertools import product
from types import SimpleNamespace
from typing import Any

import pytest
from groups import in_groups

from pto_dialect.ir.core.base import Pipe
from pto_dialect.passes.accesses.items import NUMBER, SCALAR, Flag, Leaf, Sequence
from pto_dialect.passes.accesses.locations import MemoryLocation
from pto_dialect.passes.accesses.state import COUNT, FEW, Access, State, common, learn, merged, state_of

V, MTE2, MTE3 = NUMBER[Pipe.V], NUMBER[Pipe.MTE2], NUMBER[Pipe.MTE3]
OP: Any = SimpleNamespace()
SEQUENCE: Any = None


def leaf(pipe: int, joins: bool = False) -> Leaf:
    return Leaf(OP, pipe, (), (), joins)


def flag(source: int, target: int) -> Flag:
    return Flag(source, target, 0, 1, SEQUENCE)


def access(pipe: int, writes: bool, place: MemoryLocation, number: int = 1) -> Access:
    return Access(leaf(pipe), number, writes, place, 0)


def test_work_is_numbered() -> None:
    state = State()
    assert [state.step(leaf(pipe)) for pipe in (MTE2, V, MTE2)] == [1, 2, 3]
    assert (state.last[MTE2], state.last[V], state.done[MTE2]) == (3, 2, [1, 3])
    state.step(leaf(SCALAR))
    assert (state.last[SCALAR], state.done[SCALAR]) == (4, [4])


def test_issuing_work_does_not_complete_stores_of_the_scalar_unit() -> None:
    state, there, back = State(), flag(SCALAR, V), flag(V, SCALAR)
    state.step(leaf(SCALAR))
    assert state.issue(V)[SCALAR] == 0
    state.set(there)
    state.wait(there)
    assert state.issue(V)[SCALAR] == 1
    assert state.issue(MTE2)[SCALAR] == 0
    state.set(back)
    state.wait(back)
    assert state.issue(MTE2)[SCALAR] == 1


def test_a_barrier_of_the_scalar_unit_completes_its_stores() -> None:
    state = State()
    state.step(leaf(SCALAR))
    state.barrier(SCALAR)
    assert state.issue(MTE3)[SCALAR] == 1


def test_a_flag_brings_what_its_source_knows() -> None:
    state, first, second = State(), flag(MTE2, V), flag(V, MTE3)
    state.step(leaf(MTE2))
    state.set(first)
    state.step(leaf(MTE2))
    state.wait(first)
    assert state.clock[V][MTE2] == 1 and first not in state.tokens
    state.step(leaf(V))
    state.set(second)
    state.wait(second)
    assert (state.clock[MTE3][V], state.clock[MTE3][MTE2], state.clock[MTE2][V]) == (3, 1, 0)


def test_what_the_scalar_unit_knows_everybody_does_whose_work_comes_later() -> None:
    state, one = State(), flag(V, SCALAR)
    state.step(leaf(V))
    state.set(one)
    state.wait(one)
    assert state.clock[MTE3][V] == 0
    state.step(leaf(MTE3))
    assert state.clock[MTE3][V] == 1 and state.clock[MTE2][V] == 0


def test_barriers() -> None:
    state = State()
    state.step(leaf(V))
    state.barrier(V)
    assert (state.clock[V][V], state.clock[MTE2][V]) == (1, 0)
    state.step(leaf(SCALAR, joins=True))
    assert all(row[V] == 1 for row in state.clock) and state.now == 2


def test_a_copy_continues_by_itself() -> None:
    state = State()
    state.step(leaf(V))
    state.record(access(V, True, MemoryLocation("ub", "a")), False)
    state.set(flag(V, MTE2))
    other = state.copy()
    assert other.clocks() == state.clocks() and other.tokens == state.tokens and other.last == state.last
    assert other.done == [[] for _ in other.done]
    other.step(leaf(V))
    other.barrier(V)
    other.record(access(MTE2, True, MemoryLocation("ub", "b")), False)
    assert state.now == 1 and state.clock[V][V] == 0 and len(state.accesses) == 1 and len(other.accesses) == 2


ROOTS = ("a", "b", "bytes", None)


@in_groups(("root", "asked", "space"), list(product(ROOTS, ROOTS, ("ub", "gm", "l1"))))
def test_roots_that_may_be_the_same(root: str | None, asked: str | None, space: str) -> None:
    """Equal ones, those that may be anything, and in global memory any bytes."""
    state = State()
    for memory in ("ub", "gm"):
        state.record(access(V, True, MemoryLocation(memory, root)), False)
    anything = {None, "bytes"} if space == "gm" else {None}
    wanted = space != "l1" and (root == asked or not {root, asked}.isdisjoint(anything))
    assert bool(list(state.earlier(MemoryLocation(space, asked)))) == wanted


WHOLE, LOW, HIGH = (MemoryLocation("ub", "bytes", *ends) for ends in ((0, 64), (0, 32), (32, 64)))
TABLE = {
    # A write replaces all that it covers; a read those of its pipe, unless they are kept.
    (True, WHOLE, False): [],
    (True, LOW, False): ["write high", "read V high", "read MTE3 high"],
    (False, WHOLE, False): ["write low", "write high", "read MTE3 low", "read MTE3 high"],
    (False, LOW, False): ["write low", "write high", "read V high", "read MTE3 low", "read MTE3 high"],
    (False, WHOLE, True): ["write low", "write high", "read V low", "read V high", "read MTE3 low", "read MTE3 high"],
}


@pytest.mark.parametrize("case", TABLE)
def test_which_accesses_stay(case: tuple[bool, MemoryLocation, bool]) -> None:
    writes, place, keep = case
    state = State()
    names = {}
    for text, pipe, wrote in (("write", MTE2, True), ("read V", V, False), ("read MTE3", MTE3, False)):
        for end, part in (("low", LOW), ("high", HIGH)):
            one = access(pipe, wrote, part, len(names))
            state.record(one, True)
            names[one] = f"{text} {end}"
    new = access(V, writes, place, 9)
    state.record(new, keep)
    *left, last = state.earlier(WHOLE)
    assert last == new and [names[one] for one in left] == TABLE[case]


def test_learning_keeps_what_is_known() -> None:
    row = [5, 0, 3]
    learn(row, (4, 2, 3))
    assert row == [5, 2, 3]


def test_after_two_paths_only_what_both_know_is_known() -> None:
    before = State()
    before.step(leaf(MTE2))
    one, other = before.copy(), before.copy()
    for way, orders in ((one, True), (other, False)):
        way.step(leaf(V))
        if orders:
            way.barrier(V)
    way = merged(before, [one, other])
    assert way.now == 2 and way.last[V] == 2 and way.clock[V][V] < 2
    both = merged(before, [one, one.copy()])
    assert both.clock[V][V] == one.clock[V][V] == 2


def test_work_that_a_path_has_not_done_is_not_missing() -> None:
    before = State()
    before.step(leaf(V))
    busy, idle = before.copy(), before.copy()
    busy.step(leaf(V))
    busy.barrier(V)
    idle.barrier(V)
    found = merged(before, [busy, idle])
    assert found.clock[V][V] == 2 and found.done[V] == [1, 2]


@pytest.mark.parametrize(
    ("number", "done", "expected"),
    [(0, [5, 7], 0), (4, [5, 7], 4), (5, [5, 7], 6), (6, [5, 7], 6), (7, [5, 7], 9), (4, [], 9)],
)
def test_numbers_of_all_paths(number: int, done: list[int], expected: int) -> None:
    """Up to the next work that the way does, everything is done; the first work of a way has the number 5."""
    before, way = State(), State()
    before.last[V] = 4
    way.done[V] = done
    assert common(before, way, number, V, 9) == expected


def test_without_users_nothing_is_forgotten() -> None:
    state = State()
    for number in range(3 * FEW):
        state.record(access(V, True, MemoryLocation("ub", "bytes", 64 * number, 64 * number + 64)), False)
    assert len(state.earlier(MemoryLocation("ub", "bytes"))) == 3 * FEW


class Waiting(State):
    """A state that counts waits as well."""

    WIDTH = 2 * COUNT


def test_waits_have_numbers_of_their_own() -> None:
    state = Waiting()
    assert [state.step(leaf(V)), state.waits(V), state.waits(MTE2), state.step(leaf(V))] == [1, 2, 3, 4]
    assert (state.last[V], state.last[COUNT + V], state.last[COUNT + MTE2]) == (4, 2, 3)
    assert (state.done[V], state.done[COUNT + V], state.done[COUNT + MTE2]) == ([1, 4], [2], [3])
    # The scalar unit knows of its own waits, and of no others.
    assert state.clock[SCALAR] == [0] * 2 * COUNT
    state.waits(SCALAR)
    assert [(kind, number) for kind, number in enumerate(state.clock[SCALAR]) if number] == [(COUNT + SCALAR, 5)]


@pytest.mark.parametrize("channels", [1, 2, 4])
def test_a_state_for_slots_counts_work_in_each_part(channels: int) -> None:
    """One part is for any iteration, one for each channel between iterations."""
    state = state_of(channels)()
    parts = range(0, (1 + channels) * COUNT, COUNT)
    assert len(parts) * COUNT == state.WIDTH
    assert [state.step(leaf(pipe)) for pipe in (V, MTE2, SCALAR)] == [1, 2, 3]
    for pipe, number in ((V, 1), (MTE2, 2), (SCALAR, 3)):
        assert [state.last[part + pipe] for part in parts] == [number] * len(parts)
        assert [state.done[part + pipe] for part in parts] == [[number]] * len(parts)
    assert not any(state.clock[SCALAR])
    assert [state.token(state.issue(V), V)[part + V] for part in parts] == [3] * len(parts)
    state.barrier(V)
    assert [state.clock[V][part + V] for part in parts] == [3] * len(parts)
    assert [state.clock[V][part + MTE2] for part in parts] == [0] * len(parts)


def test_no_state_has_more_than_four_channels() -> None:
    assert (state_of(0), state_of(9)) == (State, state_of(4))


def test_a_flag_that_is_taken_out_leaves_nothing() -> None:
    block: Any = SimpleNamespace()
    sequence = Sequence(block, 0)
    one, other = Flag(V, MTE2, 0, 1, sequence), Flag(V, MTE2, 0, 1, sequence)
    sequence.add(one)
    sequence.add(other)
    sequence.remove(one)
    assert (sequence.flags, sequence.waits, sequence.sets) == ([other], {1: [other]}, {0: [other]})
