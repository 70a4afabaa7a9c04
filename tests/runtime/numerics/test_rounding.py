"""Rounding to integral values, tf32 and fp19."""

import math
import struct

import numpy as np
import pytest
from groups import in_groups
from hypothesis import given
from hypothesis import strategies as st

from pto_dialect.runtime.numerics.rounding import fp19, fp19_bits, round_to_integer, tf32

VALUES = [0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 0.3, -0.3, 1.7, -1.7, 2.0, -3.0]
EXPECTED = {
    "R": [0, 2, 2, -0.0, -2, -2, 0, -0.0, 2, -2, 2, -3],
    "A": [1, 2, 3, -1, -2, -3, 0, -0.0, 2, -2, 2, -3],
    "H": [1, 2, 3, -1, -2, -3, 0, -0.0, 2, -2, 2, -3],
    "F": [0, 1, 2, -1, -2, -3, 0, -1, 1, -2, 2, -3],
    "C": [1, 2, 3, -0.0, -1, -2, 1, -0.0, 2, -1, 2, -3],
    "Z": [0, 1, 2, -0.0, -1, -2, 0, -0.0, 1, -1, 2, -3],
    "O": [1, 1, 3, -1, -1, -3, 1, -1, 1, -1, 2, -3],
}


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@in_groups("letter", EXPECTED)
def test_letters(letter, dtype):
    got = round_to_integer(np.array(VALUES, dtype), letter)
    assert got.dtype == dtype
    assert got.tolist() == EXPECTED[letter]
    assert np.signbit(got).tolist() == [math.copysign(1, v) < 0 for v in EXPECTED[letter]]


@pytest.mark.parametrize("letter", EXPECTED)
def test_specials_and_large_values(letter):
    x = np.array([np.nan, np.inf, -np.inf, -0.0, 8388607.5, 16777215.0, 3e38], np.float32)
    got = round_to_integer(x, letter)
    assert math.isnan(got[0])
    assert got[1:4].tolist() == [math.inf, -math.inf, 0]
    assert np.signbit(got[3])
    assert got[4] == {"Z": 8388607, "F": 8388607, "O": 8388607}.get(letter, 8388608)
    assert (got[5:] == x[5:]).all()


def test_just_below_a_half_is_not_a_tie():
    x = np.array([0.49999997, -0.49999997], np.float32)
    assert round_to_integer(x, "A").tolist() == [0, 0]
    with pytest.raises(ValueError, match="unknown rounding letter 'X'"):
        round_to_integer(x, "X")


def bits_of(x: float) -> int:
    return struct.unpack("<I", struct.pack("<f", x))[0]


def from_bits(u: int) -> float:
    return struct.unpack("<f", struct.pack("<I", u))[0]


@given(st.lists(st.floats(width=32, allow_nan=False), min_size=1, max_size=10))
def test_tf32_bit_formulas(values):
    x = np.array(values, np.float32)
    even = [from_bits((bits_of(v) + 0xFFF + (bits_of(v) >> 13 & 1)) & 0xFFFFE000) for v in values]
    away = [from_bits((bits_of(v) + 0x1000) & 0xFFFFE000) for v in values]
    np.testing.assert_array_equal(tf32(x), np.array(even, np.float32))
    np.testing.assert_array_equal(tf32(x, "round_away"), np.array(away, np.float32))
    np.testing.assert_array_equal(fp19(x), np.array([from_bits(bits_of(v) & 0xFFFFE000) for v in values], np.float32))


@pytest.mark.parametrize("mode", ["round_even", "round_away"])
def test_tf32_keeps_nan_and_infinity(mode):
    x = np.array([0x7F800001, 0x7FFFFFFF, 0xFFFFFFFF, 0x7FC00000], np.uint32).view(np.float32)
    assert np.isnan(tf32(x, mode)).all()
    limits = np.array([np.inf, -np.inf, -0.0], np.float32)
    np.testing.assert_array_equal(tf32(limits, mode), limits)
    assert tf32(np.array([np.finfo(np.float32).max]), mode)[0] == np.inf
    assert tf32(np.zeros((3, 4), np.float32)[:, ::2], mode).shape == (3, 2)


def test_tf32_ties_differ_by_mode_only():
    x = np.array([1 + 2.0**-11, 1 + 3 * 2.0**-11, -1 - 2.0**-11], np.float32)
    assert tf32(x, "round_even").tolist() == [1, 1 + 2.0**-9, -1]
    assert tf32(x, "round_away").tolist() == [1 + 2.0**-10, 1 + 2.0**-9, -1 - 2.0**-10]
    with pytest.raises(ValueError, match="unknown tf32 mode"):
        tf32(x, "truncate")  # pyright: ignore[reportArgumentType]


def test_fp19_of_table_entries():
    entry = bits_of(1.5) | 0x1FFF | 5 << 37 | 1 << 46
    assert fp19_bits(np.array([entry], np.uint64)).tolist() == [1.5]
    assert fp19_bits(np.array([bits_of(-0.25) | 0xFFF], np.uint32)).tolist() == [-0.25]
