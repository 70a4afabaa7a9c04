"""Kernels of which only the time is wanted.  Source: docs/reference/cycles.md, "Times without contents"."""

from __future__ import annotations

from collections.abc import Sequence
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
from pto_dialect.runtime.run.per_core import InParts

from ..instrument.cycle_times import CycleTimeline
from ..instrument.cycles import CycleObserver
from ..timed import CycleKernel
from .observer import TimesObserver


class TimesKernel(CycleKernel):
    """An entry function whose runs are timed without computing the contents of memory.

    Where control or addresses depend on contents, and where a run without them fails, the contents are computed;
    ``reason`` states why. Arguments are changed only then.
    """

    observer_class = TimesObserver
    reason = ""

    def run(self, values: Sequence[Any], blocks: int = 1, jobs: int = 1) -> list[Any]:
        """Times all blocks; ``values`` as for a kernel, of arrays only shapes and types matter as a rule."""
        self.reason = self._reason(values) if enabled("times") else ""
        if enabled("times") and not self.reason:
            self._start_over(TimesObserver)
            try:
                super().run(self._without_contents(values), blocks, 1)
                if not self.stopped:
                    return []
            except (ProgramError, MemoryError):
                pass
            self.reason = "a run without contents fails"
        self._start_over(CycleObserver)
        self.stopped = False
        return super().run(values, blocks, jobs)

    @property
    def events(self) -> int:
        """Number of accesses of the run."""
        observer = self.observer
        return len(observer.log.count) + (observer.events if isinstance(observer, TimesObserver) else 0)

    def cycles(self, file: str) -> ModuleCycles:
        """The cycles of its run."""
        result = super().cycles(file)
        result.contents_reason = self.reason
        return result

    def _start_over(self, observer_class: type[CycleObserver]) -> None:
        """Prepares for a run; generated code keeps its sites."""
        sites, timeline = self.observer.sites, self.timeline
        assert isinstance(timeline, CycleTimeline)
        self.timeline = type(timeline)(timeline.table, timeline.arch, timeline.options, timeline.kept)
        self._observer = observer_class(self.sanitize, self.compiler_orders, self.timeline)
        self._observer.sites = sites

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
