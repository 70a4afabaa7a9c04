"""Formulas of elementwise tile arithmetic, one function for each operation.

Every function fills ``out`` from arrays (and Python numbers) of one compute type: float32, or the integer type of the
tile. ``out`` may be one of the inputs or overlap them, so nothing is read after the first element of ``out`` is written
except inside one numpy call. Source: docs/reference/tiles.md, "Elementwise", "Broadcasts and reductions".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from pto_dialect.runtime.memory.spaces import Array
from pto_dialect.runtime.numerics.fma import fma
from pto_dialect.runtime.numerics.powers import power

Compute = Callable[..., Any]
"""Fills its last argument from the others."""


class Formula(NamedTuple):
    """How one operation computes floats and integers; ``None`` where it has no such elements.

    ``half`` states that numpy's own float16 loop of ``floats`` rounds the same result once, ``bits`` that ``integers``
    computes the bits of floats too.
    """

    floats: Compute | None
    integers: Compute | None = None
    half: bool = False
    bits: bool = False


def _both(function: Compute, half: bool = True) -> Formula:
    return Formula(function, function, half)


def maximum(a: Any, b: Any, out: Array) -> None:
    """max(a, b); NaN propagates."""
    np.maximum(a, b, out=out)


def minimum(a: Any, b: Any, out: Array) -> None:
    """min(a, b); NaN propagates."""
    np.minimum(a, b, out=out)


def divide_integers(a: Array, b: Array, out: Array) -> None:
    """Division toward zero; division by zero gives 0."""
    multiple = np.subtract(a, np.fmod(a, b))
    np.floor_divide(multiple, b, out)


def floored_remainder(a: Array, b: Array, out: Array) -> None:
    """a − floor(a / b)·b; integers of 64 bits, which only the headers of C++ have, a − trunc(a / b)·b."""
    (np.fmod if out.dtype == np.int64 else np.remainder)(a, b, out)


def reciprocal_root(a: Array, out: Array) -> None:
    """1 / √a."""
    np.sqrt(a, out)
    np.reciprocal(out, out)


def relu(a: Array, out: Array) -> None:
    """max(a, 0); NaN stays NaN."""
    np.maximum(a, 0, out=out)


def leaky_relu(a: Array, slope: Any, out: Array) -> None:
    """a > 0 ? a : a·slope, for a number or an array of slopes."""
    scaled = np.multiply(a, slope)
    if not isinstance(slope, np.ndarray) and 0 < slope <= 1:
        # The larger of both is the result, and NaN stays NaN.
        np.maximum(a, scaled, out=out)
        return
    np.copyto(scaled, a, where=np.greater(a, 0))
    np.copyto(out, scaled)


def scaled_sum(a: Array, factor: Any, dst: Array, out: Array) -> None:
    """dst + a·factor with one rounding to float32."""
    np.copyto(out, fma(a, np.float32(factor), dst))


def scaled_sum_of_halves(a: Array, factor: Any, dst: Array, out: Array) -> None:
    """dst + a·factor, the product rounded to float16 first."""
    product = np.multiply(a, np.float32(factor)).astype(np.float16)
    np.add(product.astype(np.float32), dst, out)


def add_relu(a: Array, b: Array, out: Array) -> None:
    """max(a + b, 0)."""
    np.maximum(np.add(a, b), 0, out=out)


def sum_of_three(a: Array, b: Any, c: Array, out: Array) -> None:
    """a + b + c."""
    np.add(np.add(a, b), c, out)


def difference_and_sum(a: Array, b: Any, c: Array, out: Array) -> None:
    """a − b + c."""
    np.add(np.subtract(a, b), c, out)


def exponential_of_difference(a: Array, b: Array, out: Array) -> None:
    """e^(a − b); the difference of halves is rounded to half."""
    np.subtract(a, b, out)
    if out.dtype == np.float16:
        np.copyto(out, np.exp(out, dtype=np.float32), casting="same_kind")
    else:
        np.exp(out, out)


_COUNT_LIMIT = 32
"""Shift counts are taken modulo this number."""


def shift_left(a: Array, counts: Array, out: Array) -> None:
    """a << (count mod 32), 64 for elements of 64 bits; the result is 0 for counts of at least the element width."""
    np.left_shift(a, _counts(counts), out)


def shift_right(a: Array, counts: Array, out: Array) -> None:
    """a >> (count mod 32), 64 for elements of 64 bits: arithmetic for signed elements, logical for unsigned ones; for
    counts of at least the element width only signs remain."""
    np.right_shift(a, _counts(counts), out)


def shift_left_by(a: Array, count: int, out: Array) -> None:
    """a << (count mod width)."""
    np.left_shift(a, _count(count, out), out)


def shift_right_by(a: Array, count: int, out: Array) -> None:
    """a >> (count mod width): arithmetic for signed elements, logical for unsigned ones."""
    np.right_shift(a, _count(count, out), out)


def _counts(counts: Array) -> Array:
    return np.bitwise_and(counts, max(_COUNT_LIMIT, counts.dtype.itemsize * 8) - 1)


def _count(count: int, out: Array) -> Any:
    return out.dtype.type(count & (out.dtype.itemsize * 8 - 1))


def power_of_floats(a: Array, b: Any, out: Array) -> None:
    """a^b."""
    np.copyto(out, power(a, b))


def power_of_integers(a: Array, b: Any, out: Array) -> None:
    """a^b modulo 2^width; a negative exponent gives the power's integer part, 0^negative gives 0."""
    exponent = np.broadcast_to(np.asarray(b, out.dtype), out.shape)
    base = np.array(np.broadcast_to(a, out.shape))
    result = np.ones(out.shape, out.dtype)
    if out.dtype.kind == "i":
        reciprocal = np.where(base == 1, 1, np.where(base == -1, 1 - 2 * (exponent & 1), 0)).astype(out.dtype)
        rest = np.maximum(exponent, 0)
    else:
        reciprocal, rest = result, exponent.copy()
    while rest.any():
        np.multiply(result, base, result, where=(rest & 1) == 1)
        np.multiply(base, base, base)
        rest >>= 1
    np.copyto(result, reciprocal, where=exponent < 0)
    np.copyto(out, result)


