"""Where buffers lie: aligned, inside of their memory, and apart where their lives overlap."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from xdsl.dialects.builtin import ModuleOp

from pto_dialect.runtime.compile.placement import Buffer, _place_space
from pto_dialect.runtime.errors import ProgramError
from pto_dialect.targets.choice import get_profile

A2A3 = get_profile("a2a3")
UB = 192 * 1024


def buffer(size: int, first: int = 0, last: int = 9, idle: bool = False) -> Buffer:
    # Any operation: buffers are distinguished by it.
    return Buffer(ModuleOp([]), "ub", size, first, last, None, idle)


def placed(members: list[Buffer], start: int = 0) -> list[int]:
    found = _place_space("ub", members, start, A2A3)
    return [found[member.op] for member in members]


SIZES = st.tuples(st.integers(1, 60_000), st.integers(0, 9), st.integers(0, 9))


@given(st.lists(SIZES, min_size=1, max_size=8), st.integers(0, 100))
def test_lives_that_overlap_are_apart(sizes: list[tuple[int, int, int]], start: int) -> None:
    members = [buffer(size, min(a, b), max(a, b)) for size, a, b in sizes]
    try:
        addresses = placed(members, start)
    except ProgramError as error:
        assert error.rule == "capacity-dynamic"
        assert sum(-(-b.size // 32) * 32 for b in members) + start + 31 > UB
        return
    for one, address in zip(members, addresses, strict=True):
        assert address % 32 == 0 and start <= address and address + one.size <= UB
        for other, beside in zip(members, addresses, strict=True):
            if one is not other and one.first <= other.last and other.first <= one.last:
                assert address + one.size <= beside or beside + other.size <= address


def test_all_of_a_memory_can_be_used() -> None:
    assert placed([buffer(UB)]) == [0]
    assert placed([buffer(UB - 64), buffer(64)]) == [0, UB - 64]
    assert placed([buffer(UB - 64, 0, 5), buffer(32, 0, 9), buffer(32, 3, 9), buffer(64, 6, 9)])[3] < UB - 64
    for members in ([buffer(UB + 1)], [buffer(UB), buffer(1)], [buffer(UB - 64, 0, 9), buffer(65, 9, 9)]):
        with pytest.raises(ProgramError) as caught:
            placed(members)
        assert caught.value.rule == "capacity-dynamic"


def test_allocated_tiles_begin_after_tiles_with_an_address() -> None:
    assert placed([buffer(10), buffer(10)], 33) == [64, 96]
    assert placed([buffer(UB - 64)], 33) == [64]
    # Shared memory begins there as well.
    assert placed([buffer(UB - 64, 0, 1), buffer(UB - 64, 2, 3)], 33) == [64, 64]


def test_a_buffer_that_nothing_touches_takes_no_room() -> None:
    assert placed([buffer(UB, idle=True), buffer(UB), buffer(UB, idle=True)]) == [0, 0, 0]


def test_a_gap_is_filled_where_it_is_large_enough() -> None:
    """A hole of 1,024 bytes between two buffers that live on."""
    first, hole, behind = buffer(32, 0, 9), buffer(1024, 0, 1), buffer(UB - 32 - 1024, 0, 9)
    assert placed([first, hole, behind, buffer(1024, 2, 9)])[3] == 32
    with pytest.raises(ProgramError):
        placed([first, hole, behind, buffer(1025, 2, 9)])
