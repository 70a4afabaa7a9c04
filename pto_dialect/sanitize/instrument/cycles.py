"""Instrumentation that measures time: it assigns every instruction its cycles and its start on the pipes.

Source: docs/reference/cycles.md, "Pipes".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..context import Context
from ..report.sites import Site
from ..report.timeline import Ran
from ..state.arena import InstrumentedArena
from ..state.clocks import Mark, Thread, Token
from ..state.regions import Bytes, Region, have_common_bytes
from .cycle_times import CycleTimeline
from .cycle_waits import Cause
from .observer import RunObserver
from .overlap import OverlappingPipe

_MOST = 256
"""Maximum number of sets of bytes of one memory whose last accesses are recorded; the oldest are replaced."""

RegionKey = tuple[int, int, Any]


class Accesses:
    """End of the last write of a set of bytes, and of the last read; the pipe and the site of each."""

    __slots__ = ("read", "reader", "region", "writer", "written")

    def __init__(self, region: Bytes) -> None:
        self.region = region
        self.written = self.read = 0.0
        self.writer: tuple[str, int] = ("", 0)
        self.reader: tuple[str, int] = ("", 0)


class CycleObserver(RunObserver):
    """Follows the dataflow of programs that leave the order of their pipes to the compiler, and times what runs."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.regions: list[tuple[InstrumentedArena, Bytes, bool]] = []
        self.span: tuple[float, float]
        """Start and end of the last instruction."""
        self.accessed: dict[int, dict[RegionKey, Accesses]] = {}
        """The last accesses by memory and bytes."""
        self.overlapping: dict[int, OverlappingPipe] = {}
        """Pipes whose transfers overlap, by the id of their thread."""

    def run(self, context: Context, action: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        """Runs an instruction."""
        self.regions = []
        return super().run(context, action, arguments)

    def read(self, arena: InstrumentedArena, region: Bytes) -> None:
        """Handles a read of the current operation before it happens."""
        self._note(arena, region, False)
        if self.options.checks:
            super().read(arena, region)

    def write(self, arena: InstrumentedArena, region: Bytes) -> None:
        """Handles a write of the current operation before it happens."""
        self._note(arena, region, True)
        if self.options.checks:
            super().write(arena, region)

    def _note(self, arena: InstrumentedArena, region: Bytes, writes: bool) -> None:
        context = self.current
        if context is None or self.muted:
            return
        self.regions.append((arena, region, writes))
        if not self.options.checks:
            if not context.event:
                self.begin(context)
            context.nbytes += region.size

    # ------------------------------------------------------------ waits

    def arrived(self, token: Token, thread: Thread, mark: Mark) -> None:
        """Handles that ``thread`` has received a signal."""
        timeline = self.timeline
        assert isinstance(timeline, CycleTimeline)
        since = max(thread.time, mark.time)
        cause = Cause("flag", self.log.threads[token.sender].pipe, 0, timeline.leaving.pop(token.flow, 0), mark.site)
        timeline.waits.hold(thread, cause, token.time - since)
        if thread.number in self.overlapping:
            self.overlapping[thread.number].wait(max(mark.time, token.time))
        super().arrived(token, thread, mark)

    def delay(self, thread: Thread, until: float, kind: str, other: Thread | None = None, site: int = 0) -> None:
        """Delays ``thread`` until ``until`` at the earliest."""
        timeline = self.timeline
        assert isinstance(timeline, CycleTimeline)
        if other is not None and other is not thread:
            site_after = timeline.waits.behind.get(other.number, 0)
            timeline.waits.hold(thread, Cause(kind, other.pipe, 0, site_after, site), until - thread.time)
        if thread.number in self.overlapping:
            self.overlapping[thread.number].wait(until)
        super().delay(thread, until, kind, other, site)

    # ------------------------------------------------------------ times

    def timed(self, context: Context, first: int) -> None:
        """Assigns an instruction that has run its start on its pipe."""
        self.place(context, self.sites[self.log.site[first]], range(first, len(self.log.count)))

    def place(self, context: Context, site: Site, events: Iterable[int]) -> None:
        """Assigns an instruction with these ``events`` its start on its pipe."""
        timeline, thread, mark = self.timeline, context.thread, context.mark
        assert isinstance(timeline, CycleTimeline)
        work = timeline.work_of(thread, site, context)
        pipe = self.overlapping.get(thread.number)
        lane = timeline.lane_of(work) if pipe is not None else 0
        before = thread.time if pipe is None else pipe.free(lane)
        start, cause = max(before, mark.time), None
        if start > before:
            cause = timeline.waits.issued(thread, site.number)
        if self.ordered:
            ready, waits_for = self._ready(site.number)
            if ready > start:
                start, cause = ready, waits_for
        cost = timeline.cost(thread, work, self.regions, start)
        timeline.waits.settle(thread, site.number, cause, start - before)
        end = start + cost.cycles
        hidden = 0.0
        if pipe is not None:
            hidden = min(cost.cycles, max(0.0, pipe.done - start))
            pipe.take(lane, start, end)
        thread.time = max(thread.time, end)
        self.span = (start, end)
        if self.ordered:
            self._remember(thread, site.number, end)
        timeline.record(thread, site, cost, hidden)
        timeline.operation(thread, site, Ran(mark.loops, start, cost.cycles, events, lane))

    def _ready(self, site: int) -> tuple[float, Cause | None]:
        """Returns when the operands of the instruction are written, and its destinations are written and read; and the
        cause of the delay."""
        latest, cause = 0.0, None
        for arena, region, writes in self.regions:
            start, stop = region.offset, region.stop
            for (low, high, _), one in self.accessed.get(id(arena), {}).items():
                if low >= stop or start >= high:
                    continue
                if one.written <= latest and (not writes or one.read <= latest):
                    continue
                if not have_common_bytes(one.region, region):
                    continue
                if one.written > latest:
                    latest, cause = one.written, _cause("rewrites" if writes else "reads", site, one.writer)
                if writes and one.read > latest:
                    latest, cause = one.read, _cause("overwrites", site, one.reader)
        return latest, cause

    def _remember(self, thread: Thread, site: int, end: float) -> None:
        who = (thread.pipe, site)
        for arena, region, writes in self.regions:
            known = self.accessed.setdefault(id(arena), {})
            key = _key(region)
            one = known.pop(key, None) or Accesses(region)
            if writes and end > one.written:
                one.written, one.writer = end, who
            elif not writes and end > one.read:
                one.read, one.reader = end, who
            known[key] = one
            if len(known) > _MOST:
                del known[next(iter(known))]

    def open_device(self, cores: Any) -> None:
        """Takes the cores that run concurrently from now on; each group starts at zero."""
        before = len(self.log.threads)
        super().open_device(cores)
        self.accessed = {}
        timeline = self.timeline
        assert isinstance(timeline, CycleTimeline)
        if timeline.lanes > 1:
            for thread in self.log.threads[before:]:
                if thread.pipe == "PIPE_MTE1":
                    self.overlapping[thread.number] = OverlappingPipe(timeline.lanes)


def _key(region: Bytes) -> RegionKey:
    """Returns the first byte, the end, and what distinguishes sets of bytes with the same ends."""
    if isinstance(region, Region):
        return region.offset, region.stop, (region.run, region.dims) if region.dims else None
    return region.offset, region.stop, region.starts.tobytes()


def _cause(kind: str, site: int, other: tuple[str, int]) -> Cause:
    return Cause(kind, other[0], site, other[1])
