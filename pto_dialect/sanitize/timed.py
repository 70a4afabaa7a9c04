"""Runs of a program timed by the cycle model.  Source: docs/reference/cycles.md, "Pipes"."""

from __future__ import annotations

from collections.abc import Iterable

from pto_dialect.analysis.cycles.static import ModuleCycles
from pto_dialect.analysis.release import release_of
from pto_dialect.runtime.queues.run import QueueCore
from pto_dialect.runtime.run.machine import Block

from .instrument.cycle_times import CycleTimeline
from .instrument.cycles import CycleObserver
from .launch import InstrumentedKernel


class CycleKernel(InstrumentedKernel):
    """An entry function that is ready to run and be timed."""

    observer_class = CycleObserver

    def queued_blocks(self, indices: Iterable[int], count: int) -> list[Block]:
        """Returns the blocks ``indices`` of ``count``, whose pipes run as soon as they can."""
        blocks = super().queued_blocks(indices, count)
        for core in (core for block in blocks for core in block.cores):
            assert isinstance(core, QueueCore)
            core.depth = 0
        return blocks

    @property
    def events(self) -> int:
        """Number of accesses of the runs."""
        return len(self.observer.log.count)

    def cycles(self, file: str) -> ModuleCycles:
        """Returns the cycles of its runs."""
        assert isinstance(self.timeline, CycleTimeline)
        result = self.timeline.cycles(file, self.profile.name, self.observer.log.threads, self.observer.sites)
        result.release = str(release_of(self.function))
        return result
