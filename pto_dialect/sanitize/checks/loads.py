"""Loads that another load overwrites before any read: their data is lost whatever orders the pipes.

Source: docs/reference/instrumentation.md, "Findings".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..state.regions import Bytes

if TYPE_CHECKING:
    from ..state.arena import InstrumentedArena

_MOST = 64
"""Maximum number of recorded loads of one memory."""


class Loads:
    """The loads of each memory that were not read; ``lost`` has the numbers of the tiles of two loads of which the
    second one has replaced the first."""

    def __init__(self) -> None:
        self.lost: set[tuple[int, int]] = set()
        self._unread: dict[Any, list[tuple[int, int, int]]] = {}

    def clear(self) -> None:
        """Forgets all loads."""
        self.lost.clear()
        self._unread.clear()

    def read(self, arena: InstrumentedArena, region: Bytes) -> None:
        """Handles a read."""
        unread = self._unread.get(arena)
        if unread:
            low, high = region.offset, region.stop
            self._unread[arena] = [one for one in unread if one[0] >= high or low >= one[1]]

    def write(self, arena: InstrumentedArena, region: Bytes, number: int, loads: bool) -> None:
        """Handles a write to the tile ``number``; ``loads`` states that the content comes from global memory."""
        unread = self._unread.get(arena)
        if unread is None:
            if loads and number:
                self._unread[arena] = [(region.offset, region.stop, number)]
            return
        low, high = region.offset, region.stop
        replaced = [one for one in unread if one[0] < high and low < one[1]]
        if replaced:
            unread = self._unread[arena] = [one for one in unread if one not in replaced]
        if loads and number:
            self.lost.update((other, number) for _, _, other in replaced if other != number)
            unread.append((low, high, number))
            del unread[:-_MOST]
