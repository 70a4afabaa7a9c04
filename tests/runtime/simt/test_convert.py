"""``pto.convert`` and the casts of ``arith`` on work-items, against exact arithmetic."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from simt_programs import results

from pto_dialect.runtime.errors import ProgramError

DTYPES: dict[str, Any] = {
    "f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "i32": np.int32, "i64": np.int64,
}  # fmt: skip
NAN, INF = math.nan, math.inf


def whole(value: Fraction, letter: str) -> int:
    """An exact value as an integer."""
    low = math.floor(value)
    rest = value - low
    if rest == 0 or letter == "f":
        return low
    if letter == "c":
        return low + 1
    if letter == "z":
        return low if value > 0 else low + 1
    if letter == "o":
        return low if low % 2 else low + 1
    if rest != Fraction(1, 2):
        return low if rest < Fraction(1, 2) else low + 1
    if letter == "a":
        return low if value < 0 else low + 1
    return low if low % 2 == 0 else low + 1


def to_float(value: Fraction, letter: str, dtype: Any) -> float:
    """An exact value in a format without overflow, rounded by ``letter``."""
    if value == 0:
        return 0.0
    info = ml_dtypes.finfo(dtype)
    exponent = math.floor(math.log2(abs(value)))
    while Fraction(2) ** exponent > abs(value):
        exponent -= 1
    while Fraction(2) ** (exponent + 1) <= abs(value):
        exponent += 1
    step = Fraction(2) ** (max(exponent, int(info.minexp)) - int(info.nmant))
    return float(whole(value / step, letter) * step)


HALVES = [0.0, -0.0, 0.5, -0.5, 1.5, -1.5, 2.5, -2.5, 0.49999, 7.25, -7.75, 100.0, -3.0]


@pytest.mark.parametrize("letter", "rafczo")
@pytest.mark.parametrize("sign", ["signed", "unsigned"])
@pytest.mark.parametrize("element", ["f16", "bf16", "f32"])
def test_floats_to_integers(element: str, sign: str, letter: str) -> None:
    edges = [NAN, INF, -INF, 3e4, -3e4] + (
        [2147483520.0, 2147483648.0, -2147483648.0, 4294967040.0, 1e20] * (element == "f32")
    )
    values = np.array([*HALVES, *edges], DTYPES[element])
    lines = f"%r = pto.convert %a round({letter}) sat {sign} : {element} -> i32"
    out = results(lines, "i32", {"a": (element, values)}, np.zeros(values.size, np.int32))
    low, high = (-(2**31), 2**31 - 1) if sign == "signed" else (0, 2**32 - 1)
    wanted = []
    for x in values.astype(np.float64).tolist():
        if math.isnan(x):
            wanted.append(0)
        elif math.isinf(x):
            wanted.append(high if x > 0 else low)
        else:
            wanted.append(min(max(whole(Fraction(x), letter), low), high))
    np.testing.assert_array_equal(out.view(np.uint32), np.array(wanted, np.int64).astype(np.uint32))


def test_floats_to_wide_integers() -> None:
    values = np.array([1.5, -2.5, 2.0**62, 2.0**63, -(2.0**63), -(2.0**64), NAN, INF], np.float32)
    lines = "%r = pto.convert %a round(r) sat signed : f32 -> i64"
    out = results(lines, "i64", {"a": ("f32", values)}, np.zeros(8, np.int64))
    assert out.tolist() == [2, -2, 2**62, 2**63 - 1, -(2**63), -(2**63), 0, 2**63 - 1]


INTEGERS = [0, 1, -1, 3, 2049, -2051, 16777217, -16777219, 2147483647, -2147483648, 33554435]


@pytest.mark.parametrize("letter", "rafczo")
@pytest.mark.parametrize("sign", ["signed", "unsigned"])
@pytest.mark.parametrize("element", ["bf16", "f32"])
def test_integers_to_floats(element: str, sign: str, letter: str) -> None:
    values = np.array(INTEGERS, np.int32)
    lines = f"%r = pto.convert %a round({letter}) nosat {sign} : i32 -> {element}"
    out = results(lines, element, {"a": ("i32", values)}, np.zeros(values.size, DTYPES[element]))
    numbers = values.tolist() if sign == "signed" else values.view(np.uint32).tolist()
    wanted = [to_float(Fraction(number), letter, DTYPES[element]) for number in numbers]
    np.testing.assert_array_equal(out.astype(np.float64), wanted)


@pytest.mark.parametrize("sign", ["signed", "unsigned"])
def test_wide_integers_are_rounded_once(sign: str) -> None:
    values = np.array([2**53 + 2**29 + 1, -(2**62) - 2**38 - 1, 2**63 - 1, -(2**63), 5], np.int64)
    lines = f"%r = pto.convert %a round(r) nosat {sign} : i64 -> f32"
    out = results(lines, "f32", {"a": ("i64", values)}, np.zeros(5, np.float32))
    numbers = values.tolist() if sign == "signed" else values.view(np.uint64).tolist()
    np.testing.assert_array_equal(out, [to_float(Fraction(number), "r", np.float32) for number in numbers])


@pytest.mark.parametrize(
    ("saturation", "beyond"), [("sat", [65504, -65504, 65504, 0]), ("nosat", [INF, -INF, INF, NAN])]
)
def test_overflow_of_narrow_floats(saturation: str, beyond: list[float]) -> None:
    values = np.array([1e6, -1e6, INF, NAN, 1.0, 2.0**-25, 2.0**-24 * 1.5, 65519.0], np.float32)
    lines = f"%r = pto.convert %a round(r) {saturation} : f32 -> f16"
    out = results(lines, "f16", {"a": ("f32", values)}, np.zeros(8, np.float16))
    np.testing.assert_array_equal(out, np.array([*beyond, 1.0, 0.0, 2.0**-23, 65504.0], np.float16))


def test_packed_pairs() -> None:
    values = np.array([[1.0, -2.5], [1e6, NAN], [3e-8, 0.1]], np.float32)
    lines = """
      %h = pto.convert %a round(r) nosat : vector<2xf32> -> vector<2xf16>
      %w = pto.convert %h round(r) nosat : vector<2xf16> -> vector<2xf32>
      %r = llvm.bitcast %w : vector<2xf32> to i64
    """
    out = results(lines, "i64", {"a": ("vector<2xf32>", values)}, np.zeros(3, np.int64))
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(out.view(np.float32).reshape(3, 2), values.astype(np.float16).astype(np.float32))


def test_pairs_of_eight_bits() -> None:
    values = np.array([[1.0, -2.0], [500.0, 0.3]], np.float32)
    lines = """
      %q = pto.convert %a round(r) sat : vector<2xf32> -> vector<2xf8E4M3FN>
      %x = pto.convert %q round(r) nosat : vector<2xf8E4M3FN> -> vector<2xf32>
      %h = pto.convert %x round(a) sat : vector<2xf32> -> !pto.hif8x2
      %r = pto.convert %h round(a) nosat : !pto.hif8x2 -> vector<2xf32>
    """
    out = results(lines, "vector<2xf32>", {"a": ("vector<2xf32>", values)}, np.zeros((2, 2), np.float32))
    # 0.3 is 0.3125 in e4m3 (steps of 1/32) and in hif8 (exponent -2, three bits of fraction); 500 saturates at 448 in
    # e4m3, which lies between 384 and 512 in hif8 (exponent 8, one bit of fraction), a tie.
    np.testing.assert_array_equal(out, [[1.0, -2.0], [512.0, 0.3125]])


@pytest.mark.parametrize("source", ["i8", "i32", "i64"])
@pytest.mark.parametrize("operation", ["sitofp", "uitofp"])
def test_casts_to_floats(operation: str, source: str) -> None:
    dtype = np.dtype(source.replace("i", "int"))
    values = np.array([0, 1, -1, 100, np.iinfo(dtype).max, np.iinfo(dtype).min], dtype)
    lines = f"%r = arith.{operation} %a : {source} to f32"
    out = results(lines, "f32", {"a": (source, values)}, np.zeros(6, np.float32))
    numbers = values.tolist() if operation == "sitofp" else values.view(f"u{dtype.itemsize}").tolist()
    np.testing.assert_array_equal(out, [to_float(Fraction(number), "r", np.float32) for number in numbers])


def test_casts_to_integers_cut_the_fraction() -> None:
    values = np.array([1.9, -1.9, 0.0, 2147483520.0, NAN], np.float32)
    out = results("%r = arith.fptosi %a : f32 to i32", "i32", {"a": ("f32", values)}, np.zeros(5, np.int32))
    assert out.tolist() == [1, -1, 0, 2147483520, 0]


def test_casts_between_floats() -> None:
    values = np.array([1.0, 2049.0, 65520.0, -1e-8, NAN], np.float32)
    lines = "%h = arith.truncf %a : f32 to f16\n%r = arith.extf %h : f16 to f32"
    out = results(lines, "f32", {"a": ("f32", values)}, np.zeros(5, np.float32))
    np.testing.assert_array_equal(out, np.array([1.0, 2048.0, INF, -0.0, NAN], np.float32))


def test_hybrid_rounding_is_refused() -> None:
    with pytest.raises(ProgramError, match="hybrid rounding") as raised:
        lines = "%r = pto.convert %a round(h) sat signed : f32 -> i32"
        results(lines, "i32", {"a": ("f32", np.zeros(1, np.float32))}, np.zeros(1, np.int32))
    assert raised.value.rule == "unmodelled"


@pytest.mark.parametrize(("source", "target"), [("ui32", "i32"), ("i32", "si32"), ("si8", "i8"), ("ui16", "i16")])
def test_unrealized_casts_keep_the_bits_of_integers(source: str, target: str) -> None:
    bits = np.arange(-16, 16).astype(f"i{int(source.lstrip('uis')) // 8}")
    values = bits.view(bits.dtype.str.replace("i", "u")) if source.startswith("ui") else bits
    line = f"%r = builtin.unrealized_conversion_cast %a : {source} to {target}"
    found = results(line, target, {"a": (source, values)}, np.zeros(32, bits.dtype))
    assert found.tolist() == bits.tolist()


def test_unrealized_casts_do_not_change_the_size() -> None:
    line = "%r = builtin.unrealized_conversion_cast %a : i32 to i64"
    with pytest.raises(ProgramError, match="between types of different sizes"):
        results(line, "i64", {"a": ("i32", np.zeros(32, np.int32))}, np.zeros(32, np.int64))
