"""Clauses of vector instructions: roundings and saturation of conversions, distributions of loads and stores."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from vmi_programs import DTYPES, run

ALL = '%m = pto.pset_{0} "PAT_ALL" : !pto.mask<{0}>\n'
ZERO = "%zero = arith.constant 0 : index\n"


def vreg(element: str) -> str:
    return f"!pto.vreg<{256 // DTYPES[element].itemsize}x{element}>"


def rounded(value: float, letter: str) -> int:
    """To the even one, away from 0 at a half, down, up, towards 0, to the odd one of two neighbours."""
    low = math.floor(value)
    if letter == "O":
        return low if value == low or low % 2 else low + 1
    if letter == "A":
        return int(math.copysign(math.floor(abs(value) + 0.5), value))
    return {"R": round(value), "F": low, "C": math.ceil(value), "Z": math.trunc(value)}[letter]


NUMBERS = np.array(
    [0.5, -0.5, 1.5, -1.5, 2.5, 0.25, -7.75, 3.0, 1e6 + 0.5, -2e9, 5e9, -5e9, 0.0, 100.49, -1e-3, 7.0] * 4
)


@pytest.mark.parametrize(
    ("source", "target", "clauses"),
    [
        ("f16", "i32", 'rnd = "R", part = "EVEN"'),
        ("f16", "i16", 'rnd = "R", sat = "NOSAT"'),
        ("f16", "i8", 'rnd = "C", sat = "NOSAT", part = "EVEN"'),
        ("f16", "ui8", 'rnd = "Z", sat = "NOSAT", part = "EVEN"'),
        ("f32", "i32", 'rnd = "F", sat = "NOSAT"'),
        ("f32", "i64", 'rnd = "R", sat = "NOSAT", part = "EVEN"'),
        ("bf16", "i32", 'rnd = "A", sat = "SAT", part = "EVEN"'),
    ],
)
def test_an_infinity_becomes_the_end_of_the_range(source: str, target: str, clauses: str) -> None:
    """With saturation and without: +inf has no low bits. The low half of what i32 gets is -1 and 0."""
    v, w, width = vreg(source), vreg(target), f"b{8 * DTYPES[source].itemsize}"
    lanes = 256 // DTYPES[source].itemsize
    a = np.resize(np.array([np.inf, np.inf, -np.inf, -np.inf, np.nan, np.nan, -3, -3]), lanes).astype(DTYPES[source])
    body = ALL.format(width) + f"%r = pto.vcvt %a, %m {{{clauses}}} : {v}, !pto.mask<{width}> -> {w}"
    (found,) = run(body, {"a": (v, a)}, {"r": w})
    limits = np.iinfo(DTYPES[target])
    three = 253 if (source, target) == ("f16", "ui8") else -3
    places = 2 if DTYPES[target].itemsize < DTYPES[source].itemsize else 1
    step = max(DTYPES[target].itemsize // DTYPES[source].itemsize, 1)
    wanted = np.zeros(256 // DTYPES[target].itemsize, DTYPES[target])
    wanted[::places] = np.resize([limits.max, limits.max, limits.min, limits.min, 0, 0, three, three], lanes)[::step]
    assert found.tolist() == wanted.tolist()


@pytest.mark.parametrize("spelling", ["", "ROUND_"])
@pytest.mark.parametrize("letter", "RAFCZ")
@pytest.mark.parametrize("saturation", ["SAT", "NOSAT", "RS_ENABLE", "RS_DISABLE"])
def test_floats_become_integers(letter: str, spelling: str, saturation: str) -> None:
    a = NUMBERS.astype(np.float32)
    if saturation in ("NOSAT", "RS_DISABLE"):
        a[np.abs(a) > 2e9] = 9.5
    v, w = vreg("f32"), vreg("i32")
    body = ALL.format("b32") + (
        f'%r = pto.vcvt %a, %m {{rnd = "{spelling}{letter}", sat = "{saturation}"}} : {v}, !pto.mask<b32> -> {w}'
    )
    (found,) = run(body, {"a": (v, a)}, {"r": w})
    wanted = [min(max(rounded(float(x), letter), -(2**31)), 2**31 - 1) for x in a]
    assert [int(x) for x in found] == wanted


def narrow(value: float, letter: str) -> float:
    """A number as a half: a sign, a power of two and 11 bits."""
    if value == 0 or not math.isfinite(value):
        return value
    exponent = max(math.frexp(value)[1] - 11, -24)
    return math.ldexp(rounded(math.ldexp(value, -exponent), letter), exponent)


@pytest.mark.parametrize("letter", "RAFCZO")
@pytest.mark.parametrize("part", ["EVEN", "PART_EVEN", "ODD", "PART_ODD"])
@pytest.mark.parametrize("op", ["vcvt", "vmulscvt"])
def test_floats_become_halves(op: str, part: str, letter: str) -> None:
    rng = np.random.default_rng(3)
    a = (rng.standard_normal(64) * 10.0 ** rng.integers(-5, 3, 64)).astype(np.float32)
    a[:4] = [1 + 2.0**-11, 1 + 3 * 2.0**-11, -1 - 2.0**-11, 2.0**-25]
    v, w = vreg("f32"), vreg("f16")
    clause = f'%a, %m {{rnd = "{letter}", sat = "SAT", part = "{part}"}} : {v}, !pto.mask<b32>'
    factor = 1.0
    if op == "vmulscvt":
        factor = 3.0
        clause = f'%a, %s, %m, "{letter}", "{part}" : {v}, f32, !pto.mask<b32>'
    (found,) = run(ALL.format("b32") + f"%r = pto.{op} {clause} -> {w}", {"a": (v, a), "s": ("f32", 3.0)}, {"r": w})
    lanes = np.asarray(found, np.float64)
    assert lanes[part.endswith("ODD") :: 2].tolist() == [narrow(float(x) * factor, letter) for x in a]
    assert not lanes[not part.endswith("ODD") :: 2].any()


@pytest.mark.parametrize("spelling", ["", "ROUND_"])
@pytest.mark.parametrize("letter", "RAFCZ")
def test_fractions_are_cut(letter: str, spelling: str) -> None:
    a, v = NUMBERS.astype(np.float32), vreg("f32")
    body = ALL.format("b32") + f'%r = pto.vtrc %a, %m, "{spelling}{letter}" : {v}, !pto.mask<b32> -> {v}'
    (found,) = run(body, {"a": (v, a)}, {"r": v})
    assert [float(x) for x in found] == [float(rounded(float(x), letter)) for x in a]


LOADS: dict[str, tuple[str, Any]] = {
    "UNPK_B8": ("ui16", lambda source: source[:128].astype(np.uint16)),
    "UNPK_B16": ("ui32", lambda source: source.view(np.uint16)[:64].astype(np.uint32)),
    "UNPK_B32": ("ui32", lambda source: source.view(np.uint32)[:32].astype(np.uint64).view(np.uint32)),
    "UNPK4": ("ui32", lambda source: source[:64].astype(np.uint32)),
    "E2B_B16": ("ui16", lambda source: np.repeat(source.view(np.uint16)[:8], 16)),
    "E2B_B32": ("ui32", lambda source: np.repeat(source.view(np.uint32)[:8], 8)),
    "BRC_B8": ("ui8", lambda source: np.full(256, source[0])),
    "BRC_B16": ("ui16", lambda source: np.full(128, source.view(np.uint16)[0])),
    "BRC_B32": ("ui32", lambda source: np.full(64, source.view(np.uint32)[0])),
    "US_B8": ("ui8", lambda source: np.repeat(source[:128], 2)),
    "US_B16": ("ui16", lambda source: np.repeat(source.view(np.uint16)[:64], 2)),
    "DS_B8": ("ui8", lambda source: source[:512:2]),
    "DS_B16": ("ui16", lambda source: source.view(np.uint16)[:256:2]),
    "BRC_BLK": ("ui8", lambda source: np.tile(source[:32], 8)),
    "NORM": ("ui8", lambda source: source[:256]),
}


@pytest.mark.parametrize("dist", LOADS)
def test_distributions_of_loads(dist: str) -> None:
    element, formula = LOADS[dist]
    source = np.random.default_rng(4).integers(0, 256, 1024, np.uint8)
    p = f"!pto.ptr<{element}, ub>"
    body = ZERO + f'%r = pto.vlds %p[%zero] {{dist = "{dist}"}} : {p} -> {vreg(element)}'
    (found,) = run(body, {"p": (p, source.view(DTYPES[element]))}, {"r": vreg(element)})
    assert np.asarray(found).tolist() == formula(source).tolist()


STORES = {
    "NORM_B8": ("ui8", 256, 1), "NORM_B16": ("ui16", 128, 1), "NORM_B32": ("ui32", 64, 1), "1PT_B8": ("ui8", 1, 1),
    "1PT_B16": ("ui16", 1, 1), "1PT_B32": ("ui32", 1, 1),
}  # fmt: skip


@pytest.mark.parametrize("dist", STORES)
def test_distributions_of_stores(dist: str) -> None:
    """All lanes, or the first one alone."""
    element, count, _ = STORES[dist]
    values = np.random.default_rng(5).integers(1, 200, 256 // DTYPES[element].itemsize).astype(DTYPES[element])
    out = np.zeros(512 // DTYPES[element].itemsize, DTYPES[element])
    p, m = f"!pto.ptr<{element}, ub>", f"b{8 * DTYPES[element].itemsize}"
    body = ZERO + ALL.format(m)
    body += f'pto.vsts %a, %p[%zero], %m {{dist = "{dist}"}} : {vreg(element)}, {p}, !pto.mask<{m}>'
    run(body, {"a": (vreg(element), values), "p": (p, out)})
    assert out[:count].tolist() == values[:count].tolist() and not out[count:].any()
