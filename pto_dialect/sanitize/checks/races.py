"""Accesses of one memory location that nothing orders, or that signals order against the program text.

Source: docs/reference/instrumentation.md, "Order of events", "Findings", "No findings".
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from pto_dialect.analysis.queues import is_push

from ..report.findings import Finding
from ..report.race_text import Access, Conflict, advice, message, notes
from ..state.last_events import (
    CellEvents,
    Found,
    RangeEvents,
    ShadowRanges,
    last_readers,
    last_writers,
    record_replaced_reads,
    replaced_reads,
)
from ..state.regions import Bytes
from ..state.shadow import WRITER, ShadowRange
from . import same_pipe, vector_order
from .events import are_atomic, side

if TYPE_CHECKING:
    from ..context import Context, RunObserver
    from ..state.arena import InstrumentedArena
    from ..state.clocks import Thread


_UNORDERED, _INVERTED = 1, 2
"""Why an event is no event before the current one: nothing orders them; a signal orders them against the text."""


class Races:
    """Compares each access with the last accesses of the same bytes."""

    may_agree = frozenset(("race-cross-core",))
    """Conflicts of threads that may write the same value: then no result depends on which is last."""

    def __init__(self, observer: RunObserver) -> None:
        self.observer = observer
        self.log = observer.log

    def read(self, context: Context, event: int, arena: InstrumentedArena, region: Bytes, ranges: ShadowRanges) -> None:
        """Checks a read against earlier writes."""
        shadow, thread = arena.shadow, context.thread
        mine = thread.number
        self._compare_writes(False, context, arena, region, ranges)
        if (thread.pipelined or context.scope) and mine in shadow.last_write and self._own(ranges, None, context):
            self._in_pipe("raw", last_writers(ranges, shadow, region), context, arena)
        if thread.pipelined and not context.scope and mine in shadow.last_read:
            record_replaced_reads(mine, event, ranges, shadow, region)
        if ranges is None:
            region.set(shadow.reader(mine), shadow.grain, event)
        else:
            for one in ranges:
                one.readers[mine] = event
        shadow.last_read[mine] = event

    def write(
        self, context: Context, event: int, arena: InstrumentedArena, region: Bytes, ranges: ShadowRanges
    ) -> None:
        """Checks a write against earlier writes and reads."""
        shadow, thread = arena.shadow, context.thread
        mine = thread.number
        self._compare_writes(True, context, arena, region, ranges)
        for reader, last in shadow.last_read.items():
            if reader == mine or not self._doubtful(last, context):
                continue
            if ranges is not None and len(ranges) == 1:
                self._compare_one(False, True, ranges[0].readers.get(reader, 0), reader, context, arena, region, ranges)
            else:
                self._compare(False, True, last_readers(reader, ranges, shadow, region), context, arena)
        inside = thread.pipelined or context.scope
        ordered = mine not in shadow.last_write or not (inside or same_pipe.stores_apply(context, arena))
        if not ordered and self._own(ranges, None, context):
            self._in_pipe("waw", last_writers(ranges, shadow, region), context, arena)
        if inside and mine in shadow.last_read and self._own(ranges, mine, context):
            self._in_pipe("war", last_readers(mine, ranges, shadow, region), context, arena)
        if thread.pipelined and not context.scope and shadow.last_read.get(mine) == event:
            # It works in place: it must not overtake the reads before its own.
            before = replaced_reads(mine, event, ranges, shadow, region)
            if before is not None:
                self._in_pipe("war", before, context, arena)
        if ranges is None:
            region.set(shadow.layer(WRITER), shadow.grain, event)
        else:
            for one in ranges:
                one.writer = event
        shadow.last_write[mine] = event

    def _compare_writes(
        self, writes: bool, context: Context, arena: InstrumentedArena, region: Bytes, ranges: ShadowRanges
    ) -> None:
        """Compares an access with the last writes of the same bytes."""
        shadow, mine = arena.shadow, context.thread.number
        if ranges is None:
            if self._suspect(shadow.last_write, context):
                self._compare(True, writes, CellEvents(shadow.layer(WRITER), shadow, region), context, arena)
            return
        owners = self.log.thread
        if len(ranges) == 1:
            writer = ranges[0].writer
            if writer and owners[writer] != mine:
                self._compare_one(True, writes, writer, None, context, arena, region, ranges)
            return
        for one in ranges:
            writer = one.writer
            if writer and owners[writer] != mine and self._doubtful(writer, context):
                self._compare(True, writes, RangeEvents(ranges, None, shadow, region), context, arena)
                break

    def _own(self, ranges: ShadowRanges, reader: int | None, context: Context) -> bool:
        """Returns False where the bytes are one shadow range whose last write, or last read by the thread ``reader``,
        must happen before an access of the same pipe."""
        if ranges is None or len(ranges) != 1 or context.scope:
            return True
        log, thread = self.log, context.thread
        event = ranges[0].writer if reader is None else ranges[0].readers.get(reader, 0)
        if not event or event == context.event or log.thread[event] != thread.number:
            return False
        return log.fence[event] == context.mark.fence and log.count[event] > thread.settled

    def _in_pipe(self, kind: str, events: Found, context: Context, arena: InstrumentedArena) -> None:
        """Compares an access with those of its own pipe, inside a vector scope or between instructions."""
        if context.scope:
            vector_order.check(self.observer, kind, events, context, arena)
            return
        shadow, mine = arena.shadow, context.thread.number
        last = shadow.last_read[mine] if kind == "war" else shadow.last_write[mine]
        same_pipe.check(self.observer, kind, events, context, arena, last)

    # ------------------------------------------------------------ order

    def _suspect(self, last: dict[int, int], context: Context) -> bool:
        """Returns whether some thread's last access is out of text order, so that older ones must be checked."""
        for event in last.values():  # noqa: SIM110 - a generator takes a third of the time of the whole check
            if self._doubtful(event, context):
                return True
        return False

    def _doubtful(self, event: int, context: Context) -> int:
        """Returns 0 for an event that happens before the current operation as the text has it, else `_UNORDERED` or
        `_INVERTED`."""
        log, thread = self.log, context.thread
        source = log.threads[log.thread[event]]
        if source is not thread:
            if source.device != thread.device or thread.clock[source.index] < log.count[event]:
                return _UNORDERED
            if event in log.stores and not log.stored(event, source, thread):
                return _UNORDERED
        return _INVERTED if log.order[event] > context.mark.order and source.core is thread.core else 0

    def inverted(self, event: int, context: Context) -> bool:
        """Returns whether an event is after the current operation in the text of the same core."""
        log = self.log
        if log.order[event] <= context.mark.order:
            return False
        return log.threads[log.thread[event]].core is context.thread.core

    def _compare(self, wrote: bool, writes: bool, events: Found, context: Context, arena: InstrumentedArena) -> None:
        for event in events.events():
            doubt = self._doubtful(event, context) if event else 0
            if doubt:
                self._report(wrote, writes, event, doubt == _INVERTED, events, context, arena)

    def _compare_one(
        self,
        wrote: bool,
        writes: bool,
        event: int,
        reader: int | None,
        context: Context,
        arena: InstrumentedArena,
        region: Bytes,
        ranges: Sequence[ShadowRange],
    ) -> None:
        """Does the same for the bytes of one shadow range, whose last write, or last read by ``reader``, is ``event``
        (0 for none)."""
        doubt = self._doubtful(event, context) if event else 0
        if doubt:
            events = RangeEvents(ranges, reader, arena.shadow, region)
            self._report(wrote, writes, event, doubt == _INVERTED, events, context, arena)

    # ------------------------------------------------------------ findings

    def _rule(self, first: Access, second: Access, ordered: bool, arena: InstrumentedArena) -> str:
        earlier, later = first.thread, second.thread
        if earlier.core.block.rank != later.core.block.rank:
            return "race-cross-rank"
        if earlier.core.block is not later.core.block:
            return "race-cross-block"
        if earlier.core is not later.core:
            return "race-cross-core"
        if ordered:
            return "race-inverted"
        kind = _kind_of(first, second)
        if kind == "raw" and arena.space == "l0c" and (earlier.pipe, later.pipe) == ("PIPE_M", "PIPE_FIX"):
            return "l0c-handover"
        return f"race-{kind}"

    def _report(
        self,
        wrote: bool,
        writes: bool,
        event: int,
        ordered: bool,
        events: Found,
        context: Context,
        arena: InstrumentedArena,
    ) -> None:
        """Reports a conflict with ``event``, which is among the ``events`` of the bytes of the access, unless both are
        updates of one kind; ``ordered`` if it happens before the current operation."""
        observer, log = self.observer, self.log
        inverted = ordered or self.inverted(event, context)
        # Everything that the rule and the sides depend on.
        signature = (log.site[event], context.mark.site, log.thread[event], context.thread.number)
        key = (*signature, wrote, writes, ordered, inverted, arena.space)
        known = observer.findings.by_cause.get(key)
        # The mode of their core decides whether stores are atomic, otherwise their sites do.
        if (known is None or log.atomic) and are_atomic(observer, event, context):
            return
        if known is not None:
            known.count += 1
            if wrote and writes:
                self._doubled(known, context, arena, events, event)
            return
        sides = [side(self.observer, event, wrote), side(self.observer, context.event, writes)]
        if inverted:
            # The text states which of the two the program means to be first, whichever ran first.
            sides.reverse()
        first, second = sides
        rule = self._rule(first, second, ordered, arena)
        known = observer.findings.known(rule, first.site, second.site)
        if known is not None:
            observer.findings.by_cause[key] = known
            known.count += 1
            if wrote and writes:
                self._doubled(known, context, arena, events, event)
            return
        conflict = Conflict(rule, first, second, arena, events.runs(event))
        finding = Finding(rule, "", (first.site, second.site), None)
        finding.event = second.event
        finding.conflict = conflict
        finding.meant = rule == "race-cross-core" and (observer.ordered or is_push(first.site.op))
        finding.text = partial(_add_notes, conflict, _culprit(first, second) if ordered else None)
        observer.findings.add(finding)
        observer.findings.by_cause[key] = finding
        if wrote and writes:
            self._doubled(finding, context, arena, events, event)

    def _doubled(self, finding: Finding, context: Context, arena: InstrumentedArena, events: Found, event: int) -> None:
        """Records what two cores write to one location in one operation: ``settle`` checks whether it is equal."""
        first, second = finding.sites[:2]
        if first is second and finding.rule in self.may_agree:
            offsets = events.offsets(event)
            finding.same_bytes = False
            # Blocks that write parts of what others write do not store equal values.
            finding.differs = finding.differs or (
                finding.rule == "race-cross-block" and offsets.size != events.region.offsets().size
            )
            context.doubled = (*context.doubled, (finding, arena, offsets, arena.memory[offsets]))

    def settle(self, context: Context) -> None:
        """Checks after an instruction whether it wrote what another core had written there."""
        for finding, arena, offsets, before in context.doubled:
            finding.differs = finding.differs or not np.array_equal(arena.memory[offsets], before)
            finding.same_bytes = not finding.differs


