"""Narrowing to float formats against a search through the code table: all letters, with and without sat.

The model knows the ordered magnitudes of a format and nothing of bit arithmetic: it finds the two neighbours
of a value and picks one by the meaning of the letter. Above the largest finite value the grid continues with
one more value, as IEEE 754 defines overflow.
"""

import bisect
import math

import ml_dtypes
import numpy as np
import pytest
from groups import in_groups
from hypothesis import example, given
from hypothesis import strategies as st

from pto_dialect.runtime.numerics.formats import FORMATS, decode, encode

LETTERS = "RAFCZOH"
FORMAT_NAMES = ["f16", "bf16", "f8E4M3FN", "f8E5M2", "hif8", "f4E2M1x2", "f4E1M2x2"]


def fields(exponent_bits: int, mantissa_bits: int, bias: int, last: int) -> list[tuple[float, int]]:
    rows = []
    for code in range(last + 1):
        exponent, fraction = code >> mantissa_bits, code & ((1 << mantissa_bits) - 1)
        significand = fraction / (1 << mantissa_bits) + (exponent > 0)
        rows.append((math.ldexp(significand, max(exponent, 1) - bias), code))
    return rows


def hif8_fields() -> list[tuple[float, int]]:
    rows = [(0.0, 0)] + [(2.0 ** (m - 23), m) for m in range(1, 8)]
    prefixes = {0: 0b0001 << 3, 1: 0b0010 << 3, -1: 0b0011 << 3}
    for magnitude in range(2, 16):
        width = magnitude.bit_length() - 1
        for sign in (0, 1):
            head = (width << 1 | sign) << width | (magnitude - (1 << width))
            prefixes[-magnitude if sign else magnitude] = head << (4 - width)
    for exponent, prefix in prefixes.items():
        mantissa_bits = 3 if abs(exponent) < 4 else 2 if abs(exponent) < 8 else 1
        for m in range(1 << mantissa_bits):
            rows.append((math.ldexp(1 + m / (1 << mantissa_bits), exponent), prefix | m))
    return sorted(row for row in rows if row[1] != 0x6F)


MAGNITUDES = {
    "f16": fields(5, 10, 15, 0x7BFF),
    "bf16": fields(8, 7, 127, 0x7F7F),
    "f8E4M3FN": fields(4, 3, 7, 0x7E),
    "f8E5M2": fields(5, 2, 15, 0x7B),
    "f4E2M1x2": fields(2, 1, 1, 7),
    "f4E1M2x2": fields(1, 2, 1, 7),
    "hif8": hif8_fields(),
}
AFTER_LAST = {
    "f16": 65536.0,
    "bf16": 2.0**128,
    "f8E4M3FN": 480.0,
    "f8E5M2": 65536.0,
    "f4E2M1x2": 8.0,
    "f4E1M2x2": 2.0,
    "hif8": 49152.0,
}
"""The value that follows the largest finite one on the same grid."""
VALUES = {name: [value for value, _ in rows] for name, rows in MAGNITUDES.items()}


def expected(name: str, x: float, letter: str, saturate: bool, keep_nan: bool = False) -> float:
    """The decoded result, as a float (NaN for NaN)."""
    values = VALUES[name]
    largest = values[-1]
    has_nan, has_inf = not name.startswith("f4"), name in ("f16", "bf16", "f8E5M2", "hif8")
    saturate = saturate or not has_nan
    beyond = largest if saturate else math.inf if has_inf else math.nan
    if math.isnan(x):
        return math.nan if has_nan and (keep_nan or not saturate) else 0.0
    if math.isinf(x):
        return math.copysign(beyond, x)
    magnitude, negative = abs(x), math.copysign(1, x) < 0
    after_last = AFTER_LAST[name]
    low = bisect.bisect_right(values, magnitude) - 1
    below, above = values[low], values[low + 1] if low + 1 < len(values) else after_last
    code_is_odd = MAGNITUDES[name][low][1] & 1 == 1
    if magnitude == below:
        up = False
    elif letter in "RAH":
        middle = (below + above) / 2
        ties_up = letter != "R" or code_is_odd or (name == "hif8" and low == 0)
        up = magnitude > middle or (magnitude == middle and ties_up)
    else:
        up = {"F": negative, "C": not negative, "Z": False, "O": not code_is_odd}[letter]
    result = above if up else below
    return math.copysign(beyond if result > largest else result, x)


