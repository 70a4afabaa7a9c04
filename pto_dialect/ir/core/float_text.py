"""Spelling of floating-point literals, digit for digit as ``mlir-opt`` prints them.

A number is written with six significant digits (``1.000000e+00``) when they represent it exactly, otherwise with as
many digits as its format needs (``3.14159274``), otherwise - infinities, NaNs, integers too long for a decimal point -
as the bits of the format (``0x7F800000``).
"""

from __future__ import annotations

import math
import struct

from xdsl.dialects import builtin
from xdsl.dialects.builtin import FloatAttr

_SHORT_PRECISION = 6

_SIGNIFICAND_BITS: dict[type[builtin.AnyFloat], int] = {
    builtin.Float16Type: 11,
    builtin.BFloat16Type: 8,
    builtin.FloatTF32Type: 11,
    builtin.Float32Type: 24,
    builtin.Float64Type: 53,
    builtin.Float8E4M3FNType: 4,
    builtin.Float8E4M3Type: 4,
    builtin.Float8E5M2Type: 3,
}
"""Bits of the significand including the implicit one."""


def float_text(value: float, type_: builtin.AnyFloat) -> str:
    """Returns the literal of ``value`` in format ``type_``, without the type; reading it back yields the same value."""
    if math.isfinite(value):
        digits = _digits(value, _SHORT_PRECISION)
        short = _scientific(*digits, pad=_SHORT_PRECISION, mark="e", exponent_digits=2)
        if _reads_back(_signed(value, short), value, type_):
            return _signed(value, short)
        precision = 2 + _SIGNIFICAND_BITS.get(type(type_), 53) * 59 // 196
        long = _signed(value, _natural(*_digits(value, precision), precision))
        if "." in long and _reads_back(long, value, type_):
            return long
    return f"0x{float_bits(value, type_):0{_bit_width(type_) // 4}X}"


def float_bits(value: float, type_: builtin.AnyFloat) -> int:
    """Returns the bit pattern of ``value`` in format ``type_``."""
    if isinstance(type_, builtin.Float64Type):
        return int.from_bytes(struct.pack(">d", value), "big")
    if isinstance(type_, builtin.BFloat16Type):
        return int.from_bytes(struct.pack(">f", value), "big") >> 16
    if isinstance(type_, builtin.FloatTF32Type):
        return int.from_bytes(struct.pack(">f", value), "big") >> 13
    return int.from_bytes(type_.pack((value,)), "little")


def float_from_bits(bits: int, type_: builtin.AnyFloat) -> float:
    """Returns the value of a bit pattern of format ``type_``, which must be wide enough."""
    if isinstance(type_, builtin.Float64Type):
        return struct.unpack(">d", bits.to_bytes(8, "big"))[0]
    if isinstance(type_, builtin.BFloat16Type):
        return struct.unpack(">f", (bits << 16).to_bytes(4, "big"))[0]
    if isinstance(type_, builtin.FloatTF32Type):
        return struct.unpack(">f", (bits << 13).to_bytes(4, "big"))[0]
    return type_.unpack(bits.to_bytes(type_.bitwidth // 8, "little"), 1)[0]


def nearest_float(value: float, type_: builtin.AnyFloat) -> FloatAttr:
    """Returns the number of format ``type_`` closest to ``value``; infinity where ``value`` is too large for it."""
    try:
        return FloatAttr(value, type_)
    except OverflowError:
        return FloatAttr(math.copysign(math.inf, value), type_)


def _bit_width(type_: builtin.AnyFloat) -> int:
    return 20 if isinstance(type_, builtin.FloatTF32Type) else type_.bitwidth


def _signed(value: float, magnitude: str) -> str:
    return "-" + magnitude if math.copysign(1.0, value) < 0 else magnitude


def _reads_back(text: str, value: float, type_: builtin.AnyFloat) -> bool:
    try:
        read = FloatAttr(float(text), type_).value.data
    except OverflowError:
        return False
    return read == value and math.copysign(1.0, read) == math.copysign(1.0, value)


def _digits(value: float, precision: int) -> tuple[str, int]:
    """Returns the significant decimal digits of ``value`` without trailing zeros and the power of ten of the last one.

    Digits beyond the first ``precision`` are rounded half up, after a quick cut of the digits that cannot matter; the
    cut occasionally makes the last digit one too small, which is part of the spelling.
    """
    significand, denominator = abs(value).as_integer_ratio()
    twos = denominator.bit_length() - 1
    significand *= 5**twos
    exponent = -twos
    surplus = significand.bit_length() - (precision * 196 + 58) // 59
    if surplus > 0 and (tens := surplus * 59 // 196):
        significand //= 10**tens
        exponent += tens
    text = str(significand)
    if len(text) > precision:
        exponent += len(text) - precision
        rounded = int(text[:precision]) + (text[precision] >= "5")
        text = str(rounded)
    stripped = text.rstrip("0")
    return stripped or "0", exponent + len(text) - len(stripped) if stripped else 0


def _scientific(digits: str, exponent: int, pad: int, mark: str, exponent_digits: int) -> str:
    power = exponent + len(digits) - 1
    fraction = digits[1:].ljust(pad, "0") if pad else digits[1:] or "0"
    return f"{digits[0]}.{fraction}{mark}{'-' if power < 0 else '+'}{abs(power):0{exponent_digits}d}"


def _natural(digits: str, exponent: int, precision: int) -> str:
    """Returns positional notation for numbers of ordinary size, scientific notation for others."""
    if exponent >= 0:
        if exponent <= 3 and len(digits) + exponent <= precision:
            return digits + "0" * exponent
        return _scientific(digits, exponent, 0, "E", 1)
    whole = len(digits) + exponent
    if whole > 0:
        return f"{digits[:whole]}.{digits[whole:]}"
    if 1 - whole > 3:
        return _scientific(digits, exponent, 0, "E", 1)
    return "0." + "0" * -whole + digits
