"""Bits of numbers in every format of floating-point types, by the formula: sign, exponent, fraction."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from xdsl.dialects import builtin

from pto_dialect.ir.core.float_text import float_bits, float_from_bits, float_text, nearest_float

FORMATS = {
    "f64": (builtin.Float64Type(), 11, 52),
    "f32": (builtin.Float32Type(), 8, 23),
    "tf32": (builtin.FloatTF32Type(), 8, 10),
    "bf16": (builtin.BFloat16Type(), 8, 7),
    "f16": (builtin.Float16Type(), 5, 10),
    "f8E5M2": (builtin.Float8E5M2Type(), 5, 2),
}
"""Types, with the bits of exponent and fraction."""


def patterns(exponent: int, fraction: int) -> list[int]:
    """Patterns of finite numbers: zeros, subnormal ones, powers of two and their neighbours, the largest."""
    most = (1 << exponent) - 1
    exponents = {0, 1, 2, most // 2 - 1, most // 2, most // 2 + 1, most - 2, most - 1}
    fractions = {0, 1, (1 << fraction) - 1, 1 << (fraction - 1)}
    wide = exponent + fraction
    return sorted({(s << wide) | (e << fraction) | f for s in (0, 1) for e in exponents for f in fractions})


def value_of(bits: int, exponent: int, fraction: int) -> float:
    """The number that a pattern stands for, exactly."""
    sign = -1 if bits >> (exponent + fraction) else 1
    power, rest = (bits >> fraction) & ((1 << exponent) - 1), bits & ((1 << fraction) - 1)
    bias = (1 << (exponent - 1)) - 1
    significand = Fraction(rest, 1 << fraction) + (1 if power else 0)
    return math.copysign(float(significand * Fraction(2) ** (max(power, 1) - bias)), sign)


@pytest.mark.parametrize("name", FORMATS)
def test_bits_and_numbers_are_each_other(name: str) -> None:
    type_, exponent, fraction = FORMATS[name]
    for bits in patterns(exponent, fraction):
        value = value_of(bits, exponent, fraction)
        assert float_bits(value, type_) == bits, hex(bits)
        read = float_from_bits(bits, type_)
        assert read == value and math.copysign(1, read) == math.copysign(1, value), hex(bits)


@pytest.mark.parametrize("name", FORMATS)
def test_infinity_is_its_bits(name: str) -> None:
    type_, exponent, fraction = FORMATS[name]
    bits = ((1 << exponent) - 1) << fraction
    digits = -(-(1 + exponent + fraction) // 4)
    assert float_text(math.inf, type_) == f"0x{bits:0{digits}X}"
    minus = bits | 1 << (exponent + fraction)
    assert float_text(-math.inf, type_) == f"0x{minus:0{digits}X}"
    assert float_from_bits(bits, type_) == math.inf and float_from_bits(minus, type_) == -math.inf


@pytest.mark.parametrize("name", [name for name in FORMATS if name != "f64"])
def test_what_is_too_large_is_infinite(name: str) -> None:
    type_, _, _ = FORMATS[name]
    assert nearest_float(1e300, type_).value.data == math.inf
    assert nearest_float(-1e300, type_).value.data == -math.inf
    assert nearest_float(1.5, type_).value.data == 1.5
