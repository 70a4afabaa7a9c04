"""Which iterations of loops are visited. Source: docs/reference/instrumentation.md, "Order of events"."""

from __future__ import annotations

import pytest

from pto_dialect.analysis.trip_counts import visited_indices


@pytest.mark.parametrize(("low", "step"), [(0, 1), (3, 1), (-5, 7)])
@pytest.mark.parametrize("count", [0, 1, 2, 15, 16, 17, 27, 28, 29, 40, 41, 1000, 10**30])
def test_long_loops_skip_a_multiple_of_twelve_iterations_in_the_middle(low: int, step: int, count: int) -> None:
    for end in {low + count * step, low + count * step - step + 1}:
        indices = visited_indices((low, end, step))
        assert indices is not None
        left = count if count <= 16 else 4 + (count - 4) % 12
        before = min(left, 2)
        first = [low + step * number for number in range(before)]
        assert indices == [*first, *(low + step * number for number in range(count - left + before, count))]


@pytest.mark.parametrize("bounds", [(0, 4, 0), (0, 4, -1), (("n",), 4, 1), (0, ("n",), 1), (0, 4, ("n",))])
def test_loops_with_unknown_bounds_have_no_indices(bounds: tuple[int, int, int]) -> None:
    assert visited_indices(bounds) is None
