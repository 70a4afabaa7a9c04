"""What an output shall be, and how far a result may be from it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from examples.case import Array, Data
from examples.fma_model import sequential_fma

TOLERANCE = 1e-5
"""Largest error of f32 arithmetic, relative to the size of what is added up: Σ|a·b| + |init| for a product."""

F16_ROUNDING = 2.0**-11
"""Largest error of rounding to the nearest f16, relative to the number or to ``F16_NORMAL`` if it is smaller."""
F16_NORMAL = 2.0**-14
"""Smallest normal f16."""

ATTENTION = F16_ROUNDING + 1e-4
"""Largest error of attention relative to Σ weight · |value|: the weights are rounded to f16, and one below
``F16_NORMAL`` loses up to 2^-25; their exponents are sums in f32."""

Accumulate = Literal["fast", "exact"]


@dataclass(frozen=True)
class Wanted:
    """One output: a result passes if |result − ``value``| ≤ ``tolerance`` · ``scale`` in every element.

    ``value`` is the formula in float64 and ``scale`` the size of what was added up on the way: a sum may cancel
    to almost nothing, its error does not. Without a scale a result must be equal: integers in value, floats in
    every bit.
    """

    value: Array
    scale: Array | None = None
    tolerance: float = 0.0

    def error(self, result: Array) -> float:
        """Largest |result − value| / scale; without a scale the largest difference of integers or the number of
        floats whose bits differ. Infinite for a wrong shape or kind of element and for NaN."""
        value = self.value
        integer = value.dtype.kind in "iu"
        if result.shape != value.shape or (result.dtype.kind in "iu") != integer:
            return np.inf
        if integer:
            return float(np.abs(result.astype(np.int64) - value).max())
        if self.scale is None:
            same = np.frombuffer(result.tobytes(), np.uint8) == np.frombuffer(value.tobytes(), np.uint8)
            return float(np.count_nonzero(~same.reshape(value.size, -1).all(axis=1)))
        distance = np.abs(result.astype(np.float64) - value)
        errors = np.full(value.shape, np.inf)
        np.divide(distance, self.scale, out=errors, where=self.scale > 0)
        errors[distance == 0] = 0
        return np.inf if np.isnan(errors).any() else float(errors.max())


Expected = Callable[[str, Data, Accumulate], dict[str, Wanted]]
"""``expected(entry, data, accumulate)`` of an example: its outputs by name."""

Product = Callable[[Array, Array, Array | None], Array]
"""``product(a, b, init)``: ``init + a b`` for ``a`` [M, K], ``b`` [K, N] and ``init`` [M, N], [1, N] or None."""


def sums(formula: Callable[[Product], dict[str, Array]], accumulate: Accumulate) -> dict[str, Wanted]:
    """Outputs that are a product of matrices, given as a formula over that product.

    With exact accumulation the result is the chain of fused multiply-adds that defines it, bit by bit; otherwise
    the formula is evaluated with the product in float64, and once more for the scale Σ|a·b| + |init|.
    """
    if accumulate == "exact":
        return {name: Wanted(value) for name, value in formula(sequential_fma).items()}
    scales = formula(magnitude)
    return {name: Wanted(value, scales[name], TOLERANCE) for name, value in formula(wide_product).items()}


def wide_product(a: Array, b: Array, init: Array | None) -> Array:
    """``init + a b`` in float64, whose own error is far below that of any f32 sum."""
    total = a.astype(np.float64) @ b.astype(np.float64)
    return total if init is None else total + init


def magnitude(a: Array, b: Array, init: Array | None) -> Array:
    """Σ|a·b| + |init| of every element: what the error of a sum is compared with."""
    return wide_product(np.abs(a), np.abs(b), None if init is None else np.abs(init))
