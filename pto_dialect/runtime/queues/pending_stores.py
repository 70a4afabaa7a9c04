"""Stores of the scalar unit that are not yet visible to the other pipes of its core.

Hardware completes them at any time before the next flag that the scalar unit sets; a schedule may choose the latest
time. Source: docs/reference/execution.md, "Scheduling".
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np

from ..memory.spaces import Arena, Array, ByteArray


class Held(NamedTuple):
    """Bytes at ``offsets`` before and after a store."""

    offsets: Array
    old: ByteArray
    new: ByteArray


class PendingStores:
    """Stores to ``memory``, which has the content that the scalar unit sees."""

    def __init__(self, memory: Arena) -> None:
        self.memory = memory
        self.stores: list[Held] = []
        self._before: ByteArray | None = None

    def begin(self) -> None:
        """Starts a store."""
        self._before = self.memory.bytes.copy()

    def end(self) -> None:
        """Ends the store."""
        before, now = self._before, self.memory.bytes
        if before is not None:
            offsets = np.flatnonzero(before != now)
            if offsets.size:
                self.stores.append(Held(offsets, before[offsets], now[offsets]))
        self._before = None

    def complete(self) -> None:
        """Makes the stores visible to all pipes."""
        self.stores.clear()

    @contextmanager
    def hidden(self) -> Iterator[None]:
        """Returns the memory as the other pipes see it; a pending store overwrites what they store to its bytes."""
        content = self.memory.bytes
        for store in reversed(self.stores):
            content[store.offsets] = store.old
        try:
            yield
        finally:
            for store in self.stores:
                content[store.offsets] = store.new
