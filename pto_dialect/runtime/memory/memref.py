"""Memrefs as run-time values. Source: docs/reference/execution.md, "Pointers, tiles and views";
docs/reference/core-dialects.md, "Operations".
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from ..faults import Fault
from ..numerics.decode import decode
from ..numerics.encode import encode
from ..numerics.formats import Format
from .spaces import Array, Pointer, strided_view
from .values import GmTensor, WithArray


class MemRef(WithArray, GmTensor):
    """Elements at an address with extents and element strides, in any memory.

    ``offset`` is the distance of the first element from the start of the allocation, in elements. Transfers of tiles
    see a matrix: the last extent is the columns, all others are the rows, all of it is valid.
    """

    __slots__ = ("offset",)

    pad = 0

    def __init__(
        self, pointer: Pointer, shape: Sequence[int], strides: Sequence[int], fmt: Format, offset: int = 0
    ) -> None:
        super().__init__(pointer, shape, strides, fmt)
        self.offset = offset

    @property
    def loc(self) -> str:
        """Name of the memory."""
        return self.pointer.arena.space

    @property
    def rows(self) -> int:
        """Product of all extents but the last."""
        return prod(self.shape[:-1])

    @property
    def cols(self) -> int:
        """The last extent."""
        return self.shape[-1] if self.shape else 1

    valid_rows = rows
    valid_cols = cols

    @property
    def array(self) -> Array:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The matrix: the memory itself where it is evenly spaced, otherwise a copy."""
        return self.elements().reshape(self.rows, self.cols)

    def write(self, values: Array) -> None:
        """Stores ``values`` (storage dtype) into the prefix of their shape."""
        if values.shape == (self.rows, self.cols):
            self.elements()[...] = values.reshape(self.shape)
        elif len(self.shape) == 2:
            self.elements()[: values.shape[0], : values.shape[1]] = values
        else:
            shape = f"{values.shape[0]}x{values.shape[1]}"
            raise Fault("unmodelled", f"{shape} elements stored to a memref of {self._text()}")

    def elements(self) -> Array:
        """Returns all elements as a view of the memory, shape of the memref."""
        item = self.pointer.item_bytes
        return strided_view(self.pointer, self.shape, tuple(stride * item for stride in self.strides))

    def at(self, indices: Sequence[int]) -> Array:
        """Returns one element as a view of shape (1,).

        Raises ``Fault`` (``mem-oob``) outside the extents or the memory.
        """
        offset = 0
        for index, extent, stride in zip(indices, self.shape, self.strides, strict=True):
            if not 0 <= index < extent:
                raise Fault("mem-oob", f"element {list(indices)} of a memref of {self._text()}")
            offset += index * stride
        return strided_view(self.pointer.advance(offset), (1,), (self.pointer.item_bytes,))

    def load(self, *indices: int) -> int | float:
        """Returns one element as a Python number."""
        return decode(self.at(indices), self.fmt)[0].item()

    def store(self, value: int | float, *indices: int) -> None:
        """Stores a Python number."""
        element = self.at(indices)
        if self.fmt.is_float:
            wide = np.float64 if self.fmt.name == "f64" else np.float32
            element[...] = encode(np.array([value], wide), self.fmt, saturate=False)
        else:
            element[...] = np.array([int(value)]).astype(self.fmt.storage)

    def subview(
        self, offsets: Sequence[int], sizes: Sequence[int], steps: Sequence[int], rank: Sequence[int]
    ) -> MemRef:
        """Returns the elements at ``offsets`` + i * ``steps``; dimensions outside ``rank`` are dropped.

        Raises ``Fault`` (``mem-oob``) when an element would be outside the extents.
        """
        distance = 0
        for offset, size, step, extent, stride in zip(offsets, sizes, steps, self.shape, self.strides, strict=True):
            if offset < 0 or (size and offset + (size - 1) * step >= extent):
                part = f"subview {list(offsets)} {list(sizes)} {list(steps)}"
                raise Fault("mem-oob", f"{part} of a memref of {self._text()}")
            distance += offset * stride
        extents = [sizes[d] for d in rank]
        strides = [self.strides[d] * steps[d] for d in rank]
        return MemRef(self.pointer.advance(distance), extents, strides, self.fmt, self.offset + distance)

    def reinterpreted(self, offset: int, sizes: Sequence[int], strides: Sequence[int]) -> MemRef:
        """Returns elements of the same allocation, from its element ``offset`` on, with other extents and strides."""
        return MemRef(self.pointer.advance(offset - self.offset), sizes, strides, self.fmt, offset)

    def copy_from(self, source: MemRef) -> None:
        """Stores the elements of a memref of the same extents.

        Raises ``Fault`` (``memref-shape``) for other extents.
        """
        if source.shape != self.shape:
            raise Fault("memref-shape", f"a memref of {source._text()} copied to one of {self._text()}")
        self.elements()[...] = source.elements()

    def _text(self) -> str:
        return "shape " + ("x".join(map(str, self.shape)) or "()")


def dense_strides(shape: Sequence[int]) -> tuple[int, ...]:
    """Returns the element strides of elements in row-major order."""
    strides = [1] * len(shape)
    for axis in range(len(shape) - 2, -1, -1):
        strides[axis] = strides[axis + 1] * shape[axis + 1]
    return tuple(strides)
