"""Conversion to integer formats and packing of 4-bit values (docs/reference/numerics.md, "Narrowing and saturation";
docs/reference/tiles.md, "Conversion").
"""

from __future__ import annotations

import numpy as np

from .format_table import Format
from .rounding import round_to_integer

__all__ = ["pack_nibbles", "to_integer"]


def to_integer(x: np.ndarray, fmt: Format, letter: str, saturate: bool) -> np.ndarray:
    """Returns the values of ``x`` (ints, bool, float16/32/64) as ``fmt.compute`` integers, one array element per value.

    Floats are rounded by ``letter`` first; NaN gives 0. Then the value is clamped to the range of ``fmt``
    (``saturate``) or reduced to its low bits. An infinity has no low bits and gives the end of the range either way.
    """
    if x.dtype == np.bool_:
        x = x.view(np.uint8)
    if x.dtype.kind == "f":
        return _from_float(round_to_integer(x, letter), fmt, saturate)
    if x.dtype == fmt.compute and fmt.bits == 8 * fmt.compute.itemsize:
        return x
    if saturate:
        return _clamp(x, fmt).astype(fmt.compute)
    return _low_bits(x, fmt)


def _clamp(x: np.ndarray, fmt: Format) -> np.ndarray:
    limits = np.iinfo(x.dtype)
    return np.clip(
        x,
        np.array(max(fmt.min_value, limits.min), x.dtype),
        np.array(min(fmt.max_value, limits.max), x.dtype),
    )


def _low_bits(x: np.ndarray, fmt: Format) -> np.ndarray:
    if fmt.bits >= 8:
        return x.astype(fmt.compute)
    bits = x.astype(np.uint8) & np.uint8((1 << fmt.bits) - 1)
    if fmt.kind == "int":
        sign = np.int8(1 << (fmt.bits - 1))
        return (bits.astype(np.int8) ^ sign) - sign
    return bits.astype(fmt.compute)


def _from_float(integral: np.ndarray, fmt: Format, saturate: bool) -> np.ndarray:
    low, high = fmt.min_value, fmt.max_value
    if not np.isfinite(integral).all():
        if not saturate:
            finite = _from_float(np.nan_to_num(integral, nan=0.0, posinf=0.0, neginf=0.0), fmt, saturate)
            ends = np.where(integral > 0, np.array(high, fmt.compute), np.array(low, fmt.compute))
            return np.where(np.isinf(integral), ends, finite)
        integral = np.nan_to_num(integral, nan=0.0, posinf=np.inf, neginf=-np.inf)
    if fmt.bits <= 16 and saturate:
        return np.clip(integral, low, high).astype(fmt.compute)
    wide = integral.astype(np.float64)
    if not saturate:
        wide = np.fmod(wide, 2.0**64)
        wide -= np.where(np.abs(wide) > 2.0**63, np.copysign(2.0**64, wide), 0.0)
        # -2**63 and 2**63 are the same low bits, and only the first converts.
        return _low_bits(np.where(wide == 2.0**63, -wide, wide).astype(np.int64), fmt)
    if fmt.bits <= 32:
        return np.clip(wide, low, high).astype(fmt.compute)
    # The upper limit is not a float64: compare against the power of two above it.
    over = wide >= float(high + 1)
    inside = np.where(over, 0.0, np.maximum(wide, float(low))).astype(fmt.compute)
    return np.where(over, np.array(high, fmt.compute), inside)


def pack_nibbles(codes: np.ndarray) -> np.ndarray:
    """Pack values along the last axis two per byte, the even index in the low nibble; only low 4 bits count.

    Raises ``ValueError`` if the last axis has odd length. Source: docs/reference/numerics.md, "Formats".
    """
    if codes.ndim == 0 or codes.shape[-1] % 2:
        raise ValueError(f"4-bit values are stored in pairs, got shape {codes.shape}")
    nibbles = codes.view(np.uint8)
    return (nibbles[..., 0::2] & np.uint8(15)) | (nibbles[..., 1::2] << np.uint8(4))
