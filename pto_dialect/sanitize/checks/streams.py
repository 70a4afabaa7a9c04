"""Unaligned streams of vector loads and stores: missing flushes, and accesses that are not at the position of their
stream.

Source: docs/reference/vectors.md, "Loads and stores"; docs/reference/instrumentation.md, "Findings".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from xdsl.ir import Operation

from pto_dialect.runtime.memory.spaces import Pointer
from pto_dialect.runtime.vector.streams import LoadStream, StoreStream

from ..report.describe import bytes_text, operation_text
from ..report.findings import Finding

if TYPE_CHECKING:
    from ..context import Context, Core
    from ..report.sites import Site


class StreamUse(NamedTuple):
    """What an operation does on a stream: the operands with its ``state`` and with the ``address``, whether it
    ``stores`` to a stream that continues, whether it ``flushes`` one, whether register AR (``counted``) or its offset
    in elements (``moved``) is added to the address."""

    state: str
    address: str
    stores: bool = False
    flushes: bool = False
    counted: bool = False
    moved: bool = False


_STORE = StreamUse("align_in", "base", stores=True)
_FLUSH = StreamUse("value", "destination", flushes=True)
_USES = {
    "pto.vstus": _STORE,
    "pto.vstur": _STORE._replace(counted=True),
    "pto.pstu": _STORE,
    "pto.vstas": _FLUSH._replace(moved=True),
    "pto.vstar": _FLUSH._replace(counted=True),
    "pto.vldus": StreamUse("align", "source"),
}


def stream_use(op: Operation) -> StreamUse | None:
    """Returns what ``op`` does on a stream; ``None`` for other operations."""
    return _USES.get(op.name)


class Streams:
    """Follows the streams of one core: ``open`` are those with bytes that wait for a flush."""

    def __init__(self, core: Core) -> None:
        self.core = core
        self.open: dict[int, StoreStream] = {}

    def reach(self, state: Any, pointer: Pointer, step: int) -> None:
        """Handles the next operation, which is on the stream with ``state``, at ``step`` bytes after ``pointer``."""
        context = self.core.observer.current
        if context is None or self.core.observer.muted:
            return
        address = pointer.offset + step
        if isinstance(state, StoreStream):
            self.open.pop(id(state), None)
            if state.base is not None and not state.loose and state.at != address:
                self._elsewhere(context, pointer, address, state)
        elif isinstance(state, LoadStream) and not state.fits(address):
            self._unprimed(context, pointer, address, state)

    def goes_on(self, state: Any) -> None:
        """Records that the operation has left the stream in ``state``."""
        context = self.core.observer.current
        if context is not None and not self.core.observer.muted and isinstance(state, StoreStream) and state.pending:
            state.site = context.mark.site
            self.open[id(state)] = state

    def end(self, context: Context) -> None:
        """Handles the end of the scope, or the program: no later operation can flush open streams."""
        streams = list(self.open.values())
        self.open.clear()
        for stream in streams:
            self._unflushed(context, stream)

    # ------------------------------------------------------------ findings

    def _add(self, rule: str, site: Site, message: str, notes: list[tuple[str, Any]], advice: str) -> None:
        observer = self.core.observer
        if observer.wants("sync") and not observer.findings.repeated(rule, site):
            observer.findings.add(Finding(rule, message, (site,), site.span, notes, advice))

    def _elsewhere(self, context: Context, pointer: Pointer, address: int, state: StoreStream) -> None:
        observer = self.core.observer
        site = observer.sites[context.mark.site]
        use = stream_use(site.op)
        verb = "flushes" if use is not None and use.flushes else "continues"
        message = (
            f"{site.name} {verb} a stream at byte {address} of {pointer.arena.space}, but its position is {state.at}"
        )
        notes: list[tuple[str, Any]] = [(operation_text(site, context.mark.loops, context.thread), None)]
        if state.site:
            last = observer.sites[state.site]
            notes.insert(0, (f"{last.name} has left it there", last.span))
        advice = "the address is where the last store has left the stream; another stream begins with pto.init_align"
        self._add("stream-address", site, message, notes, advice)

    def _unprimed(self, context: Context, pointer: Pointer, address: int, state: LoadStream) -> None:
        site = self.core.observer.sites[context.mark.site]
        message = f"{site.name} loads from byte {address} of {pointer.arena.space} with the state of a stream that "
        message += f"pto.vldas has begun at byte {state.primed}"
        notes = [(operation_text(site, context.mark.loops, context.thread), None)]
        self._add("stream-address", site, message, notes, "pto.vldas of the address before the load")

    def _unflushed(self, context: Context, stream: StoreStream) -> None:
        site = self.core.observer.sites[stream.site]
        assert stream.base is not None
        where = bytes_text(stream.base.arena, [(stream.at - stream.pending, stream.at)])  # pyright: ignore[reportArgumentType]
        message = f"{site.name} leaves {where} in the state of its stream, and nothing flushes them"
        use = stream_use(site.op)
        name = "pto.vstar" if use is not None and use.counted else "pto.vstas"
        core = context.thread.core
        notes = [(f"{site.name} on {core.name}, block {core.block.index}", None)]
        self._add("stream-flush", site, message, notes, f"{name} of the last state where the stream ends")
