"""``math``: scalar functions, computed in double precision and rounded once."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from xdsl.ir import Operation

from pto_dialect.ir.core.operands import named
from pto_dialect.runtime.compile.generator import Generator, integer_width
from pto_dialect.runtime.faults import Fault
from pto_dialect.runtime.numerics.powers import power

from ..registry import kernel
from .scalar import rounded, signed, unsigned, wrapped, wrapped_bits


def _erf(x: Any) -> Any:
    return np.vectorize(math.erf, otypes=[np.float64])(x)


def _round(x: Any) -> Any:
    """Rounds to the nearest integer, halves away from zero."""
    truncated = np.trunc(x)
    return np.where(np.abs(x - truncated) >= 0.5, truncated + np.copysign(1.0, x), truncated)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "absf": np.abs,
    "acos": np.arccos,
    "acosh": np.arccosh,
    "asin": np.arcsin,
    "asinh": np.arcsinh,
    "atan": np.arctan,
    "atan2": np.arctan2,
    "atanh": np.arctanh,
    "cbrt": np.cbrt,
    "ceil": np.ceil,
    "copysign": np.copysign,
    "cos": np.cos,
    "cosh": np.cosh,
    "erf": _erf,
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "floor": np.floor,
    "log": np.log,
    "log10": np.log10,
    "log1p": np.log1p,
    "log2": np.log2,
    "powf": power,
    "roundeven": np.rint,
    "sin": np.sin,
    "sinh": np.sinh,
    "sqrt": np.sqrt,
    "tan": np.tan,
    "tanh": np.tanh,
    "trunc": np.trunc,
    "rsqrt": lambda x: 1.0 / np.sqrt(x),
    "round": _round,
    "fpowi": lambda x, n: np.power(x, n.astype(np.float64)),
}
"""Functions of float64 by name."""


def _scalar(function: Callable[..., Any]) -> Callable[..., float]:
    def apply(*arguments: float) -> float:
        with np.errstate(all="ignore"):
            return float(function(*(np.float64(a) for a in arguments)))

    return apply


_SCALAR = {name: _scalar(function) for name, function in FUNCTIONS.items()}


@kernel(*(f"math.{name}" for name in _SCALAR))
def math_function(op: Operation, g: Generator) -> None:
    """A function of floats, computed in double precision and rounded once to the type of the result."""
    function = _SCALAR[op.name.removeprefix("math.")]
    arguments = ", ".join(g.name(v) for v in op.operands)
    g.define(op.results[0], rounded(f"{g.argument(function)}({arguments})", op.results[0].type, g))


def fused(a: float, b: float, c: float) -> float:
    """Returns a * b + c as a double that rounds to any narrower format as the exact number does."""
    with np.errstate(all="ignore"):
        plain = float(np.float64(a) * np.float64(b) + np.float64(c))
    if not all(map(math.isfinite, (a, b, c))):
        return plain
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact == 0:
        return plain
    try:
        nearest = float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf
    if Fraction(nearest) == exact or struct.unpack("<q", struct.pack("<d", nearest))[0] & 1:
        return nearest
    return math.nextafter(nearest, math.inf if exact > nearest else -math.inf)


def fused_double(a: float, b: float, c: float) -> float:
    """Returns a * b + c of doubles with one rounding."""
    if not all(map(math.isfinite, (a, b, c))) or (exact := Fraction(a) * Fraction(b) + Fraction(c)) == 0:
        return fused(a, b, c)
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


@kernel("math.fma")
def fused_multiply_add(op: Operation, g: Generator) -> None:
    """a·b + c of floats with one rounding."""
    type_ = op.results[0].type
    arguments = ", ".join(g.name(v) for v in op.operands)
    function = fused_double if str(type_) == "f64" else fused
    g.define(op.results[0], rounded(f"{g.argument(function)}({arguments})", type_, g))


# ------------------------------------------------------------ integers


def leading_zeros(bits: int, width: int) -> int:
    """Returns the zero bits above the highest set bit."""
    return width - bits.bit_length()


def trailing_zeros(bits: int, width: int) -> int:
    """Returns the zero bits below the lowest set bit; all of them for 0."""
    return (bits & -bits).bit_length() - 1 if bits else width


def set_bits(bits: int, width: int) -> int:
    """Returns the number of set bits."""
    return bits.bit_count()


COUNTS: dict[str, Callable[[int, int], int]] = {"ctlz": leading_zeros, "cttz": trailing_zeros, "ctpop": set_bits}
"""Functions of the bits of a number and of their count."""


def integer_power(base: int, exponent: int) -> int:
    """Returns base ** exponent in 64 bits; for negative exponents the fraction truncated to an integer."""
    if exponent >= 0:
        return pow(base, exponent, 1 << 64)
    if base == 0:
        raise Fault("division-by-zero", "0 to a negative power")
    return (1 if base == 1 or exponent % 2 == 0 else -1) if base in (1, -1) else 0


@kernel(*(f"math.{name}" for name in COUNTS))
def count_bits(op: Operation, g: Generator) -> None:
    """Numbers of leading zeros, trailing zeros or set bits of an integer."""
    type_ = op.results[0].type
    function = COUNTS[op.name.removeprefix("math.")]
    bits = unsigned(str(g.name(named(op, "operand"))), type_)
    g.define(op.results[0], wrapped(f"{g.argument(function)}({bits}, {integer_width(type_) or 64})", type_))


@kernel("math.ipowi")
def power_of_integers(op: Operation, g: Generator) -> None:
    """An integer to the power of an integer, wrapped at the width of its type."""
    type_ = op.results[0].type
    a, b = (signed(str(g.name(v)), type_) for v in op.operands)
    g.define(op.results[0], wrapped_bits(f"{g.argument(integer_power)}({a}, {b})", type_))


@kernel("math.absi")
def absolute(op: Operation, g: Generator) -> None:
    """The absolute value of an integer, wrapped at the width of its type."""
    type_ = op.results[0].type
    g.define(op.results[0], wrapped(f"abs({signed(str(g.name(named(op, 'operand'))), type_)})", type_))
