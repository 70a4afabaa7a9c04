"""Conversion of registers. Source: docs/reference/vectors.md, "Conversion"."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pto_dialect.targets.vector_unit import VL_BYTES

from ..memory.spaces import Array
from ..numerics.conversion import FormatConversion
from ..numerics.decode import decode
from ..numerics.encode import encode
from ..numerics.formats import Format
from ..numerics.narrow import narrow_f64
from .register import lanes


def scaled(a: Array, scalar: float, mask: Array, target: Format, letter: str, odd: int) -> Array:
    """a·scalar, rounded once, in the even or the odd lanes of the narrower type."""
    product = np.asarray(a, np.float64) * float(scalar)
    # Rounding to odd retains the information for the second rounding.
    values = encode(narrow_f64(product, "O"), target, rounding=letter, saturate=False)
    result = np.zeros(VL_BYTES // target.bytes, target.storage)
    np.copyto(result[odd::2], values, where=lanes(mask, a.dtype.itemsize))
    return result


@dataclass(eq=False)
class Conversion(FormatConversion):
    """Lanes of one type to another: a wider result takes every n-th lane, a narrower one fills every n-th."""

    prefix: ClassVar[str] = "vcvt"

    part: int

    def __call__(self, a: Array, mask: Array) -> Array:
        """Returns the lanes of a register of 256 bytes in the target format; 0 where ``mask`` or the part excludes
        them."""
        source, target = self.source, self.target
        active = np.broadcast_to(np.asarray(lanes(mask, source.bytes)), (VL_BYTES // source.bytes,))
        if source.is_packed != target.is_packed:
            return self._packed(a, active)
        result = np.zeros(VL_BYTES // target.bytes, target.storage)
        if target.bytes >= source.bytes:
            step = target.bytes // source.bytes
            chosen = self.encoded(decode(a[self.part :: step], source))
            np.copyto(result, chosen, where=active[self.part :: step])
        else:
            step = source.bytes // target.bytes
            np.copyto(result[self.part :: step], self.encoded(decode(a, source)), where=active)
        return result

    def _packed(self, a: Array, active: Array) -> Array:
        """Returns pairs of 4-bit numbers in a byte: the low half is the lane with the even index."""
        if self.source.is_packed:
            pairs = a[self.part :: 4]
            wide = np.zeros(VL_BYTES // self.target.bytes, self.target.storage)
            values = self.encoded(decode(pairs, self.source))
            np.copyto(wide, values, where=np.repeat(active[self.part :: 4], 2))
            return wide
        result = np.zeros(VL_BYTES, self.target.storage)
        values = np.where(active, decode(a, self.source), 0)
        result[self.part :: 4] = self.encoded(values)
        return result
