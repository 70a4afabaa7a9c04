"""Decoding: every code of every small format against its formula, packing order, table facts."""

import math

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from pto_dialect.runtime.numerics.formats import FORMATS, decode, encode, format_of

ALL_BYTES = np.arange(256, dtype=np.uint8)


def sign_exponent_mantissa(code: int, exponent_bits: int, mantissa_bits: int, bias: int) -> float:
    sign = -1.0 if code >> (exponent_bits + mantissa_bits) & 1 else 1.0
    exponent = code >> mantissa_bits & ((1 << exponent_bits) - 1)
    fraction = (code & ((1 << mantissa_bits) - 1)) / (1 << mantissa_bits)
    if exponent == 0:
        return sign * math.ldexp(fraction, 1 - bias)
    return sign * math.ldexp(1 + fraction, exponent - bias)


def e4m3(code: int) -> float:
    return math.nan if code & 0x7F == 0x7F else sign_exponent_mantissa(code, 4, 3, 7)


def e5m2(code: int) -> float:
    if code & 0x7F > 0x7C:
        return math.nan
    if code & 0x7F == 0x7C:
        return -math.inf if code & 0x80 else math.inf
    return sign_exponent_mantissa(code, 5, 2, 15)


def e8m0(code: int) -> float:
    return math.nan if code == 255 else 2.0 ** (code - 127)


def hif8(code: int) -> float:
    """The bit patterns of the HiF8 table, matched as text."""
    if code in (0x00, 0x80):
        return 0.0 if code == 0 else math.nan
    if code in (0x6F, 0xEF):
        return math.inf if code == 0x6F else -math.inf
    sign, v = (-1.0 if code & 0x80 else 1.0), f"{code & 0x7F:07b}"
    if v.startswith("0000"):
        return sign * 2.0 ** (int(v[4:], 2) - 23)
    if v.startswith("0001"):
        return sign * (1 + int(v[4:], 2) / 8)
    if v.startswith("001"):
        exponent, mantissa = 1, v[4:]
        negative = v[3] == "1"
    else:
        width = {"01": 1, "10": 2, "11": 3}[v[:2]]
        negative = v[2] == "1"
        exponent, mantissa = 2**width + int(v[3 : 3 + width], 2), v[3 + width :]
    value = 1 + int(mantissa, 2) / 2 ** len(mantissa)
    return sign * value * 2.0 ** (-exponent if negative else exponent)


@pytest.mark.parametrize(
    ("name", "formula"),
    [("f8E4M3FN", e4m3), ("f8E4M3", e4m3), ("f8E5M2", e5m2), ("f8E8M0", e8m0), ("hif8", hif8)],
)
def test_all_codes_of_8_bit_formats(name, formula):
    expected = np.array([formula(code) for code in range(256)], np.float32)
    values = decode(ALL_BYTES.view(FORMATS[name].storage), name)
    assert values.dtype == np.float32
    np.testing.assert_array_equal(values, expected)
    assert (np.signbit(values) == np.signbit(expected))[~np.isnan(expected)].all()


def test_hif8_spot_values():
    codes = np.array([0x08, 0x18, 0x10, 0x20, 0x40, 0x6E, 0x01, 0x7E, 0x7F, 0x88], np.uint8)
    expected = [1, 0.5, 2, 4, 16, 32768, 2.0**-22, 2.0**-15, 1.5 * 2.0**-15, -1]
    np.testing.assert_array_equal(decode(codes, "hif8"), np.array(expected, np.float32))


@pytest.mark.parametrize(
    ("name", "positive"),
    [
        ("f4E2M1x2", [0, 0.5, 1, 1.5, 2, 3, 4, 6]),
        ("f4E1M2x2", [0, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75]),
    ],
)
def test_fp4_pairs_low_nibble_first(name, positive):
    nibble = np.array(positive + [-v for v in positive], np.float32)
    expected = np.stack([nibble[ALL_BYTES & 15], nibble[ALL_BYTES >> 4]], axis=1).reshape(-1)
    np.testing.assert_array_equal(decode(ALL_BYTES, name), expected)


@pytest.mark.parametrize(
    ("name", "nibble"),
    [("i4", [*range(8), *range(-8, 0)]), ("si4", [*range(8), *range(-8, 0)]), ("ui4", range(16))],
)
def test_4_bit_integers_low_nibble_first(name, nibble):
    rows = ALL_BYTES.reshape(16, 16)
    values = decode(rows, name)
    assert values.shape == (16, 32)
    assert values.dtype == (np.uint8 if name == "ui4" else np.int8)
    assert values.tolist() == [[nibble[n] for byte in row for n in (byte & 15, byte >> 4)] for row in rows.tolist()]


