"""Which bytes of global memory are in the cache, and since when. Source: docs/reference/cycles.md, "Pipes"."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pto_dialect.sanitize.instrument.overlap import OverlappingPipe
from pto_dialect.sanitize.instrument.warmth import SECTOR, Warmth, cold_bytes, fill, sectors_of
from pto_dialect.sanitize.state.regions import Bytes, Elements, Region, have_common_bytes

GM: Any = SimpleNamespace(public=True, capacity=1 << 16)


def touch(warmth: Warmth, start: float, end: float, *regions: Bytes) -> int:
    """The cold bytes of a transfer from ``start`` to ``end``."""
    touched = warmth.touched([(GM, one, False) for one in regions])
    cold = cold_bytes(touched, start)
    fill(touched, end)
    return cold


def test_parts_and_unions_of_what_was_read_are_warm() -> None:
    warmth = Warmth()
    assert touch(warmth, 0, 10, Region(0, 4096)) == 4096
    assert touch(warmth, 10, 20, Region(1024, 1024)) == 0
    assert touch(warmth, 20, 30, Region(2048, 4096)) == 2048
    assert touch(warmth, 30, 40, Region(0, 256, ((16, 512),))) == 256 * 4
    assert touch(warmth, 40, 50, Region(0, 8192)) == 8192 - 6144 - 256 * 4


def test_a_transfer_that_starts_before_the_first_one_ends_is_cold() -> None:
    """Cores are simulated one after the other, and run concurrently."""
    warmth = Warmth()
    assert touch(warmth, 100, 200, Region(0, 1024)) == 1024
    assert touch(warmth, 0, 150, Region(0, 1024)) == 1024
    assert touch(warmth, 149, 300, Region(0, 1024)) == 1024
    assert touch(warmth, 150, 300, Region(0, 1024)) == 0


def test_bytes_of_one_transfer_count_once() -> None:
    warmth = Warmth()
    assert touch(warmth, 0, 1, Region(0, 1024), Region(512, 1024), Elements(np.array([0, 1536]), 4)) == 1536 + SECTOR


REGIONS = st.one_of(
    st.builds(
        lambda offset, run, dims: Region(offset, run, tuple(dims)),
        st.integers(0, 200),
        st.integers(1, 40),
        st.lists(st.tuples(st.integers(2, 4), st.integers(1, 90)), max_size=2),
    ),
    st.builds(
        lambda starts, item: Elements(np.array(starts), item),
        st.lists(st.integers(0, 300), min_size=1, max_size=6),
        st.sampled_from((1, 2, 4, 8)),
    ),
)


@given(REGIONS, REGIONS)
def test_common_bytes_are_those_of_the_sets(one: Bytes, other: Bytes) -> None:
    meet = bool({*one.offsets().tolist()} & {*other.offsets().tolist()})
    assert have_common_bytes(one, other) == meet


@given(REGIONS)
def test_sectors_are_those_of_the_bytes(one: Bytes) -> None:
    found = np.arange(64)[sectors_of(one)].tolist()
    assert found == sorted({byte // SECTOR for byte in one.offsets().tolist()})


@pytest.mark.parametrize(
    ("transfers", "done"),
    [
        ([(0, 10), (1, 30), (0, 10), (1, 30)], 60),
        ([(0, 10), (0, 10)], 20),
        ([(1, 30), (0, 10)], 30),
        ([(0, 50), (1, 10), (0, 10)], 60),
    ],
)
def test_lanes_overlap_and_start_in_order(transfers: list[tuple[int, int]], done: float) -> None:
    pipe = OverlappingPipe(2)
    starts: list[float] = []
    for lane, cycles in transfers:
        starts.append(pipe.free(lane))
        pipe.take(lane, starts[-1], starts[-1] + cycles)
    assert pipe.done == done and starts == sorted(starts)


def test_a_wait_holds_back_all_that_follows() -> None:
    pipe = OverlappingPipe(2)
    pipe.take(0, 0, 10)
    pipe.wait(40)
    assert (pipe.free(0), pipe.free(1)) == (40, 40)
