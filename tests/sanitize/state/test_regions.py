"""Which bytes a strided access touches, against plain loops."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pto_dialect.sanitize.state.regions import Elements, Region, ascending, byte_runs, distinct, uniform

AXES = st.lists(st.tuples(st.integers(0, 4), st.integers(-40, 40)), max_size=3)


def touched(offset: int, shape: list[int], strides: list[int], item: int) -> set[int]:
    places = product(*(range(count) for count in shape))
    starts = [offset + sum(i * s for i, s in zip(place, strides, strict=True)) for place in places]
    return {start + byte for start in starts for byte in range(item)}


@given(AXES, st.sampled_from([1, 2, 4, 8]))
def test_bytes_of_a_strided_array(axes: list[tuple[int, int]], item: int) -> None:
    shape, strides = [count for count, _ in axes], [stride for _, stride in axes]
    region = Region.of(1000, shape, strides, item)
    wanted = touched(1000, shape, strides, item)
    if not wanted:
        assert region is None
        return
    assert region is not None
    assert set(region.offsets().tolist()) == wanted
    assert (region.offset, region.stop) == (min(wanted), max(wanted) + 1)
    assert region.size == region.offsets().size
    shadow = np.zeros(3000, np.int32)
    region.set(shadow, 1, 7)
    assert set(np.flatnonzero(shadow).tolist()) == wanted
    assert (region.cells(shadow, 1) == 7).all()


@given(st.lists(st.integers(0, 300), min_size=1, max_size=6), st.sampled_from([1, 2, 4]))
def test_bytes_of_single_elements(starts: list[int], item: int) -> None:
    elements = Elements(np.array(starts), item)
    wanted = {start + byte for start in starts for byte in range(item)}
    assert set(elements.offsets().tolist()) == wanted
    assert (elements.offset, elements.stop) == (min(wanted), max(wanted) + 1)
    assert elements.size == item * len(starts)
    shadow = np.zeros(400, np.int32)
    elements.set(shadow, 1, 3)
    assert set(np.flatnonzero(shadow).tolist()) == wanted


@pytest.mark.parametrize("offset", [0, 4, 6, 64])
@pytest.mark.parametrize("stride", [16, 24, 64])
def test_cells_of_several_bytes(offset: int, stride: int) -> None:
    """The grain divides all locations, so that a cell belongs to the region or not."""
    region = Region.of(offset, [3, 2], [stride, 2], 2)
    assert region is not None
    assert offset % region.grain == 0 and stride % region.grain == 0
    shadow = np.zeros(256 // region.grain, np.int32)
    region.set(shadow, region.grain, 1)
    assert set(np.flatnonzero(np.repeat(shadow, region.grain)).tolist()) == touched(offset, [3, 2], [stride, 2], 2)


def test_overlapping_steps_count_twice() -> None:
    region = Region(0, 4, ((2, 2),))
    assert (region.stop, region.size) == (6, 8)


@pytest.mark.parametrize("count", [1, 5, 1 << 14, (1 << 14) + 1])
def test_one_value_or_several(count: int) -> None:
    cells = np.full(count, 9, np.int32)
    assert uniform(cells) == 9 and distinct(cells) == [9]
    if count > 1:
        cells[-1] = 4
        assert uniform(cells) is None and distinct(cells) == [4, 9]


@pytest.mark.parametrize(
    ("run", "dims", "plain"),
    [
        (4, (), True),
        (4, ((2, 4),), True),
        (4, ((2, 3),), False),
        (4, ((3, 8),), True),
        (2, ((3, 4), (2, 10)), True),
        (2, ((3, 4), (2, 9)), False),
        (4, ((2, 2), (2, 16)), False),
        (4, ((2, 4), (2, 7), (2, 64)), False),
    ],
)
def test_whether_a_byte_occurs_twice(run: int, dims: tuple[tuple[int, int], ...], plain: bool) -> None:
    region = Region(8, run, dims)
    offsets = region.offsets()
    assert region.plain == plain == (len(set(offsets.tolist())) == offsets.size)


@pytest.mark.parametrize(
    ("starts", "item", "grain"),
    [([], 4, 4), ([], 64, 64), ([6], 4, 2), ([8, 24], 8, 8), ([64, 128], 128, 64), ([5], 1, 1)],
)
def test_grain_of_elements(starts: list[int], item: int, grain: int) -> None:
    assert Elements(np.array(starts, int), item).grain == grain
    assert not Elements.plain


@pytest.mark.parametrize(
    ("offsets", "runs"),
    [([], []), ([3], [(3, 4)]), ([3, 4], [(3, 5)]), ([5, 3], [(3, 4), (5, 6)]), ([9, 1, 2, 2, 8], [(1, 3), (8, 10)])],
)
def test_bytes_as_ranges(offsets: list[int], runs: list[tuple[int, int]]) -> None:
    assert byte_runs(np.array(offsets, int)) == runs
    assert ascending(np.array(offsets, int)).tolist() == sorted(set(offsets))
