"""Instrumentation that measures time: it assigns every instruction its cycles and its start on the pipes.

Source: docs/reference/cycles.md, "Pipes".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from pto_dialect.analysis.cycles.estimate import Estimate
from pto_dialect.analysis.cycles.traffic import resource_of
from pto_dialect.analysis.cycles.work import Work

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


class Access(NamedTuple):
    """The pipe, the site and the step of the schedule of an access."""

    pipe: str
    site: int
    step: int


class Accesses:
    """End of the last write of a set of bytes, and of the last read, and which operations these are."""

    __slots__ = ("read", "reader", "region", "writer", "written")

    def __init__(self, region: Bytes) -> None:
        self.region = region
        self.written = self.read = 0.0
        self.writer = self.reader = Access("", 0, -1)


class CycleObserver(RunObserver):
    """Follows the dataflow of programs that leave the order of their pipes to the compiler, and times what runs."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.regions: list[tuple[InstrumentedArena, Bytes, bool]] = []
        self.span: tuple[float, float]
        """Start and end of the last instruction."""
        self.placed: tuple[Work, Estimate]
        """Work and cycles of the last instruction."""
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
        self._hold_signal(thread, token, mark, cause)
        if thread.number in self.overlapping:
            self.overlapping[thread.number].wait(max(mark.time, token.time))
        super().arrived(token, thread, mark)

    def _hold_signal(self, thread: Thread, token: Token, mark: Mark, cause: Cause) -> None:
        """What ``thread`` does next waits for the signal, and for the scalar unit that has issued it."""
        timeline = self.timeline
        assert isinstance(timeline, CycleTimeline)
        log, sender = timeline.log, self.log.threads[token.sender]
        step = log.sent.get(token.flow, -1)
        # Signals of the scalar unit to several cores are sent one after the other.
        step = step if step >= 0 else log.at(sender, token.time)
        log.hold(thread, step, cause)
        core: Any = thread.core
        scalar = core.threads["PIPE_S"]
        if scalar is not thread:
            log.hold(thread, log.at(scalar, mark.time), timeline.waits.issued(thread, 0))

    def delay(self, thread: Thread, until: float, kind: str, other: Thread | None = None, site: int = 0) -> None:
        """Delays ``thread`` until ``until`` at the earliest."""
        timeline = self.timeline
        assert isinstance(timeline, CycleTimeline)
        if other is not None and other is not thread:
            site_after = timeline.waits.behind.get(other.number, 0)
            cause = Cause(kind, other.pipe, 0, site_after, site)
            timeline.waits.hold(thread, cause, until - thread.time)
            timeline.log.hold(thread, timeline.log.at(other, until), cause, at_once=True)
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
        issued = timeline.waits.issued(thread, site.number)
        edges = timeline.log.issued(thread, mark.time, issued)
        if start > before:
            cause = issued
        if self.ordered:
            for ready, waits_for, step in self.ready(site.number):
                edges += timeline.log.edge(thread, step, waits_for)
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
        self.placed = work, cost
        resource = resource_of(work, thread.pipe)
        step = timeline.log.add(thread, start, cost.cycles, resource, edges, lane)
        timeline.moved.add(work, resource, cost, timeline.alone(work))
        if self.ordered:
            self.remember(Access(thread.pipe, site.number, step), end)
        timeline.record(thread, site, cost, hidden)
        timeline.operation(thread, site, Ran(mark.loops, start, cost.cycles, events, lane))

    def ready(self, site: int) -> list[tuple[float, Cause, int]]:
        """Returns when the operands of the instruction are written, and its destinations are written and read, by
        pipe and kind of access: the time, the cause of the delay and its step."""
        latest: dict[tuple[str, str], tuple[float, Cause, int]] = {}

        def late(time: float, kind: str, other: Access) -> bool:
            known = latest.get((kind, other.pipe))
            return time > (0.0 if known is None else known[0])

        for arena, region, writes in self.regions:
            start, stop = region.offset, region.stop
            kind = "rewrites" if writes else "reads"
            for (low, high, _), one in self.accessed.get(id(arena), {}).items():
                if low >= stop or start >= high:
                    continue
                written = late(one.written, kind, one.writer)
                read = writes and late(one.read, "overwrites", one.reader)
                if not (written or read) or not have_common_bytes(one.region, region):
                    continue
                if written:
                    latest[kind, one.writer.pipe] = one.written, _cause(kind, site, one.writer), one.writer.step
                if read:
                    cause = _cause("overwrites", site, one.reader)
                    latest["overwrites", one.reader.pipe] = one.read, cause, one.reader.step
        return list(latest.values())

    def remember(self, who: Access, end: float) -> None:
        """Records the accesses of the instruction ``who``, which ends at ``end``."""
        for arena, region, writes in self.regions:
            known = self.accessed.setdefault(id(arena), {})
            key = key_of(region)
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
                    timeline.log.overlap(thread)
                    timeline.overlapping.add(thread.number)


def key_of(region: Bytes) -> RegionKey:
    """Returns the first byte, the end, and what distinguishes sets of bytes with the same ends."""
    if isinstance(region, Region):
        return region.offset, region.stop, (region.run, region.dims) if region.dims else None
    return region.offset, region.stop, region.starts.tobytes()


def _cause(kind: str, site: int, other: Access) -> Cause:
    return Cause(kind, other.pipe, site, other.site)
