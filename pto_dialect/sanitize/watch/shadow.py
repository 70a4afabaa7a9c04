"""What is known about the bytes of one memory: who wrote and read them last, and whether they were written at all.

One cell stands for ``grain`` bytes; the first access that needs finer cells splits all of them. Source:
docs/reference/watching.md, "Shadow memory".
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .regions import MAX_GRAIN, Bytes, Cells


class Shadow:
    """Shadow cells of a memory of ``capacity`` bytes; event and tile numbers start at 1, 0 is none."""

    __slots__ = ("capacity", "cells", "grain", "last_read", "last_write", "readers")

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.grain = MAX_GRAIN
        self.cells: dict[str, Cells] = {}
        self.readers: dict[int, Cells] = {}
        self.last_write: dict[int, int] = {}
        self.last_read: dict[int, int] = {}

    def fit(self, region: Bytes) -> None:
        """Makes the cells fine enough for ``region``."""
        if region.grain < self.grain:
            factor = self.grain // region.grain
            self.grain = region.grain
            size = self._size
            self.cells = {name: np.repeat(cells, factor)[:size] for name, cells in self.cells.items()}
            self.readers = {actor: np.repeat(cells, factor)[:size] for actor, cells in self.readers.items()}

    @property
    def _size(self) -> int:
        return -(-self.capacity // self.grain)

    def layer(self, name: str, dtype: Any = np.int32) -> Cells:
        """Cells of one kind, 0 at first."""
        found = self.cells.get(name)
        if found is None:
            found = self.cells[name] = np.zeros(self._size, dtype)
        return found

    def reader(self, actor: int) -> Cells:
        """The last read event of ``actor`` in each cell."""
        found = self.readers.get(actor)
        if found is None:
            found = self.readers[actor] = np.zeros(self._size, np.int32)
        return found
