"""Buffers in one memory. Source: docs/reference/memory-planning.md, "Packing"."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pto_dialect.passes.assign_memory.live import Buffer
from pto_dialect.passes.assign_memory.pack import bound, never, pack


def buffer(first: int, last: int, size: int, address: int | None = None) -> Buffer:
    return Buffer(None, "ub", size, 32, address, first, last)  # pyright: ignore[reportArgumentType]


def peak(plan: dict[Buffer, int]) -> int:
    return max((at + one.size for one, at in plan.items()), default=0)


RANGE = st.tuples(st.integers(0, 12), st.integers(0, 6), st.integers(1, 8))


@settings(max_examples=200, deadline=None)
@given(st.lists(RANGE, max_size=14))
def test_nobody_shares_a_byte_with_who_is_needed_at_the_same_time(ranges: list[tuple[int, int, int]]):
    buffers = [buffer(first, first + length, size * 32) for first, length, size in ranges]
    plan = pack(buffers)
    assert set(plan) == set(buffers)
    for time in range(20):
        taken: set[int] = set()
        for one, at in plan.items():
            assert at % 32 == 0
            if one.first <= time <= one.last:
                mine = set(range(at, at + one.size))
                assert not mine & taken
                taken |= mine
    needed = max((sum(one.size for one in buffers if one.first <= time <= one.last) for time in range(20)), default=0)
    assert bound(buffers) == needed <= peak(plan)


def test_one_after_the_other_has_one_place():
    assert peak(pack([buffer(0, 1, 64), buffer(2, 3, 96), buffer(4, 5, 32)])) == 96


def test_without_reuse_everybody_has_bytes_of_its_own():
    assert peak(pack([buffer(0, 1, 64), buffer(2, 3, 96), buffer(4, 5, 32)], share=never)) == 192


def test_what_has_an_address_keeps_it():
    kept, other = buffer(0, 9, 64, 32), buffer(0, 9, 64)
    assert pack([kept, other]) == {kept: 32, other: 96}


def test_a_hole_is_filled():
    low, high = buffer(0, 9, 64, 0), buffer(0, 9, 64, 128)
    small = buffer(3, 4, 64)
    assert pack([low, high, small])[small] == 64


def test_an_heir_lies_exactly_where_the_source_lay():
    source, heir, third = buffer(0, 3, 64), buffer(3, 6, 64), buffer(0, 9, 64)
    source.heirs.add(heir)
    plan = pack([source, heir, third])
    assert plan[source] == plan[heir]
    assert peak(plan) == 128 == bound([source, heir, third])


@pytest.mark.parametrize("size", [32, 96])
def test_who_is_no_heir_lies_apart(size: int):
    source, other = buffer(0, 3, 64), buffer(3, 6, size)
    plan = pack([source, other])
    assert {plan[source], plan[other]} in ({0, 64}, {0, size})
