"""A watch that takes the time: it gives every instruction its cycles and its place on the pipes.

Source: docs/reference/cycles.md, "Pipes".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..context import Context
from ..state.arena import WatchedArena
from ..state.regions import Bytes
from .cycle_times import CycleTimeline
from .watch import Watch

_MOST = 256
"""Ranges of one memory whose last accesses are remembered; the oldest make place."""


class CycleWatch(Watch):
    """Follows the data of programs that leave the order of their pipes to the compiler, and times what runs."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.regions: list[tuple[WatchedArena, Bytes, bool]] = []
        self.span = (0.0, 0.0)
        """When the last instruction has started and ended."""
        self.accessed: dict[int, dict[tuple[int, int], list[float]]] = {}
        """By memory and range: when the last write of it ends, and the last read."""

    def run(self, context: Context, action: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        """Runs an instruction."""
        self.regions = []
        return super().run(context, action, arguments)

    def read(self, arena: WatchedArena, region: Bytes) -> None:
        """The current operation is about to read."""
        self._note(arena, region, False)
        if self.options.checks:
            super().read(arena, region)

    def write(self, arena: WatchedArena, region: Bytes) -> None:
        """The current operation is about to write."""
        self._note(arena, region, True)
        if self.options.checks:
            super().write(arena, region)

    def _note(self, arena: WatchedArena, region: Bytes, writes: bool) -> None:
        context = self.current
        if context is None or self.muted:
            return
        self.regions.append((arena, region, writes))
        if not self.options.checks:
            if not context.event:
                self.begin(context)
            context.nbytes += region.size

    def timed(self, context: Context, first: int) -> None:
        """An instruction has run: it gets its place on its pipe."""
        timeline, actor, mark = self.timeline, context.actor, context.mark
        assert isinstance(timeline, CycleTimeline)
        site = self.sites[self.log.site[first]]
        cost = timeline.cost(actor, site, context, self.regions)
        start = max(actor.time, mark.time, self._ready() if self.ordered else 0.0)
        actor.time = start + cost.cycles
        self.span = (start, actor.time)
        if self.ordered:
            self._remember(actor.time)
        timeline.record(actor, site, cost)
        timeline.operation(actor, site, mark.loops, start, cost.cycles, range(first, len(self.log.count)))

    def _ready(self) -> float:
        """When what the instruction reads is written, and what it overwrites is written and read."""
        found = 0.0
        for arena, region, writes in self.regions:
            start, stop = region.offset, region.stop
            for (low, high), (written, read) in self.accessed.get(id(arena), {}).items():
                if low < stop and start < high:
                    found = max(found, written, read if writes else 0.0)
        return found

    def _remember(self, end: float) -> None:
        for arena, region, writes in self.regions:
            ranges = self.accessed.setdefault(id(arena), {})
            times = ranges.pop((region.offset, region.stop), None) or [0.0, 0.0]
            times[not writes] = max(times[not writes], end)
            ranges[region.offset, region.stop] = times
            if len(ranges) > _MOST:
                del ranges[next(iter(ranges))]

    def open_device(self, cores: Any) -> None:
        """Takes the cores that run side by side from now on; each group starts at zero."""
        super().open_device(cores)
        self.accessed = {}
