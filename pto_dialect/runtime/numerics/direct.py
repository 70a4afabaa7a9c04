"""Conversions by a few passes of numpy that are right for most values; the others use the defining steps.

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
    # The wrapping function takes twice as long.
    from numpy import clip as _clip

from pto_dialect.accel import enabled

from .decode import decode
from .encode import encode
from .format_table import FORMATS, Format

__all__ = ["ROUNDINGS", "Convert", "by_steps", "direct"]

Array = npt.NDArray[Any]
Convert = Callable[[Array, Array], None]
"""Converts the first array, in storage of the source, into the second, of the same shape; they may be one array."""

_HALF_WORD = 16
ROUNDINGS: dict[str, np.ufunc] = {"R": np.rint, "F": np.floor, "C": np.ceil, "Z": np.trunc}
"""Rounding letters to integral values that are one function of numpy."""


def by_steps(values: Array, source: Format, target: Format, letter: str, saturate: bool) -> Array:
    """Returns the converted values as a new array, by the steps that define every conversion."""
    wide = decode(values, source)
    if source.is_float and not target.is_float and target.bits <= _HALF_WORD and not saturate:
        # Floats that keep their low bits become clamped words first.
        wide = encode(wide, "i32", rounding=letter, saturate=True)
    return encode(wide, target, rounding=letter, saturate=saturate)


def direct(source: Format, target: Format, letter: str, saturate: bool, rest: Convert) -> Convert | None:
    """Returns the direct conversion of a pair whose storage units hold one element each, if there is one.

    ``rest`` converts all values.
    """
    if not enabled("conversions") or source.is_packed or target.is_packed or "i1" in (source.name, target.name):
        return None
    if not source.is_float:
        return _of_integers(source, target, letter, saturate)
    if target.is_float:
        if source.name == "bf16" and target.name == "f32":
            return cast
        return TableConversion(source, target, letter, saturate, rest) if source.bits == _HALF_WORD else None
    if source.name in ("f32", "bf16") and letter in ROUNDINGS:
        if target.name == "i32" and _cast_signals_range():
            return checked_cast(source, target, letter, saturate)
        usual = rounded(source, target, letter, rest)
        small = target.bits <= _HALF_WORD and target.min_value < 0
        return added(target, usual) if source.name == "f32" and letter == "R" and small else usual
    return TableConversion(source, target, letter, saturate, rest) if source.bits == _HALF_WORD else None


def _of_integers(source: Format, target: Format, letter: str, saturate: bool) -> Convert | None:
    if target.is_float:
        if target.name == "f32" and (letter == "R" or source.bits <= _HALF_WORD):
            return cast
        # The largest i16 is in the range of f16, the largest ui16 is not.
        small = source.max_value <= np.iinfo(np.int16).max
        return cast if target.name == "f16" and letter == "R" and small else None
    low = target.min_value if source.min_value < target.min_value else None
    high = target.max_value if source.max_value > target.max_value else None
    return clamped(source.storage, low, high) if saturate and (low, high) != (None, None) else cast


def cast(values: Array, out: Array) -> None:
    """Returns numpy's own conversion: exact, or the low bits of integers."""
    out[...] = values


# The conversions are functions, whose arrays are at hand; their source and target are attributes.


def clamped(dtype: np.dtype[Any], low: int | None, high: int | None) -> Convert:
    """Returns integers clamped to a range, of which only the limits that a source can exceed are given."""
    last_values, last_out = _NOTHING, _NOTHING
    inputs = results = inside = _aligned((0,), dtype)
    least = most = None
    lowest, highest = (None if limit is None else np.array(limit, dtype) for limit in (low, high))
    minimum, maximum = np.minimum, np.maximum

    def take(values: Array, out: Array) -> None:
        nonlocal last_values, last_out, inputs, results, inside, least, most
        last_values, last_out = values, out
        inputs, results = _in_order(values, out)
        if inside.shape == inputs.shape:
            return
        inside = _aligned(inputs.shape, dtype)
        # One limit as an array takes half the time of a number, both as numbers less than two arrays.
        least = _filled(inputs.shape, dtype, low) if high is None and low is not None else None
        most = _filled(inputs.shape, dtype, high) if low is None and high is not None else None

    def clamped(values: Array, out: Array) -> None:
        if values is not last_values or out is not last_out:
            take(values, out)
        if most is not None:
            minimum(inputs, most, out=inside)
        elif least is not None:
            maximum(inputs, least, out=inside)
        else:
            _clip(inputs, lowest, highest, inside)
        results[...] = inside

    vars(clamped).update(low=low, high=high)
    return clamped


