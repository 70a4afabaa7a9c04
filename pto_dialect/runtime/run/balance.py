"""Decides from measured times whether running blocks in several processes is worth their start.

The expected time of a block is the shortest one so far; the cost of starting processes is measured in every launch with
processes; docs/performance.md, "Processes", has the figures.
"""

from __future__ import annotations

import os

FIRST_ESTIMATE = 0.02
"""Assumed cost of processes in seconds, before a measurement."""

POOL_ESTIMATE = 0.001
"""The same for processes that already run."""

PER_BYTE = 1e-9
"""Seconds to copy a byte of a buffer into shared memory and back."""

MARGIN = 1.25
"""Required ratio of gain to cost: other work on the machine makes both uncertain."""

COLD = 4
"""The first block also builds caches for later ones: where waiting for a second one would take too long, this part of
its time is assumed for a block."""

FEW = 4
"""Number of blocks below which waiting for a second one takes too long."""


class Balance:
    """Measured cost of processes; ``estimate`` in seconds before a measurement."""

    def __init__(self, estimate: float = FIRST_ESTIMATE) -> None:
        self.estimate = estimate
        self.seconds = estimate

    def pays(self, each: float, blocks: int, jobs: int, nbytes: int) -> bool:
        """Returns whether ``blocks`` blocks of ``each`` seconds, which share ``nbytes`` bytes, finish earlier in
        ``jobs`` processes than in one."""
        if _saved(each, blocks, min(jobs, processors())) > MARGIN * (self.seconds + nbytes * PER_BYTE):
            return True
        # One outlier does not count forever.
        self.seconds += 0.01 * (self.estimate - self.seconds)
        return False

    def learn(self, took: float, each: float, blocks: int, jobs: int, nbytes: int) -> None:
        """Updates the estimate by a launch that took ``took`` seconds."""
        cost = took - (each * blocks - _saved(each, blocks, jobs)) - nbytes * PER_BYTE
        self.seconds = (self.seconds + max(cost, self.estimate / 2)) / 2


def _saved(each: float, blocks: int, jobs: int) -> float:
    """Returns the seconds of the blocks that this process need not run."""
    return (blocks - -(-blocks // min(jobs, blocks))) * each


def processors() -> int:
    """Returns how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


BALANCE = Balance()
"""Balance of this process, where processes are started for a launch."""

POOL_BALANCE = Balance(POOL_ESTIMATE)
"""Balance where processes of an earlier launch exist."""
