"""Lane-wise arithmetic of registers. Source: docs/reference/vectors.md, "Arithmetic".

Every function takes registers and returns new ones; lanes that are not active are 0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pto_dialect.targets.vector_unit import VL_BYTES

from ..memory.spaces import Array
from ..numerics.comparisons import COMPARISONS
from ..numerics.fma import fma
from ..numerics.rounding import round_to_integer
from .register import cleared, constant, lanes, spread

Lanes = Callable[..., Any]


class LaneWise:
    """A function of arrays applied to the active lanes; scalars become elements of the register's type."""

    def __init__(self, function: Lanes, label: str) -> None:
        self.function = function
        self.label = label

    def __call__(self, first: Array, *rest: Any) -> Array:
        """Returns the result in the lanes that the last argument, a predicate of 256 bits, makes active; 0 in the
        others."""
        *others, mask = rest
        dtype = first.dtype
        arguments = [other if isinstance(other, np.ndarray) else constant(other, dtype) for other in others]
        result = self.function(first, *arguments)
        if result.dtype != dtype:
            result = result.astype(dtype)
        return cleared(result, lanes(mask, dtype.itemsize))


def _wide(function: Lanes) -> Lanes:
    """Returns ``function`` in float32, rounded once to the type of the lanes."""

    def compute(*arguments: Any) -> Array:
        dtype = arguments[0].dtype
        if dtype == np.float32:
            return function(*arguments)
        return function(*(np.asarray(a, np.float32) for a in arguments)).astype(dtype)

    return compute


def _raw(function: Lanes) -> Lanes:
    """Returns ``function`` on the bits."""

    def compute(*arguments: Any) -> Array:
        dtype = arguments[0].dtype
        unsigned = f"u{dtype.itemsize}"
        return function(*(np.asarray(a, dtype).view(unsigned) for a in arguments)).view(dtype)

    return compute


def _divide(a: Array, b: Any) -> Array:
    if a.dtype.kind not in "iu":
        return np.divide(a, b)
    # Toward zero, and 0 where the divisor is 0.
    return np.floor_divide(np.subtract(a, np.fmod(a, b)), b)


def _count(count: Any, dtype: np.dtype[Any]) -> Any:
    return np.bitwise_and(count, dtype.type(dtype.itemsize * 8 - 1))


def shift_left(a: Array, count: Any) -> Array:
    """a << (count mod width)."""
    return np.left_shift(a, _count(count, a.dtype))


def shift_right(a: Array, count: Any) -> Array:
    """a >> (count mod width), arithmetic for signed lanes."""
    return np.right_shift(a, _count(count, a.dtype))


def _leaky(a: Array, slope: Any) -> Array:
    return np.where(np.greater_equal(a, 0), a, np.multiply(a, slope))


def fused(a: Array, b: Any, c: Array) -> Array:
    """a·b + c with one rounding; integers wrap."""
    if a.dtype.kind in "iu":
        return np.add(np.multiply(a, b), c)
    if a.dtype == np.float32:
        return fma(a, np.broadcast_to(np.asarray(b, np.float32), a.shape), c)
    # Products of 11-bit significands are exact in float64.
    wide = np.asarray(a, np.float64) * np.asarray(b, np.float64) + np.asarray(c, np.float64)
    return wide.astype(np.float32).astype(a.dtype) if a.dtype != np.float16 else wide.astype(a.dtype)


UNARY: dict[str, Lanes] = {
    "vabs": np.absolute,
    "vneg": np.negative,
    "vrelu": lambda a: np.maximum(a, a.dtype.type(0)),
    "vexp": _wide(np.exp),
    "vln": _wide(np.log),
    "vsqrt": _wide(np.sqrt),
    "vnot": _raw(np.invert),
}
BINARY: dict[str, Lanes] = {
    "vadd": np.add,
    "vsub": np.subtract,
    "vmul": np.multiply,
    "vdiv": _divide,
    "vmax": np.maximum,
    "vmin": np.minimum,
    "vand": _raw(np.bitwise_and),
    "vor": _raw(np.bitwise_or),
    "vxor": _raw(np.bitwise_xor),
    "vshl": shift_left,
    "vshr": shift_right,
    "vprelu": _leaky,
}
SCALAR: dict[str, Lanes] = {
    "vadds": np.add,
    "vmuls": np.multiply,
    "vmaxs": np.maximum,
    "vmins": np.minimum,
    "vlrelu": _leaky,
    "vshls": shift_left,
    "vshrs": shift_right,
}


