"""The instrumented windows of all ranks. Source: docs/reference/instrumentation.md, "Shadow memory"."""

from __future__ import annotations

from pto_dialect.runtime.run.windows import Bounded, WindowArena

from .arena import Listener, WatchedArena


class WatchedWindows(Bounded, WatchedArena):
    """Windows whose accesses are reported to ``watch``, each in one buffer of one rank."""

    __slots__ = ("layout",)

    def __init__(self, original: WindowArena, watch: Listener) -> None:
        WatchedArena.__init__(self, original, watch, original.bytes, public=True)
        self.layout = original.layout
