"""Reductions and rearrangement of logical vectors. Source: docs/reference/vectors.md, "Reductions and rearrangement",
"Logical vectors".
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..memory.spaces import Array
from .collect import deinterleave, interleave, neutral
from .logical import chosen, masked


def _groups(a: Array, mask: Array, rest: Any, groups: int) -> Array:
    """Returns the lanes of each group in a row, with ``rest`` in the inactive ones."""
    active = chosen(mask)
    values = a if active is True else np.where(active, a, a.dtype.type(rest))
    return values.reshape(groups, -1)


def sums(a: Array, mask: Array, groups: int) -> Array:
    """lane g = sum of the active lanes of group g; floats in increasing order in float32, integers wrap."""
    rows = _groups(a, mask, 0, groups)
    if a.dtype.kind in "iu":
        return rows.sum(axis=1, dtype=a.dtype)
    return np.add.accumulate(rows, axis=1, dtype=np.float32)[:, -1].astype(a.dtype)


def extrema(a: Array, mask: Array, groups: int, largest: bool) -> Array:
    """lane g = extremum of the active lanes of group g, the neutral value if there are none; NaN prevails."""
    rows = _groups(a, mask, neutral(a.dtype, largest), groups)
    if a.dtype.kind not in "iu":
        rows = np.asarray(rows, np.float32)
    return (np.maximum if largest else np.minimum).reduce(rows, axis=1).astype(a.dtype)


def histogram(acc: Array, source: Array, mask: Array, cumulative: bool) -> Array:
    """acc + counts of the active bytes equal to, or at most, the index of each bin."""
    active = chosen(mask)
    values = source.view(np.uint8)
    counts = np.bincount(values if active is True else values[active], minlength=256)
    if cumulative:
        counts = np.cumsum(counts)
    return acc + counts[: acc.size].astype(acc.dtype)


def spread(a: Array, count: int) -> Array:
    """lane g·S + j = lane g of ``a``, S lanes for each, ``count`` in all."""
    return np.repeat(a, count // a.size)


class Pairing:
    """Interleaves or deinterleaves two vectors; lanes of both results that are not active become 0."""

    def __init__(self, inverse: bool) -> None:
        self.function = deinterleave if inverse else interleave
        self.label = self.function.__name__

    def __call__(self, a: Array, b: Array, mask: Array) -> tuple[Array, Array]:
        """Returns two vectors of as many lanes as each operand; lanes that ``mask`` excludes are 0."""
        low, high = self.function(a, b)
        return masked(low, mask), masked(high, mask)


def compress(a: Array, mask: Array) -> Array:
    """Returns the active lanes moved to the front, followed by 0."""
    active_values = a[mask]
    result = np.zeros_like(a)
    result[: active_values.size] = active_values
    return result


def split(a: Array, channels: int) -> tuple[Array, ...]:
    """Returns every ``channels``-th lane, from each of the first ones on."""
    return tuple(a[first::channels].copy() for first in range(channels))


def merge(*parts: Array) -> Array:
    """Returns the lanes of the parts, alternating."""
    return np.stack(parts, axis=1).reshape(-1)
