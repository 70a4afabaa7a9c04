"""Accesses of one place that nothing orders. Source: execution page, sections 6.2 to 6.4."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from . import vector_order
from .describe import bytes_text, from_tiles, operation_text
from .findings import Finding
from .regions import Bytes, Cells, byte_runs, distinct

if TYPE_CHECKING:
    from .arena import WatchedArena
    from .clocks import Actor
    from .watch import Context, Watch

RAW, WAR, WAW = "raw", "war", "waw"
_VERBS = {RAW: ("writes", "reads"), WAR: ("reads", "writes"), WAW: ("writes", "writes")}


class Races:
    """Compares each access with the last ones of the same bytes."""

    def __init__(self, watch: Watch) -> None:
        self.watch = watch
        self.log = watch.log

    def read(self, context: Context, event: int, arena: WatchedArena, region: Bytes) -> None:
        """A read conflicts with earlier writes."""
        shadow, actor = arena.shadow, context.actor
        if self._suspect(shadow.last_write, actor):
            self._compare(RAW, shadow.layer("writer"), context, arena, region)
        if context.scope and actor.number in shadow.last_write:
            vector_order.check(self.watch, RAW, shadow.layer("writer"), context, arena, region)
        region.set(shadow.reader(actor.number), shadow.grain, event)
        shadow.last_read[actor.number] = event

    def write(self, context: Context, event: int, arena: WatchedArena, region: Bytes) -> None:
        """A write conflicts with earlier writes and reads."""
        shadow, actor = arena.shadow, context.actor
        if self._suspect(shadow.last_write, actor):
            self._compare(WAW, shadow.layer("writer"), context, arena, region)
        for reader, last in shadow.last_read.items():
            if not self.log.happened_before(last, actor):
                self._compare(WAR, shadow.readers[reader], context, arena, region)
        if context.scope and actor.number in shadow.last_write:
            vector_order.check(self.watch, WAW, shadow.layer("writer"), context, arena, region)
        if context.scope and actor.number in shadow.last_read:
            vector_order.check(self.watch, WAR, shadow.readers[actor.number], context, arena, region)
        if arena.public and actor.pipe == "PIPE_MTE3" and actor.number in shadow.last_write:
            self._reordered(context, arena, region)
        region.set(shadow.layer("writer"), shadow.grain, event)
        shadow.last_write[actor.number] = event

    def _suspect(self, last: dict[int, int], actor: Actor) -> bool:
        """True when some actor's last access is not ordered before now, so that older ones need a look."""
        log = self.log
        return any(not log.happened_before(event, actor) for event in last.values())

    def _compare(self, kind: str, cells: Cells, context: Context, arena: WatchedArena, region: Bytes) -> None:
        found = region.cells(cells, arena.shadow.grain)
        for event in distinct(found):
            if event and not self.log.happened_before(event, context.actor) and not self._atomic(event, context):
                self._report(kind, event, found == event, context, arena, region)

    def _atomic(self, event: int, context: Context) -> bool:
        kind = self._kind(context.event)
        return kind is not None and self._kind(event) == kind

    def _kind(self, event: int) -> str | None:
        return self.log.atomic.get(event) or self.watch.sites[self.log.site[event]].atomic

    def _rule(self, kind: str, earlier: Actor, later: Actor, arena: WatchedArena) -> str:
        if earlier.core.block is not later.core.block:
            return "race-cross-block"
        if earlier.core is not later.core:
            return "race-cross-core"
        if kind == RAW and arena.space == "l0c" and (earlier.pipe, later.pipe) == ("PIPE_M", "PIPE_FIX"):
            return "l0c-handover"
        return f"race-{kind}"

    def _report(
        self, kind: str, event: int, where: Cells, context: Context, arena: WatchedArena, region: Bytes
    ) -> None:
        watch, log = self.watch, self.log
        earlier, later = log.actors[log.actor[event]], context.actor
        first, second = watch.sites[log.site[event]], watch.sites[context.mark.site]
        rule = self._rule(kind, earlier, later, arena)
        known = watch.findings.known(rule, first, second)
        if known is not None:
            known.count += 1
            self._doubled(known, kind, context, arena, region, where)
            return
        touched = region.offsets()[np.repeat(where.reshape(-1), arena.shadow.grain)]
        before, now = _VERBS[kind]
        space = arena.space
        place = bytes_text(arena, byte_runs(touched))
        tiles = from_tiles(second.operands_in(space, now == "writes"))
        message = (
            f"{later.name} {now} {place}{tiles} that {earlier.name} {before} in {first.name} ({first.place}), "
            "and nothing orders the two"
        )
        if rule == "l0c-handover":
            message = (
                f"{later.name} reads {place}{tiles} that {first.name} ({first.place}) produces, and nothing hands the "
                "accumulator over"
            )
        others = from_tiles(first.operands_in(space, before == "writes"))
        notes = [
            (f"{operation_text(first, log.loops[event], earlier)} {before} them{others}", first.span),
            (f"{operation_text(second, context.mark.loops, later)} {now} them", None),
        ]
        finding = Finding(rule, message, (first, second), second.span, notes, self._advice(rule, event, context))
        finding.event = context.event
        watch.findings.add(finding)
        self._doubled(finding, kind, context, arena, region, where)

    def _doubled(
        self, finding: Finding, kind: str, context: Context, arena: WatchedArena, region: Bytes, where: Cells
    ) -> None:
        """Remembers what two cores write to one place in one operation: ``settle`` sees whether it is the same."""
        first, second = finding.sites[:2]
        if kind == WAW and first is second and finding.rule == "race-cross-core":
            offsets = region.offsets()[np.repeat(where.reshape(-1), arena.shadow.grain)]
            finding.alike = False
            context.doubled.append((finding, arena, offsets, arena.memory[offsets]))

    def settle(self, context: Context) -> None:
        """After an instruction: did it write what another core had written there?"""
        for finding, arena, offsets, before in context.doubled:
            finding.differs = finding.differs or not np.array_equal(arena.memory[offsets], before)
            finding.alike = not finding.differs

    def _advice(self, rule: str, event: int, context: Context) -> str:
        log = self.log
        earlier, later = log.actors[log.actor[event]], context.actor
        first, second = self.watch.sites[log.site[event]], self.watch.sites[context.mark.site]
        if rule == "race-cross-block":
            return "pto.syncall between the two orders blocks; atomic stores of one kind do not conflict"
        if rule == "race-cross-core":
            return (
                f"pto.sync.set <{earlier.pipe}>, ID after {first.place} on {earlier.core.name} and pto.sync.wait "
                f"<{later.pipe}>, ID before {second.place} on {later.core.name} order them"
            )
        flag = f"[<{earlier.pipe}>, <{later.pipe}>, <EVENT_IDn>]"
        order = "after" if first.number <= second.number else "after (in the iteration before)"
        text = f"pto.set_flag{flag} {order} {first.place} and pto.wait_flag{flag} before {second.place} order them"
        if rule == "l0c-handover":
            text += "; so do unit_flag(check_and_set) on the producer and unit_flag(check_and_clear) on the write-back"
        return text

    def _reordered(self, context: Context, arena: WatchedArena, region: Bytes) -> None:
        """Stores of MTE3 to one place of global memory keep their order only across a barrier."""
        watch, log = self.watch, self.log
        if not watch.wants("sync"):
            return
        actor = context.actor
        fence = log.fence[context.event]
        cells = region.cells(arena.shadow.layer("writer"), arena.shadow.grain)
        for event in distinct(cells):
            if not event or log.actor[event] != actor.number or event == context.event or log.fence[event] != fence:
                continue
            first, second = watch.sites[log.site[event]], watch.sites[context.mark.site]
            if self._atomic(event, context) or watch.findings.repeated("sync-mte3-reorder", first, second):
                continue
            touched = region.offsets()[np.repeat((cells == event).reshape(-1), arena.shadow.grain)]
            message = (
                f"{actor.name} stores {bytes_text(arena, byte_runs(touched))} twice without a barrier on MTE3; the "
                f"first store is {first.name} ({first.place})"
            )
            notes = [(operation_text(first, log.loops[event], actor) + " stores them first", first.span)]
            advice = "pto.barrier #pto.pipe<PIPE_MTE3> between the stores"
            watch.findings.add(Finding("sync-mte3-reorder", message, (first, second), second.span, notes, advice))
