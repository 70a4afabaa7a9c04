"""Copies inside one memory whose source and target share bytes: which of them is copied first is not defined."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..report.describe import bytes_text, operation_text
from ..report.findings import Finding
from ..state.regions import Bytes, byte_runs

if TYPE_CHECKING:
    from ..context import Context, Watch
    from ..state.arena import WatchedArena


def check(watch: Watch, context: Context, arena: WatchedArena, target: Bytes) -> None:
    """Compares what a copy is about to write with what it has read."""
    site = watch.sites[context.mark.site]
    for read, source in context.copied:
        if read is not arena or source.stop <= target.offset or target.stop <= source.offset:
            continue
        if source.offset == target.offset and source.size == target.size:
            continue
        shared = np.intersect1d(source.offsets(), target.offsets())
        if not shared.size or watch.findings.repeated("mem-overlap", site):
            continue
        message = f"{site.name} overwrites {bytes_text(arena, byte_runs(shared))} that it copies from"
        notes = [(operation_text(site, context.mark.loops, context.actor), None)]
        advice = "copy to a place of its own"
        finding = Finding("mem-overlap", message, (site,), site.span, notes, advice)
        finding.event = context.event
        watch.findings.add(finding)
