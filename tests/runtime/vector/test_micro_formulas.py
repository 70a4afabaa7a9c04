"""Instructions on registers that are alone, lane by lane against formulas in plain Python."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from register_programs import DTYPES, RNG, lanes, masked, numbers, ptr, run_registers, unpacked, vreg


@pytest.mark.parametrize(
    ("text", "formula"),
    [
        ("vmadd %c, %a, %b, %m : {v}, {v}, {v}, {m}", lambda a, b, c, s: a * c + b),
        ("vmula %c, %a, %b, %m : {v}, {v}, {v}, {m}", lambda a, b, c, s: a * b + c),
        ("vaxpy %a, %b, %s, %m : {v}, {v}, f32, {m}", lambda a, b, c, s: s * a + b),
    ],
    ids=["vmadd", "vmula", "vaxpy"],
)
def test_products_with_a_sum(text: str, formula: Callable[..., float]) -> None:
    """Small whole numbers, whose sums are exact: which operand is which."""
    load, argument, active = masked("b32")
    values = {name: RNG.integers(-99, 99, 64).astype(np.float32) for name in "abc"}
    inputs = {name: (vreg("f32"), value) for name, value in values.items()} | argument | {"s": ("f32", 7.0)}
    statement = f"{load}%r = pto.{text.format(v=vreg('f32'), m='!pto.mask<b32>')} -> {vreg('f32')}"
    (got,) = run_registers(statement, inputs, {"r": vreg("f32")})
    rows = zip(active, *(values[name].tolist() for name in "abc"), strict=True)
    assert got.tolist() == [formula(a, b, c, 7.0) if on else 0 for on, a, b, c in rows]


@pytest.mark.parametrize("element", ["i32", "ui32"])
def test_long_products(element: str) -> None:
    load, argument, active = masked("b32")
    a, b = numbers(element, 1), numbers(element, 2)
    v = vreg(element)
    statement = f"{load}%low, %high = pto.vmull %a, %b, %m : {v}, {v}, !pto.mask<b32> -> {v}, {v}"
    low, high = run_registers(statement, {"a": (v, a), "b": (v, b)} | argument, {"low": v, "high": v})
    wide = [int(x) * int(y) if on else 0 for x, y, on in zip(a, b, active, strict=True)]
    assert [int(x) & 0xFFFFFFFF for x in low] == [x & 0xFFFFFFFF for x in wide]
    assert [int(x) & 0xFFFFFFFF for x in high] == [x >> 32 & 0xFFFFFFFF for x in wide]


@pytest.mark.parametrize(("element", "part"), [("f32", "EVEN"), ("f16", "EVEN"), ("f16", "ODD")])
def test_exponentials_of_differences(element: str, part: str) -> None:
    width = {"f32": "b32", "f16": "b16"}[element]
    load, argument, active = masked(width)
    a, largest = numbers(element, 3), numbers(element, 4)
    v = vreg(element)
    statement = f'{load}%r = pto.vexpdif %a, %x, %m, "{part}" : {v}, {v}, !pto.mask<{width}> -> {vreg("f32")}'
    (got,) = run_registers(statement, {"a": (v, a), "x": (v, largest)} | argument, {"r": vreg("f32")})
    step = 2 if element == "f16" else 1
    places = [step * i + (part == "ODD") for i in range(64)]
    want = [math.exp(float(a[p]) - float(largest[p])) if active[p] else 0.0 for p in places]
    np.testing.assert_allclose(got, want, rtol=1e-5)


@pytest.mark.parametrize(("element", "start"), [("i32", 2**31 - 5), ("si32", -7), ("f32", 2.5), ("f16", 3.0)])
@pytest.mark.parametrize("order", ["ASC", "DESC", None])
def test_ramps(element: str, start: float, order: str | None) -> None:
    scalar = "i32" if "i" in element else element
    words = f' {{order = "{order}"}}' if order else ""
    statement = f"%r = pto.vci %n{words} : {scalar} -> {vreg(element)}"
    (got,) = run_registers(statement, {"n": (scalar, start)}, {"r": vreg(element)})
    step = -1 if order == "DESC" else 1
    want = [start + step * i for i in range(lanes(element))]
    if "i" in element:
        want = [(int(x) + 2**31) % 2**32 - 2**31 for x in want]
    assert got.tolist() == want


def test_lanes_by_number() -> None:
    a, index = numbers("f32", 5), RNG.integers(0, 64, 64).astype(np.int32)
    statement = f"%r = pto.vselr %a, %i : {vreg('f32')}, {vreg('i32')} -> {vreg('f32')}"
    (got,) = run_registers(statement, {"a": (vreg("f32"), a), "i": (vreg("i32"), index)}, {"r": vreg("f32")})
    assert got.tolist() == [a[i] for i in index.tolist()]


@pytest.mark.parametrize("position", ["LOWEST", "HIGHEST"])
def test_one_lane_in_all(position: str) -> None:
    load, argument, active = masked("b32")
    a, v = numbers("f32", 6), vreg("f32")
    statement = f'{load}%r = pto.vdup %a, %m {{position = "{position}"}} : {v}, !pto.mask<b32> -> {v}'
    (got,) = run_registers(statement, {"a": (v, a)} | argument, {"r": v})
    assert got.tolist() == [a[0 if position == "LOWEST" else 63] if on else 0 for on in active]


def test_bits_as_another_type() -> None:
    a = numbers("f32", 7)
    statement = f"%r = pto.vbitcast %a : {vreg('f32')} -> {vreg('ui16')}"
    (got,) = run_registers(statement, {"a": (vreg("f32"), a)}, {"r": vreg("ui16")})
    words = [int.from_bytes(x.tobytes(), "little") for x in a]
    assert got.tolist() == [half for word in words for half in (word & 0xFFFF, word >> 16)]


@pytest.mark.parametrize("part", ["EVEN", "ODD"])
def test_scaled_conversion_rounds_once(part: str) -> None:
    load, argument, active = masked("b32")
    a = np.concatenate(
        [numbers("f32", 8, 60), np.array([1 + 2.0**-11, 1 + 3 * 2.0**-11, -1 - 2.0**-11, 3], np.float32)]
    )
    statement = (
        f'{load}%r = pto.vmulscvt %a, %s, %m, "R", "{part}" : {vreg("f32")}, f32, !pto.mask<b32> -> {vreg("f16")}'
    )
    (got,) = run_registers(statement, {"a": (vreg("f32"), a), "s": ("f32", 3.0)} | argument, {"r": vreg("f16")})
    want = np.zeros(128, np.float16)
    # Three times an f32 is exact in f64, from which numpy rounds once, to the nearest even.
    want[part == "ODD" :: 2] = np.where(active, (a.astype(np.float64) * 3).astype(np.float16), 0)
    assert got.tolist() == want.tolist()


@pytest.mark.parametrize("op", ["vcbmax", "vcbmin"])
def test_extremum_and_who_has_it(op: str) -> None:
    load, argument, active = masked("b32")
    a, v = RNG.integers(-3, 4, 64).astype(np.float32), vreg("f32")
    out = np.zeros(8, np.uint32)
    statement = f"""{load}%r, %w = pto.{op} %a, %m : {v}, !pto.mask<b32> -> {v}, !pto.mask<b32>
    pto.psts %w, %o[%zero], "NORM" : !pto.mask<b32>, {ptr("ui32")}, index"""
    (got,) = run_registers(statement, {"a": (v, a), "o": (ptr("ui32"), out)} | argument, {"r": v})
    best = (max if op == "vcbmax" else min)(x for x, on in zip(a.tolist(), active, strict=True) if on)
    assert got.tolist() == [best] + [0.0] * 63
    assert unpacked(out)[::4] == [on and x == best for x, on in zip(a.tolist(), active, strict=True)]


@pytest.mark.parametrize("op", ["vcgmax", "vcgmin", "vcbmax", "vcbmin"])
@pytest.mark.parametrize("element", ["f16", "f32"])
@pytest.mark.parametrize("first", [0.0, -0.0])
def test_of_two_zeros_the_positive_one_is_larger(op: str, element: str, first: float) -> None:
    width, v = {"f32": "b32", "f16": "b16"}[element], vreg(element)
    largest = op.endswith("max")
    a = np.full(lanes(element), -1 if largest else 1, DTYPES[element])
    # Each group of 32 bytes has both zeros, in either order, and what is neither maximum nor minimum.
    group = a.size // 8
    a[1::group], a[3::group] = first, -first
    results, types = ("%r, %w", f"{v}, !pto.mask<{width}>") if "cb" in op else ("%r", v)
    statement = f"""%m = pto.pset_{width} "PAT_ALL" : !pto.mask<{width}>
    {results} = pto.{op} %a, %m : {v}, !pto.mask<{width}> -> {types}"""
    (got,) = run_registers(statement, {"a": (v, a)}, {"r": v})
    count = 1 if "cb" in op else 8
    assert got.tolist() == [0.0] * got.size
    assert [math.copysign(1, x) for x in got[:count].tolist()] == [1.0 if largest else -1.0] * count


@pytest.mark.parametrize("op", ["dhistv2", "chistv2"])
@pytest.mark.parametrize("half", [0, 1])
def test_histograms(op: str, half: int) -> None:
    load, argument, active = masked("b8")
    samples, bins = numbers("ui8", 9), numbers("ui16", 10)
    statement = (
        f"{load}%r = pto.{op} %b, %c, %m, %h : {vreg('ui16')}, {vreg('ui8')}, !pto.mask<b8>, i32 -> {vreg('ui16')}"
    )
    inputs = {"b": (vreg("ui16"), bins), "c": (vreg("ui8"), samples), "h": ("i32", half)} | argument
    (got,) = run_registers(statement, inputs, {"r": vreg("ui16")})
    seen = [x for x, on in zip(samples.tolist(), active, strict=True) if on]

    def count(number: int) -> int:
        return sum(x <= number if op == "chistv2" else x == number for x in seen)

    assert got.tolist() == [(int(bins[i]) + count(128 * half + i)) % 65536 for i in range(128)]


@pytest.mark.parametrize("part", ["LOWER", "HIGHER"])
@pytest.mark.parametrize("op", ["vintlvv2", "vdintlvv2"])
def test_one_half_of_interleaved_registers(op: str, part: str) -> None:
    a, b, v = numbers("f32", 12), numbers("f32", 13), vreg("f32")
    statement = f'%r = pto.{op} %a, %b, "{part}" : {v}, {v} -> {v}'
    (got,) = run_registers(statement, {"a": (v, a), "b": (v, b)}, {"r": v})
    joined = [x for pair in zip(a.tolist(), b.tolist(), strict=True) for x in pair]
    both = a.tolist() + b.tolist()
    halves = (joined[:64], joined[64:]) if op == "vintlvv2" else (both[::2], both[1::2])
    assert got.tolist() == halves[part == "HIGHER"]


@pytest.mark.parametrize("part", [0, 1])
@pytest.mark.parametrize("op", ["vsunpack", "vzunpack"])
def test_wider_lanes(op: str, part: int) -> None:
    a = numbers("i16", 14)
    statement = f"%r = pto.{op} %a, %p : {vreg('i16')} -> {vreg('i32')}"
    (got,) = run_registers(statement, {"a": (vreg("i16"), a), "p": ("index", part)}, {"r": vreg("i32")})
    chosen = a.tolist()[64 * part : 64 * part + 64]
    assert got.tolist() == [x if op == "vsunpack" else x & 0xFFFF for x in chosen]
