"""Runs a program and records it. Source: docs/reference/recording.md, "Columns"."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from pto_dialect.runtime.compile.compiler import CompiledModule
from pto_dialect.runtime.memory.spaces import Pointer
from pto_dialect.runtime.run.kernel import Started
from pto_dialect.runtime.run.windows import Bounded
from pto_dialect.sanitize.instrument.core import InstrumentedCore
from pto_dialect.sanitize.instrument.generator import InstrumentedGenerator
from pto_dialect.sanitize.launch import InstrumentedKernel
from pto_dialect.sanitize.timed import CycleKernel

from .generator import RecordedGenerator
from .instrumentation import RecordedCore, RecordingInstrumentation, TimedRecordingInstrumentation
from .light import LightCore, LightInstrumentation
from .log import Log
from .model import Change

if TYPE_CHECKING:
    from pto_dialect.sanitize.instrument.observer import RunObserver

LIMIT = 1 << 30
"""Bytes of a recording unless another limit is stated."""


class Bound(NamedTuple):
    """A run of the entry function: the ``values`` of its arguments, what they are ``bound`` to, and on which ``rank``
    where there are several."""

    values: Sequence[Any]
    bound: Sequence[Any]
    rank: int | None = None


class RecordingKernel(InstrumentedKernel):
    """An entry function that is ready to run and be recorded; ``record`` has what its last run has done."""

    core_class: type[InstrumentedCore] = RecordedCore
    recording_watch: type[RecordingInstrumentation] = RecordingInstrumentation

    def __init__(self, *arguments: Any, limit: int = LIMIT, changes: Sequence[Change] = ()) -> None:
        self.record = Log(limit)
        self.record.change(changes)
        self.values: Sequence[Any] = ()
        self.runs: list[Bound] = []
        """What has run last: once, or once for each rank."""
        self.cores: list[RecordedCore] = []
        """Those that have run last."""
        self._cores_of_ranks: list[RecordedCore] = []
        super().__init__(*arguments)
        self.core_class = LightCore if self.light else RecordedCore

    @property
    def light(self) -> bool:
        """True where the recording alone wants to know what happens."""
        return not self.sanitize.checks and self.timeline is None

    @property
    def observer(self) -> RunObserver:
        """What observes the runs of this kernel."""
        if self._observer is None:
            kind = LightInstrumentation if self.light else self.recording_watch
            observer = kind(self.sanitize, self.compiler_orders, self.timeline)
            observer.record = self.record
            self._observer = observer
        return self._observer

    @property
    def generator_class(self) -> Callable[..., InstrumentedGenerator]:
        """What writes the code."""
        tracks_numbers = not self.light and "init" in self.sanitize.checks
        return partial(
            RecordedGenerator, sites=self.observer.sites, log=self.record, light=self.light,
            tracks_numbers=tracks_numbers,
        )  # fmt: skip

    def _compile(self, queued: bool) -> CompiledModule:
        # Code that passes instructions to queues may replace code that does not: only one of them runs.
        self.record.statements.clear()
        return super()._compile(queued)

    def bind(self, values: Sequence[Any]) -> list[Any]:
        """Returns the run-time values of all arguments. Raises ``BindingError``."""
        self.values = values
        return super().bind(values)

    def start(self, bound: list[Any], indices: Iterable[int], count: int) -> Started:
        """Returns the blocks that can run concurrently, with each other and with those of other kernels."""
        started = super().start(bound, indices, count)
        self.cores = [core for core, _ in started.programs if isinstance(core, RecordedCore)]
        return started

    def _run_blocks(self, bound: list[Any], blocks: int, jobs: int) -> list[Any]:
        self.instrument_buffers(bound)
        self.runs = [Bound(self.values, bound)]
        for pointer in filter(None, map(pointer_of, bound)):
            self.record.memory(pointer.arena)
        try:
            return super()._run_blocks(bound, blocks, jobs)
        finally:
            self.record.finish()

    def join_rank(self, rank: int, values: Sequence[Any], bound: Sequence[Any], started: Started) -> None:
        """Blocks of ``rank`` are about to run on ``values``, ``bound`` to the arguments."""
        log = self.record
        for block in started.device:
            for arena in {id(arena): arena for core in block.cores for arena in core.arenas.values()}.values():
                log.belongs(arena, rank)
        for pointer in filter(None, map(pointer_of, bound)):
            if not isinstance(pointer.arena, Bounded):
                log.belongs(pointer.arena, rank)
            log.memory(pointer.arena)
        self.runs.append(Bound(values, bound, rank))
        self.cores = self._cores_of_ranks = [*self._cores_of_ranks, *self.cores]

    def leave_ranks(self) -> None:
        """All ranks have ended."""
        self.record.finish()


class TimedRecordingKernel(RecordingKernel, CycleKernel):
    """The same, with the time that the cycle model gives it."""

    recording_watch = TimedRecordingInstrumentation


def pointer_of(value: Any) -> Pointer | None:
    """Returns where an argument lies; ``None`` for what is no buffer."""
    if isinstance(value, Pointer):
        return value
    pointer = getattr(value, "pointer", None)
    return pointer if isinstance(pointer, Pointer) else None
