"""How many launches go to a cluster at a time.

A message costs some milliseconds on both sides, as short launches do, so short ones go together. Their results come
together as well, and are done again when the worker dies; so no batch takes long. Source: docs/cluster.md, "Clusters".
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from .jobs import Job

Batch = list[Job]

SECONDS = 1.0
"""Target duration of a batch of several launches, estimated from earlier launches."""
LARGEST = 64
"""Launches of a batch at most."""
_AHEAD = 2
"""Batches for each thread of the workers: one that runs, and one that it finds when that has ended."""
_SHARES = 4
"""In how many batches for each thread the rest is cut at least, so that all end at about the same time."""


class Batches:
    """Cuts ``jobs`` into batches for ``threads`` workers, by how long those that have ended took."""

    def __init__(self, jobs: Sequence[Job], threads: int) -> None:
        self._jobs = deque(jobs)
        self._alone: deque[Job] = deque()
        self._threads = max(1, threads)
        self._running = 0
        self._ended = 0
        self._seconds = 0.0

    def next(self) -> list[Batch]:
        """Returns the batches that are to start now."""
        started: list[Batch] = []
        while self._running < _AHEAD * self._threads and (self._alone or self._jobs):
            if self._alone:
                started.append([self._alone.popleft()])
            else:
                started.append([self._jobs.popleft() for _ in range(self._size())])
            self._running += 1
        return started

    def ended(self, batch: Batch, seconds: float) -> None:
        """All jobs of a batch have results, which took ``seconds`` together."""
        self._running -= 1
        self._ended += len(batch)
        self._seconds += seconds

    def again(self, batch: Batch) -> None:
        """A batch has ended without results: its jobs start again, each alone."""
        self._running -= 1
        self._alone.extend(batch)

    def _size(self) -> int:
        if self._ended < self._threads:
            # The first launches load shared modules, so their times are not representative; others are unknown.
            return 1
        short = int(SECONDS * self._ended / max(self._seconds, 1e-6))
        share = len(self._jobs) // (_SHARES * self._threads)
        return max(1, min(short, share, LARGEST, len(self._jobs)))
