"""Integer arithmetic on the values of work-items. Source: docs/reference/core-dialects.md, "Operations".

Results wrap at the width of the type; a single bit is a boolean.  Shifts by the width or more leave nothing but the
sign.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..faults import Fault
from ..memory.spaces import Array
from ..numerics.comparisons import COMPARISONS
from .items import Mask, WorkItems

Binary = Callable[[Array, Array], Array]


def unsigned(a: Array) -> Array:
    """Returns the bits as non-negative numbers."""
    return a if a.dtype.kind in "bu" else a.view(f"u{a.dtype.itemsize}")


def _as(a: Array, like: Array) -> Array:
    return a.view(like.dtype) if a.dtype.itemsize == like.dtype.itemsize else a.astype(like.dtype)


def _of_unsigned(function: Binary) -> Binary:
    def compute(a: Array, b: Array) -> Array:
        return _as(function(unsigned(a), unsigned(b)), a)

    return compute


def _bits(a: Array) -> int:
    return 8 * a.dtype.itemsize


def _count(b: Array) -> tuple[Array, Array]:
    """Returns a shift count that numpy can use, and where the stated one is below the width."""
    count = unsigned(b)
    small = count < _bits(b)
    return np.where(small, count, 0).astype(b.dtype), small


def shift_left(a: Array, b: Array) -> Array:
    """a << b."""
    count, small = _count(b)
    return np.where(small, np.left_shift(a, count), np.zeros((), a.dtype))


def shift_right_signed(a: Array, b: Array) -> Array:
    """a >> b, filled with the sign."""
    small = unsigned(b) < _bits(b)
    return np.right_shift(a, np.where(small, b, _bits(b) - 1).astype(b.dtype))


def shift_right_unsigned(a: Array, b: Array) -> Array:
    """a >> b, filled with zeros."""
    count, small = _count(b)
    shifted = np.right_shift(unsigned(a), unsigned(count))
    return _as(np.where(small, shifted, np.zeros((), shifted.dtype)), a)


PLAIN: dict[str, Binary] = {
    "addi": np.add,
    "subi": np.subtract,
    "muli": np.multiply,
    "andi": np.bitwise_and,
    "ori": np.bitwise_or,
    "xori": np.bitwise_xor,
    "minsi": np.minimum,
    "maxsi": np.maximum,
    "minui": _of_unsigned(np.minimum),
    "maxui": _of_unsigned(np.maximum),
    "shli": shift_left,
    "shrsi": shift_right_signed,
    "shrui": shift_right_unsigned,
}
"""``arith`` operations that cannot fail, by name."""

SINGLE_BITS: dict[str, Binary] = {
    **PLAIN,
    "addi": np.logical_xor,
    "subi": np.logical_xor,
    "muli": np.logical_and,
    "minsi": np.logical_or,
    "maxsi": np.logical_and,
}
"""The same on single bits; a set one is -1 as a signed number."""


# ------------------------------------------------------------ division


def divide(a: Array, b: Array) -> Array:
    """Quotient toward zero."""
    quotient = np.floor_divide(a, b)
    inexact = quotient * b != a
    return np.where(inexact & ((a < 0) != (b < 0)), quotient + np.ones((), a.dtype), quotient)


def floor_divide(a: Array, b: Array) -> Array:
    """Quotient toward minus infinity."""
    return np.floor_divide(a, b)


def ceil_divide(a: Array, b: Array) -> Array:
    """Quotient toward plus infinity."""
    quotient = np.floor_divide(a, b)
    return np.where(quotient * b != a, quotient + np.ones((), a.dtype), quotient)


def remainder(a: Array, b: Array) -> Array:
    """Remainder with the sign of the dividend."""
    return a - divide(a, b) * b


_DIVISIONS: dict[str, Binary] = {
    "divsi": divide,
    "remsi": remainder,
    "floordivsi": floor_divide,
    "ceildivsi": ceil_divide,
    "divui": _of_unsigned(floor_divide),
    "remui": _of_unsigned(np.remainder),
    "ceildivui": _of_unsigned(ceil_divide),
}


class Division:
    """A division of the running work-items; raises ``Fault`` (``division-by-zero``)."""

    def __init__(self, name: str) -> None:
        self.function = _DIVISIONS[name]
        self.label = name

    def __call__(self, items: WorkItems, mask: Mask, a: Array, b: Array) -> Array:
        """The result of each running work-item."""
        wrong = items.both(mask, (b == 0).any(axis=tuple(range(1, b.ndim))))
        if wrong.any():
            raise Fault("division-by-zero", f"{items.name(int(np.argmax(wrong)))} divides an integer by zero")
        return self.function(a, np.where(b == 0, np.ones((), b.dtype), b))


DIVISIONS = {name: Division(name) for name in _DIVISIONS}
"""``arith`` operations that fail for a divisor of zero, by name."""


# ------------------------------------------------------------ comparison and width


def compare(predicate: str) -> Binary:
    """Returns the function of a predicate of ``arith.cmpi``."""
    function = COMPARISONS[predicate.lstrip("us") if len(predicate) == 3 else predicate]

    def signed(a: Array, b: Array) -> Array:
        if a.dtype == np.bool_ and predicate[0] == "s":
            # A set bit is -1.
            return function(b, a)
        return function(a, b)

    return _compare_unsigned(function) if predicate[0] == "u" else signed


def _compare_unsigned(function: Binary) -> Binary:
    def compute(a: Array, b: Array) -> Array:
        return function(unsigned(a), unsigned(b))

    return compute


class Resize:
    """Integers of another width: low bits, or filled with the sign or with zeros."""

    def __init__(self, dtype: np.dtype[Any], signed: bool) -> None:
        self.dtype = dtype
        self.signed = signed
        self.label = f"to_{dtype.name}"

    def __call__(self, a: Array) -> Array:
        """Returns the low bits, or all bits and a filling."""
        if a.dtype == np.bool_:
            wide = a.astype(np.int8)
            a = -wide if self.signed else wide
        elif not self.signed:
            a = unsigned(a)
        elif a.dtype.kind == "u":
            a = a.view(f"i{a.dtype.itemsize}")
        return (a & 1).astype(np.bool_) if self.dtype == np.bool_ else a.astype(self.dtype)


# ------------------------------------------------------------ products and bytes


def high_half(signed: bool) -> Binary:
    """High half of the double-width product of i32 or i64."""

    def narrow(a: Array, b: Array) -> Array:
        wide = np.int64 if signed else np.uint64
        x, y = (a, b) if signed else (unsigned(a), unsigned(b))
        return (x.astype(wide) * y.astype(wide) >> wide(32)).astype(np.uint64).astype(np.uint32).view(np.int32)

    def wide(a: Array, b: Array) -> Array:
        x, y = unsigned(a), unsigned(b)
        low, half = np.uint64(0xFFFFFFFF), np.uint64(32)
        cross = (x >> half) * (y & low) + ((x & low) * (y & low) >> half)
        other = (x & low) * (y >> half) + (cross & low)
        high = ((x >> half) * (y >> half) + (cross >> half) + (other >> half)).view(np.int64)
        if signed:
            high = high - np.where(a < 0, b, 0) - np.where(b < 0, a, 0)
        return high

    def compute(a: Array, b: Array) -> Array:
        return narrow(a, b) if a.dtype.itemsize == 4 else wide(a, b)

    return compute


def wide_product(signed: bool) -> Binary:
    """Returns the 64-bit product of two i32."""

    def compute(a: Array, b: Array) -> Array:
        x, y = (a, b) if signed else (unsigned(a), unsigned(b))
        return x.astype(np.int64) * y.astype(np.int64)

    return compute


def permute_bytes(a: Array, b: Array, selector: Array) -> Array:
    """Byte j of the result is the byte of a:b that the low three bits of nibble j of ``selector`` name: 0 to 3 of b, 4
    to 7 of a."""
    pair = unsigned(b).astype(np.uint64) | unsigned(a).astype(np.uint64) << np.uint64(32)
    result = np.zeros(1, np.uint32)
    for position in range(4):
        number = unsigned(selector) >> np.uint32(4 * position) & np.uint32(7)
        byte = pair >> number.astype(np.uint64) * np.uint64(8) & np.uint64(0xFF)
        result = result | byte.astype(np.uint32) << np.uint32(8 * position)
    return result.view(np.int32)


# ------------------------------------------------------------ bits, powers, two results


def _each(function: Callable[..., int], like: np.dtype[Any], *values: Array) -> Array:
    """Returns ``function`` of Python integers, wrapped to a type."""
    parts = np.broadcast_arrays(*values)
    bits = 8 * like.itemsize
    numbers = [
        function(*map(int, row)) & ((1 << bits) - 1) for row in zip(*(part.ravel() for part in parts), strict=True)
    ]
    if like == np.bool_:
        return np.array([bool(number & 1) for number in numbers]).reshape(parts[0].shape)
    return np.array(numbers, f"u{like.itemsize}").view(like).reshape(parts[0].shape)


def _width(a: Array) -> int:
    return 1 if a.dtype == np.bool_ else _bits(a)


class BitCount:
    """A count of bits of each number."""

    label = "count_bits"

    def __init__(self, function: Callable[[int, int], int]) -> None:
        self.function = function

    def __call__(self, a: Array) -> Array:
        """Returns the counts in the type of the numbers."""
        width = _width(a)
        return _each(lambda bits: self.function(bits, width), a.dtype, unsigned(a))


def _signed(a: Array) -> Array:
    """Returns single bits as the signed numbers 0 and -1."""
    return -a.astype(np.int8) if a.dtype == np.bool_ else a


def power(items: WorkItems, mask: Mask, a: Array, b: Array) -> Array:
    """Returns a ** b; for negative exponents the fraction truncated to an integer."""
    base, exponent = _signed(a), _signed(b)
    wrong = items.both(mask, (base == 0) & (exponent < 0))
    if wrong.any():
        raise Fault("division-by-zero", f"0 to a negative power in {items.name(int(np.argmax(wrong)))}")

    def one(x: int, n: int) -> int:
        if n >= 0:
            return pow(x, n, 1 << 64)
        return (1 if x == 1 or n % 2 == 0 else -1) if x in (1, -1) else 0

    return _each(one, a.dtype, base, exponent)


def add_with_carry(a: Array, b: Array) -> tuple[Array, Array]:
    """Returns the sum of unsigned numbers, and whether it needs another bit."""
    if a.dtype == np.bool_:
        return a ^ b, a & b
    total = np.add(a, b)
    return total, unsigned(total) < unsigned(a)


def _wide(read: Callable[[Array], Array]) -> Callable[[Array, Array], tuple[Array, Array]]:
    def multiply(a: Array, b: Array) -> tuple[Array, Array]:
        x, y = read(a), read(b)
        width = _width(a)
        return _each(lambda p, q: p * q, a.dtype, x, y), _each(lambda p, q: p * q >> width, a.dtype, x, y)

    return multiply


EXTENDED: dict[str, Callable[[Array, Array], tuple[Array, Array]]] = {
    "addui_extended": add_with_carry,
    "mulsi_extended": _wide(_signed),
    "mului_extended": _wide(unsigned),
}
"""``arith`` operations with two results."""