def test_all_f16_and_bf16_codes():
    codes = np.arange(65536, dtype=np.uint16)
    f16 = np.array([np.frombuffer(int(c).to_bytes(2, "little"), np.float16)[0] for c in codes]).astype(np.float32)
    np.testing.assert_array_equal(decode(codes, "f16"), f16)
    finite = codes[(codes & 0x7C00) != 0x7C00]
    np.testing.assert_array_equal(decode(finite.reshape(2, -1), "f16"), finite.view(np.float16).reshape(2, -1))
    bf16 = (codes.astype(np.uint32) << 16).view(np.float32)
    np.testing.assert_array_equal(decode(codes.view(ml_dtypes.bfloat16), "bf16"), bf16)


def test_16_bit_pairs_and_scalar_shapes():
    pairs = np.array([[0x1008, 0x6E18]], np.uint16)
    np.testing.assert_array_equal(decode(pairs, "hif8x2"), np.array([[1, 2, 0.5, 32768]], np.float32))
    np.testing.assert_array_equal(decode(np.array([0x4000_3F80], np.uint32), "bf16x2"), np.array([1, 2], np.float32))
    strided = np.array([[0x1008, 0], [0x6E18, 0]], np.uint16)[:, :1]
    np.testing.assert_array_equal(decode(strided, "hif8x2"), np.array([[1, 2], [0.5, 32768]], np.float32))
    assert decode(np.array(1.5, np.float16), "f16").tolist() == 1.5
    assert decode(np.zeros((0, 4), np.float16), "f16").shape == (0, 4)
    assert decode(np.array([1, -np.inf], np.float16), "f16").tolist() == [1, -math.inf]


def test_formats_that_compute_in_storage_are_not_copied():
    for name in ("f32", "f64", "i8", "ui16", "i32", "index", "i1"):
        raw = np.zeros(4, FORMATS[name].storage)
        assert decode(raw, name) is raw


def test_reinterprets_equal_item_size_only():
    assert decode(np.array([0x3C00], np.uint16), "f16").tolist() == [1.0]
    with pytest.raises(ValueError, match="f16 is stored as float16"):
        decode(np.zeros(4, np.float32), "f16")


def test_table_facts():
    for name in [
        "i1",
        "i4",
        "i8",
        "i16",
        "i32",
        "i64",
        "si4",
        "si64",
        "ui4",
        "ui64",
        "index",
        "f16",
        "bf16",
        "f32",
        "f64",
        "hif8x2",
        "tf32",
        "fp19",
    ]:
        assert FORMATS[name].name == name
    assert FORMATS["f8E4M3"] is FORMATS["f8E4M3FN"] is format_of("!pto.f8E4M3")
    assert format_of(FORMATS["hif8"]) is FORMATS["hif8"]
    with pytest.raises(ValueError, match="unknown number format 'f9'"):
        format_of("f9")
    sizes = {
        "i4": (1, 2),
        "f4E1M2x2": (1, 2),
        "hif8": (1, 1),
        "hif8x2": (2, 2),
        "bf16x2": (4, 2),
        "index": (8, 1),
    }
    for name, (size, elements) in sizes.items():
        assert (FORMATS[name].bytes, FORMATS[name].elements) == (size, elements)
    assert (FORMATS["i16"].min_value, FORMATS["i16"].max_value) == (-32768, 32767)
    assert (FORMATS["ui64"].min_value, FORMATS["ui64"].max_value) == (0, 2**64 - 1)
    assert (FORMATS["si4"].min_value, FORMATS["si4"].max_value) == (-8, 7)
    assert [name for name, fmt in FORMATS.items() if fmt.compute_only] == ["tf32", "fp19"]


@pytest.mark.parametrize("name", ["f8E4M3FN", "f8E5M2", "f8E8M0", "hif8", "f4E2M1x2", "f4E1M2x2", "f16", "bf16"])
def test_limits_agree_with_the_codes(name):
    fmt = FORMATS[name]
    codes = ALL_BYTES if fmt.bytes == 1 else np.arange(65536, dtype=np.uint16)
    values = decode(codes.view(fmt.storage), name)
    assert values[np.isfinite(values)].max() == np.float32(fmt.max_finite)
    assert np.isinf(values).any() == fmt.has_inf
    assert np.isnan(values).any() == fmt.has_nan


ROUND_TRIP = [name for name, fmt in FORMATS.items() if not fmt.compute_only and name != "i1"]


@pytest.mark.parametrize("name", ROUND_TRIP)
@given(data=st.data())
def test_decode_then_encode_is_identity(name, data):
    fmt = FORMATS[name]
    words = hnp.arrays(np.dtype(f"u{fmt.bytes}"), hnp.array_shapes(max_dims=2, max_side=9))
    raw = data.draw(words).view(fmt.storage)
    values = decode(raw, name)
    again = encode(values, name, saturate=False)
    assert again.dtype == fmt.storage
    assert again.shape == raw.shape
    if fmt.is_float:
        np.testing.assert_array_equal(decode(again, name), values)
        keep = ~np.isnan(values) if fmt.elements == 1 else ~np.isnan(values).reshape(*raw.shape, 2).any(-1)
        raw, again = raw[keep], again[keep]
    np.testing.assert_array_equal(again.view(f"u{fmt.bytes}"), raw.view(f"u{fmt.bytes}"))
