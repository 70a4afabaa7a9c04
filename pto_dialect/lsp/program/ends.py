"""What two texts have in common at their ends."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable


def common_ends(old: str, new: str) -> tuple[int, int]:
    """Lengths of the common prefix of two texts, and of the common suffix of the rest."""
    least = min(len(old), len(new))
    begin = _longest(least, lambda size: old[:size] == new[:size])
    return begin, _longest(least - begin, lambda size: old[len(old) - size :] == new[len(new) - size :])


def _longest(most: int, same: Callable[[int], bool]) -> int:
    """Returns the largest size up to ``most`` for which ``same`` holds, as it does for all smaller ones."""
    return bisect_left(range(1, most + 1), True, key=lambda size: not same(size))
