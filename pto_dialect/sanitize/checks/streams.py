"""Unaligned streams of vector loads and stores: what was never flushed, and accesses that are not at their place.

Source: docs/reference/vectors.md, "Loads and stores"; docs/reference/watching.md, "Findings".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xdsl.ir import Operation

from pto_dialect.ir.core.base import PtoOp, operand_groups
from pto_dialect.runtime.memory.spaces import Pointer
from pto_dialect.runtime.vector.streams import LoadStream, StoreStream

from ..report.describe import bytes_text, operation_text
from ..report.findings import Finding

if TYPE_CHECKING:
    from ..context import Context, Core
    from ..report.sites import Site

_STATES = {
    **dict.fromkeys(("pto.vstus", "pto.vstur", "pto.pstu"), ("align_in", "base")),
    **dict.fromkeys(("pto.vstas", "pto.vstar"), ("value", "destination")),
    "pto.vldus": ("align", "source"),
}
"""Operations on a stream: the operands with its state and with the address."""
_FLUSHES = ("pto.vstas", "pto.vstar")
_COUNTED = ("pto.vstur", "pto.vstar")
"""Those whose address is that of register AR behind the base."""


def operands_of_stream(op: Operation) -> tuple[str, str] | None:
    """Names of the operands with the state and the address of an operation on a stream."""
    return _STATES.get(op.name)


def begins_at_register(op: Operation) -> bool:
    """True where register AR is added to the address."""
    return op.name in _COUNTED


def stores_to_stream(op: Operation) -> bool:
    """True for operations that yield the state of a stream of stores that goes on."""
    return op.name in _STATES and op.name not in _FLUSHES and op.name != "pto.vldus"


class Streams:
    """Follows the streams of one core: ``open`` are those with bytes that wait for a flush."""

    def __init__(self, core: Core) -> None:
        self.core = core
        self.open: dict[int, StoreStream] = {}

    def reach(self, state: Any, pointer: Pointer, step: int) -> None:
        """The operation that comes next is on the stream with ``state``, at ``step`` bytes behind ``pointer``."""
        context = self.core.watch.current
        if context is None or self.core.watch.muted:
            return
        address = pointer.offset + step
        if isinstance(state, StoreStream):
            self.open.pop(id(state), None)
            if state.base is not None and not state.loose and state.at != address:
                self._elsewhere(context, pointer, address, state)
        elif isinstance(state, LoadStream) and not state.fits(address):
            self._unprimed(context, pointer, address, state)

    def goes_on(self, state: Any) -> None:
        """The operation has left the stream in ``state``."""
        context = self.core.watch.current
        if context is not None and not self.core.watch.muted and isinstance(state, StoreStream) and state.pending:
            state.site = context.mark.site
            self.open[id(state)] = state

    def end(self, context: Context) -> None:
        """The scope, or the program, ends: nobody can flush what is still open."""
        streams = list(self.open.values())
        self.open.clear()
        for stream in streams:
            self._unflushed(context, stream)

    # ------------------------------------------------------------ findings

    def _add(self, rule: str, site: Site, message: str, notes: list[tuple[str, Any]], advice: str) -> None:
        watch = self.core.watch
        if watch.wants("sync") and not watch.findings.repeated(rule, site):
            watch.findings.add(Finding(rule, message, (site,), site.span, notes, advice))

    def _elsewhere(self, context: Context, pointer: Pointer, address: int, state: StoreStream) -> None:
        watch = self.core.watch
        site = watch.sites[context.mark.site]
        verb = "flushes" if site.op.name in _FLUSHES else "continues"
        message = (
            f"{site.name} {verb} a stream at byte {address} of {pointer.arena.space}, but it stands at byte {state.at}"
        )
        notes: list[tuple[str, Any]] = [(operation_text(site, context.mark.loops, context.actor), None)]
        if state.site:
            last = watch.sites[state.site]
            notes.insert(0, (f"{last.name} has left it there", last.span))
        advice = "the address is where the last store has left the stream; another stream begins with pto.init_align"
        self._add("stream-address", site, message, notes, advice)

    def _unprimed(self, context: Context, pointer: Pointer, address: int, state: LoadStream) -> None:
        site = self.core.watch.sites[context.mark.site]
        message = f"{site.name} loads from byte {address} of {pointer.arena.space} with the state of a stream that "
        message += f"pto.vldas has begun at byte {state.primed}"
        notes = [(operation_text(site, context.mark.loops, context.actor), None)]
        self._add("stream-address", site, message, notes, "pto.vldas of the address in front of the load")

    def _unflushed(self, context: Context, stream: StoreStream) -> None:
        site = self.core.watch.sites[stream.site]
        assert stream.base is not None
        place = bytes_text(stream.base.arena, [(stream.at - stream.pending, stream.at)])  # pyright: ignore[reportArgumentType]
        message = f"{site.name} leaves {place} in the state of its stream, and nothing flushes them"
        name = "pto.vstar" if begins_at_register(site.op) else "pto.vstas"
        core = context.actor.core
        notes = [(f"{site.name} on {core.name}, block {core.block.index}", None)]
        self._add("stream-flush", site, message, notes, f"{name} of the last state where the stream ends")


def watched_operands(op: Operation) -> tuple[Any, Any] | None:
    """The values with the state and the address of an operation on a stream."""
    names = operands_of_stream(op)
    if names is None or not isinstance(op, PtoOp):
        return None
    groups = operand_groups(op)
    return groups[names[0]][0], groups[names[1]][0]
