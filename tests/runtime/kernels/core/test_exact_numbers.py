"""Numbers of single operations against exact fractions and plain bits."""

from __future__ import annotations

import math
import random
import struct
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from groups import in_groups
from run_time_tiles import refused
from xdsl.dialects.builtin import IntegerType, Signedness

from pto_dialect.runtime.kernels.core.math import COUNTS, fused, fused_double, integer_power
from pto_dialect.runtime.kernels.core.scalar import _from_bits, _to_bits

BIG = 1.7976931348623157e308
SMALL = 5e-324


def numbers(seed: int) -> tuple[float, float, float]:
    """Three doubles whose product and sum are near one another."""
    rng = random.Random(seed)
    a, b = (rng.uniform(-4, 4) * 2.0 ** rng.randint(-30, 30) for _ in range(2))
    c = -a * b * (1 + rng.choice((0, 1, -1)) * 2.0 ** -rng.randint(20, 60)) if seed % 2 else rng.uniform(-1, 1)
    return a, b, c


def bits(value: float) -> int:
    return struct.unpack("<q", struct.pack("<d", value))[0]


@in_groups("seed", range(60))
def test_one_rounding(seed: int) -> None:
    a, b, c = numbers(seed)
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    assert fused_double(a, b, c) == float(exact)
    odd = fused(a, b, c)
    # Exact, or with an odd last bit next to the exact number, so that no narrower format sees a tie.
    if Fraction(odd) != exact:
        assert bits(odd) & 1
        low, high = math.nextafter(odd, -math.inf), math.nextafter(odd, math.inf)
        assert Fraction(low) < exact < Fraction(high)


@pytest.mark.parametrize("function", [fused, fused_double])
def test_numbers_at_the_edges(function: Any) -> None:
    assert function(BIG, 2.0, 0.0) == math.inf and function(-BIG, 2.0, 0.0) == -math.inf
    assert function(BIG, 2.0, -BIG) == BIG
    assert function(math.inf, 1.0, 5.0) == math.inf and math.isnan(function(math.inf, 0.0, 1.0))
    assert math.isnan(function(1.0, 1.0, math.nan)) and math.isnan(function(math.inf, 1.0, -math.inf))
    assert function(1.0, 2.0, -math.inf) == -math.inf
    for a, b, c, sign in ((1.0, 1.0, -1.0, 1.0), (-0.0, 1.0, -0.0, -1.0), (0.0, 1.0, -0.0, 1.0), (-0.0, 1.0, 0.0, 1.0)):
        assert function(a, b, c) == 0 and math.copysign(1, function(a, b, c)) == sign
    assert function(SMALL, 1.0, 0.0) == SMALL and function(3.0, 4.0, 5.0) == 17.0


def test_ties_of_narrower_formats_are_broken_by_the_rest() -> None:
    """1 + 2^-24 lies between two numbers of f32; a little more or less decides."""
    half = 1 + 2.0**-24
    assert np.float32(fused(half, 1.0, 2.0**-80)) == np.float32(1 + 2.0**-23)
    assert np.float32(fused(half, 1.0, -(2.0**-80))) == np.float32(1)
    assert np.float32(fused(half, 1.0, 0.0)) == np.float32(1)
    assert fused_double(half, 1.0, 2.0**-80) == half


@pytest.mark.parametrize("width", [1, 8, 16, 32, 64])
def test_counts_of_bits(width: int) -> None:
    rng = random.Random(width)
    for number in {0, 1, (1 << width) - 1, 1 << width - 1, *(rng.getrandbits(width) for _ in range(20))}:
        text = format(number, f"0{width}b")
        assert COUNTS["ctlz"](number, width) == len(text) - len(text.lstrip("0"))
        assert COUNTS["cttz"](number, width) == len(text) - len(text.rstrip("0"))
        assert COUNTS["ctpop"](number, width) == text.count("1")


@pytest.mark.parametrize("base", [-3, -2, -1, 0, 1, 2, 3, 7])
def test_powers_of_integers(base: int) -> None:
    for exponent in range(-4, 70):
        if exponent < 0 and base == 0:
            refused("division-by-zero", "0 to a negative power", lambda e=exponent: integer_power(0, e))
            continue
        exact = Fraction(base) ** exponent
        wanted = int(exact) if exact.denominator == 1 else 0
        assert (integer_power(base, exponent) - wanted) % 2**64 == 0, exponent


@pytest.mark.parametrize("sign", list(Signedness))
@pytest.mark.parametrize("width", [1, 8, 16, 32, 64])
def test_bits_of_integers(width: int, sign: Signedness) -> None:
    type_ = IntegerType(width, sign)
    to_bits, from_bits = _to_bits(type_), _from_bits(type_, None)  # type: ignore[arg-type]
    for pattern in {0, 1, (1 << width) - 1, 1 << width - 1, (1 << width - 1) - 1}:
        number = from_bits(pattern)
        signed = pattern - (1 << width) if pattern >> width - 1 else pattern
        if width == 1:
            assert number is bool(pattern)
        else:
            assert number == (pattern if sign is Signedness.UNSIGNED else signed) and type(number) is int
        assert to_bits(number) == pattern
