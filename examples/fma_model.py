"""The matrix product bit by bit: one fused multiply-add after the other, in integer arithmetic.

``c = init; for k in 0 … K-1: c = fma(a[:, k], b[k, :], c)``, each rounded once to nearest even f32
(docs/reference/numerics.md, "Matrix products"). Every value is an integer multiple of one small power of two, the unit,
so nothing but the rounding itself is ever inexact, and no floating-point sum takes part in it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from examples.case import Array

_PRECISION = 24
_SMALLEST = -149  # exponent of the smallest f32
_INT64_BITS = 62  # leaves room for one more addition


def sequential_fma(a: Array, b: Array, init: Array | None = None) -> Array:
    """``init + a b`` as f32 [M, N] for finite ``a`` [M, K] and ``b`` [K, N], exact in float64.

    ``init`` is f32 [M, N] or [1, N], or None for zero. Raises ``ValueError`` for a sum that f32 cannot hold,
    or that is rounded to zero (the sign of zero is not modelled).
    """
    wide_a, wide_b = a.astype(np.float64), b.astype(np.float64)
    start = np.zeros((1, 1)) if init is None else init.astype(np.float64)
    start = np.broadcast_to(start, (a.shape[0], b.shape[1]))
    step = _lowest_bit(wide_a) + _lowest_bit(wide_b)
    unit = min(step, _lowest_bit(start))
    size = np.abs(wide_a) @ np.abs(wide_b) + np.abs(start)
    if size.max() >= 2.0**127:
        raise ValueError("sums may exceed the range of f32")
    narrow = np.ldexp(size.max(), -unit) < 2.0**_INT64_BITS
    if not narrow and a.shape[0] > 1:
        # Rows are independent; those with ordinary values fit on their own.
        half = a.shape[0] // 2
        parts = (slice(half), slice(half, None))
        return np.concatenate([sequential_fma(a[part], b, start[part]) for part in parts])
    dtype = np.int64 if narrow else object
    left = _integers(wide_a, _lowest_bit(wide_a), dtype)
    right = _integers(wide_b, _lowest_bit(wide_b), dtype) << (step - unit)
    total = _integers(start, unit, dtype)
    for k in range(a.shape[1]):
        total = _rounded(total + np.multiply.outer(left[:, k], right[k]), unit)
    return np.ldexp(total.astype(np.float64), unit).astype(np.float32)


def _lowest_bit(x: Array) -> int:
    """Exponent of the lowest bit that is set in any element."""
    fraction, exponent = np.frexp(x[x != 0])
    significand = np.ldexp(fraction, 53).astype(np.int64)
    _, position = np.frexp((significand & -significand).astype(np.float64))
    return int((exponent - 53 + position - 1).min()) if exponent.size else 0


def _integers(x: Array, unit: int, dtype: type[Any]) -> Array:
    """``x`` in units of ``2**unit``, exactly."""
    if dtype is np.int64:
        return np.ldexp(x, -unit).astype(np.int64)
    fraction, exponent = np.frexp(x)
    significand = np.ldexp(fraction, 53).astype(np.int64).astype(object)
    shift = exponent.astype(object) - 53 - unit
    return np.vectorize(lambda s, n: s << n if n >= 0 else s >> -n, otypes=[object])(significand, shift)


def _rounded(total: Array, unit: int) -> Array:
    """The nearest f32 values, in the same units."""
    magnitude = np.abs(total)
    # Bits below the last one that f32 keeps: by its precision, and for small numbers by its smallest step.
    dropped = np.maximum(_bit_length(magnitude) - _PRECISION, max(_SMALLEST - unit, 0)).astype(total.dtype)
    half = (1 << dropped) >> 1
    # More than a half carries, and a half beside an odd last bit. Shifts round down whatever the sign is.
    carry = half - (half > 0) * (1 - ((total >> dropped) & 1))
    result = ((total + carry) >> dropped) << dropped
    if ((result == 0) & (total != 0)).any():
        raise ValueError("a sum is rounded to zero")
    return result


def _bit_length(magnitude: Array) -> Array:
    if magnitude.dtype == object:
        return np.vectorize(int.bit_length, otypes=[object])(magnitude)
    # Without the bit below its first one, a number is not rounded to the next power of two as a float.
    _, length = np.frexp((magnitude & ~(magnitude >> 1)).astype(np.float64))
    return length
