"""Conversions to integer formats: clamp, wrap, NaN, every width and sign, against Python integers."""

import math
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from groups import in_groups
from hypothesis import example, given
from hypothesis import strategies as st

from pto_dialect.runtime.numerics.formats import FORMATS, decode, encode

INTEGERS = ["i4", "si4", "ui4", "i8", "ui8", "si16", "ui16", "i32", "ui32", "i64", "ui64", "index", "i1"]
LETTERS = "RAFCZOH"


def in_range(value: int, name: str, saturate: bool) -> int:
    fmt = FORMATS[name]
    low, high = fmt.min_value, fmt.max_value
    if saturate:
        return min(max(value, low), high)
    low_bits = value % (1 << fmt.bits)
    return low_bits - (1 << fmt.bits) if low_bits > high else low_bits


def rounded(x: float, letter: str) -> int:
    exact, floor = Fraction(x), math.floor(x)
    if exact == floor:
        return floor
    if letter == "R":
        return round(exact)
    if letter in "AH":
        magnitude = math.floor(abs(exact) + Fraction(1, 2))
        return magnitude if x > 0 else -magnitude
    odd = floor if floor % 2 else floor + 1
    return {"F": floor, "C": floor + 1, "Z": math.trunc(x), "O": odd}[letter]


def from_float(x: float, name: str, letter: str, saturate: bool) -> int:
    if math.isnan(x):
        return 0
    if math.isinf(x):
        return FORMATS[name].max_value if x > 0 else FORMATS[name].min_value
    return in_range(rounded(x, letter), name, saturate)


SPECIAL = [
    0.0,
    -0.0,
    0.5,
    1.5,
    2.5,
    -0.5,
    -1.5,
    -2.5,
    0.49999997,
    8388609.5,
    16777219.0,
    math.nan,
    math.inf,
    -math.inf,
]
EDGES = [v * s for p in (3, 4, 7, 8, 15, 16, 31, 32, 63, 64, 65, 100) for v in (2.0**p,) for s in (1, -1)]
NEAR_EDGES = [e + d for e in EDGES for d in (-1, -0.5, 0.5, 1)]


@pytest.mark.parametrize("saturate", [True, False])
@pytest.mark.parametrize("letter", LETTERS)
@in_groups("name", INTEGERS)
def test_floats_at_the_edges(name, letter, saturate):
    for dtype in (np.float32, np.float64):
        x = np.array(SPECIAL + EDGES + NEAR_EDGES, dtype)
        want = [from_float(v, name, letter, saturate) for v in x.tolist()]
        got = decode(encode(x, name, rounding=letter, saturate=saturate), name)
        assert got.dtype == FORMATS[name].compute
        assert got.tolist() == want


@pytest.mark.parametrize("name", INTEGERS)
@given(
    x=st.lists(st.floats(width=32) | st.floats(-300, 300, width=32), min_size=1, max_size=8),
    letter=st.sampled_from(LETTERS),
    saturate=st.booleans(),
)
def test_arbitrary_floats(name, x, letter, saturate):
    pairs = np.array(x + x, np.float32)
    want = [from_float(v, name, letter, saturate) for v in pairs.tolist()]
    assert decode(encode(pairs, name, rounding=letter, saturate=saturate), name).tolist() == want


