"""Order of loads and stores inside one vector scope, which the vector unit preserves only where mem_bar requires it.

Source: docs/reference/execution.md, "Synchronisation"; docs/reference/instrumentation.md, "Order of events".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.ir import Operation

from ..report.describe import bytes_text
from ..report.findings import Finding
from ..report.fixes import InsertBefore

if TYPE_CHECKING:
    from ..context import Context, RunObserver
    from ..state.arena import InstrumentedArena
    from ..state.last_events import Found

_COVERING = {
    "raw": frozenset(("VV_ALL", "VST_VLD", "SV_ALL", "ST_VLD", "VS_ALL", "VST_LD")),
    "war": frozenset(("VV_ALL", "VLD_VST", "SV_ALL", "LD_VST", "VS_ALL", "VLD_ST")),
    "waw": frozenset(("VV_ALL", "VST_VST", "SV_ALL", "ST_VST", "VS_ALL", "VST_ST")),
}
"""Kinds of barriers that order a store before a load, a load before a store, a store before a store."""
_KIND_NAMES = {
    "raw": ("stores", "loads", "VST_VLD"),
    "war": ("loads", "stores", "VLD_VST"),
    "waw": ("stores", "stores", "VST_VST"),
}


def check(observer: RunObserver, kind: str, events: Found, context: Context, arena: InstrumentedArena) -> None:
    """Compares an access in a scope with the last ones of the same bytes in that scope."""
    log, sites = observer.log, observer.sites
    for event in events.events():
        mine = event and log.fence[event] == context.scope and log.thread[event] == context.thread.number
        if not mine or log.site[event] == context.mark.site:
            continue
        if kind == "war" and _depends(sites[context.mark.site].op, sites[log.site[event]].op):
            continue
        if any(after >= event and bar in _COVERING[kind] for after, bar in context.bars):
            continue
        first, second = sites[log.site[event]], sites[context.mark.site]
        if observer.findings.repeated("sync-membar-missing", first, second):
            continue
        before, now, bar = _KIND_NAMES[kind]
        where = bytes_text(arena, events.runs(event))
        message = f"{second.name} {now} {where} that {first.name} ({first.line_text}) {before} in the same vector scope"
        notes = [(f"{first.name} {before} them first", first.span)]
        advice = f'pto.mem_bar "{bar}" between the two'
        finding = Finding("sync-membar-missing", message, (first, second), second.span, notes, advice)
        finding.event = context.event
        finding.fix = (InsertBefore(second.op, f'pto.mem_bar "{bar}"'),)
        observer.findings.add(finding)


def _depends(store: Operation, load: Operation) -> bool:
    """Returns whether the value of ``store`` was computed from the result of ``load``, which orders the two."""
    pending, seen = list(store.operands), set(store.operands)
    while pending:
        owner = pending.pop().owner
        if owner is load:
            return True
        if isinstance(owner, Operation) and owner.parent_op() is store.parent_op():
            pending += [value for value in owner.operands if value not in seen]
            seen.update(owner.operands)
    return False
