"""What atomic updates leave in memory. Source: numerics page, section 11."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..memory import Array
from ..numerics.decode import decode
from ..numerics.encode import encode
from ..numerics.formats import Format
from .access import Combine


def exchange(old: Array, value: Array) -> Array:
    """The new value."""
    return value


def compare_and_swap(old: Array, expected: Array, value: Array) -> Array:
    """The new value where memory holds the bits of the expected one; all parts of a pair count."""
    words = f"u{old.dtype.itemsize}"
    equal = old.view(words) == expected.view(words)
    if old.ndim > 1:
        equal = equal.all(axis=-1, keepdims=True)
    return np.where(equal, value, old)


_INTEGERS: dict[str, Any] = {
    "add": np.add,
    "sub": np.subtract,
    "min": np.minimum,
    "max": np.maximum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}
_FLOATS: dict[str, Any] = {"add": np.add, "sub": np.subtract, "min": np.fmin, "max": np.fmax}


class Combination:
    """Arithmetic on elements of one format, rounded to it; minimum and maximum prefer numbers to NaN, and compare the
    bits of integers when ``unsigned``."""

    def __init__(self, kind: str, fmt: Format, unsigned: bool) -> None:
        self.function = (_FLOATS if fmt.is_float else _INTEGERS)[kind]
        self.fmt = fmt
        self.unsigned = unsigned and kind in ("min", "max")
        self.label = f"atomic_{kind}"

    def __call__(self, old: Array, value: Array) -> Array:
        """The new content."""
        if self.fmt.is_float:
            return encode(self.function(decode(old, self.fmt), decode(value, self.fmt)), self.fmt, saturate=False)
        if self.unsigned:
            bits = f"u{old.dtype.itemsize}"
            return self.function(old.view(bits), value.view(bits)).view(old.dtype)
        return self.function(old, value)


def combination(kind: str, fmt: Format, unsigned: bool) -> Combine:
    """The function of ``pto.atomic_<kind>``."""
    plain: dict[str, Combine] = {"exch": exchange, "cas": compare_and_swap}
    return plain[kind] if kind in plain else Combination(kind, fmt, unsigned)