@pytest.mark.parametrize("name", INTEGERS)
@given(
    source=st.sampled_from(["i8", "ui8", "i16", "ui16", "i32", "ui32", "i64", "ui64"]),
    data=st.data(),
    saturate=st.booleans(),
)
def test_integers_clamp_or_wrap(name, source, data, saturate):
    fmt = FORMATS[source]
    edges = [fmt.min_value, fmt.max_value, 0, 1]
    x = data.draw(st.lists(st.integers(fmt.min_value, fmt.max_value), min_size=2, max_size=8)) + edges
    x = x[: len(x) // 2 * 2]
    got = decode(encode(np.array(x, fmt.compute), name, saturate=saturate), name)
    assert got.tolist() == [in_range(v, name, saturate) for v in x]


def test_storage_bytes():
    assert encode(np.array([[1, -1, -8, 7]]), "i4", saturate=True).tolist() == [[0xF1, 0x78]]
    assert encode(np.array([300, -1]), "ui8", saturate=False).tolist() == [44, 255]
    assert encode(np.array([True, False]), "i32", saturate=True).tolist() == [1, 0]
    assert encode(np.array([3, 2, -1]), "i1", saturate=False).tolist() == [True, False, True]
    assert encode(np.array([3, 0, -1]), "i1", saturate=True).tolist() == [True, False, False]
    assert encode(np.array([2.5, 300.0], np.float16), "i8", saturate=True).tolist() == [2, 127]
    assert encode(np.array([2.5, 300.0], ml_dtypes.bfloat16), "i8", saturate=False).tolist() == [2, 44]
    with pytest.raises(ValueError, match="stored in pairs"):
        encode(np.array([1, 2, 3]), "i4", saturate=True)


def test_results_of_the_same_type_are_the_same_bits():
    x = np.array([-(2**31), 2**31 - 1], np.int32)
    for saturate in (True, False):
        np.testing.assert_array_equal(encode(x, "i32", saturate=saturate), x)
    assert encode(x, "ui32", saturate=False).tolist() == [2**31, 2**31 - 1]
    assert encode(x, "ui32", saturate=True).tolist() == [0, 2**31 - 1]


@given(
    x=st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=6),
    letter=st.sampled_from("RAFCZO"),
)
@example(x=[2**53 + 1, 2**63 - 1, -(2**63), 2**24 + 1, (2**24 + 1) * 2**20 + 1, -(2**40) - 1], letter="A")
def test_integers_to_f32_round_once(x, letter):
    def model(value: int) -> float:
        shift = max(abs(value).bit_length() - 24, 0)
        return float(rounded_ratio(value, shift, letter) * 2**shift)

    def rounded_ratio(value: int, shift: int, letter: str) -> int:
        exact = Fraction(value, 2**shift)
        floor = math.floor(exact)
        if exact == floor:
            return floor
        magnitude = math.floor(abs(exact) + Fraction(1, 2))
        return {
            "R": round(exact),
            "A": magnitude if value > 0 else -magnitude,
            "F": floor,
            "C": floor + 1,
            "Z": math.trunc(exact),
            "O": floor if floor % 2 else floor + 1,
        }[letter]

    got = encode(np.array(x, np.int64), "f32", rounding=letter, saturate=False)
    assert got.dtype == np.float32
    assert got.tolist() == [model(v) for v in x]
    small = [v % 2**31 for v in x]
    got = encode(np.array(small, np.int32), "f32", rounding=letter, saturate=False)
    assert got.tolist() == [model(v) for v in small]
    unsigned = [v % 2**64 for v in x]
    got = encode(np.array(unsigned, np.uint64), "f32", rounding=letter, saturate=False)
    assert got.tolist() == [model(v) for v in unsigned]


def test_integers_to_f16_and_f64():
    x = np.array([2049, 2051, 65519, 65520, -70000, 5], np.int32)
    assert encode(x, "f16", saturate=False).tolist() == [2048, 2052, 65504, math.inf, -math.inf, 5]
    assert encode(x, "f16", saturate=True).tolist() == [2048, 2052, 65504, 65504, -65504, 5]
    assert encode(x, "f16", rounding="F", saturate=False).tolist() == [2048, 2050, 65504, 65504, -math.inf, 5]
    assert encode(np.array([2**62 + 1]), "f64", saturate=False).tolist() == [2.0**62]
    with pytest.raises(ValueError, match="rounding R only"):
        encode(np.array([2**62 + 1]), "f64", rounding="C", saturate=False)
