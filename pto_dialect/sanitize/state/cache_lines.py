"""Lines of the data caches of scalar units: their content, and the threads that have changed the underlying memory.

Source: docs/reference/execution.md, "Data cache of the scalar unit".
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .regions import Elements

if TYPE_CHECKING:
    from .arena import InstrumentedArena
    from .clocks import Thread
    from .regions import Bytes, Cells

LINE = 64
"""Bytes of a line."""
_PAGE = 1 << 16
_MOST_PAGES = 32
_ANY_PAGE = -1


def lines_of(region: Bytes) -> range:
    """Returns the lines between the first and the last byte of a region."""
    return range(region.offset // LINE, -(-region.stop // LINE))


class Touched:
    """The bytes of each line that belong to a region, as masks: bit i is byte i of the line."""

    __slots__ = ("_run", "_starts")

    def __init__(self, region: Bytes) -> None:
        self._starts: Cells = np.sort(region.starts if isinstance(region, Elements) else region.starts())
        self._run = region.item if isinstance(region, Elements) else region.run

    def mask(self, line: int) -> int:
        """Returns the mask of the bytes of the region in a line."""
        first, run = line * LINE, self._run
        low, high = np.searchsorted(self._starts, (first - run + 1, first + LINE))
        bits = 0
        for start in self._starts[low:high].tolist():
            begin, end = max(0, start - first), min(LINE, start + run - first)
            bits |= (1 << end) - (1 << begin)
        return bits


def mask_bytes(mask: int) -> Cells:
    """Returns the byte indices of a mask."""
    return np.flatnonzero([mask >> number & 1 for number in range(LINE)])


class Write(NamedTuple):
    """An event that wrote bytes of a line, or stored them to a cache that has not written them to memory (``held``)."""

    event: int
    mask: int
    held: bool = False


class Suspect(NamedTuple):
    """A write to a line that a cache has changed, and the store ``stored`` that changed it; ``ordered`` states whether
    one of the two happens before the other."""

    write: Write
    stored: int
    ordered: bool


class Residency:
    """A line in the cache of a scalar unit, from its fetch until it is invalidated.

    ``content`` are its bytes in the cache, ``old`` those of memory under the ``dirty`` ones. ``stores`` are the stores
    of the scalar unit by event, ``foreign`` what others wrote to memory after the line may have been fetched. ``last``
    is the last of the stores, also where others have overwritten it, ``suspects`` the writes that may be lost when the
    line is written back, by their sites, ``written_back`` the count of the scalar unit's thread when it was, 0 before.
    """

    __slots__ = ("content", "dirty", "foreign", "last", "line", "old", "stores", "suspects", "thread", "written_back")

    def __init__(self, thread: Thread, arena: InstrumentedArena, line: int) -> None:
        self.thread = thread
        self.line = line
        self.content: Cells = arena.memory[line * LINE : (line + 1) * LINE].copy()
        self.old: Cells = self.content.copy()
        self.dirty = 0
        self.stores: dict[int, int] = {}
        self.foreign: list[Write] = []
        self.last = 0
        self.suspects: dict[tuple[int, int], Suspect] = {}
        self.written_back = 0

    def store(self, event: int, mask: int) -> None:
        """Handles a store of the scalar unit to these bytes; memory has the previous ones."""
        self.last = event
        self.overwritten(mask)
        self.stores[event] = self.stores.get(event, 0) | mask
        self.dirty |= mask

    def overwritten(self, mask: int) -> None:
        """Invalidates earlier stores of these bytes."""
        self.stores = {event: rest for event, known in self.stores.items() if (rest := known & ~mask)}


class Lines:
    """The content of the caches for one memory, and the threads that have written to it past them.

    ``resident`` are the lines in caches, by line and by the id of the scalar unit's thread, ``closed`` those that were
    changed and written back.
    """

    def __init__(self, arena: InstrumentedArena) -> None:
        self.arena = arena
        self.resident: dict[int, dict[int, Residency]] = {}
        self.closed: dict[int, list[Residency]] = {}
        self._writes: dict[tuple[int, Hashable], tuple[int, Touched, range]] = {}
        """The last event of each thread and region that wrote past the caches."""
        self._pages: dict[int, dict[tuple[int, Hashable], None]] = {}

    @property
    def known(self) -> bool:
        """Returns whether caches hold or have held some of the memory."""
        return bool(self.resident or self.closed)

    def note(self, thread: Thread, region: Bytes, event: int) -> Touched:
        """Records that ``thread`` writes past the caches."""
        shape = region.starts.tobytes() if isinstance(region, Elements) else (region.offset, region.run, region.dims)
        key = (thread.number, shape)
        known = self._writes.get(key)
        if known is not None:
            self._writes[key] = (event, known[1], known[2])
            return known[1]
        touched = Touched(region)
        self._writes[key] = (event, touched, lines_of(region))
        first, last = region.offset // _PAGE, (region.stop - 1) // _PAGE
        for page in range(first, last + 1) if last - first < _MOST_PAGES else (_ANY_PAGE,):
            self._pages.setdefault(page, {})[key] = None
        return touched

    def written(self, line: int) -> Iterator[Write]:
        """Returns what was written to a line past the caches."""
        for page in (line * LINE // _PAGE, _ANY_PAGE):
            for key in self._pages.get(page, ()):
                event, touched, lines = self._writes[key]
                mask = touched.mask(line) if line in lines else 0
                if mask:
                    yield Write(event, mask)

    def touched(self, region: Bytes, touched: Touched) -> Iterator[tuple[int, int]]:
        """Returns the lines of a region that caches hold or have held, each with the bytes of it that belong to the
        region."""
        span, known = lines_of(region), self.resident.keys() | self.closed.keys()
        for line in sorted(known.intersection(span)) if len(known) > len(span) else sorted(known):
            if line in span and (mask := touched.mask(line)):
                yield line, mask

    def others(self, line: int, thread: Thread) -> list[Residency]:
        """Returns a line in the caches of other scalar units than ``thread``."""
        return [one for one in self.resident.get(line, {}).values() if one.thread is not thread]
