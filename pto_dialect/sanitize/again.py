"""Launches that come again under watch: one that was watched and found in order is not watched a second time.

What a launch accesses, in which order and through which tiles follows from its numbers alone in most kernels, because
the control flow reads no memory. So do the findings, unless a check had to look at what memory holds. A later launch
with the same numbers, whose buffers have all that the first one has accessed and overlap in the same way, runs in plain
code. Source: docs/sanitizers.md, "Launches that come again".
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from functools import cached_property
from time import perf_counter
from typing import Any

import numpy as np

from pto_dialect.runtime.memory.spaces import Pointer
from pto_dialect.runtime.replay.eligible import follows_numbers
from pto_dialect.runtime.run.launch import Kernel

from .launch import WatchedKernel
from .state.arena import WatchedArena

_NUMBERS = (bool, int, float, np.number, np.bool_)

PATIENCE = 0.1
"""Seconds that launches with the same numbers are watched before plain code, which has to be compiled, takes over."""

MOST_KEYS = 256
"""Launches of one kernel, different in their numbers, that are known."""


class RepeatedKernel(WatchedKernel):
    """A kernel that may be launched often: ``patience`` are the seconds that launches with the same numbers are watched
    at least."""

    patience = PATIENCE

    def run(self, values: Sequence[Any], blocks: int = 1, jobs: int = 1) -> list[Any]:
        """As in ``Kernel``; a launch that is known to be in order is not watched."""
        key = _key(values, blocks) if self._decided else None
        if key is None:
            return super().run(values, blocks, jobs)
        reach = self._known.get(key)
        if reach is not None and all(values[position].nbytes >= nbytes for position, nbytes in reach):
            return self._plain.run(values, blocks, jobs)
        started = perf_counter()
        bound = self.bind(values)
        results = self.run_bound(bound, blocks, jobs)
        self._learn(key, bound, perf_counter() - started)
        return results

    @cached_property
    def _decided(self) -> bool:
        """True when findings follow from the numbers of a launch, as far as no check looks at what memory holds."""
        return self.watch.numbers is None and self.timeline is None and follows_numbers(self)

    @cached_property
    def _watched(self) -> dict[Hashable, float]:
        """Seconds that launches were watched, by what their findings follow from."""
        return {}

    @cached_property
    def _known(self) -> dict[Hashable, list[tuple[int, int]]]:
        """The launches that are in order: of each buffer its position among the arguments, and the bytes up to the last
        one that was accessed."""
        return {}

    @cached_property
    def _plain(self) -> Kernel:
        options = replace(self.options, fill="zero")
        return Kernel(self.module, self.entry, self.profile.name, options, group=self.group)

    def _learn(self, key: Hashable, bound: Sequence[Any], seconds: float) -> None:
        """A launch was watched, which has taken so many ``seconds``."""
        if self.stopped or self.watch.judged_by_content or self.watch.findings.any:
            return
        if len(self._watched) >= MOST_KEYS and key not in self._watched:
            self._watched.clear()
            self._known.clear()
        spent = self._watched[key] = self._watched.get(key, 0.0) + seconds
        if spent < self.patience:
            return
        buffers = [(number, value) for number, value in enumerate(bound) if not isinstance(value, _NUMBERS)]
        if all(isinstance(value, Pointer) and isinstance(value.arena, WatchedArena) for _, value in buffers):
            self._known[key] = [(number, value.arena.accessed) for number, value in buffers]


def _key(values: Sequence[Any], blocks: int) -> Hashable:
    """What the findings of a launch follow from, apart from the sizes of its buffers; ``None`` for values of which that
    is not known."""
    words: list[Hashable] = [blocks]
    places: list[tuple[int, int, int]] = []
    for position, value in enumerate(values):
        if type(value) is np.ndarray:
            flags = value.flags
            if not (flags.c_contiguous and flags.writeable):
                return None
            words.append(value.dtype)
            start: int = value.__array_interface__["data"][0]
            places.append((start, start + value.nbytes, position))
        elif isinstance(value, _NUMBERS):
            words.append(repr(value))
        else:
            return None
    places.sort()
    first = end = 0
    for start, stop, position in places:
        if start < end:
            words.append((position, start - first))
        else:
            first = start
        end = max(end, stop)
    return tuple(words)
