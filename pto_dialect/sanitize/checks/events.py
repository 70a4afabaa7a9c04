"""Events of the log as the sides of a conflict."""

from __future__ import annotations

from ..context import Context, RunObserver
from ..report.race_text import Access


def are_atomic(observer: RunObserver, event: int, context: Context) -> bool:
    """Returns whether events are updates of one kind, which do not conflict."""
    kind = _kind(observer, context.event)
    return kind is not None and _kind(observer, event) == kind


def _kind(observer: RunObserver, event: int) -> str | None:
    log = observer.log
    return (log.atomic.get(event) if log.atomic else None) or observer.sites[log.site[event]].atomic


def side(observer: RunObserver, event: int, writes: bool) -> Access:
    """Returns an event as one side of a conflict."""
    log = observer.log
    thread, site = log.threads[log.thread[event]], observer.sites[log.site[event]]
    return Access(thread, site, log.loops[event], log.order[event], event, writes)
