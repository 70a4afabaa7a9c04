"""Which parts of the memories may overlap, found once for each part.

Source: docs/reference/synchronisation.md, "Dependences".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable
from typing import NamedTuple

from .locations import GLOBAL, MemoryLocation

Root = tuple[str, Hashable]
"""A memory, and an object in it."""


class Area(NamedTuple):
    """A part of a memory: bytes ``[start, stop)`` if ``root`` is ``"bytes"``, with an open end where ``stop`` is
    ``None``; otherwise all of an object, or of the memory where ``root`` is ``None``."""

    space: str
    root: Hashable
    start: int = 0
    stop: int | None = None


class _Memory:
    """The areas of one memory: unknown ones, bytes, and objects."""

    __slots__ = ("anywhere", "bytes", "objects")

    def __init__(self) -> None:
        self.anywhere: list[Area] = []
        self.bytes: list[Area] = []
        self.objects: list[Area] = []


class Areas:
    """The areas of accesses so far, each with all those that may overlap it, itself first."""

    __slots__ = ("_memories", "_met")

    def __init__(self) -> None:
        self._memories: dict[str, _Memory] = defaultdict(_Memory)
        self._met: dict[tuple[Hashable, ...], list[Area]] = {}

    def meeting(self, location: MemoryLocation) -> list[Area]:
        """The area of an access, and those that may overlap it; more may follow later."""
        key = location[:4] if location.root == "bytes" else location[:2]
        met = self._met.get(key)
        if met is None:
            met = self._met[key] = self._added(location)
        return met

    def _added(self, location: MemoryLocation) -> list[Area]:
        """A new area, and those that it meets, which meet it from now on."""
        space, root, start, stop, *_ = location
        area = Area(space, root, start, stop) if root == "bytes" else Area(space, root)
        memory = self._memories[space]
        others = _others(area, memory)
        for other in others:
            self._met[other if other.root == "bytes" else other[:2]].append(area)
        kind = memory.anywhere if root is None else memory.bytes if root == "bytes" else memory.objects
        kind.append(area)
        return [area, *others]


def _others(area: Area, memory: _Memory) -> list[Area]:
    """The areas of ``memory`` that may overlap a new one. Pointers made of numbers may be anywhere in global
    memory; objects on the chip have bytes of their own."""
    mixed = area.space == GLOBAL
    if area.root is None:
        return [*memory.anywhere, *memory.bytes, *memory.objects]
    if area.root != "bytes":
        return [*memory.anywhere, *(memory.bytes if mixed else ())]
    start, stop = area.start, area.stop
    overlapping = [
        one for one in memory.bytes if (one.stop is None or start < one.stop) and (stop is None or one.start < stop)
    ]
    return [*memory.anywhere, *overlapping, *(memory.objects if mixed else ())]
