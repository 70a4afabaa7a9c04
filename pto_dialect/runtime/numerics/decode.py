"""Storage to values: lookup tables for 8-bit and packed formats, bit arithmetic for f16."""

from __future__ import annotations

from functools import cache

import numpy as np

from .format_table import Format, format_of

__all__ = ["decode", "hif8_values", "value_table"]


def hif8_values() -> np.ndarray:
    """Returns the values of the 256 HiF8 codes as float32 (docs/reference/numerics.md, "hif8")."""
    values = np.zeros(256, np.float32)
    for code in range(256):
        values[code] = _hif8_value(code)
    return values


def _hif8_value(code: int) -> float:
    magnitude = code & 0x7F
    sign = -1.0 if code & 0x80 else 1.0
    if magnitude == 0:
        return float("nan") if code else 0.0
    if magnitude == 0x6F:
        return sign * float("inf")
    if magnitude < 8:
        return sign * 2.0 ** (magnitude - 23)
    if magnitude < 16:
        return sign * (1 + (magnitude & 7) / 8)
    # The prefix selects how many exponent bits follow the exponent's sign; they are taken from the mantissa.
    exponent_bits = {1: 0, 2: 1, 3: 1, 4: 2, 5: 2, 6: 3, 7: 3}[magnitude >> 4]
    mantissa_bits = min(3, 4 - exponent_bits)
    negative = magnitude >> (mantissa_bits + exponent_bits) & 1
    exponent = (1 << exponent_bits) + (magnitude >> mantissa_bits & ((1 << exponent_bits) - 1))
    mantissa = (magnitude & ((1 << mantissa_bits) - 1)) / (1 << mantissa_bits)
    return sign * (1 + mantissa) * 2.0 ** (-exponent if negative else exponent)


def _ieee_like_values(fmt: Format) -> np.ndarray:
    """Returns the values of all codes of a sign-exponent-mantissa format of at most 8 bits."""
    codes = np.arange(1 << fmt.bits)
    mantissa = codes & ((1 << fmt.mantissa_bits) - 1)
    exponent = codes >> fmt.mantissa_bits & ((1 << fmt.exponent_bits) - 1)
    normal = exponent > 0
    significand = mantissa / (1 << fmt.mantissa_bits) + normal
    values = significand * 2.0 ** (np.maximum(exponent, 1) - fmt.bias)
    if fmt.has_inf:
        top = exponent == (1 << fmt.exponent_bits) - 1
        values = np.where(top, np.where(mantissa == 0, np.inf, np.nan), values)
    elif fmt.has_nan:
        values = np.where(values > fmt.max_finite, np.nan, values)
    sign = np.where(codes >> (fmt.bits - 1) & 1, -1.0, 1.0)
    return (sign * values).astype(np.float32)


@cache
def value_table(name: str) -> np.ndarray:
    """Returns the values of all codes of a 4- or 8-bit float format, float32 [2**bits], read-only."""
    fmt = format_of(name)
    if fmt.name in ("hif8", "hif8x2"):
        table = hif8_values()
    elif fmt.name == "f8E8M0":
        powers = np.ldexp(1.0, np.arange(256) - 127)
        powers[255] = np.nan
        table = powers.astype(np.float32)
    elif fmt.is_float and fmt.bits <= 8:
        table = _ieee_like_values(fmt)
    else:
        raise ValueError(f"{fmt.name} has no code table")
    table.flags.writeable = False
    return table


@cache
def _pair_table(name: str) -> np.ndarray:
    """Returns both values of every byte of a 4-bit format, [256, 2], low nibble first."""
    fmt = format_of(name)
    if fmt.is_float:
        nibbles = value_table(fmt.name)
    else:
        nibbles = np.arange(16, dtype=np.uint8)
        if fmt.kind == "int":
            nibbles = (nibbles.astype(np.int8) ^ np.int8(8)) - np.int8(8)
    codes = np.arange(256)
    table = np.stack([nibbles[codes & 15], nibbles[codes >> 4]], axis=1)
    table.flags.writeable = False
    return table


def _widen_f16(raw: np.ndarray) -> np.ndarray:
    """Exact f16 to f32; moving the fields and rescaling the exponent is 3x faster than ``astype``."""
    bits = np.left_shift(raw.view(np.int16), 13, dtype=np.int32)
    bits &= np.int32(-0x70002000)  # keep the sign (bit 31) and the 15 moved bits, drop copies of the sign
    wide = bits.view(np.float32)
    wide *= np.float32(2.0**112)
    if raw.size and (raw.view(np.uint16) & np.uint16(0x7FFF)).max() >= 0x7C00:
        return raw.astype(np.float32)
    return wide


def _as_storage(raw: np.ndarray, fmt: Format) -> np.ndarray:
    if raw.dtype == fmt.storage:
        return raw
    if raw.dtype.itemsize != fmt.bytes:
        raise ValueError(f"{fmt.name} is stored as {fmt.storage}, got an array of {raw.dtype}")
    return raw.view(fmt.storage)


def decode(raw: np.ndarray, fmt: str | Format) -> np.ndarray:
    """Return the values held by ``raw``, an array of storage units of ``fmt``.

    Floats decode exactly to float32 (f64 stays float64), integers to their own dtype (i4/si4 to int8, ui4 to
    uint8). Packed formats double the last axis; the even index is the low part of the unit. Formats that
    compute in their storage dtype return ``raw`` itself, not a copy. An array of another dtype with the same
    item size is reinterpreted. Raises ``ValueError`` for a wrong item size. Source: docs/reference/numerics.md,
    "Formats".
    """
    fmt = format_of(fmt)
    units = _as_storage(np.asarray(raw), fmt)
    if fmt.storage == fmt.compute and not fmt.is_packed:
        return units
    if fmt.name == "f16":
        return _widen_f16(units)
    if fmt.name == "bf16":
        return units.astype(np.float32)
    if fmt.elements == 1:
        return value_table(fmt.name).take(units.view(np.uint8))
    shape = (*units.shape[:-1], units.shape[-1] * 2)
    if fmt.bits == 4:
        return _pair_table(fmt.name).take(units, axis=0).reshape(shape)
    halves = np.ascontiguousarray(units).view(np.uint8 if fmt.bits == 8 else np.uint16)
    return decode(halves, "hif8" if fmt.bits == 8 else "bf16")
