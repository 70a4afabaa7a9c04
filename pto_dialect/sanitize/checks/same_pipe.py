"""Order inside one pipe.

The vector unit of a2a3 is a pipeline: an operation on data that an earlier one still reads or writes needs a barrier on
V, or on all pipes, or flags to another pipe and back between the two. Transfers of one pipe start in order and may
overlap, so of two that write one location either may end last; but a transfer between ranks ends when its stores are
complete. A fill of L1 waits for no memory: the instruction set's tests load over it at once. The vector unit of a5 and
the cube unit work in order.
Source: docs/reference/instrumentation.md, "Order of events".
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from pto_dialect.diagnostics.diagnostic import Severity
from pto_dialect.ir.sync import comm
from pto_dialect.ir.tile.move import PaddingOp
from pto_dialect.ir.tile.scalar import TExpandsOp

from ..report.describe import bytes_text
from ..report.findings import Finding
from ..report.fixes import InsertBefore
from ..report.race_text import Conflict
from .events import are_atomic, side
from .operand_values import checks_arguments

if TYPE_CHECKING:
    from ..context import Context, RunObserver
    from ..state.arena import InstrumentedArena
    from ..state.last_events import Found

_STORES = ("PIPE_MTE3", "PIPE_FIX")
_LOADS = ("PIPE_MTE2",)
_FILLS = (PaddingOp, TExpandsOp)


@checks_arguments(
    *(comm.CommTPutOp, comm.CommTGetOp, comm.CommTBroadcastOp, comm.CommTScatterOp),
    *(comm.CommTGatherOp, comm.CommTReduceOp),
)
def follow_transfer(_observer: RunObserver, context: Context, _arguments: Sequence[Any]) -> None:
    """Settles what the pipe did up to its last transfer between ranks, since that waited for its stores, and the next
    transfer stores what it loads after that."""
    thread = context.thread
    thread.settled = max(thread.settled, thread.transferred)
    thread.transferred = thread.clock[thread.index]


def stores_apply(context: Context, arena: InstrumentedArena) -> bool:
    """Returns whether two transfers of one pipe to one location need an explicit order."""
    return context.thread.pipe in (_STORES if arena.public else _LOADS)


def check(
    observer: RunObserver, kind: str, events: Found, context: Context, arena: InstrumentedArena, last: int
) -> None:
    """Compares an access with the last ones of the same bytes by the same pipe, whose last one anywhere is ``last``."""
    log, thread = observer.log, context.thread
    vector = thread.pipe == "PIPE_V"
    if not vector and not observer.wants("sync"):
        return
    if log.count[last] <= thread.settled:
        return
    mark, causes = context.mark, observer.findings.by_cause
    for event in events.events():
        if not event or log.thread[event] != thread.number or event == context.event:
            continue
        if log.fence[event] != mark.fence or log.count[event] <= thread.settled:
            continue
        key = (kind, log.site[event], mark.site, thread.pipe, log.loops[event] == mark.loops)
        if vector and not log.atomic and key in causes:
            known = causes[key]
            if known is not None:
                known.count += 1
            continue
        causes[key] = None
        if are_atomic(observer, event, context) or (vector and _streamed(kind, event, context, observer)):
            continue
        if thread.pipe in _LOADS:
            if isinstance(observer.sites[log.site[event]].op, _FILLS):
                continue
            if events.read_since(event):
                # Readers of them are ordered, or in a race of their own.
                continue
        rule = "sync-mte3-reorder" if thread.pipe == "PIPE_MTE3" else "race-same-pipe"
        known = causes[key] = observer.findings.known(rule, observer.sites[log.site[event]], observer.sites[mark.site])
        if known is not None:
            known.count += 1
            continue
        sides = side(observer, event, kind != "war"), side(observer, context.event, kind != "raw")
        conflict = Conflict(rule, *sides, arena, events.runs(event))
        finding = Finding(rule, "", (sides[0].site, sides[1].site), None)
        finding.severity = None if vector else Severity.WARNING
        finding.event = context.event
        finding.conflict = conflict
        finding.text = partial(_report, conflict)
        causes[key] = finding
        observer.findings.add(finding)


def _report(conflict: Conflict, finding: Finding) -> None:
    _, first, second, arena, touched = conflict
    thread = second.thread
    where, pipe = bytes_text(arena, touched), thread.pipe.removeprefix("PIPE_")
    if thread.pipe == "PIPE_V":
        finding.message = (
            f"{second.site.name} {second.verb} {where}{second.handles(arena)} that {first.site.name} "
            f"({first.site.line_text}) {first.verb} on the same pipe, with no barrier on V between"
        )
    else:
        did = "stores" if arena.public else "loads"
        finding.message = (
            f"{thread.name} {did} {where} twice without a barrier on {pipe}; the first time in {first.site.name} "
            f"({first.site.line_text})"
        )
    barrier = f"pto.barrier #pto.pipe<{thread.pipe}>"
    finding.span = second.site.span
    finding.notes = [
        (f"{first.text} {first.verb} them first", first.site.span),
        (f"{second.text} {second.verb} them", None),
    ]
    finding.help = f"{barrier} between the two"
    finding.fix = (InsertBefore(second.site.op, barrier),)


def _streamed(kind: str, event: int, context: Context, observer: RunObserver) -> bool:
    """Returns whether hardware streams the result of one operation into the next."""
    log, sites = observer.log, observer.sites
    first, second = sites[log.site[event]], sites[context.mark.site]
    if log.loops[event] != context.mark.loops:
        return False
    return sites.stream(first, second, kind)