def _filled(shape: tuple[int, ...], dtype: np.dtype[Any], number: int) -> Array:
    filled = _aligned(shape, dtype)
    filled[...] = number
    return filled


_NOTHING: Array = np.zeros((0, 0))
"""Cache of prepared arrays: source and result of an instruction are the same arrays each time where their tiles have
addresses, so derived arrays are reused as long as these recur."""


def _in_order(values: Array, out: Array) -> tuple[Array, Array]:
    """Returns both as one row, which is a tenth of a microsecond faster, unless one of them is not contiguous."""
    if values.flags.c_contiguous and out.flags.c_contiguous:
        return values.reshape(-1), out.reshape(-1)
    return values, out


_MOST_SQUARES = 1 << 13
"""Maximum number of elements whose squares are summed, by one thread of BLAS and with an error below a thousandth."""


def rounded(source: Format, target: Format, letter: str, rest: Convert) -> Convert:
    """Returns the conversion of float32 or bfloat16 to integers, where all results are in the range of the target;
    ``rest`` converts others."""
    wide, round_ = source.storage == np.float32, ROUNDINGS[letter]
    # The largest numbers of 32 and 64 bits are no float32.
    exact = float(np.float32(target.max_value)) == target.max_value
    low = float(target.min_value)
    high = float(target.max_value if exact else np.nextafter(np.float32(target.max_value), np.float32(0)))
    squares = 0.99 * min(low**2, high**2)
    shape: tuple[int, ...] = (0, 0)
    integral = _aligned(shape)
    flat, total = integral.reshape(-1), np.zeros((), np.float32)
    dot, sum_of_squares, summed = flat.dot, total.item, True

    def prepare(values: Array) -> None:
        nonlocal shape, integral, flat, dot, summed
        shape = values.shape
        integral = _aligned(shape)
        flat = integral.reshape(-1)
        dot, summed = flat.dot, flat.size <= _MOST_SQUARES

    def fits() -> bool:
        least, most = np.minimum.reduce(flat, initial=0), np.maximum.reduce(flat, initial=0)
        return bool(least >= low and most <= high)

    def rounded(values: Array, out: Array) -> None:
        if values.shape != shape:
            prepare(values)
        if wide:
            round_(values, integral)
        else:
            integral[...] = values
            round_(integral, integral)
        if summed:
            # No square is larger than their sum, which takes one fast pass; its error is far below the hundredth.
            dot(flat, total)
            if sum_of_squares() <= squares:
                out[...] = integral
                return
        if fits():
            out[...] = integral
        else:
            rest(values, out)

    vars(rounded).update(source=source, target=target, letter=letter)
    return rounded


_MAGIC = np.array(3 << 22, np.float32)
"""Adding this number rounds much smaller ones to the nearest even and leaves them in the low bits of the sum."""


def added(target: Format, usual: Convert) -> Convert:
    """Returns the conversion of float32 to signed integers of at most 16 bits, to the nearest even, where all results
    are in the range of the target: they are the low bits of a sum. ``usual`` converts values that are out of range or
    not contiguous."""
    squares = 0.99 * min(float(target.min_value) ** 2, float(target.max_value) ** 2)
    total = np.zeros((), np.float32)
    sum_of_squares = total.item
    last_values, last_out = _NOTHING, _NOTHING
    flat = results = np.zeros(0, np.float32)
    dot = flat.dot
    sums = _aligned((0,))
    low_bits = sums.view(np.int32)
    add, magic = np.add, _MAGIC

    def take(values: Array, out: Array) -> bool:
        nonlocal last_values, last_out, flat, results, dot, sums, low_bits
        row, target = _in_order(values, out)
        if row is values or row.size > _MOST_SQUARES:
            return False
        last_values, last_out = values, out
        flat, results = row, target
        dot = flat.dot
        if sums.size != values.size:
            sums = _aligned(flat.shape)
            low_bits = sums.view(np.int32)
        return True

    def rounded(values: Array, out: Array) -> None:
        if (values is last_values and out is last_out) or take(values, out):
            dot(flat, total)
            if sum_of_squares() <= squares:
                add(flat, magic, sums)
                results[...] = low_bits
                return
        usual(values, out)

    vars(rounded).update(target=target, usual=usual)
    return rounded


