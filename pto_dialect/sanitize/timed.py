"""Runs of a program timed by the cycle model.  Source: docs/reference/cycles.md, "Pipes"."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .launch import WatchedKernel
from .watch.cycle_times import CycleTimeline
from .watch.cycles import CycleWatch

if TYPE_CHECKING:
    from pto_dialect.analysis.release import release_of
from pto_dialect.analysis.cycles.static import ModuleCycles
from pto_dialect.analysis.release import release_of


class CycleKernel(WatchedKernel):
    """An entry function that is ready to run and be timed."""

    watch_class = CycleWatch

    def cycles(self, file: str) -> ModuleCycles:
        """The cycles of its runs."""
        assert isinstance(self.timeline, CycleTimeline)
        found = self.timeline.cycles(file, self.profile.name, self.watch.log.actors, self.watch.sites)
        found.release = str(release_of(self.function))
        return found
