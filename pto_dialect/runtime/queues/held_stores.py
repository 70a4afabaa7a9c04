"""Stores of the scalar unit that the other pipes of its core do not see yet.

Hardware completes them at any time before the next flag that the scalar unit sets; a schedule may take the latest one.
Source: docs/reference/execution.md, "Scheduling".
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


class HeldStores:
    """Stores to ``memory``, which holds them as the scalar unit sees it."""

    def __init__(self, memory: Arena) -> None:
        self.memory = memory
        self.stores: list[Held] = []
        self._before: ByteArray | None = None

    def begin(self) -> None:
        """A store is about to be carried out."""
        self._before = self.memory.bytes.copy()

    def end(self) -> None:
        """The store has been carried out."""
        before, now = self._before, self.memory.bytes
        if before is not None:
            offsets = np.flatnonzero(before != now)
            if offsets.size:
                self.stores.append(Held(offsets, before[offsets], now[offsets]))
        self._before = None

    def complete(self) -> None:
        """Everybody sees the stores."""
        self.stores.clear()

    @contextmanager
    def hidden(self) -> Iterator[None]:
        """Memory as the other pipes see it; what they store where a store is under way is overwritten by it."""
        content = self.memory.bytes
        for store in reversed(self.stores):
            content[store.offsets] = store.old
        try:
            yield
        finally:
            for store in self.stores:
                content[store.offsets] = store.new
