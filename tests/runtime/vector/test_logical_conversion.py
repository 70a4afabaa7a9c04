"""Conversion of logical vectors. Source: docs/reference/numerics.md, "Formats", "Rounding"; docs/reference/vectors.md,
"Conversion", "Logical vectors".
"""

from __future__ import annotations

from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from vmi_programs import DTYPES, kernel, numbers, run, same, vreg

from pto_dialect.runtime.errors import ProgramError


def converted(op: str, source: str, target: str, values: np.ndarray, attributes: str = "") -> np.ndarray:
    """%r = op of %a, in another element type."""
    old, new = vreg(source, values.size), vreg(target, values.size)
    body = f"%r = pto.vmi.{op} %a {attributes} : {old} -> {new}"
    return run(body, {"a": (old, values)}, {"r": new})[0]


@pytest.mark.parametrize("source", ["f16", "bf16", "f8E4M3FN", "f8E5M2"])
def test_wider_floats_are_exact(source: str) -> None:
    bits = 8 * DTYPES[source].itemsize
    values = np.arange(1 << bits, dtype=np.uint64).astype(f"u{bits // 8}")[:: 1 if bits == 8 else 97]
    values = values[: values.size // 2 * 2].copy().view(DTYPES[source])
    for op in ("vcvt", "extf"):
        with np.errstate(invalid="ignore"):
            same(converted(op, source, "f32", values), values.astype(np.float64))


def nearest(value: float, step: float, letter: str) -> float:
    """``value`` as a multiple of ``step``, rounded by ``letter``."""
    exact = Fraction(value) / Fraction(step)
    low = exact.numerator // exact.denominator
    rest = exact - low
    half = Fraction(1, 2)
    up = {
        "R": rest > half or (rest == half and low % 2 == 1), "A": rest > half or (rest == half and exact > 0),
        "F": False, "C": rest > 0, "Z": exact < 0 and rest > 0,
    }[letter]  # fmt: skip
    return float((low + up) * Fraction(step))


@pytest.mark.parametrize("letter", ["R", "A", "F", "C", "Z"])
def test_floats_to_integers_round_by_the_letter(letter: str) -> None:
    values = np.array([0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 1.25, -1.75, 1e9, 7.0], np.float32)
    want = [nearest(float(x), 1.0, letter) for x in values]
    for op in ("vcvt", "fptosi"):
        got = converted(op, "f32", "si32", values, f'{{rounding = "{letter}", saturate = "SAT"}}')
        assert got.tolist() == want


def test_floats_to_integers_saturate() -> None:
    values = np.array([3e9, -3e9, np.inf, -np.inf, np.nan, 2147483520.0], np.float32)
    top, low = 2**31 - 1, -(2**31)
    for op, type_ in (("vcvt", "si32"), ("fptosi", "si32"), ("fptosi", "i32")):
        got = converted(op, "f32", type_, values, '{saturate = "SAT"}')
        if type_ == "si32":
            assert got.tolist() == [top, low, top, low, 0, 2147483520]
    small = np.array([300.0, -5.0, 255.0, 2.5, np.inf, np.nan], np.float16)
    for op in ("vcvt", "fptoui"):
        assert converted(op, "f16", "ui8", small, '{saturate = "SAT"}').tolist() == [255, 0, 255, 2, 255, 0]


def test_integers_to_floats() -> None:
    values = numbers("si32", 100)
    for op in ("vcvt", "sitofp"):
        got = converted(op, "si32", "f32", values)
        assert got.tolist() == [float(np.float32(int(x))) for x in values]


@pytest.mark.parametrize(
    ("target", "largest", "mantissa", "lowest"), [("f8E4M3FN", 448.0, 3, -6), ("f8E5M2", 57344.0, 2, -14)]
)
@pytest.mark.parametrize("letter", ["R", "A", "Z"])
def test_floats_of_8_bits_saturate(target: str, largest: float, mantissa: int, lowest: int, letter: str) -> None:
    rng = np.random.default_rng(3)
    values = (rng.standard_normal(200) * 2.0 ** rng.integers(-20, 18, 200)).astype(np.float32)
    values[:6] = [1.0625, -1.1875, 1e9, -1e9, np.inf, 0.0]
    want = []
    for x in values.tolist():
        if abs(x) >= largest:
            want.append(np.copysign(largest, x))
            continue
        exponent = max(int(np.frexp(x)[1]) - 1, lowest) if x else lowest
        want.append(np.copysign(min(abs(nearest(x, 2.0 ** (exponent - mantissa), letter)), largest), x))
    for op in ("vcvt", "truncf"):
        got = converted(op, "f32", target, values, f'{{rounding = "{letter}", saturate = "SAT"}}')
        same(got.astype(np.float32), want)


def test_narrower_floats_with_and_without_saturation() -> None:
    values = np.array([70000.0, -70000.0, np.inf, np.nan, 1 + 2**-11, 65504.0], np.float32)
    sat = converted("vcvt", "f32", "f16", values, '{saturate = "SAT"}')
    same(sat, [65504, -65504, 65504, 0, 1, 65504])
    plain = converted("vcvt", "f32", "f16", values, '{saturate = "NOSAT"}')
    same(plain, [np.inf, -np.inf, np.inf, np.nan, 1, 65504])
    same(
        converted("vcvt", "bf16", "f16", np.array([1e30, 0.5], ml_dtypes.bfloat16), '{saturate = "SAT"}'), [65504, 0.5]
    )


def test_integers_become_wider_by_their_sign() -> None:
    values = np.array([0, 1, 127, 128, 200, 255], np.uint8)
    signed = [x - 256 if x > 127 else x for x in values.tolist()]
    for target in ("ui16", "i16", "ui32", "i32"):
        assert converted("vcvt", "ui8", target, values).tolist() == values.tolist()
    assert converted("vcvt", "si8", "si32", values.view(np.int8)).tolist() == signed
    assert converted("extsi", "si8", "si16", values.view(np.int8)).tolist() == signed
    # Without a sign zeros fill up.
    assert converted("extui", "i8", "i32", values.view(np.int8)).tolist() == values.tolist()
    assert converted("extui", "ui8", "ui32", values).tolist() == values.tolist()


@pytest.mark.parametrize("op", ["vcvt", "trunci"])
def test_integers_become_narrower(op: str) -> None:
    values = np.array([0, 127, 128, 255, 256, -1, -128, -129, 70000], np.int32)
    low = [int(np.uint8(x & 0xFF).view(np.int8)) for x in values.tolist()]
    assert converted(op, "si32", "si8", values, '{saturate = "NOSAT"}').tolist() == low
    assert converted(op, "si32", "ui8", values, '{saturate = "SAT"}').tolist() == [
        min(max(x, 0), 255) for x in values.tolist()
    ]
    assert converted(op, "si32", "si16", values, '{saturate = "SAT"}').tolist() == [
        min(max(x, -32768), 32767) for x in values.tolist()
    ]


@pytest.mark.parametrize(
    ("element", "magnitudes"),
    [("!pto.f4E2M1x2", [0, 0.5, 1, 1.5, 2, 3, 4, 6]), ("!pto.f4E1M2x2", [0, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75])],
)
def test_pairs_of_4_bit_numbers(element: str, magnitudes: list[float]) -> None:
    """A byte holds the pair with the lane of the even number in the low half; so does a pair of bf16."""
    codes = np.arange(256, dtype=np.uint8)
    values = [m if sign == 0 else -m for sign in (0, 1) for m in magnitudes]
    pairs = np.array([[values[code & 15], values[code >> 4]] for code in codes.tolist()], ml_dtypes.bfloat16)
    wide = converted("vcvt", element, "!pto.bf16x2", codes)
    same(wide.view(ml_dtypes.bfloat16).reshape(-1, 2), pairs)
    back = converted("vcvt", "!pto.bf16x2", element, wide, '{rounding = "R"}')
    assert [b & 0x77 for b in back.tolist()] == [c & 0x77 for c in codes.tolist()]
    beyond = np.array([100.0, -100.0], ml_dtypes.bfloat16).view(np.uint32)
    (code,) = converted("vcvt", "!pto.bf16x2", element, beyond, '{rounding = "R"}').tolist()
    assert (code & 15, code >> 4) == (7, 15)


def test_the_same_bits() -> None:
    values = numbers("f32", 64)
    for op in ("bitcast", "vinterpret_cast"):
        for element, lanes in (("i32", 64), ("ui16", 128), ("bf16", 128), ("!pto.bf16x2", 64)):
            body = f"%r = pto.vmi.{op} %a : {vreg('f32', 64)} -> {vreg(element, lanes)}"
            (got,) = run(body, {"a": (vreg("f32", 64), values)}, {"r": vreg(element, lanes)})
            assert got.dtype == DTYPES[element]
            assert got.tobytes() == values.tobytes()


def test_rounding_without_a_meaning_is_refused() -> None:
    old, new = vreg("f32", 64), vreg("f8E4M3FN", 64)
    body = f'%r = pto.vmi.vcvt %a {{rounding = "H", saturate = "SAT"}} : {old} -> {new}'
    with pytest.raises(ProgramError, match="what rounding H rounds to"):
        kernel(body, {"a": old}, {"r": new})
