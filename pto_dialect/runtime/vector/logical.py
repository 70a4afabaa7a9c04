"""Logical vectors and predicates: arrays of any number of lanes. Source: docs/reference/vectors.md, "Logical vectors".

A logical vector is an array of its lanes in their storage type, a predicate a boolean array of as many. Neither changes
once it is made. The predicate with all lanes is one object for each number of lanes: masking with it is free.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from ..memory.spaces import Array

FULL: set[int] = set()
"""Identities of the predicates with all lanes."""


@cache
def _staircase(count: int) -> Array:
    """Returns ``count`` active lanes followed by as many inactive ones: all prefixes are slices of it."""
    steps = np.zeros(2 * count, np.bool_)
    steps[:count] = True
    steps.flags.writeable = False
    return steps


@cache
def full(count: int) -> Array:
    """Returns the predicate of ``count`` lanes that are all active."""
    mask = _staircase(count)[:count]
    FULL.add(id(mask))
    return mask


def prefix(active: int, count: int) -> Array:
    """Returns the predicate of ``count`` lanes whose first ``active`` ones are active."""
    if active >= count:
        return full(count)
    start = count - max(active, 0)
    return _staircase(count)[start : start + count]


def group_prefix(active: int, groups: int, size: int) -> Array:
    """Returns the predicate whose first ``active`` lanes of each group of ``size`` lanes are active."""
    return full(groups * size) if active >= size else np.tile(prefix(active, size), groups)


def chosen(mask: Array) -> Any:
    """Returns the active lanes: the predicate, or ``True`` for all of them."""
    return True if id(mask) in FULL else mask


def reach(mask: Array) -> int:
    """Returns the index of the last active lane plus one."""
    inactive = int(mask[::-1].argmax())
    return mask.size - inactive if inactive or mask[-1] else 0


def masked(values: Array, mask: Array | None) -> Array:
    """Returns ``values``, which the caller owns, with 0 in the inactive lanes."""
    if mask is not None and id(mask) not in FULL:
        values[~mask] = 0
    return values


def pattern(name: str, count: int, groups: int) -> Array:
    """Returns the predicate of a pattern, the same in each of ``groups`` groups. Source: docs/reference/vectors.md,
    "Predicates"."""
    size = count // groups
    if name in ("PAT_M3", "PAT_M4"):
        return np.tile(np.arange(size) % int(name[-1]) == 0, groups)
    numbers = {"PAT_ALL": size, "PAT_ALLF": 0, "PAT_H": size // 2, "PAT_Q": size // 4}
    active = numbers[name] if name in numbers else int(name.removeprefix("PAT_VL"))
    return group_prefix(active, groups, size)


def below(bound: int, count: int) -> tuple[Array, int]:
    """Returns the predicate of the lanes below ``bound``, and the remaining count."""
    return prefix(bound, count), max(bound - count, 0)


def ranks(mask: Array, dtype: np.dtype[Any]) -> Array:
    """lane i = number of active lanes before it."""
    return (np.cumsum(mask) - mask).astype(dtype)