class ApartRaces(Races):
    """The same between cores, blocks and ranks alone, for programs that leave the order of the pipes of a core to the
    compiler, which orders no cores."""

    may_agree = frozenset(("race-cross-core", "race-cross-block"))

    def _doubtful(self, event: int, context: Context) -> int:
        source = self.log.threads[self.log.thread[event]]
        return 0 if source.core is context.thread.core else super()._doubtful(event, context)

    def _in_pipe(self, kind: str, events: Found, context: Context, arena: InstrumentedArena) -> None:
        """Does nothing: the compiler orders the accesses of a pipe."""


def _add_notes(conflict: Conflict, culprit: tuple[int, int] | None, finding: Finding) -> None:
    finding.message, finding.notes, finding.span = message(conflict), notes(conflict), conflict.second.site.span
    text = advice(conflict, culprit)
    finding.help, finding.fix = text.text, text.fix


def _kind_of(first: Access, second: Access) -> str:
    if not first.writes:
        return "war"
    return "waw" if second.writes else "raw"


def _culprit(first: Access, second: Access) -> tuple[int, int] | None:
    """Returns the sites of the wait and of the set that make ``first``, which precedes in the text, run after
    ``second``."""
    thread: Thread = first.thread
    for (sender, wait, set_), taken in thread.taken.items():
        if sender == second.thread.number and taken.set_order >= second.order and taken.wait_order <= first.order:
            return wait, set_
    return None
