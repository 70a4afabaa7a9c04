"""Sanitized runs of a program. Source: docs/reference/instrumentation.md, "Order of events"."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from pto_dialect.diagnostics.diagnostic import Severity
from pto_dialect.ir.core.attributes import EnumAttr
from pto_dialect.ir.core.base import Pipe
from pto_dialect.ir.core.location import span_of
from pto_dialect.ir.core.placement import named_pipe
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.runtime.compile.compiler import CompiledModule
from pto_dialect.runtime.compile.variants import INSTRUMENTED, Variant
from pto_dialect.runtime.faults import Fault
from pto_dialect.runtime.memory.spaces import Arena
from pto_dialect.runtime.queues.run import Deadlock, QueuedFault, run_queued
from pto_dialect.runtime.run.arenas import rebind
from pto_dialect.runtime.run.kernel import Started
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import Block, RunOptions

from .instrument.core import InstrumentedCore
from .instrument.deadlock import deadlock_finding
from .instrument.generator import InstrumentedGenerator
from .instrument.observer import RunObserver
from .options import SanitizeOptions
from .report.describe import operation_text
from .report.findings import Finding
from .report.suppress import Suppression, comments_of
from .report.timeline import Timeline
from .state.arena import InstrumentedArena

if TYPE_CHECKING:
    from pto_dialect.runtime.compile.group import Group

FAULTS = {
    "bounds": frozenset(("mem-oob", "mem-align", "mem-oob-tile", "subview-bounds", "extract-bounds")),
    "init": frozenset(("mem-uninit",)),
    "deadlock": frozenset(("sync-deadlock",)),
    "sync": frozenset(("sync-flag-range", "sync-buf-range", "sync-sem-range", "pipe-slot")),
    "overlap": frozenset(("mem-capacity", "capacity-dynamic")),
}
"""Violations that end a run, by the check that reports them."""


def instrumented_cores(started: Started) -> list[InstrumentedCore]:
    """Returns the instrumented cores of blocks."""
    return [core for core, _ in started.programs if isinstance(core, InstrumentedCore)]


class InstrumentedKernel(Kernel):
    """An entry function that is ready to run instrumented.

    ``observer`` has the findings of its runs, and those of other kernels with the same observer; ``stopped`` states
    that a violation has ended one of them.
    """

    core_class: type[InstrumentedCore] = InstrumentedCore
    observer_class: type[RunObserver] = RunObserver
    replayed = False

    def __init__(
        self,
        module: ModuleOp | None,
        entry: str | None,
        target: str | None,
        options: RunOptions,
        sanitize: SanitizeOptions,
        timeline: Timeline | None = None,
        group: Group | None = None,
        observer: RunObserver | None = None,
    ) -> None:
        self.sanitize = sanitize
        self.timeline = timeline
        self.stopped = False
        self._observer = observer
        super().__init__(module, entry, target, options, group=group)

    @property
    def observer(self) -> RunObserver:
        """The instrumentation of the runs of this kernel."""
        if self._observer is None:
            self._observer = self.observer_class(self.sanitize, self.compiler_orders, self.timeline)
        return self._observer

    @property
    def compiler_orders(self) -> bool:
        """Returns whether the compiler, not the program, orders the pipes of a core."""
        mode = self.sanitize.sync
        return mode == "compiler" or (mode == "auto" and not self.orders_pipes)

    @property
    def variant(self) -> Variant:
        """Returns the code generation variant."""
        return INSTRUMENTED

    @property
    def generator_class(self) -> Callable[..., InstrumentedGenerator]:
        """Returns the code generator class; all generated code has the same sites."""
        return partial(InstrumentedGenerator, sites=self.observer.sites, tracks_numbers="init" in self.sanitize.checks)

    @cached_property
    def flag_pipes(self) -> list[str]:
        """Returns the names of pipes that flags of the program connect, and that run no operation."""
        flags = [op for op in self.program.operations if has_role(op, Role.PIPES) and not has_role(op, Role.BARRIER)]
        enumerators = [attr for op in flags for attr in op.attributes.values() if isinstance(attr, EnumAttr)]
        return [
            enumerator.value
            for enumerator in enumerators
            if enumerator.kind == "pipe" and named_pipe(enumerator) in (None, Pipe.ALL)
        ]

    def start(self, bound: list[Any], indices: Iterable[int], count: int) -> Started:
        """Returns the cores of blocks that are about to run."""
        self.observer.add_pipes(self.flag_pipes)
        return super().start(bound, indices, count)

    def join_rank(self, rank: int, values: Sequence[Any], bound: Sequence[Any], started: Started) -> None:
        """Handles that blocks of ``rank`` are about to run on ``values``, ``bound`` to the arguments."""

    def leave_ranks(self) -> None:
        """Handles the end of all ranks."""

    @cached_property
    def accepted(self) -> list[Suppression]:
        """Returns what comments of the program accept. Raises ``SuppressionError`` for an invalid one."""
        span = span_of(self.function)
        return [] if span is None else comments_of(span.source)

    # ------------------------------------------------------------ run

    def _run_blocks(self, bound: list[Any], blocks: int, jobs: int) -> list[Any]:
        """Runs all blocks in sequence in this process. A violation that a check covers becomes a finding and ends the
        run; buffers then hold what was stored up to there."""
        self.instrument_buffers(bound)
        if blocks > 1 or self.program.cores > 1:
            self.observer.part()
        groups = [range(blocks)] if self._orders_blocks else [range(index, index + 1) for index in range(blocks)]
        results: list[Any] = []
        for number, indices in enumerate(groups):
            returned = self._side_by_side_blocks(bound, indices, blocks)
            if returned is None:
                self.stopped = True
                break
            if number == 0:
                results = returned
        self.observer.end_launch()
        return results

    def instrument_buffers(self, bound: list[Any]) -> None:
        """Instruments the memory of the host where it is not yet; buffers over the same memory are one."""
        observer = self.observer
        rebind(bound, InstrumentedArena, lambda arena: observer.arena_class(arena, observer, arena.bytes, public=True))

    def _instrumented_block(self, index: int, count: int) -> Block:
        observer = self.observer
        ordered = not self.program.explicit if observer.ordered else False
        block = self._block(index, count, lambda *core: self.core_class(*core, observer=observer, ordered=ordered))
        known: dict[int, InstrumentedArena] = {}

        def instrumented(arena: Arena) -> InstrumentedArena:
            if id(arena) not in known:
                known[id(arena)] = observer.arena_class(arena, observer)
            return known[id(arena)]

        for core in block.cores:
            core.arenas = {space: instrumented(arena) for space, arena in core.arenas.items()}
        buffers: list[Arena] = [instrumented(arena) for arena in block.unified_buffers]
        block.unified_buffers = buffers
        return block

    def queued_blocks(self, indices: Iterable[int], count: int) -> list[Block]:
        """Runs the blocks ``indices`` of ``count``, instrumented."""
        return [self._instrumented_block(index, count) for index in indices]

    def end(self, started: Started, returned: Sequence[Any] | None) -> list[Any]:
        """Returns the result of the entry function in the first of these blocks; remaining signals are findings."""
        if self.observer.wants("sync"):
            for core in instrumented_cores(started):
                core.signals.leftovers()
                core.streams.end(core.context("PIPE_V"))
        return [value.read() if hasattr(value, "read") else value for value in returned or ()]

    def _side_by_side_blocks(self, bound: list[Any], indices: Iterable[int], count: int) -> list[Any] | None:
        """Runs blocks concurrently; returns the result of the entry in the first, ``None`` when they were stopped."""
        compiled = self.prepare_queues()
        started = self.start(bound, indices, count)
        cores = instrumented_cores(started)
        self.observer.open_device(cores)

        def relieve() -> bool:
            return any([core.relieve() for core in cores])

        try:
            with np.errstate(all="ignore"):
                returned = run_queued(started.programs, relieve, self.options.schedule)[started.first]
        except QueuedFault as error:
            failed = self.observer.failed
            site = failed.mark.site if failed is not None else 0
            op = compiled.locate(error.fault.__traceback__) or compiled.at_line(error.line)
            return self.stop(error.fault, self.observer.sites[site].op if site else op)
        except Deadlock as fault:
            self._deadlocked(fault, cores, compiled)
            return None
        except Fault as fault:
            return self.stop(fault, compiled.locate(fault.__traceback__))
        finally:
            self.observer.enter(None)
        return self.end(started, returned)

    # ------------------------------------------------------------ ends

    def stop(self, fault: Fault, op: Operation | None) -> None:
        """Reports a violation as a finding; raises ``ProgramError`` for one that no check covers."""
        near = op if op is not None else self.function
        if not any(fault.rule in rules for check, rules in FAULTS.items() if self.observer.wants(check)):
            raise self.located(fault, near)
        rule = fault.rule
        if rule == "mem-oob" and has_role(near, Role.TILE_ALLOCATION):
            rule = "mem-capacity"
        current = self.observer.failed or self.observer.current
        notes: list[tuple[str, Any]] = [(note, None) for note in fault.notes]
        if current is not None and current.mark.site:
            site = self.observer.sites[current.mark.site]
            notes.append((operation_text(site, current.mark.loops, current.thread), None))
        notes.append(("the run ends here", None))
        finding = Finding(rule, fault.message, (None,), span_of(near), notes, severity=Severity.ERROR)
        self.observer.findings.add(finding)

    def _deadlocked(self, fault: Deadlock, cores: list[InstrumentedCore], compiled: CompiledModule) -> None:
        op = compiled.location_of(fault.stopped)
        if not self.observer.wants("deadlock"):
            raise self.located(fault, op)
        self.observer.findings.add(deadlock_finding(self.observer, cores, span_of(op or self.function)))
        for core in fault.ended if self.observer.wants("sync") else ():
            if isinstance(core, InstrumentedCore):
                core.signals.leftovers()
