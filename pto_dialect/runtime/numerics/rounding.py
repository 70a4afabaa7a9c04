"""Rounding letters of the ISA and the two 19-bit float views (docs/reference/numerics.md, "Formats", "Rounding")."""

from __future__ import annotations

from typing import Literal

import numpy as np

from pto_dialect.targets.rounding import ROUNDING_LETTERS

__all__ = [
    "Tf32Mode",
    "check_letter",
    "fp19",
    "fp19_bits",
    "round_to_integer",
    "rounds_up",
    "tf32",
]

Tf32Mode = Literal["round_even", "round_away"]


def check_letter(letter: str) -> str:
    """Return the letter that is computed for ``letter`` (H is A); raise ``ValueError`` if there is none."""
    if letter not in ROUNDING_LETTERS:
        raise ValueError(f"unknown rounding letter '{letter}'")
    return "A" if letter == "H" else letter


def round_to_integer(x: np.ndarray, letter: str = "R") -> np.ndarray:
    """Round float16/32/64 values to integral values of the same dtype.

    NaN and infinities pass through, the sign of zero is kept. Source: docs/reference/numerics.md, "Rounding".
    """
    letter = check_letter(letter)
    if letter == "R":
        return np.rint(x)
    if letter == "F":
        return np.floor(x)
    if letter == "C":
        return np.ceil(x)
    truncated = np.trunc(x)
    if letter == "Z":
        return truncated
    with np.errstate(invalid="ignore"):
        rest = np.abs(x - truncated)
        step = rest >= 0.5 if letter == "A" else (rest > 0) & (np.fmod(truncated, 2) == 0)
    return truncated + np.copysign(step.astype(x.dtype), x)


def rounds_up(letter: str, low: np.ndarray, half: np.ndarray, odd: np.ndarray, negative: np.ndarray) -> np.ndarray:
    """Returns whether a magnitude that is cut by ``low`` (with ``half`` the tie) rounds to the next larger magnitude.

    ``low`` and ``half`` are unsigned integers, ``odd`` and ``negative`` are boolean; ``odd`` states that the cut
    magnitude has an odd last digit. ``letter`` is R, A, F, C, Z or O. Source: docs/reference/numerics.md, "Rounding".
    """
    if letter == "R":
        return (low > half) | ((low == half) & odd)
    if letter == "A":
        return low >= half
    if letter == "F":
        return (low != 0) & negative
    if letter == "C":
        return (low != 0) & ~negative
    if letter == "O":
        return (low != 0) & ~odd
    return np.zeros(low.shape, np.bool_)


def tf32(x: np.ndarray, mode: Tf32Mode = "round_even") -> np.ndarray:
    """Round float32 values to the 10-bit mantissa of tf32; NaN and infinities are kept.

    Source: docs/reference/numerics.md, "Formats".
    """
    values = np.ascontiguousarray(x, np.float32)
    bits = values.view(np.uint32)
    if mode == "round_even":
        rounded = (bits >> np.uint32(13)) & np.uint32(1)
        rounded += np.uint32(0xFFF)
    elif mode == "round_away":
        rounded = np.full(bits.shape, 0x1000, np.uint32)
    else:
        raise ValueError(f"unknown tf32 mode '{mode}'")
    rounded += bits
    rounded &= np.uint32(0xFFFFE000)
    result = rounded.view(np.float32)
    # The carry would turn a NaN with a small payload into an infinity, one with all bits set into a zero.
    nan = np.isnan(values)
    if nan.any():
        result[nan] = np.nan
    return result.reshape(np.shape(x))


def fp19(x: np.ndarray) -> np.ndarray:
    """Drop the low 13 bits of float32 values: what a parameter table keeps. docs/reference/numerics.md, "Formats"."""
    return fp19_bits(np.ascontiguousarray(x, np.float32).view(np.uint32)).reshape(np.shape(x))


def fp19_bits(words: np.ndarray) -> np.ndarray:
    """Read uint32/uint64 table entries as fp19: bits 31:13 of a float32. docs/reference/layouts.md, "Write-back
    addresses".
    """
    return (words.astype(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)