class Comparison:
    """A predicate of the active lanes that compare; NaN only with ``ne``."""

    def __init__(self, mode: str) -> None:
        self.function = COMPARISONS[mode]
        self.label = f"vcmp_{mode}"

    def __call__(self, a: Array, b: Any, mask: Array) -> Array:
        """Returns the predicate of 256 bits of the lanes that ``mask`` makes active and that compare."""
        size = a.dtype.itemsize
        result = self.function(a, b if isinstance(b, np.ndarray) else constant(b, a.dtype))
        active = lanes(mask, size)
        return spread(result if active is True else result & active, size)


def select(a: Array, b: Array, mask: Array) -> Array:
    """m ? a : b."""
    active = lanes(mask, a.dtype.itemsize)
    return a if active is True else np.where(active, a, b)


def select_lanes(a: Array, index: Array) -> Array:
    """lane i = a[index[i]], indices modulo the number of lanes."""
    unsigned = index.view(f"u{index.dtype.itemsize}")
    return a[unsigned[: a.size].astype(np.int64) % a.size]


def exponential_difference(a: Array, largest: Array, mask: Array, odd: int) -> Array:
    """e^(a − max) in float32; of 16-bit lanes those with even or odd indices."""
    active = lanes(mask, a.dtype.itemsize)
    if a.dtype.itemsize == 2:
        a, largest = a[odd::2], largest[odd::2]
        active = active if active is True else active[odd::2]
    return cleared(np.exp(np.asarray(a, np.float32) - np.asarray(largest, np.float32)), active)


def words_of_product(a: Array, b: Array) -> tuple[Array, Array]:
    """Low and high words of the double-width products, signed as the lanes are."""
    wide = np.int64 if a.dtype.kind == "i" else np.uint64
    product = a.astype(wide) * b.astype(wide)
    return product.astype(a.dtype), (product >> wide(8 * a.dtype.itemsize)).astype(a.dtype)


def long_product(a: Array, b: Array, mask: Array) -> tuple[Array, Array]:
    """As ``words_of_product``, of the active lanes."""
    active = lanes(mask, a.dtype.itemsize)
    low, high = words_of_product(a, b)
    return cleared(low, active), cleared(high, active)


def add_carry(a: Array, b: Array, mask: Array, carry: Array | None = None) -> tuple[Array, Array]:
    """Sum, and the predicate of lanes whose unsigned sum overflows."""
    return _with_carry(a, b, mask, carry, False)


def subtract_carry(a: Array, b: Array, mask: Array, carry: Array | None = None) -> tuple[Array, Array]:
    """Difference, and the predicate of lanes without a borrow; with ``carry`` less 1 where it is clear."""
    return _with_carry(a, b, mask, carry, True)


def _with_carry(a: Array, b: Array, mask: Array, carry: Array | None, negate: bool) -> tuple[Array, Array]:
    size = a.dtype.itemsize
    extra: Any = np.uint64(negate) if carry is None else _bits(carry, size)
    total, overflow = sum_and_carry(a, b, extra, negate)
    active = lanes(mask, size)
    return cleared(total, active), spread(overflow if active is True else overflow & active, size)


def sum_and_carry(a: Array, b: Array, extra: Any, negate: bool) -> tuple[Array, Array]:
    """a + b + extra, or a + ~b + extra, and which unsigned sums overflow."""
    bits = 8 * a.dtype.itemsize
    unsigned = f"u{a.dtype.itemsize}"
    first, second = a.view(unsigned).astype(np.uint64), b.view(unsigned)
    # a − b is a + ~b + 1, whose carry means that there was no borrow.
    total = first + (np.invert(second) if negate else second).astype(np.uint64) + extra
    return total.astype(unsigned).view(a.dtype), (total >> np.uint64(bits)) > 0


def _bits(carry: Array, size: int) -> Array:
    active = lanes(carry, size)
    return np.broadcast_to(np.asarray(active), (VL_BYTES // size,)).astype(np.uint64)


def truncated(a: Array, mask: Array, letter: str) -> Array:
    """Rounded to integral values."""
    rounded = round_to_integer(np.asarray(a, np.float32), letter).astype(a.dtype)
    return cleared(rounded, lanes(mask, a.dtype.itemsize))


def sequence(start: Any, dtype: np.dtype[Any], step: int) -> Array:
    """start, start ± 1, ... in all lanes, wrapping."""
    return ramp(start, dtype, step, VL_BYTES // dtype.itemsize)


def ramp(start: Any, dtype: np.dtype[Any], step: int, count: int) -> Array:
    """``count`` numbers start, start ± 1, ..., wrapping."""
    if dtype.kind in "iu":
        numbers = (int(start) + step * np.arange(count, dtype=object)) & ((1 << (8 * dtype.itemsize)) - 1)
        return numbers.astype(np.uint64).astype(f"u{dtype.itemsize}").view(dtype)
    return (np.float32(start) + np.float32(step) * np.arange(count, dtype=np.float32)).astype(dtype)
