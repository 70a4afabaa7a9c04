"""Conversions in the few passes of numpy that are right for most values; the others take the steps that define them.

Source: docs/reference/numerics.md, "Narrowing and saturation", "Rounding"; docs/performance.md, "Conversions".
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

try:
    from numpy._core.umath import clip as _clip  # pyright: ignore[reportAttributeAccessIssue]
except ImportError:
    # The function around it takes twice as long.
    from numpy import clip as _clip

from .decode import decode
from .encode import encode
from .format_table import FORMATS, Format

__all__ = ["ROUNDINGS", "Convert", "by_steps", "direct"]

Array = npt.NDArray[Any]
Convert = Callable[[Array, Array], None]
"""Converts the first array, in storage of the source, into the second, of the same shape; they may share memory."""

_HALF_WORD = 16
ROUNDINGS: dict[str, np.ufunc] = {"R": np.rint, "F": np.floor, "C": np.ceil, "Z": np.trunc}
"""Rounding letters to integral values that are one function of numpy."""


def by_steps(values: Array, source: Format, target: Format, letter: str, saturate: bool) -> Array:
    """The converted values as a new array: what defines every conversion."""
    wide = decode(values, source)
    if source.is_float and not target.is_float and target.bits <= _HALF_WORD and not saturate:
        # Floats that keep their low bits become clamped words first.
        wide = encode(wide, "i32", rounding=letter, saturate=True)
    return encode(wide, target, rounding=letter, saturate=saturate)


def direct(source: Format, target: Format, letter: str, saturate: bool, rest: Convert) -> Convert | None:
    """The direct conversion of a pair whose elements lie one in a storage unit, if there is one.

    ``rest`` converts all values.
    """
    if source.is_packed or target.is_packed or "i1" in (source.name, target.name):
        return None
    if not source.is_float:
        return _of_integers(source, target, letter, saturate)
    if target.is_float:
        if source.name == "bf16" and target.name == "f32":
            return cast
        return Looked(source, target, letter, saturate, rest) if source.bits == _HALF_WORD else None
    if source.name in ("f32", "bf16") and letter in ROUNDINGS:
        if target.name == "i32" and _casts_tell():
            return Told(source, target, letter, saturate)
        return Rounded(source, target, letter, rest)
    return Looked(source, target, letter, saturate, rest) if source.bits == _HALF_WORD else None


def _of_integers(source: Format, target: Format, letter: str, saturate: bool) -> Convert | None:
    if target.is_float:
        if target.name == "f32" and (letter == "R" or source.bits <= _HALF_WORD):
            return cast
        # The largest i16 is in the range of f16, the largest ui16 is not.
        small = source.max_value <= np.iinfo(np.int16).max
        return cast if target.name == "f16" and letter == "R" and small else None
    low = target.min_value if source.min_value < target.min_value else None
    high = target.max_value if source.max_value > target.max_value else None
    return Clamped(source.storage, low, high) if saturate and (low, high) != (None, None) else cast


def cast(values: Array, out: Array) -> None:
    """numpy's own conversion: exact, or the low bits of integers."""
    out[...] = values


