"""Float operations of work-items against exact arithmetic."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from simt_programs import results

DTYPES: dict[str, Any] = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64}
WORDS = {2: np.uint16, 4: np.uint32, 8: np.uint64}
NAN, INF = math.nan, math.inf


def samples(element: str) -> np.ndarray:
    """Specials, subnormals, ties and ordinary numbers of a format."""
    dtype = DTYPES[element]
    info = ml_dtypes.finfo(dtype)
    tiny, largest = float(info.smallest_subnormal), float(info.max)
    special = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 3.0, NAN, INF, -INF, largest, -largest, tiny, -tiny]
    plain = np.random.default_rng(3).standard_normal(15) * 4
    return np.array([*special, *plain.tolist(), float(info.smallest_normal) / 2], dtype)


def pairs(element: str) -> tuple[np.ndarray, np.ndarray]:
    values = samples(element)
    return np.repeat(values, values.size), np.tile(values, values.size)


def same(out: np.ndarray, wanted: list[float], zeros: bool = True) -> None:
    """Equal bits, NaN for NaN; with ``zeros`` the sign of zero counts."""
    expected = np.array(wanted, np.float64).astype(out.dtype)
    nan = np.isnan(expected.astype(np.float64))
    np.testing.assert_array_equal(np.isnan(out.astype(np.float64)), nan)
    if zeros:
        words = WORDS[out.dtype.itemsize]
        np.testing.assert_array_equal(out[~nan].view(words), expected[~nan].view(words))
    else:
        np.testing.assert_array_equal(out[~nan].astype(np.float64), expected[~nan].astype(np.float64))


def nearest(value: Fraction, dtype: Any, zero: float) -> float:
    """An exact value rounded to nearest even."""
    info = ml_dtypes.finfo(dtype)
    if value == 0:
        return zero
    magnitude = abs(value)
    exponent = math.floor(math.log2(magnitude.numerator) - math.log2(magnitude.denominator))
    while Fraction(2) ** exponent > magnitude:
        exponent -= 1
    while Fraction(2) ** (exponent + 1) <= magnitude:
        exponent += 1
    step = Fraction(2) ** (max(exponent, int(info.minexp)) - int(info.nmant))
    rounded = round(magnitude / step) * step  # ``round`` of a fraction goes to even
    sign = -1.0 if value < 0 else 1.0
    return sign * (INF if rounded > Fraction(float(info.max)) else float(rounded))


def binary(lines: str, element: str) -> tuple[np.ndarray, list[tuple[float, float]]]:
    a, b = pairs(element)
    count = min(a.size, 2048)
    a, b = a[:count], b[:count]
    out = results(lines, element, {"a": (element, a), "b": (element, b)}, np.zeros(count, DTYPES[element]))
    return out, list(zip(a.astype(np.float64).tolist(), b.astype(np.float64).tolist(), strict=True))


EXACT: dict[str, Callable[[Fraction, Fraction], Fraction]] = {
    "addf": lambda a, b: a + b,
    "subf": lambda a, b: a - b,
    "mulf": lambda a, b: a * b,
}


@pytest.mark.parametrize("element", ["f16", "bf16", "f32"])
@pytest.mark.parametrize("name", EXACT)
def test_sums_and_products_are_rounded_once(name: str, element: str) -> None:
    out, both = binary(f"%r = arith.{name} %a, %b : {element}", element)
    plain = {"addf": lambda a, b: a + b, "subf": lambda a, b: a - b, "mulf": lambda a, b: a * b}[name]
    wanted = []
    for a, b in both:
        if math.isfinite(a) and math.isfinite(b):
            wanted.append(nearest(EXACT[name](Fraction(a), Fraction(b)), DTYPES[element], plain(a, b)))
        else:
            wanted.append(plain(a, b))
    same(out, wanted)


@pytest.mark.parametrize("element", ["f16", "bf16", "f32"])
def test_fused_multiply_add_is_rounded_once(element: str) -> None:
    dtype = DTYPES[element]
    generator = np.random.default_rng(11)
    scale = 2.0 ** generator.integers(-9, 5, (3, 900))
    a, b, c = (generator.standard_normal((3, 900)) * scale).astype(dtype)
    # Sums that cancel to what a rounded product would lose.
    c[::3] = -(a.astype(np.float32) * b.astype(np.float32)).astype(dtype)[::3]
    a[:5], b[:5], c[:5] = [INF, 0.0, NAN, -0.0, 1.0], [0.0, -1.0, 1.0, 1.0, 1.0], [1.0, -0.0, 1.0, 0.0, -1.0]
    lines = f"%r = pto.fma %a, %b, %c : {element}, {element}, {element} -> {element}"
    out = results(lines, element, {"a": (element, a), "b": (element, b), "c": (element, c)}, np.zeros(900, dtype))
    wanted = []
    for x, y, z in zip(*(v.astype(np.float64).tolist() for v in (a, b, c)), strict=True):
        finite = all(map(math.isfinite, (x, y, z)))
        wanted.append(nearest(Fraction(x) * Fraction(y) + Fraction(z), dtype, 0.0) if finite else x * y + z)
    same(out, wanted, zeros=False)


def larger(a: float, b: float) -> float:
    return b if math.isnan(a) else a if math.isnan(b) else max(a, b)


@pytest.mark.parametrize("element", ["bf16", "f32"])
@pytest.mark.parametrize("name", ["fmax", "fmin"])
def test_extrema_prefer_numbers(name: str, element: str) -> None:
    out, both = binary(f"%r = pto.{name} %a, %b : {element}, {element} -> {element}", element)
    sign = 1.0 if name == "fmax" else -1.0
    same(out, [sign * larger(sign * a, sign * b) for a, b in both], zeros=False)


def ordered(a: float, b: float) -> tuple[float, float]:
    """A key that puts -0 below +0."""
    return (a, math.copysign(1.0, a)) if a == 0 else (a, 0.0)


@pytest.mark.parametrize("name", ["maximumf", "minimumf"])
def test_extrema_of_arith_propagate_nan(name: str) -> None:
    out, both = binary(f"%r = arith.{name} %a, %b : f32", "f32")
    pick = max if name == "maximumf" else min
    wanted = [NAN if math.isnan(a) or math.isnan(b) else pick(a, b, key=lambda v: ordered(v, v)) for a, b in both]
    same(out, wanted)


COMPARE: dict[str, Callable[[float, float], bool]] = {
    "eq": lambda a, b: a == b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "ne": lambda a, b: a < b or a > b,
}


@pytest.mark.parametrize("predicate", ["ord", "uno", *(k + p for k in "ou" for p in COMPARE)])
def test_comparisons(predicate: str) -> None:
    a, b = pairs("f32")
    lines = f"%bit = arith.cmpf {predicate}, %a, %b : f32\n%r = arith.extui %bit : i1 to i32"
    out = results(lines, "i32", {"a": ("f32", a), "b": ("f32", b)}, np.zeros(a.size, np.int32))
    wanted = []
    for x, y in zip(a.tolist(), b.tolist(), strict=True):
        unordered = math.isnan(x) or math.isnan(y)
        if predicate in ("ord", "uno"):
            wanted.append(unordered == (predicate == "uno"))
        else:
            wanted.append(predicate[0] == "u" if unordered else COMPARE[predicate[1:]](x, y))
    np.testing.assert_array_equal(out, wanted)


def half_away(x: float) -> float:
    whole, rest = math.floor(abs(x)), abs(x) - math.floor(abs(x))
    return math.copysign(whole + (rest >= 0.5), x)


ROUND: dict[str, Callable[[float], float]] = {
    "ceil": lambda x: math.copysign(math.ceil(x), x),
    "floor": lambda x: math.copysign(math.floor(x), x),
    "rint": lambda x: math.copysign(round(x), x),
    "round": half_away,
}


@pytest.mark.parametrize("element", ["f16", "bf16", "f32"])
@pytest.mark.parametrize("name", ROUND)
def test_rounding_to_whole_numbers(name: str, element: str) -> None:
    values = samples(element)
    lines = f"%r = pto.{name} %a : {element} -> {element}"
    out = results(lines, element, {"a": (element, values)}, np.zeros_like(values))
    same(out, [ROUND[name](x) if math.isfinite(x) else x for x in values.astype(np.float64).tolist()], zeros=False)


def safely(function: Callable[..., float], *arguments: float, domain: float = NAN, over: float = INF) -> float:
    try:
        return function(*arguments)
    except ValueError:
        return domain
    except OverflowError:
        return over


FUNCTIONS: dict[str, Callable[[float], float]] = {
    "exp": lambda x: safely(math.exp, x),
    "log": lambda x: -INF if x == 0 else safely(math.log, x),
    "sqrt": lambda x: safely(math.sqrt, x),
    "absf": abs,
    "sin": lambda x: safely(math.sin, x),
    "cos": lambda x: safely(math.cos, x),
}


@pytest.mark.parametrize(
    ("name", "element"),
    [(n, e) for n in ("exp", "log", "sqrt") for e in ("f16", "f32")]
    + [("absf", "f32"), ("sin", "f32"), ("cos", "f32")],
)
def test_functions(name: str, element: str) -> None:
    values = samples(element)
    if name in ("sin", "cos"):
        values = values[(np.abs(values) < 1e5) | ~np.isfinite(values)]
    out = results(f"%r = pto.{name} %a : {element} -> {element}", element, {"a": (element, values)}, values.copy())
    largest, tolerance = float(ml_dtypes.finfo(DTYPES[element]).max), {"f16": 1e-3, "f32": 1e-5}[element]
    for result, x in zip(out.astype(np.float64).tolist(), values.astype(np.float64).tolist(), strict=True):
        wanted = FUNCTIONS[name](x)
        if math.isnan(wanted) or math.isinf(wanted):
            assert result == wanted or (math.isnan(result) and math.isnan(wanted)), (x, result)
        elif wanted > largest:
            assert result == INF
        else:
            assert result == pytest.approx(wanted, rel=tolerance, abs=float(ml_dtypes.finfo(DTYPES[element]).tiny))


def test_powers() -> None:
    a = np.array([2, -2, 0, -0.0, 1, INF, 4, NAN, 2, 9], np.float32)
    b = np.array([10, 3, -1, 3, NAN, -1, 0.5, 0, -149, 0.5], np.float32)
    out = results("%r = pto.pow %a, %b : f32, f32 -> f32", "f32", {"a": ("f32", a), "b": ("f32", b)}, np.zeros_like(a))
    same(out, [1024, -8, INF, -0.0, 1, 0, 2, 1, 2.0**-149, 3])


def test_pairs_are_computed_element_by_element() -> None:
    a = np.array([[1, 2], [NAN, -0.5], [60000, 3]], np.float16)
    b = np.array([[2, 1], [1, 4], [60000, -3]], np.float16)
    type_ = "vector<2xf16>"
    lines = f"""
      %s = arith.addf %a, %b : {type_}
      %m = pto.fmax %s, %b : {type_}, {type_} -> {type_}
      %k = arith.constant dense<[2.0, -1.0]> : {type_}
      %r = pto.fma %m, %k, %a : {type_}, {type_}, {type_} -> {type_}
    """
    out = results(lines, type_, {"a": (type_, a), "b": (type_, b)}, np.zeros((3, 2), np.float16))
    wanted = []
    for row_a, row_b in zip(a.astype(float).tolist(), b.astype(float).tolist(), strict=True):
        for x, y, k in zip(row_a, row_b, [2.0, -1.0], strict=True):
            total = float(np.float16(x + y)) if abs(x + y) < 65520 else INF
            wanted.append(larger(total, y) * k + x)
    same(out.reshape(-1), wanted)