try:
    from numpy._core.umath import _extobj_contextvar, _make_extobj
except ImportError:
    # errstate, which sets the same, takes longer than checking the numbers.
    _handling = _raising = None
else:
    _handling: Any = _extobj_contextvar
    _raising: Any = _make_extobj(all="ignore", invalid="raise")


def _cast_in_range(integral: Array, out: Array) -> bool:
    """Casts float32 and returns whether all numbers are in the range of ``out``."""
    before = _handling.set(_raising)
    try:
        out[...] = integral
    except FloatingPointError:
        return False
    finally:
        _handling.reset(before)
    return True


@cache
def _cast_signals_range() -> bool:
    """Returns whether this machine's cast of float32 to i32 signals numbers out of range, in each position of its
    vectors."""
    if _handling is None:
        return False
    values, out = np.zeros(67, np.float32), np.zeros(67, np.int32)
    for number in (np.nan, np.inf, -np.inf, 2.0**31, -(2.0**31) - 256):
        for position in range(67):
            values[position] = number
            if _cast_in_range(values, out):
                return False
            values[position] = -(2.0**31) if position % 2 else 2.0**31 - 128
    return _cast_in_range(values, out)


def checked_cast(source: Format, target: Format, letter: str, saturate: bool) -> Convert:
    """Returns the conversion of float32 or bfloat16 to i32 by numpy's cast, which signals numbers out of range."""
    wide, round_ = source.storage == np.float32, ROUNDINGS[letter]
    last_values, last_out = _NOTHING, _NOTHING
    inputs = results = integral = _aligned((0,))
    handle, handle_again, raising = _handling.set, _handling.reset, _raising

    def take(values: Array, out: Array) -> None:
        nonlocal last_values, last_out, inputs, results, integral
        last_values, last_out = values, out
        inputs, results = _in_order(values, out)
        if integral.shape != inputs.shape:
            integral = _aligned(inputs.shape)

    def checked_cast(values: Array, out: Array) -> None:
        if values is not last_values or out is not last_out:
            take(values, out)
        if wide:
            round_(inputs, integral)
        else:
            integral[...] = inputs
            round_(integral, integral)
        # As in ``_cast_in_range``, without the call.
        before = handle(raising)
        try:
            results[...] = integral
        except FloatingPointError:
            fitting = False
        else:
            fitting = True
        handle_again(before)
        if not fitting:
            # Not from the values, whose memory may be that of the results. Rounding integral numbers changes nothing.
            results[...] = by_steps(integral, FORMATS["f32"], target, letter, saturate)

    vars(checked_cast).update(source=source, target=target, letter=letter, saturate=saturate)
    return checked_cast


_LINE = 64
"""Bytes of a cache line; a pass over an array that is not aligned to it takes up to a fifth longer."""


def _aligned(shape: tuple[int, ...], dtype: npt.DTypeLike = np.float32) -> Array:
    """Returns an array that is aligned to a cache line."""
    size = prod(shape) * np.dtype(dtype).itemsize
    room = np.empty(size + _LINE, np.uint8)
    begin = -room.ctypes.data % _LINE
    return room[begin : begin + size].view(dtype).reshape(shape)


class TableConversion:
    """Sources of 16 bits: a table of all results, made once that many elements have been converted."""

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
            # Instrumented memory, which only indexing may write, reports that it is not contiguous.
            out[...] = table.take(values.view(np.uint16), mode="clip")


@cache
def _all_results(source: Format, target: Format, letter: str, saturate: bool) -> Array:
    """Returns the results of all values of 16 bits."""
    codes = np.arange(1 << 16, dtype=np.uint16)
    with np.errstate(all="ignore"):
        table = np.array(by_steps(codes.view(source.storage), source, target, letter, saturate))
    table.flags.writeable = False
    return table
