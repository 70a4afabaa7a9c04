"""Float arithmetic on the values of work-items. Source: docs/reference/numerics.md, "Rounding", "Accuracy";
docs/reference/work-items.md, "Operations".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..memory.spaces import Array
from ..numerics.comparisons import COMPARISONS
from ..numerics.conversion import FormatConversion
from ..numerics.decode import decode
from ..numerics.encode import encode
from ..numerics.fma import fma_to_odd
from ..numerics.formats import Format
from ..numerics.powers import power
from ..numerics.rounding import round_to_integer

Function = Callable[..., Array]
"""Maps arrays of a compute type (float32 or float64) to one."""


def _rounding(letter: str) -> Function:
    def compute(x: Array) -> Array:
        return round_to_integer(x, letter)

    return compute


FUNCTIONS: dict[str, Function] = {
    "absf": np.abs,
    "ceil": _rounding("C"),
    "cos": np.cos,
    "exp": np.exp,
    "floor": _rounding("F"),
    "fmax": np.fmax,
    "fmin": np.fmin,
    "log": np.log,
    "pow": power,
    "rint": _rounding("R"),
    "round": _rounding("A"),
    "sin": np.sin,
    "sqrt": np.sqrt,
}
"""SIMT functions by name; minimum and maximum prefer numbers to NaN."""


def computes_in(fmt: Format) -> bool:
    """Returns whether the elements of a format are computed with as they are stored, so that a function needs nothing
    else."""
    return fmt.storage == fmt.compute


class FloatFunction:
    """A function of elements of one format, computed in float32 (f64: float64) and rounded once to the format."""

    def __init__(self, function: Function, name: str, fmt: Format) -> None:
        self.function = function
        self.fmt = fmt
        self.label = name

    def __call__(self, *values: Array) -> Array:
        """Returns the results in the storage of the format."""
        result = self.function(*(decode(value, self.fmt) for value in values))
        return encode(result, self.fmt, saturate=False)


class FusedMultiplyAdd:
    """a·b + c with one rounding."""

    label = "fma"

    def __init__(self, fmt: Format) -> None:
        self.fmt = fmt

    def __call__(self, a: Array, b: Array, c: Array) -> Array:
        """Returns the results in the storage of the format."""
        parts = np.broadcast_arrays(*(decode(value, self.fmt) for value in (a, b, c)))
        return encode(fma_to_odd(*parts), self.fmt, saturate=False)


@dataclass(eq=False)
class Converter(FormatConversion):
    """Values of one format in another; ``source`` and ``target`` state how integers are read and written."""

    result: np.dtype[Any]

    @property
    def label(self) -> str:
        """The name in generated code."""
        return "convert"

    def __call__(self, value: Array) -> Array:
        """Returns the results in the storage of the result type."""
        value = value.view(self.source.storage)
        # A packed pair is one number for the program and two on the last axis for the formats.
        values = decode(value[:, None] if self.source.is_packed else value, self.source)
        raw = self.encoded(values)
        return (raw[:, 0] if self.target.is_packed else raw).view(self.result)


# ------------------------------------------------------------ arith


def maximum(a: Array, b: Array) -> Array:
    """Maximum that propagates NaN and orders -0 below +0."""
    zeros = (a == 0) & (b == 0)
    return np.where(zeros, a + b, np.maximum(a, b))


def minimum(a: Array, b: Array) -> Array:
    """Minimum that propagates NaN and orders -0 below +0."""
    zeros = (a == 0) & (b == 0)
    return np.where(zeros, -(-a + -b), np.minimum(a, b))


ARITHMETIC: dict[str, Function] = {
    "addf": np.add,
    "subf": np.subtract,
    "mulf": np.multiply,
    "divf": np.divide,
    "remf": np.fmod,
    "maximumf": maximum,
    "minimumf": minimum,
    "maxnumf": np.fmax,
    "minnumf": np.fmin,
    "negf": np.negative,
}
"""``arith`` operations by name."""


@dataclass(eq=False)
class FloatComparison:
    """``arith.cmpf``: whether the predicate holds, NaN counted as the predicate says."""

    label = "cmpf"

    predicate: str
    fmt: Format

    def __call__(self, a: Array, b: Array) -> Array:
        """Booleans."""
        x, y = decode(a, self.fmt), decode(b, self.fmt)
        unordered = np.isnan(x) | np.isnan(y)
        if self.predicate in ("true", "false"):
            return np.full(unordered.shape, self.predicate == "true")
        if self.predicate in ("ord", "uno"):
            return ~unordered if self.predicate == "ord" else unordered
        compared = COMPARISONS[self.predicate[1:]](x, y)
        return compared & ~unordered if self.predicate[0] == "o" else compared | unordered


@dataclass(eq=False)
class FromInteger:
    """Integers as floats, rounded once."""

    label = "to_float"

    fmt: Format
    signed: bool

    def __call__(self, value: Array) -> Array:
        """Floats in the storage of the format; a single bit is 1, as a signed number -1."""
        if value.dtype == np.bool_:
            value = -value.astype(np.int8) if self.signed else value.astype(np.int8)
        elif not self.signed and value.dtype.kind == "i":
            value = value.view(f"u{value.dtype.itemsize}")
        return encode(value, self.fmt, saturate=False)


@dataclass(eq=False)
class ToInteger:
    """Floats without their fraction; the low bits of numbers beyond the range, 0 for NaN and infinities."""

    label = "to_integer"

    fmt: Format
    target: Format

    def __call__(self, value: Array) -> Array:
        """Returns the integers in the storage of the target."""
        numbers = decode(value, self.fmt)
        return encode(np.where(np.isinf(numbers), 0, numbers), self.target, rounding="Z", saturate=False)


class MathFunction:
    """A function of the ``math`` dialect, computed in double precision and rounded once."""

    def __init__(self, function: Callable[..., Any], sources: Sequence[Format], fmt: Format, name: str) -> None:
        self.function = function
        self.sources = sources
        self.fmt = fmt
        self.label = name

    def __call__(self, *values: Array) -> Array:
        """Returns the results in the storage of the format."""
        numbers = (decode(value, fmt).astype(np.float64) for value, fmt in zip(values, self.sources, strict=True))
        result = self.function(*numbers)
        return encode(result, self.fmt, saturate=False)
