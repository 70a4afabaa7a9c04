"""How often loops run, as far as the text says so, and which of their iterations are followed."""

from __future__ import annotations

from .abstract_values import AbstractValue
from .assumptions import LoopBounds
from .constants import trip_count

_MAX_FULL_TRIP_COUNT = 16
_MIN_SAMPLED = 4
_SKIPPED_MULTIPLE = 12
"""Of longer loops a multiple of this is left out, so that buffers used alternately stay so."""


def visited_indices(bounds: tuple[AbstractValue, ...]) -> list[AbstractValue] | None:
    """Returns the values of a loop index that are followed; ``None`` for bounds that only a run knows."""
    low, high, step = bounds
    # The length of a range of index values may be no machine word.
    count = trip_count(low, high, step)
    if count is None:
        return None
    every = range(low, high, step)  # pyright: ignore[reportArgumentType]
    if count <= _MAX_FULL_TRIP_COUNT:
        return list(every)
    skipped = (count - _MIN_SAMPLED) // _SKIPPED_MULTIPLE * _SKIPPED_MULTIPLE
    half = _MIN_SAMPLED // 2
    return [*every[:half], *every[half + skipped :]]


def compared_bounds(condition: AbstractValue) -> LoopBounds | None:
    """Returns the bounds of a loop that continues while ``condition`` holds, if that compares a counter with its
    end."""
    if not isinstance(condition, tuple) or condition[0] not in ("lt", "ltu"):
        return None
    _, low, high = condition
    return (low, high, 1)  # pyright: ignore[reportReturnType]
