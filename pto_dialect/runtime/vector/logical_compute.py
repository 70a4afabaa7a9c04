"""Lane-wise arithmetic of logical vectors. Source: docs/reference/vectors.md, "Arithmetic", "Logical vectors".

Every function takes logical vectors and returns new ones. The mask comes first and is ``None`` where there is none.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..memory.spaces import Array
from ..numerics.comparisons import COMPARISONS
from . import compute as c
from .logical import FULL, chosen, masked
from .register import constant


class LaneWise:
    """A function of vectors applied to the active lanes; its results have the type of the lanes.

    ``old`` is the position of the argument whose inactive lanes are retained; by default they become 0.
    """

    def __init__(self, function: c.Lanes, label: str, old: int | None = None) -> None:
        self.function = function
        self.label = label
        self.old = old

    def __call__(self, mask: Array | None, *arguments: Any) -> Array:
        """Returns the result for each lane; lanes that ``mask`` excludes are 0 or retain the old operand. ``None``
        makes all lanes active."""
        result = self.function(*arguments)
        if mask is None or id(mask) in FULL:
            return result
        if self.old is not None:
            return np.where(mask, result, arguments[self.old])
        result[~mask] = 0
        return result


class WithScalar(LaneWise):
    """The same where the last argument is a number, which becomes an element of the type of the lanes."""

    def __call__(self, mask: Array | None, *arguments: Any) -> Array:
        """As ``LaneWise``, with the number as an element of the lanes' type."""
        *vectors, number = arguments
        return super().__call__(mask, *vectors, constant(number, vectors[0].dtype))


def shift_right_logical(a: Array, count: Any) -> Array:
    """a >> (count mod width), filled with zeros whatever the sign of the lanes."""
    unsigned = f"u{a.dtype.itemsize}"
    return c.shift_right(a.view(unsigned), np.asarray(count).view(unsigned)).view(a.dtype)


def multiply_add(acc: Array, a: Array, b: Array) -> Array:
    """acc + a·b with one rounding; integers wrap."""
    return c.fused(a, b, acc)


def scale_add(x: Array, acc: Array, alpha: Any) -> Array:
    """acc + alpha·x with one rounding."""
    return c.fused(x, alpha, acc)


def _ordered_unequal(a: Array, b: Any) -> Any:
    return np.less(a, b) | np.greater(a, b)


class Comparison:
    """The predicate of the active lanes that compare. ``unsigned`` compares integers by their bits; NaN is unordered
    and compares only with ``ne``."""

    def __init__(self, mode: str, unsigned: bool) -> None:
        self.function = _ordered_unequal if mode == "one" else COMPARISONS[mode.removeprefix("o")]
        self.unsigned = unsigned
        self.label = f"cmp_{mode}"

    def __call__(self, a: Array, b: Any, mask: Array | None) -> Array:
        """Returns which lanes compare, one bool for each; lanes that ``mask`` excludes do not. ``None`` makes all lanes
        active."""
        if not isinstance(b, np.ndarray):
            b = constant(b, a.dtype)
        if self.unsigned:
            bits = f"u{a.dtype.itemsize}"
            a, b = a.view(bits), b.view(bits)
        result = self.function(a, b)
        active = True if mask is None else chosen(mask)
        return result if active is True else result & active


def select(mask: Array, a: Array, b: Array) -> Array:
    """mask ? a : b."""
    return a if chosen(mask) is True else np.where(mask, a, b)


def long_product(mask: Array, a: Array, b: Array) -> tuple[Array, Array]:
    """Low and high words of the double-width products, signed as the lanes are."""
    low, high = c.words_of_product(a, b)
    return masked(low, mask), masked(high, mask)


def add_carry(mask: Array, a: Array, b: Array, carry: Array | None = None) -> tuple[Array, Array]:
    """Sum, also with the carry of each lane, and the predicate of lanes whose unsigned sum overflows."""
    total, overflow = c.sum_and_carry(a, b, np.uint64(0) if carry is None else carry.astype(np.uint64), False)
    return masked(total, mask), overflow & mask


def exponential_difference(mask: Array, a: Array, largest: Array) -> Array:
    """e^(a − max) in float32."""
    return masked(np.exp(np.asarray(a, np.float32) - np.asarray(largest, np.float32)), mask)


def broadcast(value: Any, dtype: np.dtype[Any], count: int) -> Array:
    """Returns a number in every lane."""
    return np.full(count, constant(value, dtype), dtype)


def sequence(start: Any, dtype: np.dtype[Any], step: int, count: int, groups: int) -> Array:
    """start, start ± 1, ..., wrapping; restarted in each of ``groups`` groups."""
    ramp = c.ramp(start, dtype, step, count // groups)
    return ramp if groups == 1 else np.tile(ramp, groups)
