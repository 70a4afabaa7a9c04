"""Conversions between number formats in plain integers, for comparison: no float of numpy takes part.

A value is (sign, significand, exponent) or special; formats are rows of a table. Rounding looks at the bits that fall
off. Codes are integers; a packed format counts each of its two numbers.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

I64 = np.int64
_FAR = 62
"""Shift from which nothing of a significand is left."""


class FloatFormat(NamedTuple):
    """A binary format: fields, the exponent of its smallest step, its largest finite code, codes of specials."""

    bits: int
    mantissa: int
    step: int
    last: int
    infinity: int | None
    nan: int | None


FLOATS = {
    "f32": FloatFormat(32, 23, -149, 0x7F7F_FFFF, 0x7F80_0000, 0x7FC0_0000),
    "f16": FloatFormat(16, 10, -24, 0x7BFF, 0x7C00, 0x7E00),
    "bf16": FloatFormat(16, 7, -133, 0x7F7F, 0x7F80, 0x7FC0),
    "f8E4M3FN": FloatFormat(8, 3, -9, 0x7E, None, 0x7F),
    "f8E5M2": FloatFormat(8, 2, -16, 0x7B, 0x7C, 0x7E),
    "f4E2M1x2": FloatFormat(4, 1, -1, 7, None, None),
    "f4E1M2x2": FloatFormat(4, 2, -2, 7, None, None),
}
INTEGERS = {f"{kind}{bits}": (kind == "i", bits) for kind in ("i", "ui") for bits in (8, 16, 32, 64)}
HIF8 = "hif8"


class Values(NamedTuple):
    """Arrays: negative, significand, exponent of its last bit, infinite, not a number."""

    negative: np.ndarray
    significand: np.ndarray
    exponent: np.ndarray
    infinite: np.ndarray
    nan: np.ndarray


def is_float(name: str) -> bool:
    """True for float formats."""
    return name in FLOATS or name == HIF8


def bits_of(name: str) -> int:
    """Bits of one number."""
    return FLOATS[name].bits if name in FLOATS else 8 if name == HIF8 else INTEGERS[name][1]


# ------------------------------------------------------------ codes to values


def _hif8_table() -> list[tuple[int, int]]:
    """Significand and exponent of the magnitudes with codes 0 to 0x7F; infinity as (0, 1)."""
    table = []
    for code in range(0x80):
        if code == 0:
            table.append((0, 0))
        elif code == 0x6F:
            table.append((0, 1))
        elif code < 8:
            table.append((1, code - 23))
        elif code < 16:
            table.append((8 + (code & 7), -3))
        else:
            # The dot field says how many exponent bits follow the sign of the exponent: 0, 1, 1, 2, 2, 3, 3.
            width = {1: 0, 2: 1, 3: 1, 4: 2, 5: 2, 6: 3, 7: 3}[code >> 4]
            fraction = 3 if width < 2 else 4 - width
            magnitude = (1 << width) | (code >> fraction & ((1 << width) - 1))
            exponent = -magnitude if code >> (fraction + width) & 1 else magnitude
            table.append(((1 << fraction) | (code & ((1 << fraction) - 1)), exponent - fraction))
    return table


_HIF8 = _hif8_table()
_SCALE = 30
"""hif8 magnitudes are integers in units of 2**-30."""
_BY_SIZE = sorted((s << (e + _SCALE), code) for code, (s, e) in enumerate(_HIF8) if code != 0x6F)
_HIF8_CODES = np.array([code for _, code in _BY_SIZE] + [0x6F], I64)
# Beyond the largest number the next step would be half as large again.
_SIZES = [size for size, _ in _BY_SIZE] + [_BY_SIZE[-1][0] // 2 * 3]
_HALFWAY = np.array([(a + b) // 2 for a, b in pairwise(_SIZES)], I64)


def decode(codes: np.ndarray, name: str) -> Values:
    """Values of codes, an int64 array (unsigned codes, except integers, which are themselves)."""
    none = np.zeros(codes.shape, bool)
    if name in INTEGERS:
        # The magnitude of the smallest 64-bit number does not fit, but is handled like the others as unsigned.
        return Values(codes < 0, np.abs(codes), np.zeros_like(codes), none, none)
    negative = (codes >> (bits_of(name) - 1) & 1) == 1
    magnitude = codes & ((1 << (bits_of(name) - 1)) - 1)
    if name == HIF8:
        table = np.array(_HIF8, I64)[magnitude]
        nan = codes == 0x80
        return Values(negative, table[:, 0], table[:, 1], magnitude == 0x6F, nan)
    fmt = FLOATS[name]
    field, fraction = magnitude >> fmt.mantissa, magnitude & ((1 << fmt.mantissa) - 1)
    significand = np.where(field > 0, fraction | 1 << fmt.mantissa, fraction)
    exponent = np.maximum(field, 1) - 1 + fmt.step
    infinite = magnitude == fmt.infinity if fmt.infinity is not None else none
    return Values(negative, significand, exponent, infinite, (magnitude > fmt.last) & ~infinite)


# ------------------------------------------------------------ rounding


def _bit_length(x: np.ndarray) -> np.ndarray:
    length = np.zeros(x.shape, I64)
    rest = x.astype(np.uint64)
    for step in (32, 16, 8, 4, 2, 1):
        high = rest >> np.uint64(step)
        length += np.where(high > 0, step, 0)
        rest = np.where(high > 0, high, rest)
    return length + (rest > 0)


def _cut(v: Values, shift: np.ndarray, letter: str) -> np.ndarray:
    """Significands without their last ``shift`` bits (at most 62, at least 0), rounded."""
    s = v.significand.astype(np.uint64)
    far = np.minimum(shift, _FAR).astype(np.uint64)
    kept = s >> far
    rest = s - (kept << far)
    # The half of one bit is rest << 1 == 1 << far; a significand has at most 63 bits.
    doubled, one = rest << np.uint64(1), np.uint64(1) << far
    odd = (kept & np.uint64(1)) == 1
    up = {
        "R": (doubled > one) | ((doubled == one) & odd),
        "A": doubled >= one,
        "F": (rest > 0) & v.negative,
        "C": (rest > 0) & ~v.negative,
        "Z": np.zeros(s.shape, bool),
        "O": (rest > 0) & ~odd,
    }[letter]
    return kept.astype(I64) + (up & (far > 0))


# ------------------------------------------------------------ values to codes


def to_integer(v: Values, name: str, letter: str, saturate: bool) -> np.ndarray:
    """Integers, int64; without saturation the low bits, and the end of the range for infinities."""
    signed, bits = INTEGERS[name]
    low = -(1 << (bits - 1)) if signed else 0
    high = (1 << (bits - (1 if signed else 0))) - 1
    shift = np.maximum(-v.exponent, 0)
    kept = _cut(v, shift, letter)
    left = np.maximum(v.exponent, 0)
    huge = v.infinite | ((kept > 0) & (_bit_length(kept) + left > 63))
    shifted = kept << np.where(huge, 0, left)
    whole = np.where(v.negative, -shifted, shifted)
    limit = np.where(v.negative, -(1 << 62), 1 << 62)
    whole = np.where(huge, limit, whole)
    if saturate:
        clamped = np.clip(whole, max(low, -(1 << 63)), min(high, (1 << 63) - 1))
        if bits == 64:
            clamped = np.where(huge, np.where(v.negative, low, high), clamped)
        return np.where(v.nan, 0, clamped)
    # Low bits of what is too large for the computation: those that a shift leaves. An infinity is the end of the range.
    bits_left = (kept.astype(np.uint64) << np.minimum(left, 63).astype(np.uint64)).astype(I64)
    bits_left = np.where(left > 63, 0, bits_left)
    wrapped = np.where(huge, np.where(v.negative, -bits_left, bits_left), whole)
    wrapped = np.where(v.infinite, np.where(v.negative, low, high), wrapped)
    return _low_bits(np.where(v.nan, 0, wrapped), name)


def _low_bits(whole: np.ndarray, name: str) -> np.ndarray:
    signed, bits = INTEGERS[name]
    if bits == 64:
        return whole
    part = whole & ((1 << bits) - 1)
    return part - ((part >> (bits - 1) & 1) << bits) if signed else part


def to_float(v: Values, name: str, letter: str, saturate: bool) -> np.ndarray:
    """Codes of a float format, int64."""
    sign = v.negative.astype(I64) << (bits_of(name) - 1)
    if name == HIF8:
        return _to_hif8(v, sign, saturate)
    fmt = FLOATS[name]
    clamps = saturate or fmt.nan is None
    top = v.exponent + _bit_length(v.significand) - 1
    last_bit = np.maximum(top - fmt.mantissa, fmt.step)
    shift = last_bit - v.exponent
    kept = np.where(shift > 0, _cut(v, np.maximum(shift, 0), letter), v.significand << np.clip(-shift, 0, _FAR))
    code = ((last_bit - fmt.step) << fmt.mantissa) + kept
    code = np.where(v.significand == 0, 0, code)
    over = code > fmt.last
    beyond = fmt.nan if fmt.infinity is None else fmt.infinity
    if clamps and name != "f32":
        code = np.where(over | v.infinite, fmt.last, code)
        return np.where(v.nan, 0, code | sign)
    assert beyond is not None
    stops = {"R": False, "A": False, "Z": True, "F": ~v.negative, "C": v.negative, "O": fmt.last % 2 == 1}[letter]
    code = np.where(over, np.where(stops, fmt.last, beyond), code)
    code = np.where(v.infinite, beyond, code)
    assert fmt.nan is not None
    return np.where(v.nan, fmt.nan, code | sign)


def _to_hif8(v: Values, sign: np.ndarray, saturate: bool) -> np.ndarray:
    """Ties away from zero."""
    left = v.exponent + _SCALE
    huge = v.infinite | ((v.significand > 0) & (_bit_length(v.significand) + left > 50))
    size = np.where(left >= 0, v.significand << np.clip(np.where(huge, 0, left), 0, 50), 0)
    size = np.where(left < 0, v.significand >> np.clip(-left, 0, _FAR), size)
    rank = np.searchsorted(_HALFWAY, size, side="right")
    rank = np.where(huge, len(_HIF8_CODES) - 1, rank)
    if saturate:
        rank = np.minimum(rank, len(_HIF8_CODES) - 2)
    code = _HIF8_CODES[rank]
    code = np.where(code == 0, 0, code | sign)
    return np.where(v.nan, 0 if saturate else 0x80, code)


def integral(v: Values, letter: str) -> np.ndarray:
    """Codes of f32 numbers rounded to whole numbers."""
    kept = _cut(v, np.maximum(-v.exponent, 0), letter)
    whole = Values(v.negative, kept, np.maximum(v.exponent, 0), v.infinite, v.nan)
    return to_float(whole, "f32", "R", False)


def convert(codes: np.ndarray, source: str, target: str, letter: str, saturate: bool, words: bool = True) -> np.ndarray:
    """Codes of ``target``; ``words`` lets floats become clamped words before they lose bits, as ``tcvt`` does."""
    v = decode(codes, source)
    if source == target == "f32":
        return integral(v, letter)
    if is_float(target):
        return to_float(v, target, letter, saturate)
    if words and is_float(source) and not saturate and INTEGERS[target][1] <= 16:
        return _low_bits(to_integer(v, "i32", letter, True), target)
    return to_integer(v, target, letter, saturate)


# ------------------------------------------------------------ what an operation means

_LETTERS = {"RINT": "R", "ROUND": "A", "FLOOR": "F", "CEIL": "C", "TRUNC": "Z", "ODD": "O"}
_OFF = {("f16", "ui8"), ("f16", "i8"), ("f32", "i16"), ("f16", "i16"), ("i64", "i32"), ("i32", "i16")}


def tcvt_meaning(source: str, target: str, rounding: str, saturation: str, arch: str, backend: str) -> tuple[str, bool]:
    """Rounding letter and saturation of ``pto.tcvt``; the empty string for a clause that is absent."""
    letter = _LETTERS.get(rounding, "R")
    headers = backend == "emitc" or arch == "a2a3"
    if rounding == "NONE" and headers and is_float(source) and not is_float(target):
        letter = "Z"
    if headers and not saturation:
        saturation = "ON"
    if target == HIF8:
        return "A", saturation == "ON"
    if (source, target) in _OFF:
        return letter, saturation == "ON"
    return letter, saturation != "OFF" or arch == "a2a3"
