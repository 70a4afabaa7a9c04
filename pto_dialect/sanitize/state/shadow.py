"""Shadow memory: the last writer and readers of the bytes of one memory, and whether they are initialized.

One cell represents ``grain`` bytes; the first access that needs finer cells splits all of them. Cells that all accesses
so far have touched together are one shadow range, so an access to the same bytes as before reads one record. Where
accesses partly overlap, ranges are split; a memory with too many of them continues with a record for each cell. Source:
docs/reference/instrumentation.md, "Shadow memory".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pto_dialect.accel import enabled

from .regions import MAX_GRAIN, Bytes, Cells, Elements, Runs, ShadowRange, byte_runs, distinct, uniform

MAX_RANGES = 1024
"""Maximum number of shadow ranges of one memory."""
_TOGETHER = 128
"""Maximum number of shadow ranges of one access."""
_SCATTERED = 32
"""Maximum number of elements at any offsets that may become shadow ranges."""

OWNER, VICTIM, WRITER, WRITTEN = "owner", "victim", "writer", "written"
"""The record of a shadow range: the tile that wrote it last, the set of tiles that have lost it since they wrote it
(see :class:`~.victims.Victims`), the last write, the initialization mark."""
_LAYERS = {WRITER: np.int32, OWNER: np.int32, VICTIM: np.int32, WRITTEN: np.uint8}


class Shadow:
    """Shadow cells of a memory of ``capacity`` bytes.

    ``cells`` and ``readers`` are used where there are no shadow ranges. ``version`` changes when ranges are split:
    regions that cached theirs have to locate them again.
    """

    __slots__ = (
        *("_numbers", "_places", "capacity", "cells", "grain", "last_read", "last_write", "readers", "spread"),
        "version",
    )

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.grain = MAX_GRAIN
        self.cells: dict[str, Cells] = {}
        self.readers: dict[int, Cells] = {}
        self.last_write: dict[int, int] = {}
        self.last_read: dict[int, int] = {}
        self.version = 0
        self.spread = MAX_RANGES < 1 or not enabled("shadow")
        self._numbers: Cells | None = None
        self._places = [ShadowRange(0, self._size)]

    @property
    def _size(self) -> int:
        return -(-self.capacity // self.grain)

    def fit(self, region: Bytes) -> None:
        """Makes the cells fine enough for ``region``."""
        if region.grain < self.grain:
            factor = self.grain // region.grain
            self.grain = region.grain
            size = self._size
            self.cells = {name: np.repeat(cells, factor)[:size] for name, cells in self.cells.items()}
            self.readers = {thread: np.repeat(cells, factor)[:size] for thread, cells in self.readers.items()}
            if self._numbers is not None:
                self._numbers = np.repeat(self._numbers, factor)[:size]
                for one, count in zip(self._places, np.bincount(self._numbers).tolist(), strict=True):
                    one.size = count
            elif not self.spread:
                self._places[0].size = size

    # ------------------------------------------------------------ shadow ranges

    def locate(self, region: Bytes) -> list[ShadowRange] | None:
        """Returns the shadow ranges that ``region`` consists of; ``None`` where this memory has a record
        for each cell."""
        self.fit(region)
        ranges = None if self.spread else self._cut(region)
        region.places, region.version = ranges, self.version
        return ranges

    def _cut(self, region: Bytes) -> list[ShadowRange] | None:
        if self._numbers is None:
            self._numbers = np.zeros(self._size, np.int16)
        numbers = self._numbers
        if isinstance(region, Elements) and region.starts.size > _SCATTERED:
            return self._spread()
        index = None if region.plain else region.index(self.grain)
        touched = region.cells(numbers, self.grain) if index is None else numbers[index]
        only = uniform(touched)
        ranges: list[ShadowRange] = []
        for number in distinct(touched) if only is None else (only,):
            one = self._places[number]
            chosen = None if only is not None else touched == number
            size = touched.size if chosen is None else int(np.count_nonzero(chosen))
            if size < one.size:
                one = one.cut(len(self._places), size)
                self._places.append(one)
                self.version += 1
                if len(self._places) > MAX_RANGES:
                    return self._spread()
                if index is not None:
                    numbers[index if chosen is None else index[chosen]] = one.number
                elif chosen is None:
                    touched[...] = one.number
                else:
                    touched[chosen] = one.number
            ranges.append(one)
        return ranges if len(ranges) <= _TOGETHER else self._spread()

    def _spread(self) -> None:
        """Gives each cell a record of its own."""
        numbers = self._numbers
        assert numbers is not None
        ranges = self._places[: int(numbers.max(initial=0)) + 1]
        for name, dtype in _LAYERS.items():
            self.cells[name] = np.array([getattr(one, name) for one in ranges], dtype)[numbers]
        for thread in {thread for one in ranges for thread in one.readers}:
            self.readers[thread] = np.array([one.readers.get(thread, 0) for one in ranges], np.int32)[numbers]
        self.spread = True
        self.version += 1
        self._numbers, self._places = None, []

    def bytes_of(self, region: Bytes, ranges: Sequence[ShadowRange]) -> Cells:
        """Returns the offsets of the bytes of ``region`` that are in one of the ``ranges``."""
        assert self._numbers is not None
        if len(ranges) == 1 and len(region.places or ()) == 1:
            return region.offsets()
        inside = np.isin(region.cells(self._numbers, self.grain).reshape(-1), [one.number for one in ranges])
        return region.offsets()[np.repeat(inside, self.grain)]

    def runs_of(self, region: Bytes, ranges: Sequence[ShadowRange]) -> Runs:
        """Returns the same bytes as half-open ranges, ascending. The ``ranges`` are parts of ``region``."""
        assert self._numbers is not None
        first, grain = region.offset // self.grain, self.grain
        numbers = self._numbers[first : -(-region.stop // grain)]
        only = len(ranges) == 1
        inside = numbers == ranges[0].number if only else np.isin(numbers, [one.number for one in ranges])
        edges = np.flatnonzero(np.diff(np.concatenate(([False], inside, [False])).view(np.int8)))
        bounds = ((edges + first) * grain).tolist()
        return list(zip(bounds[::2], bounds[1::2], strict=True))

    # ------------------------------------------------------------ cells

    def layer(self, name: str) -> Cells:
        """Returns the cells of one kind, 0 at first."""
        cells = self.cells.get(name)
        if cells is None:
            cells = self.cells[name] = np.zeros(self._size, _LAYERS[name])
        return cells

    def reader(self, thread: int) -> Cells:
        """Returns the last read event of ``thread`` in each cell."""
        cells = self.readers.get(thread)
        if cells is None:
            cells = self.readers[thread] = np.zeros(self._size, np.int32)
        return cells

    def bytes_where(self, region: Bytes, chosen: Any) -> Cells:
        """Returns the offsets of the bytes of ``region`` in those of its cells that are ``chosen``."""
        return region.offsets()[np.repeat(chosen.reshape(-1), self.grain)]

    def runs_where(self, region: Bytes, chosen: Any) -> Runs:
        """Returns the same bytes as half-open ranges, ascending."""
        return byte_runs(self.bytes_where(region, chosen))
