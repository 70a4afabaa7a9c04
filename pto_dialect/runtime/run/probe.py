"""The memory that a program needs for its pointers, measured by a run on buffers that grow with its accesses.

Source: docs/reference/execution.md, "Launches".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import ProgramError
from ..memory.spaces import Arena, DType, Pointer
from .launch import Kernel
from .per_core import PartedPointer

MOST_BYTES = 1 << 29
"""Maximum bytes of a buffer."""


class GrowingArena(Arena):
    """A buffer of the host whose size is the end of the accesses so far; its elements of type ``dtype`` are ``number``
    at first."""

    __slots__ = ("_number", "_unit", "_whole")

    def __init__(self, name: str, dtype: DType, number: int) -> None:
        super().__init__("gm", 0, name=name)
        # Untouched pages take no memory.
        self._whole = np.zeros(MOST_BYTES, np.uint8)
        self._bytes = self._whole[:0]
        self._number = np.array([number], dtype) if number else None
        self._unit = dtype.itemsize

    @property
    def is_null(self) -> bool:
        """False: it has the bytes that are accessed."""
        return False

    def reaches(self, low: int, high: int) -> bool:
        """Grows the buffer up to byte ``high`` if possible."""
        if low < 0 or high > MOST_BYTES:
            return False
        if high > self.capacity:
            high = -(-high // self._unit) * self._unit
            if self._number is not None:
                size = self._number.itemsize
                start = -(-self.capacity // size) * size
                self._whole[start : start + (high - start) // size * size].view(self._number.dtype)[...] = self._number
            self.capacity = high
            self._bytes = self._whole[:high]
        return True

    def check(self, low: int, high: int, what: str) -> None:
        """Grows the buffer up to byte ``high``. Raises ``Fault`` (``mem-oob``) for a start before the buffer and for
        more than ``MOST_BYTES``."""
        if not self.reaches(low, high):
            super().check(low, high, what)


def wanted_bytes(
    kernel: Kernel, values: Sequence[Any], blocks: int = 1, number: int = 0, to_error: bool = False
) -> dict[int, int]:
    """Returns the bytes of each pointer to global memory, by position, that a run of ``kernel`` on ``values`` touches,
    where integers in these buffers are ``number``.

    Arrays for pointers may have any size, at least one element; they are unchanged. Raises ``BindingError`` as a run
    does, and ``ProgramError``, unless the bytes ``to_error`` are requested: those before the error that ends a run.
    """
    bound = kernel.bind(values)
    grown: dict[int, GrowingArena] = {}
    for position, value in enumerate(bound):
        if isinstance(value, Pointer) and not isinstance(value, PartedPointer) and value.arena.space == "gm":
            grown[position] = GrowingArena(
                kernel.arguments[position][0], value.dtype, number if value.dtype.kind in "iu" else 0
            )
            bound[position] = Pointer(grown[position], 0, value.dtype, value.item_bytes)
    try:
        if blocks:
            kernel.run_bound(bound, blocks)
    except ProgramError:
        if not to_error:
            raise
    return {position: arena.capacity for position, arena in grown.items()}