ADD = _both(np.add)
SUBTRACT = _both(np.subtract)
MULTIPLY = _both(np.multiply)
DIVIDE = Formula(np.divide, divide_integers, half=True)
MAXIMUM = _both(maximum)
MINIMUM = _both(minimum)
FLOORED_REMAINDER = _both(floored_remainder)
TRUNCATED_REMAINDER = _both(np.fmod)
POWER = Formula(power_of_floats, power_of_integers)
EXPDIF = Formula(exponential_of_difference, half=True)

UNARY: dict[str, Formula] = {
    "pto.tabs": _both(np.absolute),
    "pto.tneg": _both(np.negative),
    "pto.tnot": Formula(None, np.invert),
    # numpy's float16 exponential and logarithm are not those of float32 on every machine.
    "pto.texp": Formula(np.exp),
    "pto.tlog": Formula(np.log),
    "pto.tsqrt": Formula(np.sqrt, half=True),
    "pto.trsqrt": Formula(reciprocal_root),
    "pto.trecip": Formula(np.reciprocal, half=True),
    "pto.trelu": _both(relu),
}
"""One source tile."""

BINARY: dict[str, Formula] = {
    "pto.tadd": ADD,
    "pto.tsub": SUBTRACT,
    "pto.tmul": MULTIPLY,
    "pto.tdiv": DIVIDE,
    "pto.tmax": MAXIMUM,
    "pto.tmin": MINIMUM,
    "pto.trem": FLOORED_REMAINDER,
    "pto.tfmod": TRUNCATED_REMAINDER,
    "pto.tpow": POWER,
    "pto.tand": Formula(None, np.bitwise_and, bits=True),
    "pto.tor": Formula(None, np.bitwise_or, bits=True),
    "pto.txor": Formula(None, np.bitwise_xor),
    "pto.tshl": Formula(None, shift_left),
    "pto.tshr": Formula(None, shift_right),
    "pto.tprelu": Formula(leaky_relu),
    "pto.taddrelu": _both(add_relu, half=False),
}
"""Two source tiles."""

TERNARY: dict[str, Formula] = {
    "pto.taddc": _both(sum_of_three, half=False),
    "pto.tsubc": _both(difference_and_sum, half=False),
}
"""Three source tiles."""

SCALAR: dict[str, Formula] = {
    "pto.tadds": ADD,
    "pto.tsubs": SUBTRACT,
    "pto.tmuls": MULTIPLY,
    "pto.tdivs": DIVIDE,
    "pto.tmaxs": MAXIMUM,
    "pto.tmins": MINIMUM,
    "pto.trems": FLOORED_REMAINDER,
    "pto.tfmods": TRUNCATED_REMAINDER,
    "pto.tpows": POWER,
    "pto.tands": Formula(None, np.bitwise_and),
    "pto.tors": Formula(None, np.bitwise_or),
    "pto.txors": Formula(None, np.bitwise_xor),
    "pto.tshls": Formula(None, shift_left_by),
    "pto.tshrs": Formula(None, shift_right_by),
}
"""A source tile and a number."""

BROADCAST: dict[str, Formula] = {
    "add": ADD,
    "sub": SUBTRACT,
    "mul": MULTIPLY,
    "div": DIVIDE,
    "max": MAXIMUM,
    "min": MINIMUM,
    "expdif": EXPDIF,
}
"""``tcolexpand`` and ``trowexpand`` with arithmetic, by the suffix of the mnemonic."""
