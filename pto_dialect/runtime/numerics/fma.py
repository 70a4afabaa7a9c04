"""The defined accumulation order of a matrix multiply: one fused multiply-add per k, in order
(docs/reference/numerics.md, "Matrix products").
"""

from __future__ import annotations

import numpy as np

__all__ = ["accumulate_fma", "fma", "fma_to_odd"]

_BLOCK_ELEMENTS = 16384  # keeps the float64 working arrays of one row block in the second-level cache
_LOW_BITS = np.int64((1 << 29) - 1)  # what a float64 loses when it becomes a normal float32
_HALF = np.int64(1 << 28)
_F32_MIN_STEP = 2.0**-149


def _round_to_odd_sum(c: np.ndarray, p: np.ndarray, s: np.ndarray) -> np.ndarray:
    """Returns ``c + p`` in float64 rounded to odd; ``s`` is their nearest sum.

    A sum rounded to odd still determines on which side of any float32 tie the exact sum is, so that rounding it to
    float32 is a single rounding. The error of ``s`` comes from Knuth's two-sum; it is NaN where s is not finite.
    """
    p_part = s - c
    error = (c - (s - p_part)) + (p - p_part)
    bits = s.view(np.int64)
    inexact = ((error > 0) | (error < 0)) & ((bits & 1) == 0)
    step = np.where((error > 0) == (s > 0), 1, -1)
    return (bits + inexact * step).view(np.float64)


def fma(a: np.ndarray, b: np.ndarray | np.float32, c: np.ndarray) -> np.ndarray:
    """Returns ``a * b + c`` of float32 arrays with a single rounding to float32, subnormals and specials included."""
    with np.errstate(all="ignore"):
        wide_c = np.atleast_1d(np.asarray(c, np.float64))
        product = np.atleast_1d(np.asarray(a, np.float64) * np.asarray(b, np.float64))
        wide_c, product = np.broadcast_arrays(wide_c, product)
        result = _round_to_odd_sum(wide_c, product, wide_c + product).astype(np.float32)
    return result.reshape(np.broadcast_shapes(np.shape(a), np.shape(b), np.shape(c)))


def fma_to_odd(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Returns ``a * b + c`` of arrays with at most 24 significant bits and one shape, float64 rounded to odd.

    Rounding that to a format with at most 24 bits gives the result of a single rounding.
    """
    with np.errstate(all="ignore"):
        wide_c = np.asarray(c, np.float64)
        product = np.asarray(a, np.float64) * np.asarray(b, np.float64)
        return _round_to_odd_sum(wide_c, product, wide_c + product)


def _lowest_bits(x: np.ndarray) -> np.ndarray:
    """Returns the power of two that is the lowest set bit of each element; inf for zeros and non-finite elements."""
    fraction, exponent = np.frexp(np.where(np.isfinite(x), x, 0.0))
    significand = np.ldexp(fraction, 53).astype(np.int64)
    lowest = np.ldexp((significand & -significand).astype(np.float64), exponent - 53)
    return np.where(lowest == 0, np.inf, lowest)


def _sum_is_exact(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> tuple[np.ndarray, bool]:
    """Returns per k whether every float64 sum of that step is exact; and whether a product is finer than 2**-149.

    All terms up to step k are multiples of the smallest lowest bit seen so far and rounding to float32 only makes them
    coarser; sums below 2**53 times that bit are exact.
    """
    products = _lowest_bits(a).min(axis=0) * _lowest_bits(b).min(axis=1)
    finest = np.minimum.accumulate(np.minimum(products, _lowest_bits(c).min()))
    growth = np.cumsum(np.abs(a).max(axis=0) * np.abs(b).max(axis=1))
    largest = 2 * (np.abs(c).max() + growth)  # twice: capacity for the roundings of the running sum
    return largest < finest * 2.0**53, bool(products.min() < _F32_MIN_STEP)


def accumulate_fma(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> None:
    """Update ``c`` [M,N] in place: ``c = fma(a[:, k], b[k, :], c)`` for k = 0 … K-1, bit-exact in float32.

    ``a`` [M,K] and ``b`` [K,N] hold values with at most 24 significant bits (float32, or float64 for scaled
    MX operands), so every product is exact in float64. ``c`` is float32. Source: docs/reference/numerics.md, "Matrix
    products".
    """
    if 0 in (*a.shape, *b.shape):
        return
    wide_a, wide_b = a.astype(np.float64), b.astype(np.float64)
    rows = max(1, _BLOCK_ELEMENTS // c.shape[1])
    with np.errstate(all="ignore"):
        exact, fine = _sum_is_exact(wide_a, wide_b, c.astype(np.float64))
        for start in range(0, c.shape[0], rows):
            block = slice(start, start + rows)
            _accumulate_block(wide_a[block], wide_b, c[block], exact, fine)


def _accumulate_block(a: np.ndarray, b: np.ndarray, c: np.ndarray, exact: np.ndarray, fine: bool) -> None:
    total = c.astype(np.float64)
    narrow = np.empty(c.shape, np.float32)
    product = np.empty_like(total)
    nearest = np.empty_like(total)
    low = np.empty(c.shape, np.int64)
    columns = np.ascontiguousarray(a.T)[:, :, None]
    for k, sums_are_exact in enumerate(exact.tolist()):
        np.multiply(columns[k], b[k], out=product)
        np.add(total, product, out=nearest)
        if sums_are_exact:
            pass
        elif fine:
            # Ties of subnormal results can be anywhere, so every sum is rounded to odd.
            nearest[...] = _round_to_odd_sum(total, product, nearest)
        else:
            # Only sums on a float32 tie could round the wrong way, and subnormal results are exact.
            np.bitwise_and(nearest.view(np.int64), _LOW_BITS, out=low)
            ties = np.flatnonzero(low == _HALF)
            if ties.size:
                at_ties = (part.reshape(-1).take(ties) for part in (total, product, nearest))
                nearest.reshape(-1)[ties] = _round_to_odd_sum(*at_ties)
        narrow[...] = nearest
        total[...] = narrow
    c[...] = narrow
