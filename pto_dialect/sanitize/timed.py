"""Runs of a program timed by the cycle model.  Source: docs/reference/cycles.md, "Pipes"."""

from __future__ import annotations

from pto_dialect.analysis.cycles.static import ModuleCycles
from pto_dialect.analysis.release import release_of

from .instrument.cycle_times import CycleTimeline
from .instrument.cycles import CycleObserver
from .launch import InstrumentedKernel


class CycleKernel(InstrumentedKernel):
    """An entry function that is ready to run and be timed."""

    observer_class = CycleObserver

    def cycles(self, file: str) -> ModuleCycles:
        """The cycles of its runs."""
        assert isinstance(self.timeline, CycleTimeline)
        result = self.timeline.cycles(file, self.profile.name, self.observer.log.threads, self.observer.sites)
        result.release = str(release_of(self.function))
        return result
