"""The observer of a run that computes times only.  Source: docs/reference/cycles.md, "Times without contents"."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from pto_dialect.analysis.cycles.estimate import Estimate
from pto_dialect.analysis.cycles.work import Work

from ..context import Context
from ..instrument.cycles import Access as Origin
from ..instrument.cycles import CycleObserver
from ..report.sites import Site
from ..state.arena import InstrumentedArena
from ..state.clocks import Clock, Thread
from ..state.regions import Bytes
from .footprints import Access, Footprint, Footprints, Operands, operands_of

_NOTHING: Clock = []


class UnclockedThread(Thread):
    """A thread of which only the time is followed."""

    __slots__ = ()

    def tick(self) -> int:
        """Starts the next event."""
        return 0

    def snapshot(self) -> Clock:
        """Returns an empty clock."""
        return _NOTHING

    def issued(self) -> Clock:
        """Returns an empty clock."""
        return _NOTHING

    def join(self, other: Clock) -> None:
        """Does nothing."""


class Placed(NamedTuple):
    """An instruction that got its time: the position of its issue, its footprint if it is known, its work and cycles,
    start and end, and whether accesses of shared memory may have delayed it."""

    order: int
    footprint: Footprint | None
    site: Site
    thread: Thread
    cost: tuple[Work, Estimate]
    span: tuple[float, float]
    depends: bool


class TimesObserver(CycleObserver):
    """Times what runs, and executes an instruction only where its accesses are not known yet."""

    thread_class = UnclockedThread
    scalar_thread_class = UnclockedThread

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.footprints = Footprints()
        self.events = 0
        """Number of events of instructions that were not executed."""
        self.repeated = 0
        """Number of segments that were not executed."""
        self.public: set[int] = set()
        """Ids of the memories that are shared."""
        self.placed_instructions: list[Placed] | None = None
        """The instructions that were placed, where they are wanted."""
        self._footprint: Footprint | None = None

    @property
    def all_events(self) -> int:
        """Number of events."""
        return len(self.log.count) + self.events

    def part(self) -> None:
        """Does nothing: threads have no clocks."""

    def open_device(self, cores: Any) -> None:
        """Takes the cores that run concurrently from now on, which have other memories."""
        super().open_device(cores)
        self.footprints = Footprints()

    def run(self, context: Context, action: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        """Times an instruction, and executes it where its accesses are not known."""
        operands = operands_of(action, arguments)
        if operands is None:
            return super().run(context, action, arguments)
        footprint = self.footprints.find(operands)
        accesses = None if footprint is None else footprint.at(operands.moving)
        if footprint is None or accesses is None:
            return self._learn(context, action, arguments, operands)
        self.regions = list(accesses)
        context.operands = arguments
        context.nbytes = footprint.nbytes
        site = self.sites[context.mark.site]
        if footprint.parted:
            context.mark = context.mark._replace(time=0.0)
        self.events += footprint.events
        self._footprint = footprint
        self.place(context, site, ())
        self._footprint = None
        return None

    def place(self, context: Context, site: Site, events: Iterable[int]) -> None:
        """Assigns an instruction its start on its pipe."""
        placed = self.placed_instructions
        ready = self.ready_in_public(self.regions) if placed is not None and self.ordered else 0.0
        super().place(context, site, events)
        if placed is not None:
            depends = 0 < ready >= self.span[0]
            order, thread = context.mark.order, context.thread
            placed.append(Placed(order, self._footprint, site, thread, self.placed, self.span, depends))

    def ready_in_public(self, accesses: Sequence[Access]) -> float:
        """Returns when earlier accesses of shared memory no longer delay these."""
        regions = self.regions
        self.regions = [access for access in accesses if access[0].public]
        ready = max((time for time, _, _ in self.ready(0)), default=0.0) if self.regions else 0.0
        self.regions = regions
        return ready

    def remember(self, who: Origin, end: float) -> None:
        """Records the accesses of the instruction ``who``, which ends at ``end``."""
        self.public.update(id(arena) for arena, _, _ in self.regions if arena.public)
        super().remember(who, end)

    def _learn(
        self, context: Context, action: Callable[..., Any], arguments: tuple[Any, ...], operands: Operands
    ) -> Any:
        before, mark, refused = len(self.log.count), context.mark, self.footprints.is_refused(operands)
        result = super().run(context, action, arguments)
        if refused:
            return result
        footprint = None
        if result is None and self.regions and operands_of(action, arguments) == operands:
            footprint = Footprint(operands, self.regions, (action, arguments))
            footprint.nbytes = context.nbytes
            footprint.events = len(self.log.count) - before
            footprint.parted = context.mark is not mark
        self.footprints.learn(operands, footprint)
        return result

    def read(self, arena: InstrumentedArena, region: Bytes) -> None:
        """Handles a read of the current operation before it happens."""
        self._note(arena, region, False)

    def write(self, arena: InstrumentedArena, region: Bytes) -> None:
        """Handles a write of the current operation before it happens."""
        self._note(arena, region, True)
