"""Directed and nearest rounding of float32 to narrower floats by integer arithmetic on the bits.

Every destination is described by two tables over the 8-bit exponent of the source: how many significand bits
fall off, and which *rank* (position in the order of magnitudes) the binade starts at. Ranks of ordinary
formats are their codes; the tapered hif8 maps ranks to codes afterwards. The last rank is ``max_finite``;
anything above it has overflowed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from .decode import value_table
from .format_table import format_of
from .rounding import rounds_up

__all__ = ["Ranks", "narrow_f64", "overflow_rank", "ranks_of", "round_ranks", "widen_integers"]

_SIGN = np.uint32(0x8000_0000)
_NO_BITS_LEFT = 25  # a 24-bit significand shifted by this much is below half of the smallest step


@dataclass(frozen=True, slots=True)
class Ranks:
    """Rounding of one destination: ``shift`` uint32 [256], ``offset`` int32 [256], ``last`` finite rank.

    ``codes`` maps ranks (up to ``last + 1``) to storage codes, or is None where both are the same.
    """

    shift: np.ndarray
    offset: np.ndarray
    last: int
    codes: np.ndarray | None


@cache
def ranks_of(name: str) -> Ranks:
    """Rounding tables of the float format ``name`` (not f64, f8E8M0). docs/reference/numerics.md, "Formats", "hif8"."""
    fmt = format_of(name)
    exponents = np.maximum(np.arange(256), 1) - 127
    if fmt.exponent_bits == 0:
        return _tapered_ranks(exponents)
    mantissa = fmt.mantissa_bits
    below_normal = np.maximum(1 - fmt.bias - exponents, 0)
    shift = np.minimum(23 - mantissa + below_normal, _NO_BITS_LEFT)
    offset = (np.maximum(exponents + fmt.bias, 1) - 1) << mantissa
    top_exponent = int(np.frexp(fmt.max_finite)[1]) - 1
    top_significand = int(np.ldexp(fmt.max_finite, mantissa - top_exponent))
    last = ((top_exponent + fmt.bias - 1) << mantissa) + top_significand
    return Ranks(shift.astype(np.uint32), offset.astype(np.int32), last, None)


def _tapered_ranks(exponents: np.ndarray) -> Ranks:
    values = value_table("hif8")[:0x80]
    finite = np.flatnonzero(np.isfinite(values))
    order = finite[np.argsort(values[finite])]
    codes = np.append(order, 0x6F).astype(np.uint8)
    shift = np.full(256, _NO_BITS_LEFT)
    offset = np.zeros(256, np.int64)
    shift[exponents == -23] = 24
    for row, exponent in enumerate(exponents):
        if exponent < -22:
            continue
        # Beyond the largest binade the ranks only have to keep growing.
        start = np.searchsorted(values[order], 2.0 ** min(exponent, 15))
        within = values[order] < 2.0 ** (min(exponent, 14) + 1)
        steps = np.count_nonzero(within & (values[order] >= 2.0 ** min(exponent, 14)))
        shift[row] = 23 - int(np.log2(steps))
        offset[row] = start - steps + 2 * max(int(exponent) - 15, 0)
    return Ranks(shift.astype(np.uint32), offset.astype(np.int32), len(order) - 1, codes)


def round_ranks(x: np.ndarray, ranks: Ranks, letter: str) -> np.ndarray:
    """Ranks (int32, same shape) of the magnitudes of float32 ``x`` rounded by ``letter``.

    They exceed ``last`` on overflow. NaN gives an unspecified rank. Source: docs/reference/numerics.md, "Rounding".
    """
    bits = np.ascontiguousarray(x, np.float32).view(np.uint32)
    exponent = (bits >> np.uint32(23)) & np.uint32(0xFF)
    significand = bits & np.uint32(0x7F_FFFF)
    significand |= (exponent != 0).astype(np.uint32) << np.uint32(23)
    shift = ranks.shift.take(exponent)
    leading = significand >> shift
    low = significand - (leading << shift)
    rank = ranks.offset.take(exponent)
    rank += leading.astype(np.int32)
    half = np.uint32(1) << (shift - np.uint32(1))
    rank += rounds_up(letter, low, half, (rank & 1) == 1, (bits & _SIGN) != 0)
    return rank


def overflow_rank(ranks: Ranks, letter: str, negative: np.ndarray) -> np.ndarray:
    """Rank that a finite value beyond ``max_finite`` rounds to: IEEE 754 for the directed letters.

    Toward-zero letters stop at the largest finite value, the others reach the code after it (inf, or NaN for
    a format without inf). O takes whichever of the two is odd.
    """
    last_is_even = ranks.last % 2 == 0
    step = {"R": True, "A": True, "F": negative, "C": ~negative, "Z": False, "O": last_is_even}[letter]
    return ranks.last + np.broadcast_to(step, negative.shape).astype(np.int32)


def narrow_f64(x: np.ndarray, letter: str) -> np.ndarray:
    """Round a float64 array to float32 by ``letter`` (R A F C Z O). docs/reference/numerics.md, "Rounding".

    Rounding to odd here and by any letter to at most 22 significand bits afterwards equals one rounding.
    """
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        nearest = x.astype(np.float32)
        if letter == "R":
            return nearest
        wide = nearest.astype(np.float64)
        bits = nearest.view(np.int32)
        # Infinities that come from overflow step back to the largest finite value.
        cut = bits - (np.abs(wide) > np.abs(x))
        toward_zero = cut.astype(np.int32).view(np.float32).astype(np.float64)
        inexact = (toward_zero != x) & np.isfinite(x)
        negative = np.signbit(x)
        if letter == "A":
            away = (cut + 1).astype(np.int32).view(np.float32).astype(np.float64)
            tie = inexact & (np.abs(x - toward_zero) == np.abs(away - x))
            return np.where(tie, away, wide).astype(np.float32)
        step = {"F": negative, "C": ~negative, "Z": False, "O": (cut & 1) == 0}[letter]
        return (cut + (inexact & step)).astype(np.int32).view(np.float32)


def widen_integers(x: np.ndarray) -> np.ndarray:
    """Integers as float64: exact below 2**53, beyond that rounded to odd (safe to round once more)."""
    if x.dtype.itemsize < 8:
        return x.astype(np.float64)
    with np.errstate(over="ignore"):
        low = x & np.array(0x7FF, x.dtype)
        sticky = (x - low) | ((low != 0).astype(x.dtype) << np.array(11, x.dtype))
    small = np.abs(x.astype(np.float64)) < 2.0**53
    return np.where(small, x, sticky).astype(np.float64)
