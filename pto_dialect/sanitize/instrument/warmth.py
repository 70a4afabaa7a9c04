"""The content of the second-level cache for global memory, and since when.

All cores share one cache. Bytes are there from the end of the first transfer that accesses them, in model time: a core
that is simulated later, but starts its transfer earlier, finds them as cold as the first one did. Source:
docs/reference/cycles.md, "Pipes".
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ..state.regions import Bytes, Cells, Elements, Region, ascending

SECTOR = 32
"""Minimum number of bytes that global memory delivers."""

WAVE = 1e12
"""Model time between blocks that run concurrently and those that start when cores are free again."""


class Touched(NamedTuple):
    """Sectors of one memory that a transfer accesses: when each got into the cache, their indices, and their bytes."""

    since: Cells
    where: slice | Cells
    size: int


Saved = list[tuple[Cells, slice | Cells, Cells]]
"""Times of sectors before a change: of a memory, of these sectors, and their times."""


class Warmth:
    """For each memory the time since which each of its sectors is in the cache; infinite for untouched ones."""

    def __init__(self) -> None:
        self._since: dict[int, tuple[Any, Cells]] = {}

    def touched(self, regions: Sequence[tuple[Any, Bytes, bool]]) -> list[Touched]:
        """Returns the sectors of shared memory that a transfer of ``regions`` accesses, by memory, each sector once."""
        public = [(arena, region) for arena, region, _ in regions if arena.public]
        if len(public) == 1:
            ((arena, region),) = public
            return [Touched(self._known(arena), sectors_of(region), region.size)]
        by_memory: dict[int, list[Bytes]] = {}
        known: dict[int, Cells] = {}
        for arena, region in public:
            known[id(arena)] = self._known(arena)
            by_memory.setdefault(id(arena), []).append(region)
        return [
            Touched(known[key], _sectors(parts), sum(part.size for part in parts)) for key, parts in by_memory.items()
        ]

    def _known(self, arena: Any) -> Cells:
        known = self._since.get(id(arena))
        if known is None:
            # The memory is retained as well, so that no other one gets its identity.
            known = self._since[id(arena)] = (arena, np.full(-(-arena.capacity // SECTOR), np.inf))
        return known[1]


def cold_bytes(touched: Sequence[Touched], time: float) -> int:
    """Returns how many bytes are not in the cache at ``time``."""
    total = 0
    for since, where, size in touched:
        late = since[where] > time
        if late.any():
            total += min(size, SECTOR * int(np.count_nonzero(late)))
    return total


def fill(touched: Sequence[Touched], time: float) -> None:
    """Marks the bytes as cached from ``time`` on."""
    for since, where, _ in touched:
        since[where] = np.minimum(since[where], time)


def _sectors(regions: Sequence[Bytes]) -> slice | Cells:
    numbers = [sectors_of(region) for region in regions]
    return ascending(np.concatenate([np.r_[one] if isinstance(one, slice) else one for one in numbers]))


def sectors_of(region: Bytes) -> slice | Cells:
    """Returns the indices of the sectors that a region touches, each once."""
    if isinstance(region, Elements):
        return _touched(region.starts, region.item)
    if not region.dims:
        return slice(region.offset // SECTOR, (region.stop - 1) // SECTOR + 1)
    return _of_rows(region.offset, region.run, region.dims)


@lru_cache(maxsize=1024)
def _of_rows(offset: int, run: int, dims: tuple[tuple[int, int], ...]) -> Cells:
    # Programs access the same rows again.
    return _touched(Region(offset, run, dims).starts(), run)


def _touched(starts: Cells, run: int) -> Cells:
    first, last = starts // SECTOR, (starts + (run - 1)) // SECTOR
    numbers = first[:, None] + np.arange(int((last - first).max(initial=0)) + 1)
    return ascending(np.minimum(numbers, last[:, None]))
