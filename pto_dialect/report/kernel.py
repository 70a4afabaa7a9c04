"""A kernel whose runs become a page.  Source: docs/report.md, "What is in the page"."""

from __future__ import annotations

from typing import Any, NamedTuple

from pto_dialect.runtime.compile.compiler import CompiledModule
from pto_dialect.runtime.memory.spaces import Pointer
from pto_dialect.runtime.queues.run import Deadlock, describe
from pto_dialect.sanitize.instrument.core import InstrumentedCore
from pto_dialect.sanitize.instrument.deadlock import blocked
from pto_dialect.sanitize.report.findings import Finding
from pto_dialect.sanitize.state.arena import InstrumentedArena
from pto_dialect.sanitize.timed import CycleKernel

from .instrumentation import ReportInstrumentation


class Blocked(NamedTuple):
    """A pipe that is blocked forever: the index of its thread, the site and loop indices, and the signals it waits
    for."""

    thread: int
    site: int
    loops: tuple[int, ...]
    awaited: str


class ReportKernel(CycleKernel):
    """An entry function that is ready to run and be shown. ``kept`` are the findings so far."""

    observer_class = ReportInstrumentation

    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self.blocked: list[Blocked] = []
        self.kept: list[Finding] = []

    @property
    def observed(self) -> ReportInstrumentation:
        """What was written down."""
        assert isinstance(self.observer, ReportInstrumentation)
        return self.observer

    def instrument_buffers(self, bound: list[Any]) -> None:
        """As in ``InstrumentedKernel``; what buffers hold now is kept."""
        super().instrument_buffers(bound)
        for value in bound:
            pointer = value if isinstance(value, Pointer) else getattr(value, "pointer", None)
            arena: Any = getattr(pointer, "arena", None)
            if isinstance(arena, InstrumentedArena):
                self.observed.touched.shared(arena)

    def _deadlocked(self, fault: Deadlock, cores: list[InstrumentedCore], compiled: CompiledModule) -> None:
        for core in cores:
            for pipe, mark, keys in blocked(core):
                awaited = ", ".join(describe(key) for key in keys) or "what was issued before"
                self.blocked.append(Blocked(core.threads[pipe].number, mark.site, mark.loops, awaited))
        super()._deadlocked(fault, cores, compiled)
