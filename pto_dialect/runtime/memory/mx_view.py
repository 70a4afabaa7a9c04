"""Views of MX scales in global memory whose bytes are in blocks of 16 x 2. Source: docs/reference/layouts.md, "MX
scales"."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..numerics.formats import Format
from .spaces import Array, Pointer
from .values import GmTensor

_LONG, _SHORT = 16, 2
"""Extents of a block: scales of a left operand have 16 rows and 2 columns in it, those of a right one the opposite."""


class MxMatrix:
    """Rows and columns of such a view, one byte at each of ``offsets``."""

    def __init__(self, pointer: Pointer, offsets: Array) -> None:
        self.pointer = pointer
        self.offsets = offsets + pointer.offset
        self.rows, self.cols = offsets.shape
        if offsets.size:
            pointer.arena.check(int(self.offsets.min()), int(self.offsets.max()) + 1, "MX scales")

    def read(self) -> Array:
        """Returns the scales as a copy."""
        elements = self.pointer.arena.take(self.offsets.reshape(-1), 1)
        return elements.view(self.pointer.dtype).reshape(self.rows, self.cols)

    def read_into(self, out: Array) -> None:
        """The scales in ``out``."""
        out[...] = self.read()

    def write(self, matrix: Array) -> None:
        """Stores scales."""
        self.pointer.arena.put(self.offsets.reshape(-1), np.ascontiguousarray(matrix).view(np.uint8).reshape(-1, 1))


class MxTensor(GmTensor):
    """A view of two dimensions; a part retains its position in the whole, because blocks are counted from there."""

    __slots__ = ("_origin", "_whole")

    def __init__(
        self, pointer: Pointer, shape: Sequence[int], strides: Sequence[int], fmt: Format, layout: str
    ) -> None:
        super().__init__(pointer, shape, strides, fmt, layout)
        self._whole = tuple(shape)
        self._origin = (0, 0)

    def part(self, offsets: Sequence[int], sizes: Sequence[int]) -> MxTensor:
        """Returns the part that begins at ``offsets`` and has ``sizes``, both in scales of the view's two
        dimensions."""
        part = MxTensor(self.pointer, self._whole, self.strides, self.fmt, self.layout)
        part.shape = tuple(sizes)
        part._origin = (self._origin[0] + offsets[0], self._origin[1] + offsets[1])
        return part

    def matrix(self) -> MxMatrix:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Returns the scales as a matrix [rows, columns]."""
        rows, cols = (np.arange(n) + start for n, start in zip(self.shape, self._origin, strict=True))
        if self.layout == "mx_a_zz":
            return MxMatrix(self.pointer, _offsets(rows[:, None], cols[None, :], self._whole[1]))
        return MxMatrix(self.pointer, _offsets(cols[None, :], rows[:, None], self._whole[0]))

    def elements(self) -> None:
        """Returns ``None``: blocks of scales are not a strided array."""
        return None


def _offsets(along: Array, across: Array, width: int) -> Array:
    """Returns the byte offsets of scales; ``along`` counts rows of a left operand or columns of a right one, ``across``
    groups."""
    blocks = -(-width // _SHORT)
    block = along // _LONG * blocks + across // _SHORT
    return block * (_LONG * _SHORT) + along % _LONG * _SHORT + across % _SHORT
