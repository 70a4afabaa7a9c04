"""Tile operations that write over elements of their own sources which they read later.

An elementwise operation takes its elements in the order of memory, some at a time, so a result that lies partly over a
source replaces elements that are still needed: an error. The order in which other operations read is not defined, so
there it is a warning. Source: docs/reference/instrumentation.md, "Findings".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pto_dialect.diagnostics.diagnostic import Severity

from ..context import Torn
from ..report.describe import bytes_text, operation_text
from ..report.findings import Finding
from ..state.regions import Cells, Region, byte_runs

if TYPE_CHECKING:
    from ..context import Context, RunObserver
    from ..report.sites import Site
    from ..state.arena import InstrumentedArena


def written(context: Context, site: Site, arena: InstrumentedArena, target: Region) -> None:
    """The operation is about to write: which elements that it has to read later are there?"""
    for other, source in context.sources:
        if other is arena and source.offset < target.stop and target.offset < source.stop:
            shared = _needed(source, target, site)
            if shared.size:
                context.torn = (*context.torn, Torn(arena, target, shared, arena.memory[shared]))


def _needed(source: Region, target: Region, site: Site) -> Cells:
    """Returns the bytes of elements of ``source`` that are read after ``target`` has replaced them."""
    if (source.offset, source.run, source.dims) == (target.offset, target.run, target.dims):
        return np.zeros(0, np.int64)
    own, theirs = np.sort(source.offsets()), np.sort(target.offsets())
    shared, at, to = np.intersect1d(own, theirs, assume_unique=True, return_indices=True)
    if not site.in_order:
        return shared if source.offset != target.offset else shared[:0]
    # As many groups of elements as the smaller of both has elements: results of a group need that group of the source.
    groups = max(1, min(own.size, theirs.size) // site.width)
    return shared[at * groups // own.size > to * groups // theirs.size]


def settle(observer: RunObserver, context: Context) -> None:
    """Reports what the operation, which has run, has changed."""
    site = observer.sites[context.mark.site]
    for arena, _, shared, content in context.torn:
        changed = shared[arena.memory[shared] != content]
        if not changed.size or observer.findings.repeated("mem-overlap", site):
            continue
        where = bytes_text(arena, byte_runs(changed))
        if site.in_order:
            message = f"{site.name} overwrites {where} of its own source before it has read them"
        else:
            message = f"{site.name} overwrites {where} of its own source, and may read them later"
        notes = [(operation_text(site, context.mark.loops, context.thread), None)]
        help = "a destination has exactly the bytes of a source, or none of them"
        severity = Severity.ERROR if site.in_order else Severity.WARNING
        finding = Finding("mem-overlap", message, (site,), site.span, notes, help, severity=severity)
        finding.event = context.event
        observer.findings.add(finding)
