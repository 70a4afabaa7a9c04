"""Instrumentation that records what a page shows: the time of every operation, and the bytes it accesses.

Source: docs/report.md, "What is in the page".
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from pto_dialect.analysis.cycles.estimate import Estimate
from pto_dialect.analysis.cycles.work import Work
from pto_dialect.runtime.faults import Fault
from pto_dialect.sanitize.context import Context
from pto_dialect.sanitize.instrument.cycle_times import CycleTimeline
from pto_dialect.sanitize.instrument.cycles import CycleObserver
from pto_dialect.sanitize.instrument.tiles import Tiles
from pto_dialect.sanitize.report.timeline import Ran
from pto_dialect.sanitize.state.arena import InstrumentedArena
from pto_dialect.sanitize.state.clocks import Thread
from pto_dialect.sanitize.state.regions import Bytes

from .accessed import AccessedBytes, Part
from .columns import Columns, Ranges

if TYPE_CHECKING:
    from pto_dialect.sanitize.report.sites import Site

OPERATION, SENT, TAKEN, FAILED = range(4)
"""Kinds of steps: an operation, a signal that is given, one that is waited for, an operation that was refused."""


class Steps:
    """What the pipes have done, in the order in which it was carried out.

    A row has the kind, the thread, the site, the values of its loop indices as the number of a list, when the thread
    got to it, when it ended, the step that sent what it took (-1: none), the elementary operations, and its least and
    most cycles.
    """

    def __init__(self) -> None:
        self.rows = Columns(
            kind="u8", thread="u16", site="u32", loops="u32", start="f64", end="f64", sender="i32", work="f64",
            low="f32", high="f32",
        )  # fmt: skip
        self.lists = Ranges()
        self.of_event = array("i")

    def add(
        self,
        kind: int,
        thread: Thread,
        site: int,
        loops: tuple[int, ...],
        start: float,
        end: float,
        sender: int = -1,
        work: float = 0.0,
        cost: Estimate | None = None,
    ) -> int:
        """Adds a step; its number."""
        low, high = (end - start, end - start) if cost is None else (cost.low, cost.high)
        number = self.lists.number(loops)
        return self.rows.add(kind, thread.number, site, number, start, end, sender, work, low, high)

    def belongs(self, events: Iterable[int], step: int) -> None:
        """These events are those of a step."""
        for event in events:
            if event >= len(self.of_event):
                self.of_event.extend([-1] * (event + 1 - len(self.of_event)))
            self.of_event[event] = step

    def step_of(self, event: int) -> int:
        """Returns the step with an event, -1 for none."""
        return self.of_event[event] if 0 < event < len(self.of_event) else -1


class ReportTimeline(CycleTimeline):
    """The times of the cycle model, which become steps."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.steps = Steps()
        self._senders: dict[int, int] = {}
        self._sent = 0
        self._signals = False
        self._work: Work | None = None
        self._cost: Estimate | None = None
        self.last = -1

    def work_of(self, thread: Thread, site: Site, context: Context) -> Work:
        """As in ``CycleTimeline``; remembers what was done."""
        self._work = super().work_of(thread, site, context)
        return self._work

    def cost(self, thread: Thread, work: Work, regions: Sequence[tuple[Any, Any, bool]], start: float) -> Estimate:
        """As in ``CycleTimeline``; remembers what it takes."""
        self._cost = super().cost(thread, work, regions, start)
        return self._cost

    def operation(self, thread: Thread, site: Site, ran: Ran) -> None:
        """An operation has run; signals come here as well, but have steps of their own."""
        super().operation(thread, site, ran)
        if self._signals:
            return
        work = operations_of(self._work, thread.pipe)
        end = ran.start + ran.duration
        self.last = self.steps.add(OPERATION, thread, site.number, ran.loops, ran.start, end, -1, work, self._cost)
        self.steps.belongs(ran.events, self.last)

    def sent(self, thread: Thread, site: Site, loops: tuple[int, ...]) -> int:
        """A signal leaves; the number of its flow."""
        before, self._signals = thread.time, True
        flow = super().sent(thread, site, loops)
        self._signals = False
        self._sent += 1
        flow = flow or self._sent
        self._senders[flow] = self.steps.add(SENT, thread, site.number, loops, before, thread.time)
        return flow

    def taken(self, thread: Thread, site: Site, loops: tuple[int, ...], since: float, flow: int) -> None:
        """A signal was waited for and is there now."""
        self._signals = True
        super().taken(thread, site, loops, since, flow)
        self._signals = False
        self.steps.add(TAKEN, thread, site.number, loops, since, thread.time, self._senders.get(flow, -1))


def operations_of(work: Work | None, pipe: str) -> float:
    """Additions and products of numbers of an operation, one for each element where it is not a matrix product."""
    if work is None:
        return 0.0
    if pipe == "PIPE_M":
        return 2.0 * work.valid_rows * work.valid_cols * max(work.k, 1)
    return float(work.valid_rows * work.valid_cols) if pipe == "PIPE_V" else 0.0


class ReportInstrumentation(CycleObserver):
    """Hands every step on to ``touched``, with the bytes it has read and written."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        if self.tiles is None:
            # Names of tiles come from their allocations.
            self.tiles = Tiles(self, bounds=False, overlap=False)
        assert isinstance(self.timeline, ReportTimeline)
        self.times: ReportTimeline = self.timeline
        self.touched = AccessedBytes(self.sites)
        self._parts: list[Part] = []
        self._running = False
        self._scalar: tuple[Context, float] | None = None

    def run(self, context: Context, action: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        """Runs an instruction."""
        self.settle()
        self._running = True
        try:
            return super().run(context, action, arguments)
        except Fault:
            thread, mark = context.thread, context.mark
            time = max(thread.time, mark.time)
            step = self.times.steps.add(FAILED, thread, mark.site, mark.loops, time, time)
            self.times.steps.belongs((context.event,), step)
            self.touched.add(step, [part for part in self._parts if not part.writes], context)
            raise
        finally:
            self._running = False
            self._parts = []

    def timed(self, context: Context, first: int) -> None:
        """An instruction has run."""
        super().timed(context, first)
        self.touched.add(self.times.last, self._parts, context)

    def _note(self, arena: InstrumentedArena, region: Bytes, writes: bool) -> None:
        super()._note(arena, region, writes)
        context = self.current
        if context is None or self.muted:
            return
        if not self._running and (self._scalar is None or self._scalar[0] is not context):
            self.settle()
            self._scalar = (context, context.thread.time)
        self._parts.append(Part(context.mark.site, arena, region, writes))

    def settle(self) -> None:
        """What the scalar unit has accessed itself becomes a step, once the next one begins."""
        if self._scalar is None:
            return
        (context, time), parts = self._scalar, self._parts
        self._scalar, self._parts = None, []
        mark = context.mark
        step = self.times.steps.add(OPERATION, context.thread, mark.site, mark.loops, time, time)
        self.times.steps.belongs((context.event,), step)
        self.touched.add(step, parts, context)

    def open_device(self, cores: Any) -> None:
        """Opens the cores that run concurrently from now on."""
        self.settle()
        super().open_device(cores)
        self.touched.arrive(cores)