class Clamped:
    """Integers brought into a range, of which only the limits that a source can pass are given."""

    def __init__(self, dtype: np.dtype[Any], low: int | None, high: int | None) -> None:
        self.low = None if low is None else np.array(low, dtype)
        self.high = None if high is None else np.array(high, dtype)
        self._prepare((0, 0), dtype)

    def _prepare(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        self.shape = shape
        self.inside = np.empty(shape, dtype)
        low, high = self.low, self.high
        # One limit as an array takes half the time of a number, both as numbers less than two arrays.
        self.least = np.broadcast_to(low, shape).copy() if high is None and low is not None else None
        self.most = np.broadcast_to(high, shape).copy() if low is None and high is not None else None

    def __call__(self, values: Array, out: Array) -> None:
        """Converts ``values`` into ``out``."""
        if self.shape != values.shape:
            self._prepare(values.shape, values.dtype)
        if self.most is not None:
            out[...] = np.minimum(values, self.most, out=self.inside)
        elif self.least is not None:
            out[...] = np.maximum(values, self.least, out=self.inside)
        else:
            out[...] = _clip(values, self.low, self.high, self.inside)


_MOST_SQUARES = 1 << 13
"""Elements up to which their squares are summed, by one thread of BLAS and with an error below a thousandth."""


class Rounded:
    """float32 or bfloat16 to integers, where all results are in the range of the target."""

    def __init__(self, source: Format, target: Format, letter: str, rest: Convert) -> None:
        self.rest = rest
        self.wide = source.storage == np.float32
        self.round = ROUNDINGS[letter]
        self.low = float(target.min_value)
        # The largest numbers of 32 and 64 bits are no float32.
        exact = float(np.float32(target.max_value)) == target.max_value
        self.high = float(target.max_value if exact else np.nextafter(np.float32(target.max_value), np.float32(0)))
        self.squares = 0.99 * min(self.low**2, self.high**2)
        self._prepare((0, 0))

    def _prepare(self, shape: tuple[int, ...]) -> None:
        self.shape = shape
        self.whole = _aligned(shape)
        self.flat = self.whole.reshape(-1)
        self.sums = self.flat.size <= _MOST_SQUARES

    def __call__(self, values: Array, out: Array) -> None:
        """Converts ``values`` into ``out``."""
        if self.shape != values.shape:
            self._prepare(values.shape)
        whole, flat = self.whole, self.flat
        if self.wide:
            self.round(values, whole)
        else:
            whole[...] = values
            self.round(whole, whole)
        # No square is larger than their sum, which takes one fast pass; its error is far below the hundredth.
        if (self.sums and flat.dot(flat) <= self.squares) or self._fits():
            out[...] = whole
        else:
            self.rest(values, out)

    def _fits(self) -> bool:
        least, most = np.minimum.reduce(self.flat, initial=0), np.maximum.reduce(self.flat, initial=0)
        return bool(least >= self.low and most <= self.high)


try:
    from numpy._core.umath import _extobj_contextvar, _make_extobj
except ImportError:
    # errstate, which sets the same, takes longer than looking at the numbers.
    _handling = _raising = None
else:
    _handling: Any = _extobj_contextvar
    _raising: Any = _make_extobj(all="ignore", invalid="raise")


def _told(whole: Array, out: Array) -> bool:
    """Casts float32 and tells whether all numbers are in the range of ``out``."""
    before = _handling.set(_raising)
    try:
        out[...] = whole
    except FloatingPointError:
        return False
    finally:
        _handling.reset(before)
    return True


@cache
def _casts_tell() -> bool:
    """Whether this machine's cast of float32 to i32 says that a number does not fit, in each place of its vectors."""
    if _handling is None:
        return False
    whole, out = np.zeros(67, np.float32), np.zeros(67, np.int32)
    for number in (np.nan, np.inf, -np.inf, 2.0**31, -(2.0**31) - 256):
        for place in range(67):
            whole[place] = number
            if _told(whole, out):
                return False
            whole[place] = -(2.0**31) if place % 2 else 2.0**31 - 128
    return _told(whole, out)


class Told:
    """float32 or bfloat16 to i32 by numpy's cast, which says itself when a number is not in the range."""

    def __init__(self, source: Format, target: Format, letter: str, saturate: bool) -> None:
        self.wide = source.storage == np.float32
        self.round = ROUNDINGS[letter]
        self.key = (FORMATS["f32"], target, letter, saturate)
        self.shape = (0, 0)
        self.whole = _aligned(self.shape)

    def __call__(self, values: Array, out: Array) -> None:
        """Converts ``values`` into ``out``."""
        if self.shape != values.shape:
            self.shape = values.shape
            self.whole = _aligned(values.shape)
        whole = self.whole
        if self.wide:
            self.round(values, whole)
        else:
            whole[...] = values
            self.round(whole, whole)
        if not _told(whole, out):
            # Not from the values, whose memory may be that of the results. Rounding whole numbers changes nothing.
            out[...] = by_steps(whole, *self.key)


_LINE = 64
"""Bytes of a line of the cache; a pass over an array that begins inside one takes up to a fifth longer."""


def _aligned(shape: tuple[int, ...]) -> Array:
    """An array of float32 that begins with a line of the cache."""
    size = prod(shape) * 4
    room = np.empty(size + _LINE, np.uint8)
    begin = -room.ctypes.data % _LINE
    return room[begin : begin + size].view(np.float32).reshape(shape)


class Looked:
    """Sources of 16 bits: all results in a table, made as soon as so many elements have been converted."""

    def __init__(self, source: Format, target: Format, letter: str, saturate: bool, rest: Convert) -> None:
        self.rest = rest
        self.key = (source, target, letter, saturate)
        self.until = 1 << 16
        self.table: Array | None = None

    def __call__(self, values: Array, out: Array) -> None:
        """Converts ``values`` into ``out``."""
        table = self.table
        if table is None:
            self.until -= values.size
            if self.until > 0:
                self.rest(values, out)
                return
            table = self.table = _all_results(*self.key)
        if out.flags.c_contiguous:
            table.take(values.view(np.uint16), out=out, mode="clip")
        else:
            # Watched memory, which only indexing may write, says that it is not contiguous.
            out[...] = table.take(values.view(np.uint16), mode="clip")


@cache
def _all_results(source: Format, target: Format, letter: str, saturate: bool) -> Array:
    """The results of all values of 16 bits."""
    codes = np.arange(1 << 16, dtype=np.uint16)
    with np.errstate(all="ignore"):
        table = np.array(by_steps(codes.view(source.storage), source, target, letter, saturate))
    table.flags.writeable = False
    return table
