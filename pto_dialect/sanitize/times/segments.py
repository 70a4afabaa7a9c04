"""Segments of a core's work that come again: timed once, and taken over where all that decides their times is equal.

A segment is what the scalar unit issues between two changes of the loop indices around it. Its times depend on the
entries themselves, on the times of the pipes, flags and waits that it uses, relative to the latest of these pipes, and
on the bytes of global memory. If an equal segment has started from equal relative times, its effects are those of that
one, later by the difference; what depends on addresses in global memory is computed again and compared. Whatever is not
equal is executed. Times have no rounding errors, so nothing depends on when something happens.

Source: docs/reference/cycles.md, "Steady states".
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from pto_dialect.analysis.cycles.estimate import Estimate
from pto_dialect.analysis.cycles.static import Total
from pto_dialect.analysis.cycles.work import Work

from ..instrument.cycle_times import CycleTimeline, Executed
from ..instrument.cycle_waits import Cause
from ..instrument.cycles import Access as Origin
from ..instrument.cycles import Accesses, key_of
from ..instrument.warmth import Saved
from ..report.sites import Site
from ..state.clocks import Thread, Token
from .footprints import Access, Footprint, Operands

if TYPE_CHECKING:
    from ..instrument.core import InstrumentedCore
    from .observer import TimesObserver

FlagKey = tuple[str, str, int]
Held = list[tuple[Cause, float]]
"""Causes of waits before the next operation of a thread, with their cycles."""

_PATIENCE = 64
"""Segments that are executed without one that comes again, beyond twice the number of those, after which a core is
no longer observed."""

_MOST_EDGES = 1 << 14
"""Maximum number of segments that are kept."""

_MOST_ALTERNATIVES = 4
"""Maximum number of segments that are kept of those that differ in their accesses of global memory only."""

_MOST_SETS = 128
"""Number of sets of bytes of one memory up to which accesses are compared."""


class Flag(NamedTuple):
    """A flag that the scalar unit has issued: its ``number`` among all entries, and whether it ``sets`` the flag."""

    number: int
    site: int
    pipe: str
    flag: FlagKey
    sets: bool


class Instruction(NamedTuple):
    """An instruction that the scalar unit has issued; ``number`` is ``None`` where its accesses are not known."""

    number: int | None
    site: int
    pipe: str
    flag: None
    line: int
    action: Any
    arguments: tuple[Any, ...]
    operands: Operands | None


Entry = Flag | Instruction


class Ran(NamedTuple):
    """An instruction of a segment: its entry, thread, site, work and cycles, its times relative to the reference, and
    its accesses."""

    entry: int
    thread: Thread
    site: Site
    work: Work
    cost: Estimate
    start: float
    end: float
    footprint: Footprint


@dataclass
class Part:
    """What the entries of a segment use: threads and flags."""

    threads: tuple[Thread, ...]
    flags: tuple[FlagKey, ...]
    sites: tuple[int, ...]


@dataclass
class Effects:
    """What an execution of a segment adds: executions by site and pipe, busy times and waits by thread, events."""

    executed: dict[tuple[int, str], tuple[int, Total]] = field(default_factory=dict)
    busy: dict[int, Total] = field(default_factory=dict)
    waits: dict[int, dict[Cause, float]] = field(default_factory=dict)
    events: int = 0


@dataclass
class Edge:
    """A segment that was executed: the state after it relative to the reference, and its instructions that depend on
    addresses in global memory or on the accesses before them, in the order of their execution."""

    part: Part
    after: tuple[Any, ...]
    ran: list[Ran]
    effects: Effects
    uses: int = 0


class Segments:
    """The segments of one core, which runs alone."""

    def __init__(
        self, core: InstrumentedCore, observer: TimesObserver, carry_out: Callable[[list[Entry]], None]
    ) -> None:
        timeline = observer.timeline
        assert isinstance(timeline, CycleTimeline)
        self.core = core
        self.carry_out = carry_out
        self.observer = observer
        self.timeline = timeline
        self.is_active = True
        self.taken = 0
        """Number of segments that were taken over."""
        self._executed = 0
        self._edges: dict[tuple[Any, ...], list[Edge]] = {}
        self._parts: dict[tuple[int, ...], Part] = {}

    def end(self, entries: list[Entry]) -> None:
        """Handles the end of a segment with these entries."""
        numbers = tuple([entry[0] for entry in entries])
        if None in numbers or self.core.waiting or not self.is_active:
            self.carry_out(entries)
            return
        part = self._parts.get(numbers)  # pyright: ignore[reportArgumentType]
        if part is None:
            part = self._parts[numbers] = self._part(entries)  # pyright: ignore[reportArgumentType]
        reference = self._reference(part)
        key = numbers, self._state(part, reference)
        edges = self._edges.setdefault(key, [])
        if any(self._take_over(edge, entries, reference) for edge in reversed(edges)):
            self.taken += 1
            return
        self._executed += 1
        if self._executed > _PATIENCE + 2 * self.taken or len(self._edges) >= _MOST_EDGES:
            self.is_active = False
        learned = self._execute(part, entries, reference)
        if learned is not None:
            edges.append(learned)
            if len(edges) > _MOST_ALTERNATIVES:
                self._settle(edges.pop(0))

    def finish(self) -> None:
        """Adds the effects of segments that were taken over."""
        self.observer.repeated += self.taken
        self.taken = 0
        for edges in self._edges.values():
            for edge in edges:
                self._settle(edge)

    def _settle(self, edge: Edge) -> None:
        if edge.uses:
            self._add(edge.effects, edge.uses)
            edge.uses = 0

    # ------------------------------------------------------------ state

    def _part(self, entries: Sequence[Entry]) -> Part:
        threads = self.core.threads
        pipes = dict.fromkeys(entry.pipe for entry in entries)
        flags = dict.fromkeys(entry.flag for entry in entries if entry.flag is not None)
        sites = dict.fromkeys(entry.site for entry in entries)
        return Part(tuple(threads[pipe] for pipe in pipes), tuple(flags), tuple(sites))

    def _reference(self, part: Part) -> float:
        return max(thread.time for thread in part.threads)

    def _state(self, part: Part, reference: float) -> tuple[Any, ...]:
        """Returns everything that the times of a segment depend on but accesses of global memory, relative to
        ``reference``."""
        core, waits, overlapping = self.core, self.timeline.waits, self.observer.overlapping
        issued = core.threads["PIPE_S"].time
        late = issued > min(self._earliest(thread) for thread in part.threads)
        found: list[Any] = [(issued - reference, waits.scalar.get(id(core))) if late else None]
        for thread in part.threads:
            found.append(thread.time - reference)
            found.append(waits.behind.get(thread.number, 0))
            pipe = overlapping.get(thread.number)
            if pipe is not None:
                found.append(pipe.relative(reference))
        for key in part.flags:
            found.append(core.flags.get(key, 0))
            earliest = core.threads[key[1]].time
            for token in core.signals.tokens.get(key, ()):
                # What has arrived before the pipe is free delays nothing.
                time = token.time - reference if token.time > earliest else None
                found.append((time, token.site, token.sender, self.timeline.leaving.get(token.flow, 0)))
        if self.observer.ordered:
            found.append(self._accessed(part, reference))
        return tuple(found)

    def _accessed(self, part: Part, reference: float) -> tuple[Any, ...]:
        """Returns the accesses of memories of the core that may delay later ones."""
        observer = self.observer
        floor = min(self._earliest(thread) for thread in part.threads)
        found: list[Any] = []
        for number, known in observer.accessed.items():
            if number in observer.public:
                continue
            found.append((number, len(known) > _MOST_SETS))
            for key, one in known.items():
                if one.written > floor or one.read > floor:
                    written = (one.written - reference, one.writer) if one.written > floor else None
                    read = (one.read - reference, one.reader) if one.read > floor else None
                    found.append((key, written, read))
        return tuple(found)

    def _earliest(self, thread: Thread) -> float:
        pipe = self.observer.overlapping.get(thread.number)
        return thread.time if pipe is None else min(thread.time, pipe.earliest)

    # ------------------------------------------------------------ execution

    def _execute(self, part: Part, entries: list[Entry], reference: float) -> Edge | None:
        """Executes a segment; returns what it has done, ``None`` where that cannot be repeated."""
        core, observer, waits = self.core, self.observer, self.timeline.waits
        before, effects = self._counts(part), Effects()
        held = {thread.number: waits.held.pop(thread.number, []) for thread in part.threads}
        observer.placed_instructions = placed = []
        try:
            self.carry_out(entries)
        finally:
            observer.placed_instructions = None
            first: dict[int, int] = {}
            for one in placed:
                first.setdefault(one.thread.number, one.site.number)
            self._differences(part, before, effects)
            after = self._after(part, reference, first)
            for number, earlier in held.items():
                self._hold(number, earlier, first.get(number, 0), waits.held.pop(number, []))
        if core.waiting:
            return None
        if len(placed) != sum(entry.flag is None for entry in entries):
            return None
        ran: list[Ran] = []
        for order, footprint, site, thread, (work, cost), (start, end), depends in placed:
            if footprint is None or depends:
                return None
            if observer.ordered or any(arena.public for arena, _, _ in footprint.accesses):
                ran.append(Ran(order, thread, site, work, cost, start - reference, end - reference, footprint))
        if observer.ordered and any(
            len(known) > _MOST_SETS for number, known in observer.accessed.items() if number not in observer.public
        ):
            return None
        return Edge(part, after, ran, effects)

    def _hold(self, number: int, earlier: Held, site: int, new: Held) -> None:
        """Assigns ``earlier`` waits to the first operation of a segment on their thread; without one, they and ``new``
        ones continue to be held."""
        waits = self.timeline.waits
        if site:
            for cause, cycles in earlier:
                waits.add(number, cause._replace(site=site), cycles)
            earlier = []
        if earlier or new:
            waits.held[number] = [*earlier, *new]

    def _after(self, part: Part, reference: float, first: Mapping[int, int]) -> tuple[Any, ...]:
        """Returns the state after a segment, with its new waits, and the ``first`` operation on each thread."""
        core, waits, overlapping = self.core, self.timeline.waits, self.observer.overlapping
        threads: list[Any] = []
        for thread in part.threads:
            pipe = overlapping.get(thread.number)
            threads.append(
                (
                    thread.time - reference,
                    first.get(thread.number, 0),
                    list(waits.held.get(thread.number, ())),
                    waits.behind.get(thread.number, 0),
                    None if pipe is None else pipe.relative(reference),
                )
            )
        flags = [
            (
                core.flags.get(key, 0),
                [
                    (token, token.time - reference, self.timeline.leaving.get(token.flow, 0))
                    for token in core.signals.tokens.get(key, ())
                ],
            )
            for key in part.flags
        ]
        return threads, flags

    # ------------------------------------------------------------ repetition

    def _take_over(self, edge: Edge, entries: list[Entry], reference: float) -> bool:
        """Gives a segment the effects of an equal one; returns whether accesses of global memory take as long."""
        if edge.ran and not self._check(edge, entries, reference):
            return False
        core, waits, overlapping = self.core, self.timeline.waits, self.observer.overlapping
        threads, flags = edge.after
        for thread, (time, site, held, behind, lanes) in zip(edge.part.threads, threads, strict=True):
            thread.time = reference + time
            if held or site:
                self._hold(thread.number, waits.held.pop(thread.number, []), site, held)
            if behind:
                waits.behind[thread.number] = behind
            if lanes is not None:
                overlapping[thread.number].restore(lanes, reference)
        for key, (count, tokens) in zip(edge.part.flags, flags, strict=True):
            core.flags[key] = count
            self._restore(key, tokens, reference)
        edge.uses += 1
        return True

    def _restore(self, key: FlagKey, tokens: Sequence[tuple[Token, float, int]], reference: float) -> None:
        pending = self.core.signals.tokens.get(key)
        if pending is None:
            pending = self.core.signals.tokens[key] = deque()
        for token in pending:
            self.timeline.leaving.pop(token.flow, None)
        pending.clear()
        for token, time, behind in tokens:
            flow = self.timeline.next_flow()
            if behind:
                self.timeline.leaving[flow] = behind
            pending.append(token._replace(time=reference + time, flow=flow))

    def _check(self, edge: Edge, entries: list[Entry], reference: float) -> bool:
        """Returns whether the instructions of a segment start and take as long as those of ``edge`` with their own
        addresses in global memory; if so, these accesses are recorded."""
        observer = self.observer
        undo: Saved = []
        saved = SavedAccesses(observer) if observer.ordered else None
        for one in edge.ran:
            operands = _operands(entries[one.entry])
            accesses = None if operands is None else one.footprint.at(operands.moving)
            if accesses is None or not self._fits(one, accesses, reference, undo, saved):
                for since, where, old in reversed(undo):
                    since[where] = old
                if saved is not None:
                    saved.restore()
                return False
        return True

    def _fits(
        self,
        one: Ran,
        accesses: Sequence[Access],
        reference: float,
        undo: Saved,
        saved: SavedAccesses | None,
    ) -> bool:
        """Returns whether an instruction starts and takes as long as ``one`` with its own accesses, and records
        them."""
        observer, timeline = self.observer, self.timeline
        start = reference + one.start
        if saved is not None and 0 < observer.ready_in_public(accesses) >= start:
            return False
        reaches = any(arena.public for arena, _, _ in accesses) and "gm" in one.work.path
        if reaches:
            alone = timeline.alone(one.work)
            if timeline.shared(alone, one.work.path, one.thread, accesses, start, undo) != one.cost:
                return False
        if saved is not None:
            saved.note(accesses)
            observer.regions = list(accesses)
            observer.remember(Origin(one.thread.pipe, one.site.number, -1), reference + one.end)
        return True

    # ------------------------------------------------------------ counts

    def _counts(self, part: Part) -> tuple[Any, ...]:
        timeline = self.timeline
        executed: dict[tuple[int, str], tuple[int, Total]] = {}
        for key in self._keys(part):
            entry = timeline.executed.get(key)
            if entry is not None:
                executed[key] = entry.count, replace(entry.total)
        busy = {one.number: replace(timeline.busy.get(one.number, Total())) for one in part.threads}
        waits = {one.number: dict(timeline.waits.cycles.get(one.number, {})) for one in part.threads}
        return executed, busy, waits, self.observer.all_events

    def _keys(self, part: Part) -> list[tuple[int, str]]:
        return [(site, thread.pipe) for site in part.sites for thread in part.threads]

    def _differences(self, part: Part, before: tuple[Any, ...], effects: Effects) -> None:
        executed, busy, waits, events = before
        timeline = self.timeline
        for key in self._keys(part):
            entry = timeline.executed.get(key)
            if entry is not None:
                count, total = executed.get(key, (0, Total()))
                if entry.count != count:
                    effects.executed[key] = entry.count - count, _less(entry.total, total)
        for thread in part.threads:
            number = thread.number
            more = _less(timeline.busy.get(number, Total()), busy[number])
            if more != Total():
                effects.busy[number] = more
            known = waits[number]
            changed = {
                cause: cycles - known.get(cause, 0.0)
                for cause, cycles in timeline.waits.cycles.get(number, {}).items()
                if cycles != known.get(cause, 0.0)
            }
            if changed:
                effects.waits[number] = changed
        effects.events = self.observer.all_events - events

    def _add(self, effects: Effects, times: int) -> None:
        timeline = self.timeline
        for key, (count, total) in effects.executed.items():
            entry: Executed = timeline.executed[key]
            entry.count += times * count
            entry.total.add(total, times)
        for number, total in effects.busy.items():
            timeline.busy[number].add(total, times)
        for number, causes in effects.waits.items():
            known = timeline.waits.cycles[number]
            for cause, cycles in causes.items():
                known[cause] += times * cycles
        self.observer.events += times * effects.events


class SavedAccesses:
    """The last accesses of all memories before a segment."""

    def __init__(self, observer: TimesObserver) -> None:
        self._observer = observer
        self._maps = {number: dict(known) for number, known in observer.accessed.items()}
        self._fields: list[tuple[Accesses, tuple[Any, ...]]] = []

    def note(self, accesses: Sequence[Access]) -> None:
        """Saves what the record of accesses is going to change."""
        for arena, region, _ in accesses:
            one = self._observer.accessed.get(id(arena), {}).get(key_of(region))
            if one is not None:
                self._fields.append((one, (one.written, one.writer, one.read, one.reader)))

    def restore(self) -> None:
        """Removes all accesses since then."""
        for one, fields in reversed(self._fields):
            one.written, one.writer, one.read, one.reader = fields
        self._observer.accessed = self._maps


def _operands(entry: Entry) -> Operands | None:
    return entry.operands if isinstance(entry, Instruction) else None


def _less(total: Total, other: Total) -> Total:
    return Total(total.cycles - other.cycles, total.low - other.low, total.high - other.high)
