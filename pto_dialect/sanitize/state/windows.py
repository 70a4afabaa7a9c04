"""The instrumented windows of all ranks. Source: docs/reference/instrumentation.md, "Shadow memory"."""

from __future__ import annotations

from pto_dialect.runtime.run.windows import Bounded, WindowArena

from .arena import InstrumentedArena, Listener


class InstrumentedWindows(Bounded, InstrumentedArena):
    """Windows whose accesses are reported to ``observer``, each in one buffer of one rank."""

    __slots__ = ("layout",)

    def __init__(self, original: WindowArena, observer: Listener) -> None:
        InstrumentedArena.__init__(self, original, observer, original.bytes, public=True)
        self.layout = original.layout
