"""Conversions between element types against exact arithmetic (docs/reference/numerics.md, "Narrowing and saturation",
"Rounding"; docs/reference/tiles.md, "Conversion").
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from groups import in_groups
from hypothesis import given
from hypothesis import strategies as st
from tile_run_helpers import DTYPES, run, tile
from tile_values import edges, is_float, random_values, same, wrapped

from pto_dialect.targets.backend import Backend

PLAIN = ("i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "f16", "bf16", "f32")
FLOATS = ("f16", "bf16", "f32")
MODES = {
    **{"NONE": "even", "RINT": "even", "CAST_RINT": "even", "ROUND": "away"},
    **{"FLOOR": "down", "CEIL": "up", "TRUNC": "zero"},
}
WRAPPING = {("f16", "ui8"), ("f16", "i8"), ("f32", "i16"), ("f16", "i16"), ("i64", "i32"), ("i32", "i16")}


def round_exact(value: Fraction, how: str) -> int:
    """An exact number rounded to an integer."""
    low = math.floor(value)
    rest = value - low
    if rest == 0:
        return low
    match how:
        case "down":
            return low
        case "up":
            return low + 1
        case "zero":
            return low if value > 0 else low + 1
        case "away":
            return low + 1 if rest > Fraction(1, 2) or (rest == Fraction(1, 2) and value > 0) else low
        case "odd":
            return low if low % 2 else low + 1
        case _:
            return low + 1 if rest > Fraction(1, 2) or (rest == Fraction(1, 2) and low % 2) else low


def to_integer(value: Any, element: str, how: str, clamp: bool) -> int:
    """One number as an integer element; NaN gives 0, an infinity the end of the range."""
    limits = np.iinfo(DTYPES[element])
    if isinstance(value, float):
        if math.isnan(value):
            return 0
        through_words = not clamp and limits.bits <= 16
        if math.isinf(value):
            if not through_words:
                return int(limits.max if value > 0 else limits.min)
            value = 2**64 if value > 0 else -(2**64)
        else:
            value = round_exact(Fraction(value), how)
        if through_words:
            value = min(max(value, -(2**31)), 2**31 - 1)
    return min(max(value, int(limits.min)), int(limits.max)) if clamp else wrapped(value, element)


def to_float(value: Any, element: str, how: str, clamp: bool) -> float:
    """One number as a float element."""
    info = ml_dtypes.finfo(DTYPES[element])
    largest, digits = float(info.max), int(info.nmant)
    special = isinstance(value, float) and not math.isfinite(value)
    if special:
        if element == "f32" or not clamp:
            return value
        return 0.0 if math.isnan(value) else math.copysign(largest, value)
    exact = Fraction(value)
    if exact == 0:
        return 0.0
    exponent = max(math.floor(math.log2(abs(exact))), int(info.minexp))
    while abs(exact) >= Fraction(2) ** (exponent + 1):
        exponent += 1
    while abs(exact) < Fraction(2) ** exponent and exponent > int(info.minexp):
        exponent -= 1
    step = Fraction(2) ** (exponent - digits)
    result = round_exact(exact / step, how) * step
    if abs(result) <= Fraction(largest):
        return float(result)
    toward_zero = how == "zero" or (how == "down" and exact > 0) or (how == "up" and exact < 0)
    if (clamp and element != "f32") or toward_zero:
        return math.copysign(largest, exact)
    return math.copysign(math.inf, exact)


def converted(values: np.ndarray, source: str, target: str, how: str, clamp: bool) -> np.ndarray:
    """Every element converted on its own."""
    out = np.empty(values.shape, DTYPES[target])
    for index in np.ndindex(*values.shape):
        value = float(values[index]) if is_float(source) else int(values[index])
        number = (to_float if is_float(target) else to_integer)(value, target, how, clamp)
        out[index] = number
    return out


def ties(element: str) -> np.ndarray:
    """Values at and around ties of every narrower type."""
    if not is_float(element):
        return np.array([], DTYPES[element])
    numbers = [0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 0.49, 2.51, 126.5, 127.5, 128.5, 255.5, -128.5, -129.0, 300.0, -1.0]
    numbers += [1 + 2**-9, 1 + 3 * 2**-9, 1 + 2**-8, 1 + 3 * 2**-8, 1 + 2**-11, 1 + 3 * 2**-11, 65519.0, 65520.0, 3e9]
    numbers += [-3e9, 2.0**-25, 3 * 2.0**-25, 32767.5, -32768.5, 40000.0, 70000.0]
    with np.errstate(over="ignore"):
        return np.array(numbers).astype(DTYPES[element])


def inputs(element: str) -> np.ndarray:
    """Edge values, ties and random values as a 4 x 32 matrix."""
    rng = np.random.default_rng(15)
    fixed = np.concatenate([edges(element), ties(element)]) if element != "i64" else np.array(
        [0, 1, -1, 2**31, -(2**31) - 1, 2**63 - 1, -(2**63), 2**53 + 1, 2**24 + 1, 2**40 + 3], np.int64
    )  # fmt: skip
    noise = random_values(element, (128 - fixed.size,), rng)
    if is_float(element):
        noise = (noise * rng.choice([1, 50, 3000], noise.shape).astype(noise.dtype)).astype(noise.dtype)
    return np.concatenate([fixed, noise]).reshape(4, 32)


def convert(values: np.ndarray, source: str, element: str, attributes: str = "", **options: Any) -> np.ndarray:
    """Result of tcvt, with other data beyond the valid region."""
    valid = (3, 31)
    before = np.full(values.shape, 3).astype(DTYPES[element])
    found = run(
        f"pto.tcvt ins(%a{attributes} : {{a}}) outs(%d : {{d}})",
        tile("a", source, values, valid), tile("d", element, before, valid), **options,
    )["d"]  # fmt: skip
    same(found[3:], before[3:])
    same(found[:, 31:], before[:, 31:])
    return found[:3, :31]


@pytest.mark.parametrize("backend", [None, "vpto"])
@pytest.mark.parametrize("target", PLAIN)
@in_groups("source", PLAIN)
def test_default_conversion(source: str, target: str, backend: Backend | None) -> None:
    values = inputs(source)
    clamp = backend is None or (source, target) not in WRAPPING
    found = convert(values, source, target, backend=backend)
    if source == target and source != "f32":
        same(found, values[:3, :31])
    elif source == target:
        same(found, np.rint(values[:3, :31]))
    else:
        same(found, converted(values[:3, :31], source, target, "even", clamp))


@pytest.mark.parametrize("saturation", ["ON", "OFF"])
@pytest.mark.parametrize("mode", ["ROUND", "FLOOR", "CEIL", "TRUNC", "CAST_RINT"])
@pytest.mark.parametrize(
    ("source", "target"),
    [("f32", "i8"), ("f32", "i32"), ("f32", "ui8"), ("f16", "i16"), ("bf16", "i32"), ("f32", "f16"), ("f32", "bf16"),
     ("f32", "i64"), ("i32", "f16"), ("i32", "f32"), ("i32", "i16"), ("i64", "f32"), ("ui32", "ui8"), ("bf16", "f16")],
)  # fmt: skip
def test_rounding_and_saturation(source: str, target: str, mode: str, saturation: str) -> None:
    values = inputs(source)
    attributes = f" {{rmode = #pto<round_mode {mode}>, sat_mode = #pto<saturation_mode {saturation}>}}"
    # Without saturation a2a3 does otherwise, see below.
    found = convert(values, source, target, attributes, target=None if saturation == "ON" else "a5")
    same(found, converted(values[:3, :31], source, target, MODES[mode], saturation == "ON"))


@pytest.mark.parametrize("mode", ["ODD"])
def test_rounding_to_odd(mode: str) -> None:
    values = inputs("f32")
    found = convert(values, "f32", "i32", f" {{rmode = #pto<round_mode {mode}>}}")
    same(found, converted(values[:3, :31], "f32", "i32", "odd", True))


@pytest.mark.parametrize("mode", ["NONE", "RINT", "ROUND", "FLOOR", "CEIL", "TRUNC"])
def test_f32_to_f32_rounds_to_integral_values(mode: str) -> None:
    values = inputs("f32")
    found = convert(values, "f32", "f32", f" {{rmode = #pto<round_mode {mode}>}}")
    part = values[:3, :31]
    wanted = part.copy()
    for index in np.ndindex(*part.shape):
        if np.isfinite(part[index]):
            wanted[index] = np.float32(float(round_exact(Fraction(float(part[index])), MODES[mode])))
    same(found, wanted)


@given(st.lists(st.floats(width=32), min_size=1, max_size=32), st.sampled_from(["f16", "bf16"]))
def test_narrowing_clamps_by_default(numbers: list[float], target: str) -> None:
    values = np.resize(np.array(numbers, np.float32), (4, 32))
    same(convert(values, "f32", target), converted(values[:3, :31], "f32", target, "even", True))


@pytest.mark.parametrize("element", ["f8E4M3FN", "f8E5M2"])
def test_8_bit_floats(element: str) -> None:
    values = inputs("f32")
    dtype = DTYPES[element]
    found = convert(values, "f32", element)
    largest = float(ml_dtypes.finfo(dtype).max)
    part = values[:3, :31].astype(np.float64)
    clamped = np.where(np.isnan(part), 0, np.clip(part, -largest, largest))
    same(found, clamped.astype(np.float32).astype(dtype))
    codes = np.arange(256, dtype=np.uint8).view(dtype).reshape(8, 32)
    back = run("pto.tcvt ins(%a : {a}) outs(%d : {d})", tile("a", element, codes), tile("d", "f32", np.zeros((8, 32))))
    same(back["d"], codes.astype(np.float32))


def test_hif8_spot_values() -> None:
    spots = {
        **{1.0: 0x08, 0.5: 0x18, 2.0: 0x10, 4.0: 0x20, 16.0: 0x40, 32768.0: 0x6E},
        **{2.0**-22: 0x01, -1.0: 0x88, 2.0**-23: 0x01, 1.0625: 0x09, -1.0625: 0x89, 1.1875: 0x0A, 40959.0: 0x6E},
    }
    beyond = {1e9: 0x6F, -1e9: 0xEF, np.inf: 0x6F, -np.inf: 0xEF, 40960.0: 0x6F, np.nan: 0x80}
    clamped = {1e9: 0x6E, -1e9: 0xEE, np.inf: 0x6E, -np.inf: 0xEE, 40960.0: 0x6E, np.nan: 0x00}
    rounding = [f"rmode = #pto<round_mode {mode}>" for mode in ("RINT", "FLOOR", "CEIL", "TRUNC", "ROUND")]
    for rmode, saturation in product(["", *rounding], ["", "OFF", "ON"]):
        cases = {**spots, **(beyond if saturation == "OFF" else clamped)}
        values = np.resize(np.array(list(cases), np.float32), (4, 32))
        words = [rmode] * bool(rmode) + [f"sat_mode = #pto<saturation_mode {saturation}>"] * bool(saturation)
        found = convert(values, "f32", "!pto.hif8", f" {{{', '.join(words)}}}" if words else "")
        same(found, np.resize(np.array(list(cases.values()), np.uint8), (4, 32))[:3, :31])


@pytest.mark.parametrize("source", ["f16", "bf16", "f32"])
@pytest.mark.parametrize("target", ["i32", "i16", "ui8"])
def test_no_rounding_mode_truncates_with_emitc(source: str, target: str) -> None:
    values = inputs(source)
    for attribute in ("NONE", "CAST_RINT", ""):
        stated = f" {{rmode = #pto<round_mode {attribute}>}}" if attribute else ""
        for backend, how in (("emitc", "zero"), ("vpto", "even")):
            clamp = backend == "emitc" or (source, target) not in WRAPPING
            found = convert(values, source, target, stated, backend=backend)
            same(found, converted(values[:3, :31], source, target, how if attribute == "NONE" else "even", clamp))


@pytest.mark.parametrize("source", ["f16", "f32"])
@pytest.mark.parametrize("target", ["i32", "i16", "i8", "ui8", "f16", "bf16"])
def test_saturation_on_a2a3(source: str, target: str) -> None:
    """OFF counts for the narrowing pairs only."""
    if source == target:
        return
    values = inputs(source)
    found = convert(values, source, target, " {sat_mode = #pto<saturation_mode OFF>}", target="a2a3")
    same(found, converted(values[:3, :31], source, target, "even", (source, target) not in WRAPPING))


E2M1 = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0]
E1M2 = [0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75]


@pytest.mark.parametrize(("element", "table"), [("!pto.f4E2M1x2", E2M1), ("!pto.f4E1M2x2", E1M2)])
def test_4_bit_floats(element: str, table: list[float]) -> None:
    """Two elements in a byte, the even column in the low nibble."""
    codes = np.arange(256, dtype=np.uint8).reshape(8, 32)
    found = run(
        "pto.tcvt ins(%a : {a}) outs(%d : {d})",
        tile("a", element, codes, (5, 20)), tile("d", "bf16", np.full((8, 64), 9), (5, 40)),
    )["d"]  # fmt: skip
    values = np.array([*table, *(-x for x in table)])
    wanted = np.full((8, 64), 9.0)
    wanted[:5, 0:40:2], wanted[:5, 1:40:2] = values[codes & 15][:5, :20], values[codes >> 4][:5, :20]
    same(found, wanted.astype(ml_dtypes.bfloat16))
    back = run(
        "pto.tcvt ins(%a : {a}) outs(%d : {d})",
        tile("a", "bf16", found, (5, 40)),
        tile("d", element, codes * 0, (5, 20)),
    )["d"]
    positive = values[back & 15], values[back >> 4]
    same(np.stack(positive)[:, :5, :20], np.stack([wanted[:5, 0:40:2], wanted[:5, 1:40:2]]))


def test_4_bit_rounding() -> None:
    numbers = [0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5.0, 100.0, -0.25, -5.0, np.inf, -np.inf, 0.26, 4.9, -7.0, 0.0]
    values = np.resize(np.array(numbers), (4, 64))
    found = run(
        "pto.tcvt ins(%a : {a}) outs(%d : {d})",
        tile("a", "bf16", values),
        tile("d", "!pto.f4E2M1x2", np.zeros((4, 32))),
    )["d"]
    nearest_even = [0, 2, 2, 4, 4, 6, 6, 7, 8, 14, 7, 15, 1, 6, 15, 0]
    assert (np.stack([found & 15, found >> 4], axis=-1).reshape(4, 64)[:, :16] & 7 == np.array(nearest_even) & 7).all()
    assert found[0, 4] >> 4 == 14


def test_conversion_in_place() -> None:
    """Narrowing into the memory of the source."""
    values = np.linspace(-9, 9, 512, dtype=np.float32).reshape(16, 32)
    values[0, :3] = np.nan, np.inf, 1e9
    found = run(
        "pto.tcvt ins(%a : {a}) outs(%d : {d})",
        tile("a", "f32", values),
        tile("d", "f16", np.zeros((16, 32)), alias="a"),
    )["a"]
    raw = found.reshape(-1).view(np.float16)[:512].reshape(16, 32)
    same(raw, converted(values, "f32", "f16", "even", True))


def test_widening_in_place() -> None:
    values = np.arange(512, dtype=np.float32).reshape(16, 32)
    halves = values.astype(np.float16).reshape(-1).view(np.float32)
    data = np.concatenate([halves, np.zeros(256, np.float32)]).reshape(16, 32)
    found = run(
        "pto.tcvt ins(%a : {a}) outs(%d : {d})",
        tile("d", "f32", data),
        tile("a", "f16", values.astype(np.float16), alias="d"),
    )["d"]
    same(found, values)


def test_dynamic_regions_and_column_major_tiles() -> None:
    values = inputs("f32")
    for layout in ("", "blayout=col_major"):
        data = np.resize(values, (32, 32))
        found = run(
            "pto.tcvt ins(%a : {a}) outs(%d : {d})",
            tile("a", "f32", data, (9, 5), layout, dynamic=True),
            tile("d", "f16", np.ones((32, 32)), (9, 5), layout, dynamic=True), verify=False,
        )["d"]  # fmt: skip
        wanted = np.ones((32, 32), np.float16)
        wanted[:9, :5] = converted(data[:9, :5], "f32", "f16", "even", True)
        same(found, wanted)
