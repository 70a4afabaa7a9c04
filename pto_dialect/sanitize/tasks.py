"""Tasks that access the same memory although nothing orders them. Source: docs/reference/execution.md, "Tasks";
docs/reference/instrumentation.md, "Findings"."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pto_dialect.diagnostics.diagnostic import Diagnostic, Note, Severity
from pto_dialect.diagnostics.source import Span
from pto_dialect.runtime.tasks import Task, earlier

from .instrument.observer import RunObserver
from .launch import InstrumentedKernel
from .report.sites import Site
from .state.arena import InstrumentedArena
from .state.regions import Bytes, byte_runs

RULE = "race-task"

Sites = npt.NDArray[np.int32]


class Touched(NamedTuple):
    """The accesses of a task in one buffer: for each byte the site that read or wrote it last, 0 for none."""

    name: str
    start: int
    reads: Sites
    writes: Sites


class Footprint:
    """The accesses of one task, by the address of the buffer; ``sites`` numbers its operations."""

    def __init__(self) -> None:
        self.buffers: dict[int, Touched] = {}
        self.sites: Sequence[Site | None] = ()

    def note(self, arena: InstrumentedArena, region: Bytes, site: int, writes: bool) -> None:
        """Records an access of an operation to bytes of a buffer."""
        start = arena.memory.__array_interface__["data"][0]
        touched = self.buffers.get(start)
        if touched is None:
            empty = np.zeros(arena.capacity, np.int32), np.zeros(arena.capacity, np.int32)
            touched = self.buffers[start] = Touched(arena.name, start, *empty)
        region.set(touched.writes if writes else touched.reads, 1, site)


class TaskObserver(RunObserver):
    """The instrumentation of a kernel that tasks run; ``footprint`` records the accesses of the present task."""

    footprint: Footprint | None = None

    def read(self, arena: InstrumentedArena, region: Bytes) -> None:
        """Handles a read of the current operation before it happens."""
        self._note(arena, region, False)
        super().read(arena, region)

    def write(self, arena: InstrumentedArena, region: Bytes) -> None:
        """Handles a write of the current operation before it happens."""
        self._note(arena, region, True)
        super().write(arena, region)

    def _note(self, arena: InstrumentedArena, region: Bytes, writes: bool) -> None:
        if self.footprint is not None and self.current is not None and not self.muted and arena.space == "gm":
            self.footprint.note(arena, region, self.current.mark.site, writes)


class TaskKernel(InstrumentedKernel):
    """An instrumented kernel that tasks run."""

    observer_class = TaskObserver

    def new_footprint(self) -> Footprint:
        """Returns the footprint of the next run."""
        observer = self.observer
        assert isinstance(observer, TaskObserver)
        observer.footprint = Footprint()
        observer.footprint.sites = observer.sites.all
        return observer.footprint


def unordered(tasks: Sequence[Task]) -> Iterator[tuple[Task, Task]]:
    """Returns the pairs of tasks that may run in either order, the one submitted first before the other."""
    before = earlier(tasks)
    for number, later in enumerate(tasks):
        for first in tasks[:number]:
            if first not in before[later]:
                yield first, later


def task_findings(
    tasks: Sequence[Task], footprints: Mapping[Task, Footprint], spans: Mapping[Task, Span]
) -> list[Diagnostic]:
    """Returns one error for each pair of tasks that access the same bytes, one of them writing, and that nothing
    orders.

    ``spans`` are the submissions of tasks.
    """
    diagnostics: list[Diagnostic] = []
    for first, later in unordered(tasks):
        if first in footprints and later in footprints:
            clash = _clash(footprints[first], footprints[later])
            if clash is not None:
                diagnostics.append(_diagnostic(first, later, clash, spans.get(later)))
    return diagnostics


class Clash(NamedTuple):
    """Bytes ``low`` up to ``high`` of a buffer, the access of each task to them, and the operations that
    access them."""

    name: str
    low: int
    high: int
    verbs: tuple[str, str]
    sites: tuple[Site | None, Site | None]


def _clash(one: Footprint, other: Footprint) -> Clash | None:
    """Returns the first bytes that both access, one of them writing; atomic accesses of one kind do not conflict."""
    for mine in one.buffers.values():
        for theirs in other.buffers.values():
            start = max(mine.start, theirs.start)
            stop = min(mine.start + mine.writes.size, theirs.start + theirs.writes.size)
            if start >= stop:
                continue
            a, b = (slice(start - side.start, stop - side.start) for side in (mine, theirs))
            for verbs, x, y in (
                (("writes", "writes"), mine.writes[a], theirs.writes[b]),
                (("writes", "reads"), mine.writes[a], theirs.reads[b]),
                (("reads", "writes"), mine.reads[a], theirs.writes[b]),
            ):
                both = np.flatnonzero((x != 0) & (y != 0))
                if not both.size:
                    continue
                sites = one.sites[int(x[both[0]])], other.sites[int(y[both[0]])]
                kinds = {site.atomic if site is not None else None for site in sites}
                if kinds == {None} or len(kinds) > 1:
                    low, high = byte_runs(both)[0]
                    shift = start - mine.start
                    return Clash(mine.name, low + shift, high + shift, verbs, sites)
    return None


def _diagnostic(first: Task, later: Task, clash: Clash, span: Span | None) -> Diagnostic:
    message = (
        f"task {later.name} {clash.verbs[1]} bytes [{clash.low}, {clash.high}) of gm '{clash.name}' that task"
        f" {first.name} {clash.verbs[0]}, and nothing orders the two"
    )
    notes: list[Note] = []
    for task, verb, site in ((first, clash.verbs[0], clash.sites[0]), (later, clash.verbs[1], clash.sites[1])):
        if site is not None:
            notes.append(Note(f"task {task.name} {verb} them in {site.name}", site.span))
    help_text = (
        f"name {first.name} in after of {later.name}, or state what they do with the memory: in, out and inout order"
        " a task after the last one that has written it"
    )
    return Diagnostic(RULE, Severity.ERROR, message, span, tuple(notes), help=help_text)
