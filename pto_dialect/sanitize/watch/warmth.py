"""Which bytes of global memory the second-level cache has, and since when.

All cores share one cache. Bytes are there from the end of the first transfer that touches them, in model time: a core
that is simulated later, but starts its transfer earlier, finds them as cold as the first one did.
Source: docs/reference/cycles.md, "Pipes".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..state.regions import Bytes, Cells, Elements, ascending

SECTOR = 32
"""Bytes that global memory delivers at the least."""

WAVE = 1e12
"""Model time between blocks that run side by side and those that start when cores are free again."""


class Touched(NamedTuple):
    """Sectors of one memory that a transfer touches: when each got into the cache, which they are, and their bytes."""

    since: Cells
    where: slice | Cells
    size: int


class Warmth:
    """For each memory the time since which each of its sectors is in the cache; infinite where none has touched it."""

    def __init__(self) -> None:
        self._since: dict[int, tuple[Any, Cells]] = {}

    def touched(self, regions: Sequence[tuple[Any, Bytes, bool]]) -> list[Touched]:
        """The sectors of shared memory that a transfer of ``regions`` touches, by memory, each sector once."""
        by_memory: dict[int, list[Bytes]] = {}
        for arena, region, _ in regions:
            if arena.public:
                self._known(arena)
                by_memory.setdefault(id(arena), []).append(region)
        return [
            Touched(self._since[key][1], _sectors(parts), sum(part.size for part in parts))
            for key, parts in by_memory.items()
        ]

    def _known(self, arena: Any) -> None:
        if id(arena) not in self._since:
            # The memory is kept as well, so that no other one gets its identity.
            self._since[id(arena)] = (arena, np.full(-(-arena.capacity // SECTOR), np.inf))


def cold_bytes(touched: Sequence[Touched], time: float) -> int:
    """How many bytes are not in the cache at ``time``."""
    return sum(min(size, SECTOR * int(np.count_nonzero(since[where] > time))) for since, where, size in touched)


def fill(touched: Sequence[Touched], time: float) -> None:
    """The bytes are in the cache from ``time`` on."""
    for since, where, _ in touched:
        since[where] = np.minimum(since[where], time)


def _sectors(regions: Sequence[Bytes]) -> slice | Cells:
    if len(regions) == 1:
        return sectors_of(regions[0])
    numbers = [sectors_of(region) for region in regions]
    return ascending(np.concatenate([np.r_[one] if isinstance(one, slice) else one for one in numbers]))


def sectors_of(region: Bytes) -> slice | Cells:
    """The numbers of the sectors that a region touches, each once."""
    if isinstance(region, Elements):
        starts, run = region.starts, region.item
    elif not region.dims:
        return slice(region.offset // SECTOR, (region.stop - 1) // SECTOR + 1)
    else:
        starts, run = region.starts(), region.run
    first, last = starts // SECTOR, (starts + (run - 1)) // SECTOR
    numbers = first[:, None] + np.arange(int((last - first).max(initial=0)) + 1)
    return ascending(np.minimum(numbers, last[:, None]))
