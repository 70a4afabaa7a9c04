"""Products of tiles that generated code holds as arrays (``compile/held.py``): the same numbers without their memory.

See docs/performance.md, "Matrix products".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pto_dialect.runtime.memory.cast import copy_cast
from pto_dialect.runtime.memory.gm_parts import GmParts
from pto_dialect.runtime.memory.spaces import Array
from pto_dialect.runtime.memory.values import GmTensor, fitted
from pto_dialect.runtime.numerics.formats import Format
from pto_dialect.runtime.numerics.matmul import matmul

MOST_KEPT = 256
"""Maximum number of widened parts of one view that are cached: 16 MiB of 128x128 elements."""


@dataclass(eq=False)
class HeldLoad:
    """The elements of a view as float32, in the rows and columns of a tile. Callers must not modify the result."""

    label = "tload"

    fmt: Format
    rows: int
    cols: int

    def __call__(self, source: GmTensor, before: Array) -> Array:
        """Loads ``source``; elements that it does not cover are those of ``before``."""
        return self._widened(source.matrix().read(), source.layout, before)

    def of_part(self, source: GmParts, distance: int, before: Array) -> Array:
        """Loads the part that starts ``distance`` elements after the first one."""
        cache = source.kept
        cached = cache.get((self, distance)) if cache is not None else None
        if cached is not None:
            return cached
        values = source.elements(distance)
        if values is None:
            return self(source.part(distance), before)
        cached = self._widened(values, source.layout, before)
        if cache is not None and values.size == self.rows * self.cols and len(cache) < MOST_KEPT:
            cache[self, distance] = cached
        return cached

    def _widened(self, values: Array, layout: str, before: Array) -> Array:
        if values.dtype != self.fmt.storage:
            values = values.view(self.fmt.storage)
        widened = np.empty((self.rows, self.cols), np.float32)
        if values.shape != widened.shape:
            values = fitted(values, self.rows, self.cols, layout)
        if values.shape != widened.shape:
            widened[...] = before
            widened[: values.shape[0], : values.shape[1]] = values
        else:
            copy_cast(widened, values)
        return widened


class HeldProduct:
    """The product of two matrices, added to sums if there are any, as new sums."""

    def __init__(self, label: str, exact: bool) -> None:
        self.label = label
        self.exact = exact

    def __call__(self, lhs: Array, rhs: Array, start: Array | None = None) -> Array:
        """Returns ``start`` + ``lhs`` x ``rhs``, float32."""
        return matmul(lhs, rhs, init=start, exact=self.exact)
