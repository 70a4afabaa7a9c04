"""The data cache of a scalar unit, as ``--scalar-cache`` runs it: lines of 64 bytes, written back as a whole.

Source: docs/reference/execution.md, "Data cache of the scalar unit".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .spaces import Arena, Array, ByteArray, DType, Pointer

LINE = 64
"""Bytes of a line."""


class CachedArena(Arena):
    """Global memory over ``content``; while ``access`` names a cache, elements come from it."""

    __slots__ = ("access",)

    def __init__(self, original: Arena, access: Access) -> None:
        super().__init__(original.space, original.capacity, name=original.name, base_align=original.base_align)
        self._bytes = original.bytes
        self.access = access

    def array(self, shape: Sequence[int], dtype: DType, offset: int, byte_strides: Sequence[int]) -> Array:
        """Elements as an array of the memory, or of a line."""
        cache = self.access.cache
        if cache is not None and offset // LINE == (offset + dtype.itemsize - 1) // LINE:
            return cache.array(self, shape, dtype, offset, byte_strides)
        return super().array(shape, dtype, offset, byte_strides)


class Access:
    """The cache that the current operation uses; ``caches`` are those of all cores of a launch."""

    def __init__(self) -> None:
        self.cache: DataCache | None = None
        self.caches: list[DataCache] = []

    def end(self) -> None:
        """Ends the kernel in all cores: each writes back its changes."""
        for cache in self.caches:
            cache.maintain(None)


class Line:
    """One line of memory in a cache."""

    __slots__ = ("content", "dirty", "memory", "offset")

    def __init__(self, memory: ByteArray, offset: int) -> None:
        self.memory = memory
        self.offset = offset
        self.content = memory[offset : offset + LINE].copy()
        self.dirty = False


class DataCache:
    """The cache of one scalar unit."""

    def __init__(self, access: Access) -> None:
        self.access = access
        access.caches.append(self)
        self.stores = False
        self._lines: dict[int, Line] = {}

    def enter(self, stores: bool) -> None:
        """Starts an operation that uses the cache."""
        self.stores = stores
        self.access.cache = self

    def leave(self) -> None:
        """Ends the operation."""
        self.access.cache = None

    def array(
        self, arena: Arena, shape: Sequence[int], dtype: DType, offset: int, byte_strides: Sequence[int]
    ) -> Array:
        """Returns an element as an array of its line."""
        line = self._lines.get(key := _key(arena, offset))
        if line is None:
            line = self._lines[key] = Line(arena.bytes, offset // LINE * LINE)
        line.dirty |= self.stores
        return np.ndarray(shape, dtype, line.content, offset - line.offset, byte_strides)

    def maintain(self, pointer: Pointer | None) -> None:
        """Writes the line at ``pointer`` back, or all lines, and invalidates it."""
        for key in list(self._lines) if pointer is None else (_key(pointer.arena, pointer.offset),):
            line = self._lines.pop(key, None)
            if line is not None and line.dirty:
                line.memory[line.offset : line.offset + line.content.size] = line.content

    def forget(self, signal: Any) -> None:
        """Invalidates the lines of a signal in memory."""
        for offset in offsets_of(signal):
            self.maintain(Pointer(signal.pointer.arena, offset, signal.pointer.dtype))


def _key(arena: Arena, offset: int) -> int:
    """Returns the address of a line, which is the same under every name of a buffer."""
    start: int = arena.bytes.__array_interface__["data"][0]
    return start + offset // LINE * LINE


def offsets_of(signal: Any) -> list[int]:
    """Returns the byte offsets of the numbers of a signal."""
    pointer = signal.pointer
    offsets = np.zeros(1, np.int64)
    for extent, stride in zip(signal.shape, signal.strides, strict=True):
        offsets = (offsets[:, None] + np.arange(extent) * stride).reshape(-1)
    return [pointer.offset + int(offset) * pointer.item_bytes for offset in offsets]
