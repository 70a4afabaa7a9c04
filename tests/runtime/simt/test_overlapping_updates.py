"""Atomic updates of locations that share bytes: one after the other, in the order of the work-items."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from groups import in_groups

from pto_dialect.runtime.memory.spaces import Arena
from pto_dialect.runtime.simt.access import Element, _updated


class Add:
    """Sums, as an atomic update."""

    label = "adds"

    def __call__(self, old: Any, *operands: Any) -> Any:
        return old + operands[0]

    def chain(self, start: Any, *operands: Any) -> tuple[Any, Any]:
        sums = np.cumsum(np.concatenate((start, operands[0])), axis=0, dtype=start.dtype)
        return sums[:-1], sums[-1:]


def one_by_one(dtype: Any, parts: int, content: np.ndarray, starts: list[int], operands: np.ndarray) -> list[Any]:
    """What each update finds; ``content`` is changed."""
    found: list[Any] = []
    nbytes = np.dtype(dtype).itemsize * max(parts, 1)
    for start, operand in zip(starts, operands, strict=True):
        old = content[start : start + nbytes].copy().view(dtype)
        found.append(old.tolist() if parts else old[0])
        content[start : start + nbytes] = (old + operand).view(np.uint8)
    return found


@pytest.mark.parametrize(("dtype", "parts"), [(np.uint32, 0), (np.uint16, 0), (np.uint16, 2), (np.uint64, 0)])
@pytest.mark.parametrize("step", [1, 2, 4, 8])
@in_groups("places", [1, 2, 5, 30])
def test_updates_in_order(dtype: Any, parts: int, step: int, places: int) -> None:
    rng = np.random.default_rng(step * 100 + places)
    element = Element(np.dtype(dtype), parts)
    for count in (1, 2, 7, 40):
        content = rng.integers(0, 256, 512).astype(np.uint8)
        starts = rng.integers(0, places, count) * step
        operands = rng.integers(1, 200, element.shape(count)).astype(dtype)
        expected = content.copy()
        wanted = one_by_one(dtype, parts, expected, starts.tolist(), operands)
        combine: Any = Add()
        old = _updated(element, combine, Arena.from_array(content), starts, [operands])
        assert old.tolist() == wanted and content.tobytes() == expected.tobytes()
