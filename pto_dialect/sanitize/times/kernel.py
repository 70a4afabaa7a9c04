"""Kernels of which only the time is wanted.  Source: docs/reference/cycles.md, "Times without contents"."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from xdsl.ir import Operation, SSAValue

from pto_dialect.accel import enabled
from pto_dialect.analysis.contents import Dependence, find_dependence
from pto_dialect.analysis.cycles.static import ModuleCycles
from pto_dialect.diagnostics.origins import shown_line
from pto_dialect.ir.core.location import span_of
from pto_dialect.runtime.compile.usage import unwritten_aliases
from pto_dialect.runtime.errors import ProgramError
from pto_dialect.runtime.run.kernel import Started
from pto_dialect.runtime.run.per_core import InParts, copied

from ..instrument.core import InstrumentedCore
from ..instrument.cycle_times import CycleTimeline
from ..instrument.cycles import CycleObserver
from ..timed import CycleKernel
from .core import TimesCore
from .observer import TimesObserver

MOST_STEPS = 100_000
"""Accesses of a run up to which it is run again for what limits it."""


class TimesKernel(CycleKernel):
    """An entry function whose runs are timed without computing the contents of memory.

    Where control or addresses depend on contents, and where a run without them fails, the contents are computed;
    ``reason`` states why. Arguments are not changed.
    """

    observer_class = TimesObserver
    reason = ""

    def run(self, values: Sequence[Any], blocks: int = 1, jobs: int = 1) -> list[Any]:
        """Times all blocks; ``values`` as for a kernel, of arrays only shapes and types matter as a rule."""
        timeline = self.timeline
        assert isinstance(timeline, CycleTimeline)
        self._run(values, blocks, jobs, steps=False)
        if timeline.steps and self.events <= MOST_STEPS:
            self._run(values, blocks, jobs, steps=True)
        return []

    def _run(self, values: Sequence[Any], blocks: int, jobs: int, steps: bool) -> None:
        self.reason = self._reason(values) if enabled("times") else ""
        self.stopped = False
        if enabled("times") and not self.reason:
            self._start_over(TimesObserver, steps)
            try:
                super().run(self._without_contents(values), blocks, 1)
                if not self.stopped:
                    return
            except (ProgramError, MemoryError):
                pass
            self.reason = "a run without contents fails"
        self._start_over(CycleObserver, steps)
        self.stopped = False
        super().run([copied(value) for value in values], blocks, jobs)

    def ignores(self, argument: str) -> bool:
        """Returns whether runs do not depend on the contents of a buffer, by its name or position."""
        if not enabled("times") or self.dependence.operation is not None:
            return False
        return argument not in {*map(str, self._needed), *(self.arguments[position][0] for position in self._needed)}

    @property
    def events(self) -> int:
        """Number of accesses of the run."""
        observer = self.observer
        return len(observer.log.count) + (observer.events if isinstance(observer, TimesObserver) else 0)

    def cycles(self, file: str) -> ModuleCycles:
        """Returns the cycles of its run."""
        result = super().cycles(file)
        result.contents_reason = self.reason
        return result

    def start(self, bound: list[Any], indices: Iterable[int], count: int) -> Started:
        """Returns blocks that are ready to run; a core that runs alone collects segments."""
        started = super().start(bound, indices, count)
        if len(started.programs) != 1:
            return started
        ((core, program),) = started.programs
        if not isinstance(core, TimesCore) or self._logs_steps:
            return started
        core.start_segments()
        return started._replace(programs=[(core, _completed(core, program))])

    @property
    def _logs_steps(self) -> bool:
        return isinstance(self.timeline, CycleTimeline) and self.timeline.steps

    def _start_over(self, observer_class: type[CycleObserver], steps: bool) -> None:
        """Prepares for a run; generated code keeps its sites."""
        sites, timeline = self.observer.sites, self.timeline
        assert isinstance(timeline, CycleTimeline)
        self.timeline = type(timeline)(timeline.table, timeline.arch, timeline.options, timeline.kept, steps)
        self._observer = observer_class(self.sanitize, self.compiler_orders, self.timeline)
        self._observer.sites = sites
        self.core_class = TimesCore if observer_class is TimesObserver else InstrumentedCore

    # ------------------------------------------------------------ contents

    @cached_property
    def _constant(self) -> dict[SSAValue, int]:
        """The pointers and views made from arguments that the program does not write, with their positions."""
        found: dict[SSAValue, int] = {}
        for root in self.program.roots.values():
            arguments = root.function.regions[0].blocks[0].args
            for position, argument in zip(root.positions, arguments, strict=True):
                if position not in self.usage.written:
                    found |= dict.fromkeys(unwritten_aliases(argument, self.program) or (), position)
        return found

    @cached_property
    def dependence(self) -> Dependence:
        """Where the program depends on contents; ``needed`` are pointers and views made from arguments."""
        constant = self._constant

        def is_constant(value: SSAValue) -> SSAValue | None:
            return value if value in constant else None

        return find_dependence(self.program.functions, self.program.symbols.callee, is_constant)

    def _reason(self, values: Sequence[Any]) -> str:
        """Returns why contents are computed, empty where they are not."""
        operation = self.dependence.operation
        if operation is not None:
            return f"{_described(operation)} depends on the contents of memory"
        needed = [values[position] for position in self._needed]
        written = [values[position] for position in self.usage.written if position < len(values)]
        for one in needed:
            if any(np.may_share_memory(_array(one), _array(other)) for other in written):
                return "an argument that is read by the scalar unit shares memory with one that is written"
        return ""

    @cached_property
    def _needed(self) -> list[int]:
        return sorted({self._constant[value] for value in self.dependence.needed})

    def _without_contents(self, values: Sequence[Any]) -> list[Any]:
        """Returns the arguments with arrays of zeros in place of those whose contents do not matter."""
        needed = set(self._needed)
        return [value if position in needed else _zeros(value) for position, value in enumerate(values)]


def _completed(core: TimesCore, program: Generator[None, None, Any]) -> Generator[None, None, Any]:
    """Runs a program, and then what its core has collected."""
    result = yield from program
    core.stop_segments()
    return result


def _described(op: Operation) -> str:
    span = span_of(op)
    return op.name if span is None else f"{op.name} (line {shown_line(span)})"


def _array(value: Any) -> Any:
    array = value.array if isinstance(value, InParts) else value
    return array if isinstance(array, np.ndarray) else np.zeros(0)


def _zeros(value: Any) -> Any:
    if isinstance(value, InParts):
        return InParts(_zeros(value.array), value.by)
    if isinstance(value, np.ndarray):
        # Untouched pages take no memory.
        return np.zeros(value.shape, value.dtype)
    return value
