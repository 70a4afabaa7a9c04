"""The contents of one memory at any step: the bytes written, newest first, until all requested ones are known.

Source: docs/reference/recording.md, "Memory at a step".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from pto_dialect.runtime.memory.spaces import Array

from .format import NO_PATTERN
from .model import Memory

if TYPE_CHECKING:
    from .columns import Accesses

_NEAR = 512
"""Maximum number of writes between the cached image and a requested step for which the image is updated."""

_WHOLE = 4096
"""Number of requested bytes from which an image of the whole memory is cached."""


class History:
    """The writes to ``memory``, which is full of its ``fill`` or has the content ``initial`` before the first step;
    ``written`` gives the bytes of an access."""

    def __init__(
        self, memory: Memory, initial: Array | None, accesses: Accesses, written: Callable[[int], Array]
    ) -> None:
        self.memory = memory
        self.initial = initial
        self.accesses = accesses
        self.written = written
        self.numbers = np.flatnonzero((accesses.memory == memory.number) & (accesses.writes != 0))
        self.steps = accesses.step[self.numbers]
        self.first = accesses.first[self.numbers]
        self.stop = accesses.stop[self.numbers]
        self._places = _locations_of(accesses, self.numbers)
        """By write: the id of the location it writes to."""
        self._image: Array | None = None
        self._done = 0
        """Writes that the image has."""

    def start(self, first: int, stop: int) -> Array:
        """Returns a copy of the bytes before the first step."""
        if self.initial is None:
            return np.full(stop - first, self.memory.fill, np.uint8)
        return self.initial[first:stop].copy()

    def writers(self, step: int, first: int, stop: int) -> Array:
        """Returns the accesses up to ``step`` that may have written bytes in [``first``, ``stop``), oldest first."""
        count = int(np.searchsorted(self.steps, step, side="right"))
        found = np.flatnonzero((self.first[:count] < stop) & (self.stop[:count] > first))
        return self.numbers[found]

    def at(self, step: int, first: int, stop: int) -> Array:
        """Returns the bytes after ``step``; the array may be changed by the next call."""
        count = int(np.searchsorted(self.steps, step, side="right"))
        if stop - first < _WHOLE and (self._image is None or count != self._done):
            return self._search(count, first, stop)
        if self._image is None:
            self._image = self._search(count, 0, self.memory.size)
        elif not self._done <= count <= self._done + _NEAR:
            self._jump(min(count, self._done), max(count, self._done), count)
        else:
            for number in self.numbers[self._done : count].tolist():
                self._put(self._image, number)
        self._done = count
        return self._image[first:stop]

    def _jump(self, begin: int, end: int, count: int) -> None:
        """Moves the image: what the writes from ``begin`` up to ``end`` touch gets what it is after ``count``."""
        assert self._image is not None
        first, stop = int(self.first[begin:end].min()), int(self.stop[begin:end].max())
        self._image[first:stop] = self._search(count, first, stop)

    def _newest(self, count: int, first: int, stop: int) -> Array:
        """Those of the first ``count`` writes that may determine bytes in [``first``, ``stop``), newest first: of all
        writes to one location the last one."""
        near = np.flatnonzero((self.first[:count] < stop) & (self.stop[:count] > first))
        last = np.full(len(self.numbers) + 1, -1, np.int64)
        last[self._places[near]] = near
        return np.sort(last[last >= 0])[::-1]

    def _search(self, count: int, first: int, stop: int) -> Array:
        """Returns the bytes after the first ``count`` writes, from the newest write of each."""
        found = self.start(first, stop)
        open_ = np.ones(stop - first, np.bool_)
        left = stop - first
        for place in self._newest(count, first, stop).tolist():
            number = int(self.numbers[place])
            low, high = int(self.first[place]), int(self.stop[place])
            values = self.written(number)
            a, b = max(low, first), min(high, stop)
            if values.size == high - low and self._dense(number):
                part = open_[a - first : b - first]
                chosen = values[a - low : b - low]
                target = found[a - first : b - first]
                fresh = int(np.count_nonzero(part))
                if fresh == b - a:
                    target[...] = chosen
                elif fresh:
                    target[part] = chosen[part]
                part[...] = False
            else:
                fresh = self._scattered(number, values, found, open_, first)
            left -= fresh
            if not left:
                break
        return found

    def _scattered(self, number: int, values: Array, found: Array, open_: Array, first: int) -> int:
        """Takes from one write with holes the bytes that are not known yet; how many."""
        offsets = self.offsets(number)
        inside = (offsets >= first) & (offsets < first + found.size)
        places, values = offsets[inside] - first, values[inside]
        fresh = open_[places]
        # Where bytes occur twice they have the same value: the one that was left in the end.
        found[places[fresh]] = values[fresh]
        before = int(np.count_nonzero(open_[places]))
        open_[places] = False
        if not self._distinct(number):
            return int(np.unique(places[fresh]).size)
        return before

    def _dense(self, number: int) -> bool:
        pattern = int(self.accesses.pattern[number])
        return pattern != NO_PATTERN and not self.accesses.patterns[pattern][1]

    def _distinct(self, number: int) -> bool:
        pattern = int(self.accesses.pattern[number])
        if pattern == NO_PATTERN:
            return False
        run, dims = self.accesses.patterns[pattern]
        reach = run
        for count, stride in dims:
            if stride < reach:
                return False
            reach += (count - 1) * stride
        return True

    def offsets(self, number: int) -> Array:
        """Returns the bytes of an access in the order in which they are stored."""
        pattern = int(self.accesses.pattern[number])
        if pattern == NO_PATTERN:
            starts, item = self.accesses.gathered(number)
            return (starts[:, None] + np.arange(item)).reshape(-1)
        run, dims = self.accesses.patterns[pattern]
        first = int(self.accesses.first[number])
        total = np.arange(first, first + run)
        for count, stride in reversed(dims):
            total = (np.arange(count) * stride).reshape(-1, *(1,) * total.ndim) + total
        return total.reshape(-1)

    def _put(self, content: Array, number: int) -> None:
        values = self.written(number)
        if self._dense(number):
            first = int(self.accesses.first[number])
            content[first : first + values.size] = values
        else:
            content[self.offsets(number)] = values


def _locations_of(accesses: Accesses, numbers: Array) -> Array:
    """For each of these accesses a number that those share which touch the same bytes in the same pattern."""
    pattern, first = accesses.pattern[numbers].astype(np.int64), accesses.first[numbers]
    single = np.flatnonzero(pattern == NO_PATTERN)
    # A pattern distinguishes single elements from all others.
    pattern[single] = len(accesses.patterns) + np.arange(single.size)
    order = np.lexsort((first, pattern))
    new = (np.diff(pattern[order]) != 0) | (np.diff(first[order]) != 0)
    found = np.zeros(len(numbers), np.int64)
    found[order[1:]] = np.cumsum(new)
    return found
