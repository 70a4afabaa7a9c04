"""Clauses of logical vectors: every predicate of a comparison, every pattern of a mask, every rounding."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from vmi_programs import DTYPES, mask, numbers, pattern, run, vreg

LANES = 64
ORDERED: dict[str, Callable[[float, float], bool]] = {
    "eq": lambda a, b: a == b, "ne": lambda a, b: a != b, "lt": lambda a, b: a < b, "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b, "oeq": lambda a, b: a == b,
    "one": lambda a, b: a == a and b == b and a != b, "olt": lambda a, b: a < b, "ole": lambda a, b: a <= b,
    "ogt": lambda a, b: a > b, "oge": lambda a, b: a >= b,
}  # fmt: skip


def lanes_of(statement: str, element: str, a: np.ndarray, b: np.ndarray) -> list[bool]:
    """Lanes of the mask %c that a statement makes of %a and %b."""
    v = vreg(element, LANES)
    body = f"{statement}\n%r = pto.vmi.vsel %c, %x, %y : {mask(LANES)}, {v}, {v} -> {v}"
    one, zero = np.ones(LANES, a.dtype), np.zeros(LANES, a.dtype)
    more = {"m": (mask(LANES), np.ones(LANES, np.bool_))}
    (found,) = run(body, {"a": (v, a), "b": (v, b), "x": (v, one), "y": (v, zero), **more}, {"r": v})
    return [bool(x) for x in found]


def floats() -> tuple[np.ndarray, np.ndarray]:
    a, b = numbers("f32", LANES, 1), numbers("f32", LANES, 2)
    b[::3] = a[::3]
    return a, b


@pytest.mark.parametrize("predicate", ORDERED)
def test_comparisons_of_floats(predicate: str) -> None:
    a, b = floats()
    v = vreg("f32", LANES)
    wanted = [ORDERED[predicate](float(x), float(y)) for x, y in zip(a, b, strict=True)]
    for statement in (
        f'%c = pto.vmi.cmpf "{predicate}", %a, %b : {v}, {v} -> {mask(LANES)}',
        f'%c = pto.vmi.vcmp %a, %b, %m {{cmp = "{predicate}"}} : {v}, {v}, {mask(LANES)} -> {mask(LANES)}',
    ):
        assert lanes_of(statement, "f32", a, b) == wanted, statement


@pytest.mark.parametrize("predicate", ORDERED)
def test_comparisons_with_a_number(predicate: str) -> None:
    a, b = floats()
    v = vreg("f32", LANES)
    a[::4] = 2
    statement = f"""%s = arith.constant 2.0 : f32
    %c = pto.vmi.vcmps %a, %s, %m {{cmp = "{predicate}"}} : {v}, f32, {mask(LANES)} -> {mask(LANES)}"""
    assert lanes_of(statement, "f32", a, b) == [ORDERED[predicate](float(x), 2.0) for x in a]


SIGNS = ["eq", "ne", *(f"{sign}{word}" for sign in "su" for word in ("lt", "le", "gt", "ge"))]


@pytest.mark.parametrize("predicate", SIGNS)
def test_comparisons_of_integers(predicate: str) -> None:
    """The predicate says whether the sign counts."""
    a, b = numbers("i32", LANES, 1), numbers("i32", LANES, 2)
    b[::3] = a[::3]
    v = vreg("i32", LANES)
    wide = 2**32 if predicate.startswith("u") else 0
    formula = ORDERED[predicate[-2:]]
    found = lanes_of(f'%c = pto.vmi.cmpi "{predicate}", %a, %b : {v}, {v} -> {mask(LANES)}', "i32", a, b)
    pairs = ((int(x) % wide if wide else int(x), int(y) % wide if wide else int(y)) for x, y in zip(a, b, strict=True))
    assert found == [formula(x, y) for x, y in pairs]


PATTERNS: dict[str, Callable[[int, int], bool]] = {
    "PAT_ALL": lambda i, n: True,
    "PAT_ALLF": lambda i, n: False,
    "PAT_H": lambda i, n: i < n // 2,
    "PAT_Q": lambda i, n: i < n // 4,
    "PAT_M3": lambda i, n: i % 3 == 0,
    "PAT_M4": lambda i, n: i % 4 == 0,
    **{f"PAT_VL{count}": lambda i, n, count=count: i < count for count in (1, 2, 3, 4, 8, 16, 32, 64, 128)},
}


@pytest.mark.parametrize("op", ["pset", "pge"])
@pytest.mark.parametrize("name", PATTERNS)
@pytest.mark.parametrize("lanes", [64, 128])
def test_patterns(op: str, name: str, lanes: int) -> None:
    v = vreg("ui8", lanes)
    body = f'%m = pto.vmi.{op} "{name}" : {mask(lanes)}\n%r = pto.vmi.vsel %m, %x, %y : {mask(lanes)}, {v}, {v} -> {v}'
    (found,) = run(body, {"x": (v, np.ones(lanes, np.uint8)), "y": (v, np.zeros(lanes, np.uint8))}, {"r": v})
    assert [bool(x) for x in found] == [PATTERNS[name](i, lanes) for i in range(lanes)]


@pytest.mark.parametrize("op", ["vand", "vor", "vxor", "vshl", "vshr"])
def test_bits_under_a_mask(op: str) -> None:
    """Lanes that are not chosen become 0."""
    a, b, active = numbers("ui16", 70, 1), numbers("ui16", 70, 2), pattern(70)
    b = b % 16 if op.startswith("vsh") else b
    v = vreg("ui16", 70)
    body = f"%r = pto.vmi.{op} %a, %b, %m : {v}, {v}, {mask(70)} -> {v}"
    (found,) = run(body, {"a": (v, a), "b": (v, b), "m": (mask(70), active)}, {"r": v})
    functions: dict[str, Callable[[int, int], int]] = {
        "vand": int.__and__, "vor": int.__or__, "vxor": int.__xor__, "vshl": lambda x, n: (x << n) % 65536,
        "vshr": int.__rshift__,
    }  # fmt: skip
    wanted = [functions[op](int(x), int(y)) if m else 0 for x, y, m in zip(a, b, active, strict=True)]
    assert [int(x) for x in found] == wanted


def rounded(value: float, letter: str) -> int:
    """An integer beside a number: to the even one, away from 0 at a half, down, up, towards 0."""
    low = math.floor(value)
    if letter == "R":
        return round(value)
    if letter == "A":
        return int(math.copysign(math.floor(abs(value) + 0.5), value))
    return {"F": low, "C": math.ceil(value), "Z": math.trunc(value)}[letter]


@pytest.mark.parametrize("letter", "RAFCZ")
@pytest.mark.parametrize(("op", "element"), [("fptosi", "si32"), ("fptoui", "ui32"), ("vcvt", "si32")])
def test_roundings(op: str, element: str, letter: str) -> None:
    a = np.array([0.5, 1.5, 2.5, 0.25, 7.75, 3.0, 1e6 + 0.5, 0.0] * 8, np.float32)
    if element == "si32":
        a[::3] *= -1
    v, w = vreg("f32", LANES), vreg(element, LANES)
    body = f'%r = pto.vmi.{op} %a {{rounding = "{letter}", saturate = "SAT"}} : {v} -> {w}'
    (found,) = run(body, {"a": (v, a)}, {"r": w})
    assert [int(x) for x in found] == [rounded(float(x), letter) for x in a]
    assert found.dtype == DTYPES[element]


@pytest.mark.parametrize("letter", "RAFCZ")
def test_roundings_of_narrower_floats(letter: str) -> None:
    """To halves: a whole number of the steps of 2^-10 between 1 and 2."""
    steps = np.array([0.0, 0.25, 0.5, 0.75, 1.5, 2.5, 3.75, 1023.5] * 8)
    a = (1 + steps / 1024).astype(np.float32) * np.array([1, -1] * 32, np.float32)
    v, w = vreg("f32", LANES), vreg("f16", LANES)
    (found,) = run(f'%r = pto.vmi.truncf %a {{rounding = "{letter}"}} : {v} -> {w}', {"a": (v, a)}, {"r": w})
    wanted = [rounded(float(x) * 1024, letter) / 1024 for x in a]
    assert found.astype(np.float64).tolist() == wanted
