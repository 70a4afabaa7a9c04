"""Powers of floats (docs/reference/tiles.md, "Elementwise")."""

from __future__ import annotations

import math

import numpy as np
import pytest
from groups import in_groups

import pto_dialect
from pto_dialect.runtime.numerics.powers import power

BASES = (0.0, -0.0, 2.0, -2.0, math.inf, -math.inf, math.nan)
EXPONENTS = (0.5, -0.5, 0.0, 1.0, 2.0, 3.0, -1.0, math.inf, -math.inf, math.nan)
TILE = "!pto.tile_buf<vec, 1x8xf32>"


def c_power(base: float, exponent: float) -> float:
    """``pow`` of C, as Python's library has it; it raises where C returns NaN or infinity."""
    try:
        return math.pow(base, exponent)
    except ValueError:
        odd = exponent % 2 == 1
        return math.nan if base else math.copysign(math.inf, base if odd else 1.0)


def same(found: np.ndarray, wanted: np.ndarray) -> None:
    """Equal numbers, zeros with equal signs."""
    np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(np.signbit(found) & ~np.isnan(found), np.signbit(wanted) & ~np.isnan(wanted))


@pytest.mark.parametrize("exponent", EXPONENTS)
def test_special_bases(exponent: float) -> None:
    bases = np.array(BASES, np.float32)
    wanted = np.array([c_power(base, exponent) for base in BASES], np.float32)
    with np.errstate(all="ignore"):
        assert power(bases, np.float32(exponent)).dtype == np.float32
        same(power(bases, np.float32(exponent)), wanted)
        same(power(bases, np.full(len(BASES), exponent, np.float32)), wanted)
        same(np.array([power(np.float64(base), np.float64(exponent)) for base in BASES], np.float32), wanted)


@pytest.mark.parametrize("target", ["a2a3", "a5"])
@in_groups("exponent", EXPONENTS)
def test_one_exponent_of_a_tile_is_a_tile_of_equal_exponents(target: str, exponent: float) -> None:
    text = f"""module attributes {{pto.target_arch = "{target}"}} {{
  func.func @k(%a: {TILE}, %b: {TILE}, %x: f32, %one: {TILE}, %all: {TILE}) {{
    %t = pto.alloc_tile : {TILE}
    pto.tpows ins(%a, %x, %t : {TILE}, f32, {TILE}) outs(%one : {TILE})
    pto.tpow ins(%a, %b, %t : {TILE}, {TILE}, {TILE}) outs(%all : {TILE})
    return
  }}
}}"""
    bases = np.array([[*BASES, 9.0]], np.float32)
    one, every = np.zeros((1, 8), np.float32), np.zeros((1, 8), np.float32)
    pto_dialect.compile(pto_dialect.parse(text))(bases, np.full((1, 8), exponent, np.float32), exponent, one, every)
    wanted = [[c_power(float(base), exponent) for base in bases[0]]]
    same(one, np.array(wanted, np.float32))
    same(every, one)


def test_the_root_of_a_number() -> None:
    text = """func.func @f(%x: f32, %y: f32) -> f32 {
  %p = math.powf %x, %y : f32
  return %p : f32
}"""
    function = pto_dialect.compile(pto_dialect.parse(text))
    assert function(-math.inf, 0.5) == math.inf
    assert math.copysign(1, function(-0.0, 0.5)) == 1
