"""Copies inside one memory whose source and target overlap: the order of the copy is undefined."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..report.describe import bytes_text, operation_text
from ..report.findings import Finding
from ..state.regions import Bytes, byte_runs

if TYPE_CHECKING:
    from ..context import Context, RunObserver
    from ..state.arena import InstrumentedArena
    from ..state.regions import Cells


def settle(observer: RunObserver, context: Context) -> None:
    """Compares everything that a copy has written with everything that it has read, once it has run."""
    site = observer.sites[context.mark.site]
    for arena in {id(one): one for one, _, _ in context.copied}.values():
        source = [region for one, region, writes in context.copied if one is arena and not writes]
        target = [region for one, region, writes in context.copied if one is arena and writes]
        if not _meet(source, target) or observer.findings.repeated("mem-overlap", site):
            continue
        shared = _shared(_bytes(source), _bytes(target))
        if shared.size:
            _report(observer, context, arena, shared)


def _meet(source: list[Bytes], target: list[Bytes]) -> bool:
    """Returns whether the ranges between first and last byte of both overlap."""
    if not source or not target:
        return False
    begin = max(min(one.offset for one in source), min(one.offset for one in target))
    return begin < min(max(one.stop for one in source), max(one.stop for one in target))


def _bytes(regions: list[Bytes]) -> Cells:
    return np.concatenate([region.offsets() for region in regions])


def _shared(source: Cells, target: Cells) -> Cells:
    """Returns the bytes that are read and written, without those that are only copied onto themselves, for which any
    order is correct."""
    moved = source != target if source.size == target.size else None
    if moved is None:
        return np.intersect1d(source, target)
    return np.union1d(np.intersect1d(source[moved], target), np.intersect1d(source, target[moved]))


def _report(observer: RunObserver, context: Context, arena: InstrumentedArena, shared: Cells) -> None:
    site = observer.sites[context.mark.site]
    message = f"{site.name} overwrites {bytes_text(arena, byte_runs(shared))} that it copies from"
    notes = [(operation_text(site, context.mark.loops, context.thread), None)]
    finding = Finding("mem-overlap", message, (site,), site.span, notes, "copy to an address of its own")
    finding.event = context.event
    observer.findings.add(finding)
