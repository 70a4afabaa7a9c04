"""Data caches of scalar units: lines of 64 bytes that are not coherent with memory.

A scalar unit fetches a line on its first access, and writes the whole line back when it is cleaned or when the kernel
ends.  Writes of others to memory in the meantime are not visible, and are lost where the line was changed.  Source:
docs/reference/execution.md, "Data cache of the scalar unit"; docs/reference/instrumentation.md, "Findings".
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from pto_dialect.diagnostics.diagnostic import Severity
from pto_dialect.ir.core.base import Pipe

from ..report.cache_text import LOST, STALE, UNFLUSHED, Clash, describe
from ..report.findings import Finding
from ..report.race_text import Access
from ..state.cache_lines import LINE, Lines, Residency, Suspect, Touched, Write, lines_of, mask_bytes

if TYPE_CHECKING:
    from ..context import Context, RunObserver
    from ..state.arena import InstrumentedArena
    from ..state.clocks import Thread
    from ..state.regions import Bytes

_WHOLE = (1 << LINE) - 1


class ScalarCaches:
    """The data caches of all scalar units of a run."""

    def __init__(self, observer: RunObserver) -> None:
        self.observer = observer
        self.log = observer.log
        self._sites = 0
        self._needed = False
        self.lines: dict[int, Lines] = {}
        self._pending: tuple[InstrumentedArena, Residency, int] | None = None
        """The present store."""

    def needed(self) -> bool:
        """Returns whether the program has operations that use the caches."""
        sites = self.observer.sites.all
        if len(sites) != self._sites and not self._needed:
            self._needed = any(site is not None and site.cached for site in sites[self._sites :])
            self._sites = len(sites)
        return self._needed

    # ------------------------------------------------------------ accesses

    def read(self, context: Context, arena: InstrumentedArena, region: Bytes) -> None:
        """Checks a read of global memory before it happens."""
        self._settle()
        lines = self._lines(arena)
        if self._cached(context):
            touched = Touched(region)
            for line in lines_of(region):
                self._load(context, lines, line, touched.mask(line))
        elif lines.known:
            for line, mask in lines.touched(region, Touched(region)):
                self._read_past(context, lines, line, mask)

    def write(self, context: Context, arena: InstrumentedArena, region: Bytes) -> None:
        """Checks a write of global memory before it happens."""
        self._settle()
        lines = self._lines(arena)
        if self._cached(context):
            touched = Touched(region)
            for line in lines_of(region):
                self._store(context, lines, line, touched.mask(line))
            return
        touched = lines.note(context.thread, region, context.event)
        if lines.known:
            for line, mask in lines.touched(region, touched):
                self._written(context, lines, line, Write(context.event, mask))

    def _cached(self, context: Context) -> bool:
        return context.thread.pipe == Pipe.S.value and self.observer.sites[context.mark.site].cached

    def _lines(self, arena: InstrumentedArena) -> Lines:
        lines = self.lines.get(id(arena))
        if lines is None:
            lines = self.lines[id(arena)] = Lines(arena)
        return lines

    # ------------------------------------------------------------ the scalar unit

    def _load(self, context: Context, lines: Lines, line: int, mask: int) -> None:
        one = self._fetch(context, lines, line)
        for write in one.foreign:
            stored_since = sum(stored for event, stored in one.stores.items() if event > write.event)
            seen = write.mask & mask & ~stored_since
            if not seen or not self._before(write.event, context.thread):
                continue
            rule = UNFLUSHED if write.held and self._holds(lines, line, write) else STALE
            finding = self._report(rule, write.event, context.event, lines.arena, line, seen)
            if self._differs(one, lines.arena, seen):
                finding.severity = Severity.ERROR

    def _store(self, context: Context, lines: Lines, line: int, mask: int) -> None:
        one = self._fetch(context, lines, line)
        fresh = mask_bytes(mask & ~one.dirty)
        one.old[fresh] = lines.arena.memory[line * LINE + fresh]
        one.store(context.event, mask)
        self._pending = (lines.arena, one, mask)
        for write in one.foreign:
            self._lose(one, write, context, lines)
        for other in lines.others(line, context.thread):
            write = Write(context.event, mask, held=True)
            other.foreign.append(write)
            self._lose(other, write, context, lines)

    def _fetch(self, context: Context, lines: Lines, line: int) -> Residency:
        """Returns the line in the cache of the scalar unit, with everything that may be written to memory after it was
        fetched."""
        thread = context.thread
        caches = lines.resident.setdefault(line, {})
        one = caches.get(thread.number)
        if one is not None:
            return one
        one = caches[thread.number] = Residency(thread, lines.arena, line)
        one.foreign += [write for write in lines.written(line) if not self._before(write.event, thread)]
        for other in lines.others(line, thread):
            one.foreign += _held(other)
            for mask in other.stores.values():
                held = mask_bytes(mask)
                one.content[held] = other.old[held]
        for other in lines.closed.get(line, ()):
            if other.thread is not thread and not self._written_back_before(other, thread):
                one.foreign += _held(other)
        return one

    # ------------------------------------------------------------ the other pipes

    def _written(self, context: Context, lines: Lines, line: int, write: Write) -> None:
        """Handles a write to memory of a line that caches hold, or have held."""
        for one in lines.resident.get(line, {}).values():
            one.foreign.append(write)
            self._lose(one, write, context, lines)
            one.overwritten(write.mask)
        for one in lines.closed.get(line, ()):
            if not self._written_back_before(one, context.thread):
                self._lose(one, write, context, lines)

    def _read_past(self, context: Context, lines: Lines, line: int, mask: int) -> None:
        """Handles a read of memory of a line that caches hold, or have held."""
        for one in (*lines.resident.get(line, {}).values(), *lines.closed.get(line, ())):
            if one.written_back and self._written_back_before(one, context.thread):
                continue
            for event, stored in one.stores.items():
                seen = stored & mask
                if not seen or not self._before(event, context.thread):
                    continue
                finding = self._report(UNFLUSHED, event, context.event, lines.arena, line, seen)
                held = mask_bytes(seen)
                if not one.written_back and not np.array_equal(one.old[held], one.content[held]):
                    finding.severity = Severity.ERROR

    # ------------------------------------------------------------ maintenance

    def maintain(self, thread: Thread, arena: InstrumentedArena | None, offset: int = 0) -> None:
        """Cleans and invalidates a line of the scalar unit, or with no memory its whole cache."""
        self._settle()
        for lines in list(self.lines.values()) if arena is None else (self._lines(arena),):
            for line in list(lines.resident) if arena is None else (offset // LINE,):
                caches = lines.resident.get(line, {})
                one = caches.pop(thread.number, None)
                if one is not None and one.dirty:
                    self._write_back(one, lines)
                    one.written_back = thread.tick()
                    lines.closed.setdefault(line, []).append(one)
                if not caches:
                    lines.resident.pop(line, None)

    def end(self) -> None:
        """Handles the end of the kernel in all cores, which write back their changes."""
        self._settle()
        for lines in self.lines.values():
            for caches in lines.resident.values():
                for one in caches.values():
                    self._write_back(one, lines)
        self.clear()

    def clear(self) -> None:
        """Resets all caches."""
        self.lines.clear()
        self._pending = None

    def _write_back(self, one: Residency, lines: Lines) -> None:
        """Handles the write-back of a line: memory that differs is lost."""
        if one.dirty and one.suspects:
            differs = self._differs(one, lines.arena, _WHOLE)
            for suspect in one.suspects.values():
                finding = self._lost(one, suspect, lines)
                if finding is not None and differs:
                    finding.severity = Severity.ERROR

    def _settle(self) -> None:
        """Completes the last store of a scalar unit."""
        if self._pending is not None:
            arena, one, mask = self._pending
            stored = mask_bytes(mask)
            one.content[stored] = arena.memory[one.line * LINE + stored]
            self._pending = None

    @staticmethod
    def _differs(one: Residency, arena: InstrumentedArena, mask: int) -> bool:
        """Returns whether the cache holds other bytes than memory, to which all stores are applied at once."""
        now = arena.memory[one.line * LINE : (one.line + 1) * LINE]
        some = mask_bytes(mask)
        some = some[some < now.size]
        return not np.array_equal(one.content[some], now[some])

    # ------------------------------------------------------------ order

    def _before(self, event: int, thread: Thread) -> bool:
        """Returns whether an event happens before the present operation of ``thread``."""
        source = self.log.threads[self.log.thread[event]]
        if self.observer.ordered and source.core is thread.core:
            return True
        return self.log.happened_before(event, thread)

    def _written_back_before(self, one: Residency, thread: Thread) -> bool:
        """Returns whether a line was written back before the present operation of ``thread``."""
        source = one.thread
        if source is thread or (self.observer.ordered and source.core is thread.core):
            return True
        return source.device == thread.device and thread.clock[source.index] >= one.written_back

    def _holds(self, lines: Lines, line: int, write: Write) -> bool:
        """Returns whether the cache that ``write`` was made to has not written it back."""
        one = lines.resident.get(line, {}).get(self.log.thread[write.event])
        return one is not None and write.event in one.stores

    # ------------------------------------------------------------ findings

    def _lose(self, one: Residency, write: Write, context: Context, lines: Lines) -> None:
        """Handles a line that a cache has changed and others write: one of the writes may be lost when it is written
        back."""
        if not one.dirty:
            return
        earlier = one.last if write.event == context.event else write.event
        suspect = Suspect(write, one.last, self._before(earlier, context.thread))
        if one.written_back:
            self._lost(one, suspect, lines)
            return
        key = (self.log.site[write.event], self.log.site[one.last])
        known = one.suspects.get(key)
        if known is not None:
            write = write._replace(mask=write.mask | known.write.mask)
            suspect = Suspect(write, one.last, suspect.ordered or known.ordered)
        one.suspects[key] = suspect

    def _lost(self, one: Residency, suspect: Suspect, lines: Lines) -> Finding | None:
        """Returns the finding about a write beside, or over, the changes of a line in a cache."""
        write = suspect.write
        alone = write.mask & ~one.dirty
        if not alone and not suspect.ordered:
            # A race of the same bytes, or cores that store equal values.
            return None
        return self._report(LOST, write.event, suspect.stored, lines.arena, one.line, alone or write.mask)

    def _report(self, rule: str, first: int, second: int, arena: InstrumentedArena, line: int, mask: int) -> Finding:
        """Reports a finding about the write ``first`` and the access ``second``."""
        observer, log = self.observer, self.log
        sites = observer.sites[log.site[first]], observer.sites[log.site[second]]
        known = observer.findings.known(rule, *sites)
        if known is not None:
            known.count += 1
            return known
        finding = Finding(rule, "", sites, None, severity=Severity.WARNING)
        finding.event = second
        clash = Clash(rule, self._access(first, True), self._access(second, rule == LOST), arena, line, mask)
        finding.text = partial(describe, clash)
        observer.findings.add(finding)
        return finding

    def _access(self, event: int, writes: bool) -> Access:
        log = self.log
        site = self.observer.sites[log.site[event]]
        return Access(log.threads[log.thread[event]], site, log.loops[event], log.order[event], event, writes)


def _held(other: Residency) -> list[Write]:
    return [Write(event, mask, held=True) for event, mask in other.stores.items()]