def interesting(name: str, count: int, seed: int = 7) -> np.ndarray:
    """Codes, ties and their float32 neighbours, the overflow region, subnormals and specials, both signs."""
    values = np.array(VALUES[name])
    if len(values) > count:
        rng = np.random.default_rng(seed)
        start = rng.integers(0, len(values) - 3, count // 2)
        values = np.unique(np.concatenate([values[:40], values[-40:], values[start], values[start + 1]]))
    largest = VALUES[name][-1]
    beyond = np.array([largest * f for f in (1 + 2.0**-12, 1.0625, 1.125, 1.25, 1.5, 1.75, 2, 1000)])
    steps = np.concatenate([values, (values[1:] + values[:-1]) / 2, beyond, [2.0**-149, 2.0**-126, 3e38]])
    steps = np.append(steps, [(largest + AFTER_LAST[name]) / 2, AFTER_LAST[name]])
    with np.errstate(over="ignore"):
        centre = steps.astype(np.float32)
    centre = centre[np.isfinite(centre)]
    around = np.concatenate([centre, np.nextafter(centre, np.float32(0)), np.nextafter(centre, np.float32(np.inf))])
    signed = np.concatenate([around, -around, [0.0, -0.0, np.inf, -np.inf, np.nan, -np.nan]]).astype(np.float32)
    return np.append(signed, np.float32(0)) if len(signed) % 2 else signed


def check(name: str, x: np.ndarray, letter: str, saturate: bool, keep_nan: bool = False) -> None:
    raw = encode(x, name, rounding=letter, saturate=saturate, keep_nan=keep_nan)
    assert raw.dtype == FORMATS[name].storage
    got = decode(raw, name)
    want = np.array([expected(name, v, letter, saturate, keep_nan) for v in x.tolist()], np.float32)
    np.testing.assert_array_equal(got, want)
    if name != "hif8":  # it has one zero
        finite = ~np.isnan(want)
        assert (np.signbit(got) == np.signbit(want))[finite].all()


@pytest.mark.parametrize("saturate", [True, False])
@pytest.mark.parametrize("letter", LETTERS)
@in_groups("name", FORMAT_NAMES)
def test_every_decision_point(name, letter, saturate):
    check(name, interesting(name, 800), letter, saturate)


@pytest.mark.parametrize("name", FORMAT_NAMES)
@given(
    x=st.lists(st.floats(width=32), min_size=1, max_size=20),
    letter=st.sampled_from(LETTERS),
    saturate=st.booleans(),
    keep_nan=st.booleans(),
)
@example(x=[464.0, 465.0], letter="R", saturate=False, keep_nan=False)
@example(x=[40960.0, 2.0**-23], letter="A", saturate=False, keep_nan=False)
def test_arbitrary_values(name, x, letter, saturate, keep_nan):
    check(name, np.array(x + x, np.float32), letter, saturate, keep_nan)


def test_documented_values():
    x = np.array([1.0625, 1.1875], np.float32)
    assert decode(encode(x, "f8E4M3FN", saturate=True), "f8E4M3FN").tolist() == [1.0, 1.25]
    ties = np.array([0.25, 0.75, 1.25, 2.5, -2.5, 5.0], np.float32).astype(ml_dtypes.bfloat16)
    assert decode(encode(ties, "f4E2M1x2", saturate=True), "f4E2M1x2").tolist() == [0, 1, 1, 2, -2, 4]
    away = decode(encode(ties, "f4E2M1x2", rounding="A", saturate=True), "f4E2M1x2")
    assert away.tolist() == [0.5, 1, 1.5, 3, -3, 6]
    hif8 = encode(np.array([1e6, -1e6, np.nan, -1e-9]), "hif8", rounding="A", saturate=False)
    assert hif8.tolist() == [0x6F, 0xEF, 0x80, 0x00]
    hif8 = encode(np.array([1e6, -1e6, np.nan, 2.0**-23]), "hif8", rounding="A", saturate=True)
    assert hif8.tolist() == [0x6E, 0xEE, 0x00, 0x01]


@pytest.mark.parametrize("name", ["f16", "bf16", "f8E4M3FN", "f8E5M2", "hif8"])
@in_groups("letter", "RAFCZO")
def test_float64_and_wide_integers_round_once(name, letter):
    """A value a hair off a tie or a code must not be moved onto it by an intermediate float32."""
    values = np.array(VALUES[name][1:])
    values = values[(values > 1e-30) & (values < 1e30)][:: max(1, len(values) // 300)]
    centre = np.concatenate([values, (values[1:] + values[:-1]) / 2])
    x = np.concatenate([centre * (1 + 2.0**-50), centre * (1 - 2.0**-50), -centre * (1 + 2.0**-50)])
    want = [expected(name, v, letter, False) for v in x.tolist()]
    np.testing.assert_array_equal(
        decode(encode(x, name, rounding=letter, saturate=False), name), np.array(want, np.float32)
    )
    if name == "bf16":
        whole = np.array([257 << 40, (257 << 40) + 1, (257 << 40) - 1, (259 << 52) + 1, -(257 << 40) - 1], np.int64)
        nearby = [257, 257 + 2.0**-40, 257 - 2.0**-40, (259 << 12) * (1 + 2.0**-40), -257 - 2.0**-40]
        want = [expected(name, float(v), letter, False) * 2.0**40 for v in nearby]
        np.testing.assert_array_equal(decode(encode(whole, name, rounding=letter, saturate=False), name), want)


def test_keep_nan_changes_nan_only():
    x = np.array([np.nan, np.inf, 1e9, 1.0], np.float32)
    for name in ("f16", "f8E4M3FN", "f8E5M2", "hif8"):
        kept = decode(encode(x, name, rounding="A", saturate=True, keep_nan=True), name)
        plain = decode(encode(x, name, rounding="A", saturate=True), name)
        assert math.isnan(kept[0])
        assert plain[0] == 0
        np.testing.assert_array_equal(kept[1:], plain[1:])


def test_exponent_byte():
    x = np.array([1, 1.5, 3, 1.49, 2.9, 0, -0.0, -1, np.inf, np.nan, 2.0**-127, 2.0**-140, 3.3e38], np.float32)
    assert encode(x, "f8E8M0", saturate=False).tolist() == [
        127,
        128,
        128,
        127,
        128,
        0,
        0,
        255,
        255,
        255,
        0,
        0,
        255,
    ]
    assert encode(x, "f8E8M0", rounding="Z", saturate=True).tolist() == [
        *(127, 127, 128, 127, 128, 0, 0, 255, 254, 255, 0, 0, 254)
    ]
    assert encode(np.array([1, 1.25, 2.5]), "f8E8M0", rounding="C", saturate=True).tolist() == [127, 128, 129]
    assert encode(np.array([1, 1.25, 2.5]), "f8E8M0", rounding="O", saturate=True).tolist() == [127, 127, 129]
    assert encode(np.array([3, 6]), "f8E8M0", saturate=True).tolist() == [128, 130]
    assert encode(np.array([3, 6]), "f8E8M0", rounding="A", saturate=True).tolist() == [129, 130]


def test_pairs_pack_and_reject_odd_lengths():
    assert encode(np.array([[0.5, -6.0]]), "f4E2M1x2", saturate=True).tolist() == [[0xF1]]
    assert encode(np.array([[1.0, 2.0]]), "hif8x2", rounding="A", saturate=True).tolist() == [[0x1008]]
    assert encode(np.array([[1.0, 2.0]]), "bf16x2", saturate=True).tolist() == [[0x4000_3F80]]
    for name in ("f4E2M1x2", "f4E1M2x2"):
        with pytest.raises(ValueError, match="stored in pairs"):
            encode(np.zeros(3), name, saturate=True)


def test_19_bit_views():
    x = np.array([1 + 2.0**-11, 1 + 3 * 2.0**-11, 1 + 2.0**-12], np.float32)
    assert encode(x, "tf32", saturate=False).tolist() == [1, 1 + 2.0**-9, 1]
    assert encode(x, "tf32", rounding="A", saturate=False).tolist() == [1 + 2.0**-10, 1 + 2.0**-9, 1]
    assert encode(x, "fp19", rounding="Z", saturate=False).tolist() == [1, 1 + 2.0**-10, 1]
    with pytest.raises(ValueError, match="no rounding C"):
        encode(x, "tf32", rounding="C", saturate=False)


def test_f32_is_untouched_and_bad_letters_are_refused():
    x = np.array([np.nan, np.inf, -0.0, 1e-45], np.float32)
    np.testing.assert_array_equal(encode(x, "f32", saturate=True), x)
    np.testing.assert_array_equal(encode(x, "f64", saturate=True), x.astype(np.float64))
    with pytest.raises(ValueError, match="unknown rounding letter 'r'"):
        encode(x, "f16", rounding="r", saturate=True)
    assert encode(np.zeros(0, np.float32), "f16", saturate=True).shape == (0,)


@pytest.mark.parametrize("name", ["f16", "bf16", "f32", "hif8", "f8E8M0", "tf32", "i8"])
@pytest.mark.parametrize("letter", "RA")
def test_scalars_stay_scalars(name, letter):
    for value in (np.float32(3), np.float64(3), np.int32(3)):
        raw = encode(np.array(value), name, rounding=letter, saturate=True)
        assert raw.shape == ()
        assert raw.dtype == FORMATS[name].storage
        row = encode(np.array([value]), name, rounding=letter, saturate=True)
        assert raw.tobytes() == row.tobytes()
