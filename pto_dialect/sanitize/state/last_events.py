"""The last events at the bytes of an access, in either representation of shadow memory. Source:
docs/reference/instrumentation.md, "Shadow memory"."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .regions import Bytes, Cells, Runs, byte_runs, distinct
from .shadow import WRITER, Shadow, ShadowRange

ShadowRanges = Sequence[ShadowRange] | None
"""Shadow ranges of the bytes of an access; ``None`` for a record for each cell."""


class CellEvents:
    """Events of single cells."""

    __slots__ = ("found", "region", "shadow")

    def __init__(self, cells: Cells, shadow: Shadow, region: Bytes) -> None:
        self.shadow = shadow
        self.region = region
        self.found = region.cells(cells, shadow.grain)

    def events(self) -> list[int]:
        """Returns the events, ascending; 0 for none."""
        return distinct(self.found)

    def offsets(self, event: int) -> Cells:
        """Returns the bytes with that event."""
        return self.shadow.bytes_where(self.region, self.found == event)

    def runs(self, event: int) -> Runs:
        """Returns these bytes as half-open ranges, ascending."""
        return byte_runs(self.offsets(event))

    def read_since(self, event: int) -> bool:
        """Returns whether some of the bytes were read since ``event``."""
        grain, readers = self.shadow.grain, self.shadow.readers.values()
        return any(bool((self.region.cells(cells, grain) > event).any()) for cells in readers)


class RangeEvents:
    """Events of shadow ranges: the last writes, or the last reads of ``reader``."""

    __slots__ = ("places", "reader", "region", "shadow")

    def __init__(self, ranges: Sequence[ShadowRange], reader: int | None, shadow: Shadow, region: Bytes) -> None:
        self.places = ranges
        self.reader = reader
        self.shadow = shadow
        self.region = region

    def _event(self, one: ShadowRange) -> int:
        return one.writer if self.reader is None else one.readers.get(self.reader, 0)

    def events(self) -> list[int]:
        """As in ``CellEvents``."""
        ranges = self.places
        if len(ranges) == 1:
            return [self._event(ranges[0])]
        return sorted({self._event(one) for one in ranges})

    def offsets(self, event: int) -> Cells:
        """As in ``CellEvents``."""
        return self.shadow.bytes_of(self.region, [one for one in self.places if self._event(one) == event])

    def runs(self, event: int) -> Runs:
        """As in ``CellEvents``."""
        return self.shadow.runs_of(self.region, [one for one in self.places if self._event(one) == event])

    def read_since(self, event: int) -> bool:
        """As in ``CellEvents``."""
        return any(read > event for one in self.places for read in one.readers.values())


Found = CellEvents | RangeEvents


def last_writers(ranges: ShadowRanges, shadow: Shadow, region: Bytes) -> Found:
    """Returns the last writes of the bytes."""
    if ranges is None:
        return CellEvents(shadow.layer(WRITER), shadow, region)
    return RangeEvents(ranges, None, shadow, region)


def last_readers(thread: int, ranges: ShadowRanges, shadow: Shadow, region: Bytes) -> Found:
    """Returns the last reads of the bytes by ``thread``."""
    if ranges is None:
        return CellEvents(shadow.reader(thread), shadow, region)
    return RangeEvents(ranges, thread, shadow, region)


def replaced_reads(thread: int, event: int, ranges: ShadowRanges, shadow: Shadow, region: Bytes) -> Found | None:
    """Returns the reads by ``thread`` that were the last ones before ``event``, which reads the same bytes."""
    if ranges is not None:
        again = [one for one in ranges if one.readers.get(thread) == event and ~thread in one.readers]
        return RangeEvents(again, ~thread, shadow, region) if again else None
    if ~thread not in shadow.readers:
        return None
    events = CellEvents(shadow.reader(~thread), shadow, region)
    events.found = np.where(region.cells(shadow.reader(thread), shadow.grain) == event, events.found, 0)
    return events


def record_replaced_reads(thread: int, event: int, ranges: ShadowRanges, shadow: Shadow, region: Bytes) -> None:
    """Records the last reads by ``thread`` of what ``event`` is about to read; see `found_replaced`."""
    if ranges is None:
        last = region.cells(shadow.reader(thread), shadow.grain)
        before = shadow.reader(~thread)
        retained = np.where(last == event, region.cells(before, shadow.grain), last)
        region.set(before, shadow.grain, retained)
        return
    for one in ranges:
        last = one.readers.get(thread, event)
        if last != event:
            one.readers[~thread] = last
