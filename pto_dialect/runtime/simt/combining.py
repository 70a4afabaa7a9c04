"""The results of atomic updates in memory. Source: docs/reference/work-items.md, "Operations"."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..memory.spaces import Array
from ..numerics.decode import decode
from ..numerics.encode import encode
from ..numerics.formats import Format
from .access import Combine


class Exchange:
    """The new value."""

    label = "atomic_exch"

    def __call__(self, old: Array, *operands: Array) -> Array:
        """Returns the new values."""
        return operands[0]

    def chain(self, start: Array, *operands: Array) -> tuple[Array, Array]:
        """Each update reads the value of the previous one."""
        (value,) = operands
        return np.concatenate((start, value[:-1])), value[-1:]


class CompareAndSwap:
    """The new value where memory holds the bits of the expected one; all parts of a pair count."""

    label = "atomic_cas"

    def __call__(self, old: Array, *operands: Array) -> Array:
        """Returns the new content."""
        expected, value = operands
        words = f"u{old.dtype.itemsize}"
        equal = old.view(words) == expected.view(words)
        if old.ndim > 1:
            equal = equal.all(axis=-1, keepdims=True)
        return np.where(equal, value, old)

    def chain(self, start: Array, *operands: Array) -> tuple[Array, Array]:
        """Returns each update compares with the result of the previous one."""
        expected, value = operands
        count = value.shape[0]
        compared, new = (np.ascontiguousarray(part).view(np.uint8).reshape(count, -1) for part in operands)
        content = start.tobytes()
        packed = bytearray()
        for number in range(count):
            packed += content
            if content == compared[number].tobytes():
                content = new[number].tobytes()
        old = np.frombuffer(bytes(packed), value.dtype).reshape(expected.shape)
        return old, np.frombuffer(content, value.dtype).reshape(start.shape)


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

    def __call__(self, old: Array, *operands: Array) -> Array:
        """Returns the new content."""
        (value,) = operands
        if self.fmt.is_float:
            return encode(self.function(decode(old, self.fmt), decode(value, self.fmt)), self.fmt, saturate=False)
        return self.function(self._seen(old), self._seen(value)).view(old.dtype)

    def chain(self, start: Array, *operands: Array) -> tuple[Array, Array]:
        """Every step is rounded to the format: numpy accumulates in it."""
        values = self._seen(np.concatenate((start, *operands)))
        contents = self.function.accumulate(values, axis=0, dtype=values.dtype).view(start.dtype)
        return contents[:-1], contents[-1:]

    def _seen(self, values: Array) -> Array:
        return values.view(f"u{values.dtype.itemsize}") if self.unsigned else values


def combination(kind: str, fmt: Format, unsigned: bool) -> Combine:
    """Returns the function of ``pto.atomic_<kind>``."""
    if kind == "exch":
        return Exchange()
    return CompareAndSwap() if kind == "cas" else Combination(kind, fmt, unsigned)
