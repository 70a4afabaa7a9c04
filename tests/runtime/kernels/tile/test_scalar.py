"""Tile and number arithmetic against formulas on single numbers (docs/reference/tiles.md, "Elementwise")."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tile_run_helpers import DTYPES, run, tile
from tile_values import edges, elementwise, is_float, pairs, same, wrapped

FULL = ("i8", "i16", "i32", "f16", "bf16", "f32")
INTEGERS = ("i8", "i16", "i32")


def nan_max(a: Any, b: Any) -> Any:
    return np.float32(np.nan) if np.isnan(a) or np.isnan(b) else max(a, b)


def nan_min(a: Any, b: Any) -> Any:
    return np.float32(np.nan) if np.isnan(a) or np.isnan(b) else min(a, b)


def divide(a: Any, b: Any) -> Any:
    if isinstance(a, int):
        return 0 if b == 0 else math.trunc(Fraction(a, b))
    return np.divide(a, b)


def floored(a: Any, b: Any) -> Any:
    if isinstance(a, int):
        return a % b if b else 0
    return np.remainder(a, b)


def truncated(a: Any, b: Any) -> Any:
    if isinstance(a, int):
        return a - divide(a, b) * b if b else 0
    return np.fmod(a, b)


SCALAR: dict[str, tuple[tuple[str, ...], Callable[[Any, Any], Any]]] = {
    "tadds": (FULL, lambda a, s: a + s),
    "tsubs": (FULL, lambda a, s: a - s),
    "tmuls": (FULL, lambda a, s: a * s),
    "tmaxs": (FULL, nan_max),
    "tmins": (FULL, nan_min),
    "tdivs": (("i8", "i16", "i32", "f16", "f32"), divide),
    "trems": (("i16", "i32", "f16", "f32"), floored),
    "tfmods": (("i16", "i32", "f16", "f32"), truncated),
    "tands": (INTEGERS, lambda a, s: a & s),
    "tors": (INTEGERS, lambda a, s: a | s),
    "txors": (INTEGERS, lambda a, s: a ^ s),
}


def numbers(element: str) -> list[Any]:
    """Some scalars, edge values among them."""
    values = edges(element)[[2, 3, 5, 7, 8, 11, 12, 15]].tolist()
    return [float(v) if is_float(element) else int(v) for v in values]


@pytest.mark.parametrize(("op", "element"), [(op, e) for op, (types, _) in SCALAR.items() for e in types])
def test_tile_and_number(op: str, element: str) -> None:
    a, _ = pairs(element)
    extra, more = ("", ()) if op != "trems" else (", %t", (tile("t", element, a),))
    types = ": {a}, " + element + (", {t}" if more else "")
    for number in numbers(element):
        found = run(
            f"pto.{op} ins(%a, %s{extra} {types}) outs(%d : {{d}})",
            tile("a", element, a), tile("d", element, a), *more, scalars={"s": (element, number)},
        )  # fmt: skip
        scalar = np.full(a.shape, number, a.dtype)
        same(found["d"], elementwise(SCALAR[op][1], element, a, scalar))


@pytest.mark.parametrize("element", ["i16", "f16", "f32"])
def test_number_divided_by_tile(element: str) -> None:
    a, _ = pairs(element)
    number = numbers(element)[0]
    found = run(
        f"pto.tdivs ins(%s, %a : {element}, {{a}}) outs(%d : {{d}})",
        tile("a", element, a), tile("d", element, a), scalars={"s": (element, number)},
    )  # fmt: skip
    same(found["d"], elementwise(divide, element, np.full(a.shape, number, a.dtype), a))


@pytest.mark.parametrize("element", ["i8", "i16", "i32", "ui8", "ui16", "ui32"])
@pytest.mark.parametrize("count", [0, 1, 5, 7, 8, 31, 33])
def test_shifts(element: str, count: int) -> None:
    a, _ = pairs(element)
    width = a.dtype.itemsize * 8
    for op, shift in (("tshls", lambda x: x << count % width), ("tshrs", lambda x: x >> count % width)):
        found = run(
            f"pto.{op} ins(%a, %s : {{a}}, i32) outs(%d : {{d}})",
            tile("a", element, a), tile("d", element, a), scalars={"s": ("i32", count)},
        )  # fmt: skip
        same(found["d"], elementwise(shift, element, a))


def test_integers_of_another_width_or_sign_wrap() -> None:
    a, _ = pairs("ui8")
    for kind, number in (("i8", -3), ("i32", 1000), ("i32", -1)):
        found = run(
            f"pto.tadds ins(%a, %s : {{a}}, {kind}) outs(%d : {{d}})",
            tile("a", "ui8", a), tile("d", "ui8", a), scalars={"s": (kind, number)},
        )  # fmt: skip
        same(found["d"], elementwise(lambda x, n=number: x + n, "ui8", a))


@pytest.mark.parametrize(
    ("kind", "number", "wanted"), [("i32", 3, 3.0), ("f32", 0.1, np.float16(0.1)), ("f32", 1e6, np.inf)]
)
def test_numbers_are_rounded_to_the_type_of_the_tile(kind: str, number: Any, wanted: Any) -> None:
    a = np.zeros((16, 16), np.float16)
    found = run(
        f"pto.tadds ins(%a, %s : {{a}}, {kind}) outs(%d : {{d}})",
        tile("a", "f16", a), tile("d", "f16", a), scalars={"s": (kind, number)},
    )  # fmt: skip
    assert (found["d"] == wanted).all()


def test_a_float_becomes_an_integer_toward_zero() -> None:
    a = np.zeros((8, 8), np.int32)
    for number, wanted in ((-2.75, -2), (2.75, 2), (1e12, 2**31 - 1), (math.nan, 0)):
        found = run(
            "pto.tadds ins(%a, %s : {a}, f32) outs(%d : {d})",
            tile("a", "i32", a), tile("d", "i32", a), scalars={"s": ("f32", number)},
        )  # fmt: skip
        assert (found["d"] == wanted).all()


@pytest.mark.parametrize("element", ["i16", "f16", "f32"])
@pytest.mark.parametrize("target", ["a", "b", "d"])
def test_number_between_tiles(element: str, target: str) -> None:
    a, b = pairs(element)
    number = numbers(element)[1]
    forms = {"taddsc": lambda x, y: x + type(x)(number) + y, "tsubsc": lambda x, y: x - type(x)(number) + y}
    for op, function in forms.items():
        found = run(
            f"pto.{op} ins(%a, %s, %b : {{a}}, {element}, {{b}}) outs(%{target} : {{{target}}})",
            tile("a", element, a), tile("b", element, b), tile("d", element, a), scalars={"s": (element, number)},
        )  # fmt: skip
        same(found[target], elementwise(function, element, a, b))


@pytest.mark.parametrize("element", ["f16", "f32"])
@pytest.mark.parametrize("slope", [0.25, 1.0, 3.0, -0.5, 0.0])
def test_leaky_relu(element: str, slope: float) -> None:
    a, _ = pairs(element)
    found = run(
        "pto.tlrelu ins(%a, %s : {a}, f32) outs(%d : {d})",
        tile("a", element, a), tile("d", element, a), scalars={"s": ("f32", slope)},
    )  # fmt: skip
    same(found["d"], elementwise(lambda x: x if x > 0 else x * np.float32(slope), element, a))


def fused(a: float, s: float, d: float) -> np.float32:
    """a·s + d with one rounding to float32, through exact fractions."""
    if not all(map(math.isfinite, (a, s, d))):
        return np.float32(a) * np.float32(s) + np.float32(d)
    return np.float32(nearest_f32(Fraction(a) * Fraction(s) + Fraction(d)))


def nearest_f32(value: Fraction) -> float:
    """The float32 nearest to an exact number, ties to even."""
    if value == 0:
        return 0.0
    exponent = max(math.floor(math.log2(abs(float(value)))) if float(value) else -149, -126)
    while abs(value) >= Fraction(2) ** (exponent + 1):
        exponent += 1
    step = Fraction(2) ** (exponent - 23)
    rounded = round(value / step) * step  # round() of a fraction is nearest, ties to even
    return float(rounded) if abs(rounded) < Fraction(2) ** 128 else math.copysign(math.inf, rounded)


@given(
    st.lists(st.tuples(*[st.floats(width=32, min_value=-(2.0**60), max_value=2.0**60)] * 2), min_size=1, max_size=64),
    st.floats(width=32, min_value=-(2.0**30), max_value=2.0**30),
)
def test_axpy_rounds_once(values: list[tuple[float, float]], scalar: float) -> None:
    data = np.resize(np.array(values, np.float32), (64, 2)).T
    a, d = (np.ascontiguousarray(x).reshape(8, 8) for x in data)
    found = run(
        "pto.taxpy ins(%a, %s : {a}, f32) outs(%d : {d})",
        tile("a", "f32", a), tile("d", "f32", d), scalars={"s": ("f32", scalar)},
    )  # fmt: skip
    same(found["d"], np.vectorize(lambda x, y: fused(float(x), scalar, float(y)), otypes=[np.float32])(a, d))


@pytest.mark.parametrize(("source", "target"), [("f16", "f16"), ("bf16", "bf16"), ("f16", "f32")])
def test_axpy_of_narrow_floats(source: str, target: str) -> None:
    a, _ = pairs(source)
    _, d = pairs(target)
    found = run(
        f"pto.taxpy ins(%a, %s : {{a}}, {source}) outs(%d : {{d}})",
        tile("a", source, a), tile("d", target, d), scalars={"s": (source, -1.5)}, target="a5",
    )  # fmt: skip
    with np.errstate(all="ignore"):
        wide = a.astype(np.float64) * -1.5 + d.astype(np.float64)  # exact: few bits, moderate exponents
        wanted = wide.astype(np.float32).astype(d.dtype)
    finite = np.isfinite(a.astype(np.float32)) & np.isfinite(d.astype(np.float32))
    small = finite & (np.abs(wide) < 1e30) & (np.abs(wide) > 1e-4)
    same(found["d"][small], wanted[small])
    same(found["d"][~finite], wanted[~finite])


@pytest.mark.parametrize("target", ["a2a3", "a5"])
def test_axpy_of_halves_rounds_the_product_on_a2a3(target: str) -> None:
    rng = np.random.default_rng(44)
    a, d = (rng.uniform(-100, 100, (8, 16)).astype(np.float16) for _ in range(2))
    factor = np.float16(-6.3)
    found = run(
        "pto.taxpy ins(%a, %s : {a}, f16) outs(%d : {d})",
        tile("a", "f16", a), tile("d", "f16", d), scalars={"s": ("f16", float(factor))}, target=target,
    )["d"]  # fmt: skip
    once = (d.astype(np.float64) + a.astype(np.float64) * np.float64(factor)).astype(np.float16)
    twice = d + a * factor
    assert (once != twice).any()
    same(found, twice if target == "a2a3" else once)


@pytest.mark.parametrize("element", FULL)
@pytest.mark.parametrize("valid", [None, (5, 7)])
def test_expand_number(element: str, valid: tuple[int, int] | None) -> None:
    for number in numbers(element):
        before = np.ones((16, 32), DTYPES[element])
        found = run(
            f"pto.texpands ins(%s : {element}) outs(%d : {{d}})",
            tile("d", element, before, valid), scalars={"s": (element, number)},
        )  # fmt: skip
        wanted = before.copy()
        rows, cols = valid or before.shape
        wanted[:rows, :cols] = number
        same(found["d"], wanted)


@pytest.mark.parametrize("layout", ["blayout=col_major", "blayout=col_major, slayout=row_major"])
def test_expand_number_in_other_layouts(layout: str) -> None:
    before = np.zeros((32, 16), np.float16)
    found = run(
        "pto.texpands ins(%s : f16) outs(%d : {d})",
        tile("d", "f16", before, (20, 9), layout), scalars={"s": ("f16", 2.5)}, verify=False,
    )  # fmt: skip
    wanted = before.copy()
    wanted[:20, :9] = 2.5
    same(found["d"], wanted)


def test_constant_numbers() -> None:
    a, _ = pairs("i8")
    found = run("%s = arith.constant -128 : i8\npto.tsubs ins(%a, %s : {a}, i8) outs(%a : {a})", tile("a", "i8", a))
    same(found["a"], np.vectorize(lambda x: wrapped(int(x) + 128, "i8"), otypes=[np.int8])(a))
