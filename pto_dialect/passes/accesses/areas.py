"""Which parts of the memories may overlap, found once for each part.

Source: docs/reference/synchronisation.md, "Dependences".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable
from dataclasses import dataclass

from .locations import GLOBAL, MemoryLocation


@dataclass(eq=False, slots=True)
class Area:
    """A part of a memory: bytes ``[start, stop)`` if ``root`` is ``"bytes"``, with an open end where ``stop`` is
    ``None``; otherwise all of an object, or of the memory where ``root`` is ``None``. Areas of one memory and root, and
    only these, have the same ``family``. There is one area for each part, which is compared by identity."""

    space: str
    root: Hashable
    start: int
    stop: int | None
    family: int


class _Memory:
    """The areas of one memory: unknown ones, bytes, and objects."""

    __slots__ = ("anywhere", "bytes", "objects")

    def __init__(self) -> None:
        self.anywhere: list[Area] = []
        self.bytes: list[Area] = []
        self.objects: list[Area] = []


class Areas:
    """The areas of accesses so far, each with all those that may overlap it, itself first."""

    __slots__ = ("_families", "_found", "_memories", "_met", "_parts")

    def __init__(self) -> None:
        self._memories: dict[str, _Memory] = defaultdict(_Memory)
        self._families: dict[tuple[str, Hashable], int] = {}
        self._parts: dict[tuple[Hashable, ...], Area] = {}
        self._met: dict[Area, list[Area]] = {}
        self._found: dict[int, tuple[MemoryLocation, list[Area]]] = {}
        """The result for each location, by the id of the location, which therefore stays."""

    def meeting(self, location: MemoryLocation) -> list[Area]:
        """Returns the area of an access, and those that may overlap it; more may follow later."""
        found = self._found.get(id(location))
        if found is None:
            found = self._found[id(location)] = location, self._meeting(location)
        return found[1]

    def _meeting(self, location: MemoryLocation) -> list[Area]:
        key = location[:4] if location.root == "bytes" else location[:2]
        area = self._parts.get(key)
        if area is None:
            area = self._parts[key] = self._added(location)
        return self._met[area]

    def _added(self, location: MemoryLocation) -> Area:
        """Returns a new area, with those that it meets, which meet it from now on."""
        space, root, start, stop, *_ = location
        family = self._families.setdefault((space, root), len(self._families))
        area = Area(space, root, start, stop, family) if root == "bytes" else Area(space, root, 0, None, family)
        memory = self._memories[space]
        others = _others(area, memory)
        for other in others:
            self._met[other].append(area)
        kind = memory.anywhere if root is None else memory.bytes if root == "bytes" else memory.objects
        kind.append(area)
        self._met[area] = [area, *others]
        return area


def _others(area: Area, memory: _Memory) -> list[Area]:
    """Returns the areas of ``memory`` that may overlap a new one. Pointers made of numbers may be anywhere in global
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
