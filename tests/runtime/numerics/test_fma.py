"""The exact accumulation order against rational arithmetic."""

import math
from fractions import Fraction

import numpy as np
import pytest
from groups import in_groups
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pto_dialect.runtime.numerics.fma import accumulate_fma, fma
from pto_dialect.runtime.numerics.formats import encode
from pto_dialect.runtime.numerics.matmul import matmul


def to_f32(exact: Fraction, negative_zero: bool, letter: str = "R") -> float:
    """One rounding of a rational to float32, subnormals and overflow included; nearest even unless stated."""
    if exact == 0:
        return -0.0 if negative_zero else 0.0
    magnitude = abs(exact)
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    exponent -= magnitude < Fraction(2) ** exponent
    step = Fraction(2) ** (max(exponent, -126) - 23)
    quotient = exact / step
    floor = math.floor(quotient)
    if quotient == floor:
        whole = floor
    elif letter == "R":
        whole = round(quotient)
    elif letter == "A":
        whole = math.floor(abs(quotient) + Fraction(1, 2)) * (1 if exact > 0 else -1)
    else:
        odd = floor if floor % 2 else floor + 1
        whole = {"F": floor, "C": floor + 1, "Z": math.trunc(quotient), "O": odd}[letter]
    if abs(whole * step) >= Fraction(2) ** 128:
        away = letter in "RA" or (letter == "F" and exact < 0) or (letter == "C" and exact > 0)
        return math.copysign(math.inf if away else float(np.finfo(np.float32).max), exact)
    return math.copysign(float(abs(whole) * step), exact)


def fma_model(a: float, b: float, c: float) -> float:
    if not all(map(math.isfinite, (a, b, c))):
        return a * b + c  # no rounding takes place among specials
    negative = math.copysign(1, a) * math.copysign(1, b) < 0
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    both_negative_zero = negative and math.copysign(1, c) < 0 and (a == 0 or b == 0) and c == 0
    return to_f32(exact, both_negative_zero)


