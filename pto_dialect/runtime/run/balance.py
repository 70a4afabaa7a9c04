"""Whether other processes are worth their start, by times that were measured.

A block is expected to take as long as the fastest one so far; what starting processes costs is learnt from every launch
that did; docs/performance.md, "Processes", has the figures.
"""

from __future__ import annotations

import os

FIRST_ESTIMATE = 0.02
"""Seconds that processes cost before that has been measured."""

CREW_ESTIMATE = 0.001
"""The same for processes that are there already."""

PER_BYTE = 1e-9
"""Seconds to copy a byte of a buffer into shared memory and back."""

MARGIN = 1.25
"""How much more must be gained than is paid: other work on the machine makes both uncertain."""

COLD = 4
"""The first block of all also makes what later ones find: where a second one is too much to wait for, this part of its
time is taken for that of a block."""

FEW = 4
"""Blocks so few that a second one is too much to wait for."""


class Balance:
    """What processes cost here; ``estimate`` in seconds, before that has been measured."""

    def __init__(self, estimate: float = FIRST_ESTIMATE) -> None:
        self.estimate = estimate
        self.seconds = estimate

    def pays(self, each: float, blocks: int, jobs: int, nbytes: int) -> bool:
        """True when ``blocks`` blocks of ``each`` seconds, which share ``nbytes`` bytes, end earlier in ``jobs``
        processes than in one."""
        if _saved(each, blocks, min(jobs, processors())) > MARGIN * (self.seconds + nbytes * PER_BYTE):
            return True
        # One unlucky measurement does not count for ever.
        self.seconds += 0.01 * (self.estimate - self.seconds)
        return False

    def learn(self, took: float, each: float, blocks: int, jobs: int, nbytes: int) -> None:
        """Takes into account that such a launch took ``took`` seconds."""
        cost = took - (each * blocks - _saved(each, blocks, jobs)) - nbytes * PER_BYTE
        self.seconds = (self.seconds + max(cost, self.estimate / 2)) / 2


def _saved(each: float, blocks: int, jobs: int) -> float:
    """Seconds of the blocks that this process need not run."""
    return (blocks - -(-blocks // min(jobs, blocks))) * each


def processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


BALANCE = Balance()
"""That of this process, where processes are started for a launch."""

CREW_BALANCE = Balance(CREW_ESTIMATE)
"""That where they are there from an earlier one."""
