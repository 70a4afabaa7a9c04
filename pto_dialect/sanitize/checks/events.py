"""Events of the log as the sides of a conflict."""

from __future__ import annotations

from ..context import Context, Watch
from ..report.race_text import Access


def are_atomic(watch: Watch, event: int, context: Context) -> bool:
    """Returns whether events are updates of one kind, which do not conflict."""
    kind = _kind(watch, context.event)
    return kind is not None and _kind(watch, event) == kind


def _kind(watch: Watch, event: int) -> str | None:
    log = watch.log
    return (log.atomic.get(event) if log.atomic else None) or watch.sites[log.site[event]].atomic


def side(watch: Watch, event: int, writes: bool) -> Access:
    """Returns an event as one side of a conflict."""
    log = watch.log
    return Access(
        log.actors[log.actor[event]], watch.sites[log.site[event]], log.loops[event], log.order[event], event, writes
    )