def matmul_model(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    result = c.copy()
    for m, n in np.ndindex(*c.shape):
        value = float(c[m, n])
        for k in range(a.shape[1]):
            value = fma_model(float(a[m, k]), float(b[k, n]), value)
        result[m, n] = value
    return result


def assert_same_bits(got: np.ndarray, want: np.ndarray) -> None:
    np.testing.assert_array_equal(got, want)
    assert (np.signbit(got) == np.signbit(want))[~np.isnan(want)].all()


TINY, MIN_NORMAL, MAX = 2.0**-149, 2.0**-126, float(np.finfo(np.float32).max)
BELOW, ABOVE = 1 - 2.0**-23, 1 + 2.0**-23
# A float64 sum rounds onto a float32 tie while the exact sum is beside it: BELOW * ABOVE is 1 - 2**-46.
DOUBLE_ROUNDING = [
    (2.0**-24 * ABOVE, BELOW, ABOVE),
    (-(2.0**-24) * ABOVE, BELOW, ABOVE),
    (2.0**-24 * ABOVE, -BELOW, -ABOVE),
    (2.0**40 * ABOVE, BELOW, 2.0**64 * ABOVE),
    (2.0**103 * ABOVE, BELOW, MAX),
    (2.0**-75 * ABOVE, 2.0**-75 * BELOW, 2.0**-127 + TINY),
    # 24929 * 673 is 2**24 + 1: the product alone is the tie.
    (24929 * 2.0**-24, 673.0, 2.0**-60),
]
HARD = [
    *DOUBLE_ROUNDING,
    (ABOVE, ABOVE, 0.0),
    (2.0**-24 * ABOVE, ABOVE, 1.0),
    (2.0**-24 * BELOW, ABOVE, 1.0),
    (-(2.0**-24) * ABOVE, ABOVE, 1 + 2.0**-22),
    # Subnormal ties and results.
    (2.0**-75, 2.0**-75, 0.0),
    (1.5 * 2.0**-75, 2.0**-75, 0.0),
    (2.0**-75, 2.0**-75, TINY),
    (2.0**-75 * (1 + 2.0**-23), 2.0**-75, TINY),
    (-(2.0**-75) * (1 - 2.0**-23), 2.0**-75, TINY),
    (2.0**-75, 2.0**-75, MIN_NORMAL),
    (TINY, TINY, MIN_NORMAL - TINY),
    (-TINY, TINY, 0.0),
    # Overflow and its tie.
    (MAX, 1 + 2.0**-23, 0.0),
    (2.0**103, 1.0, MAX),
    (2.0**103, 1 - 2.0**-24, MAX),
    (MAX, MAX, -MAX),
    # Cancellation and signed zeros.
    (1 + 2.0**-23, 1 - 2.0**-24, -1.0),
    (1.0, -1.0, 1.0),
    (-0.0, 1.0, -0.0),
    (0.0, 1.0, -0.0),
    (-1.0, 0.0, -0.0),
    # Specials.
    (math.inf, 0.0, 1.0),
    (math.inf, 1.0, -math.inf),
    (math.inf, -2.0, 5.0),
    (1.0, 1.0, math.nan),
    (3e38, 3e38, -math.inf),
]


@in_groups(("a", "b", "c"), HARD)
def test_hard_cases(a, b, c):
    operands = [np.array([v], np.float32) for v in (a, b, c)]
    want = np.array([fma_model(*(float(v[0]) for v in operands))], np.float32)
    assert_same_bits(fma(*operands), want)
    total = operands[2][:, None].copy()
    accumulate_fma(operands[0][:, None], operands[1][:, None], total)
    assert_same_bits(total[:, 0], want)


@pytest.mark.parametrize(("a", "b", "c"), DOUBLE_ROUNDING)
def test_rounding_twice_would_differ(a, b, c):
    with np.errstate(over="ignore"):
        twice = np.float32(np.float64(np.float32(a)) * np.float64(np.float32(b)) + np.float64(c))
    assert float(twice) != fma_model(a, b, c)


anything = st.floats(width=32)
near_one = st.integers(-(2**10), 2**10).map(lambda i: 1 + i * 2.0**-23)
scaled = st.tuples(near_one, st.integers(-80, 60)).map(lambda t: t[0] * 2.0 ** t[1])
ties = st.tuples(st.sampled_from([1.0, -1.0, 3.0]), st.integers(-150, 100)).map(
    lambda t: float(np.float32(t[0] * 2.0 ** t[1]))
)


@settings(max_examples=500)
@given(st.lists(st.tuples(*[anything | scaled | ties] * 3), min_size=1, max_size=10))
def test_fma_is_one_rounding(rows):
    a, b, c = (np.array(column, np.float32) for column in zip(*rows, strict=True))
    want = [fma_model(*map(float, row)) for row in zip(a, b, c, strict=True)]
    assert_same_bits(fma(a, b, c), np.array(want, np.float32))


def matrices(
    elements: st.SearchStrategy[float],
) -> st.SearchStrategy[tuple[np.ndarray, ...]]:
    def build(shape: tuple[int, int, int]) -> st.SearchStrategy[tuple[np.ndarray, ...]]:
        m, k, n = shape
        return st.tuples(
            *(
                st.lists(elements, min_size=r * c, max_size=r * c).map(
                    lambda v, r=r, c=c: np.array(v, np.float32).reshape(r, c)
                )
                for r, c in ((m, k), (k, n), (m, n))
            )
        )

    return st.tuples(st.integers(1, 3), st.integers(1, 6), st.integers(1, 3)).flatmap(build)


@pytest.mark.parametrize(
    "elements",
    [anything, scaled, ties, scaled | ties | st.just(0.0)],
    ids=["anything", "scaled", "ties", "mixed"],
)
@given(data=st.data())
def test_chains(elements, data):
    a, b, c = data.draw(matrices(elements))
    want = matmul_model(a, b, c)
    total = c.copy()
    accumulate_fma(a, b, total)
    assert_same_bits(total, want)
    assert_same_bits(matmul(a, b, init=c, exact=True), want)
    assert_same_bits(matmul(a, b, exact=True), matmul_model(a, b, np.zeros_like(c)))


def test_an_early_small_product_stays_visible():
    a, b = np.array([[2.0**-30, 24929 * 2.0**-24]], np.float32), np.array([[2.0**-30], [673]], np.float32)
    assert matmul(a, b, exact=True)[0, 0] == 1 + 2.0**-23


@pytest.mark.parametrize("scale", [1.0, 2.0**-70, 2.0**60])
@pytest.mark.parametrize("source", ["f16", "bf16", "f32", "f8E5M2"])
def test_random_chains_of_every_operand_type(source, scale):
    rng = np.random.default_rng(3)
    a = encode(rng.standard_normal((5, 70)), source, saturate=True).astype(np.float32) * np.float32(scale)
    b = encode(rng.standard_normal((70, 6)), source, saturate=True).astype(np.float32) * np.float32(scale)
    c = (rng.standard_normal((5, 6)) * scale * scale).astype(np.float32)
    assert_same_bits(matmul(a, b, init=c, exact=True), matmul_model(a, b, c))


def test_row_blocks_and_empty_shapes(monkeypatch):
    from pto_dialect.runtime.numerics import fma as module

    monkeypatch.setattr(module, "_BLOCK_ELEMENTS", 8)
    rng = np.random.default_rng(4)
    a, b = (rng.standard_normal(s).astype(np.float32) for s in ((7, 5), (5, 4)))
    total = np.zeros((7, 4), np.float32)
    accumulate_fma(a, b, total)
    assert_same_bits(total, matmul_model(a, b, np.zeros((7, 4), np.float32)))
    kept = np.full((2, 3), -0.0, np.float32)
    accumulate_fma(np.zeros((2, 0), np.float32), np.zeros((0, 3), np.float32), kept)
    assert np.signbit(kept).all()


@pytest.mark.parametrize("letter", "RAFCZO")
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=10))
@example([1 + 2.0**-24, 1 + 2.0**-24 + 2.0**-52, -1 - 2.0**-24, 1e300, -1e300, 1e-300, 2.0**-150, 3 * 2.0**-150])
@example([float(np.finfo(np.float32).max) * (1 + 2.0**-25), 2.0**128 - 2.0**103, -(2.0**128) + 2.0**103])
def test_float64_to_f32(letter, values):
    got = encode(np.array(values), "f32", rounding=letter, saturate=False)
    want = [to_f32(Fraction(v), math.copysign(1, v) < 0, letter) for v in values]
    assert_same_bits(got, np.array(want, np.float32))


def test_float64_specials_to_f32():
    x = np.array([np.nan, np.inf, -np.inf])
    for letter in "RAFCZO":
        np.testing.assert_array_equal(encode(x, "f32", rounding=letter, saturate=True), x.astype(np.float32))
