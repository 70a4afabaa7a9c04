"""Values computed from uninitialized memory.

When an instruction has read such bytes, it is repeated with other values in them: the results that then differ depend
on them. So the mark follows data through copies, layouts and conversions of every instruction without a rule for any of
them, and unused padding is never reported. Source: docs/reference/instrumentation.md, "Findings", "No findings".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from pto_dialect.diagnostics.diagnostic import Severity
from pto_dialect.diagnostics.source import Span
from pto_dialect.runtime.faults import Fault
from pto_dialect.runtime.memory.spaces import Array

from ..report.describe import bytes_text, from_tiles, operation_text
from ..report.findings import Finding
from ..report.sites import Site
from ..state.last_events import ShadowRanges
from ..state.regions import Bytes, Region, ascending, byte_runs, distinct
from ..state.shadow import WRITTEN
from .decisions import decides

if TYPE_CHECKING:
    from ..context import Context, RunObserver
    from ..state.arena import InstrumentedArena

_MASKS = (0xFF, 0x3D)
"""Masks of the bytes (exclusive or) in each repetition: with poison they give 0, and numbers."""

NEVER, GOOD, DOUBTFUL = 0, 1, 2
"""Marks of a byte: uninitialized; initialized; initialized with a value that depends on uninitialized bytes."""


class Unwritten:
    """Marks of the bytes on chip; those of global memory are initialized."""

    def __init__(self, observer: RunObserver) -> None:
        self.observer = observer
        self.undefined: dict[tuple[InstrumentedArena, int, int], int] = {}
        """The last operations that have left bytes with undefined contents, by memory and range."""

    def read(self, context: Context, arena: InstrumentedArena, region: Bytes, ranges: ShadowRanges) -> None:
        """Records reads of bytes that are not initialized; the scalar unit uses what it reads."""
        if ranges is not None and len(ranges) == 1 and ranges[0].written == GOOD:
            context.good = True
            return
        shadow = arena.shadow
        cells = None if ranges is not None else region.cells(shadow.layer(WRITTEN), shadow.grain)
        marks = {one.written for one in ranges or ()} if cells is None else set(distinct(cells))
        context.good = context.good or GOOD in marks
        if len(marks) == 1 and GOOD in marks:
            return
        context.doubtful = context.doubtful or DOUBTFUL in marks
        self.observer.judged_by_content = True
        if cells is None:
            missing = shadow.bytes_of(region, [one for one in ranges or () if one.written != GOOD])
        else:
            missing = shadow.bytes_where(region, cells != GOOD)
        if context.thread.pipe == "PIPE_S":
            self._scalar(context, arena, missing)
        else:
            context.unwritten = (*context.unwritten, (arena, context.mark.site))
            context.offsets = (*context.offsets, missing)

    def write(self, context: Context, arena: InstrumentedArena, region: Bytes, ranges: ShadowRanges) -> None:
        """Marks the bytes as initialized until ``settle`` finds that the instruction has passed on others."""
        one = (arena, region, region.content(arena.memory).copy(), context.mark.site)
        if type(context.written) is list:
            context.written.append(one)
        else:
            context.written = [one]
        if not arena.public:
            self._mark(arena, region, ranges, GOOD)

    @staticmethod
    def _mark(arena: InstrumentedArena, region: Bytes, ranges: ShadowRanges, mark: int) -> None:
        if ranges is None:
            region.set(arena.shadow.layer(WRITTEN), arena.shadow.grain, mark)
        else:
            for one in ranges:
                one.written = mark

    def undefine(self, context: Context) -> None:
        """Marks the bytes that the operation leaves with undefined contents as uninitialized."""
        for arena, region in context.undefined:
            shadow = arena.shadow
            ranges = region.places if region.version == shadow.version else shadow.locate(region)
            self._mark(arena, region, ranges, NEVER)
            self.undefined[arena, region.offset, region.stop] = context.mark.site

    # ------------------------------------------------------------ instructions

    def settle(self, context: Context, action: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        """Checks after an instruction that has read bytes that are not initialized which of its results
        depend on them."""
        if not context.written:
            self._report(context, context.unwritten[0][1], None, Severity.WARNING)
            return
        results = [region.content(arena.memory).copy() for arena, region, *_ in context.written]
        changed = [np.zeros(result.shape, np.bool_) for result in results]
        for mask in _MASKS:
            if not any(part.any() for part in changed):
                self._repeat(context, action, arguments, mask, results, changed)
        for (arena, region, _, number), differs in zip(context.written, changed, strict=True):
            if not differs.any():
                continue
            if arena.public:
                # A transfer may take more than the initialized part; what is beyond it is checked at its readers.
                beyond = context.good and not context.doubtful and self.observer.sites[number].moves
                severity = Severity.WARNING if beyond else Severity.ERROR
                self._report(context, number, (arena, region, differs), severity)
                continue
            if not self.observer.sites[number].moves:
                self._report(context, number, (arena, region, differs), Severity.WARNING)
            self._doubt(arena, region.offsets()[differs.reshape(-1)])

    def _repeat(
        self,
        context: Context,
        action: Callable[..., Any],
        arguments: tuple[Any, ...],
        mask: int,
        results: list[Array],
        changed: list[Array],
    ) -> None:
        """Runs the instruction on its original memory, with other values in the bytes that are not initialized."""
        observer = self.observer
        for arena, region, before, _ in reversed(context.written):
            _put(arena, region, before)
        flipped = _merged(context)
        for arena, offsets in flipped:
            arena.memory[offsets] ^= mask
        observer.muted = True
        try:
            action(*arguments)
        except Fault:
            # With other values the instruction is not possible at all.
            for part in changed:
                part[...] = True
        finally:
            observer.muted = False
        for (arena, region, *_), result, part in zip(context.written, results, changed, strict=True):
            part |= region.content(arena.memory) != result
        for arena, region, before, _ in reversed(context.written):
            _put(arena, region, before)
        for arena, offsets in flipped:
            arena.memory[offsets] ^= mask
        for (arena, region, *_), result in zip(context.written, results, strict=True):
            _put(arena, region, result)

    def _doubt(self, arena: InstrumentedArena, offsets: Array) -> None:
        for low, high in byte_runs(offsets):
            region = Region(low, high - low)
            self._mark(arena, region, arena.shadow.locate(region), DOUBTFUL)

    # ------------------------------------------------------------ findings

    def _scalar(self, context: Context, arena: InstrumentedArena, offsets: Array) -> None:
        site = self.observer.sites[context.mark.site]
        if site.moves:
            return
        purpose = decides(site.op)
        severity = Severity.WARNING if purpose is None else Severity.ERROR
        if self.observer.findings.repeated("mem-uninit", site):
            return
        where = bytes_text(arena, byte_runs(offsets))
        use = "" if purpose is None else f" and {purpose}"
        names = from_tiles(site.operands_in(arena.space, False))
        message = f"{site.name} reads {where}{names}, {self._reason(arena, offsets)}{use}"
        self._add(context, "mem-uninit", message, severity, site, [])

    def _report(
        self,
        context: Context,
        number: int,
        target: tuple[InstrumentedArena, Bytes, Array] | None,
        severity: Severity,
    ) -> None:
        """Reports that operation ``number`` uses uninitialized data, and stores the result at ``target``."""
        sites = self.observer.sites
        site = sites[number]
        arena, reader = context.unwritten[0]
        rule = "mem-uninit"
        if arena.space == "l0c" and "acc" in site.name.replace("_", ".").split("."):
            rule, severity = "mad-acc-init", Severity.ERROR
        if self.observer.findings.repeated(rule, site):
            return
        offsets = next(offsets for other, offsets in _merged(context) if other is arena)
        named = bytes_text(arena, byte_runs(offsets))
        names = from_tiles(sites[reader].operands_in(arena.space, False))
        reason = self._reason(arena, offsets)
        if target is not None and target[0].public:
            written, region, differs = target
            where = bytes_text(written, byte_runs(region.offsets()[differs.reshape(-1)]))
            message = f"{where} receive what depends on {named}{names}, {reason}"
        else:
            message = f"{site.name} computes with {named}{names}, {reason}"
        notes = [] if reader == number else [(f"{sites[reader].name} reads them", sites[reader].span)]
        self._add(context, rule, message, severity, site, notes)

    def _reason(self, arena: InstrumentedArena, offsets: Array) -> str:
        """Returns why the bytes at ``offsets`` have no defined content."""
        first, last = int(offsets.min()), int(offsets.max())
        for (other, start, stop), number in reversed(self.undefined.items()):
            if other is arena and start <= first and last < stop:
                site = self.observer.sites[number]
                return f"which {site.name} ({site.line_text}) leaves undefined"
        return "which nothing has written"

    def _add(
        self,
        context: Context,
        rule: str,
        message: str,
        severity: Severity,
        site: Site,
        notes: list[tuple[str, Span | None]],
    ) -> None:
        note = operation_text(site, context.mark.loops, context.thread)
        advice = "write the memory first, e.g. by the transfer that should fill it"
        finding = Finding(rule, message, (site,), site.span, [*notes, (note, None)], advice, severity=severity)
        finding.event = context.event
        self.observer.findings.add(finding)


def _put(arena: InstrumentedArena, region: Bytes, values: Array) -> None:
    if isinstance(region, Region):
        region.content(arena.memory)[...] = values
        return
    arena.memory[region.offsets()] = values.reshape(-1)


def _merged(context: Context) -> list[tuple[InstrumentedArena, Array]]:
    """Returns the bytes that were read and are not initialized, each once."""
    by_arena: dict[int, tuple[InstrumentedArena, list[Array]]] = {}
    for (arena, _), offsets in zip(context.unwritten, context.offsets, strict=True):
        by_arena.setdefault(id(arena), (arena, []))[1].append(offsets)
    return [(arena, ascending(np.concatenate(parts))) for arena, parts in by_arena.values()]
