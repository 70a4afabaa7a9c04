"""What a run has taken by the cycle model, what its pipes have waited for, and advice.  Source: docs/cycles.md, "With a
run"."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import ModuleOp

from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.sanitize.options import SanitizeOptions
from pto_dialect.sanitize.timed import CycleKernel

from ..cycle_text import document
from .sanitizing import instrumented_kernel
from .status import LaunchState

if TYPE_CHECKING:
    from .binding import Bound


def show_cycles(
    launch: LaunchState, kernel: Kernel, originals: Callable[[], Sequence[Bound]], results: list[Any]
) -> str:
    """What the runs of a timed kernel have taken, as text or JSON. ``originals`` returns the arguments before the run,
    ``results`` are those after it with what it returned, which a run for times alone leaves out."""
    request = launch.request
    assert isinstance(kernel, CycleKernel) and request.cycles is not None
    found = launch.timed = kernel.cycles(launch.item.name)
    module = kernel.function.get_toplevel_object()
    assert isinstance(module, ModuleOp)
    if request.advice:
        from ..advice.trial import Subject, run_quietly  # deferred: start-up

        sanitizing = request.sanitizing
        assert sanitizing is not None
        times = replace(sanitizing, trace=None, report=None, record=None, html=None, times_only=True)
        quiet = replace(times, options=SanitizeOptions(), times_only=False)

        def time_of(changed: ModuleOp) -> float:
            made = instrumented_kernel(changed, kernel.entry, request.target, request.run, times)
            assert isinstance(made, CycleKernel)
            run_quietly(made, values(), request.blocks)
            return made.cycles(found.file).total.cycles

        def computed() -> list[Any]:
            if not request.times_only:
                return results
            return run_quietly(Kernel(module, kernel.entry, request.target, request.run), values(), request.blocks)

        def again(changed: ModuleOp) -> CycleKernel:
            made = instrumented_kernel(changed, kernel.entry, request.target, request.run, quiet)
            assert isinstance(made, CycleKernel)
            return made

        first: list[Bound] = []

        def values() -> list[Any]:
            if not first:
                first.extend(originals())
            copies = (one._replace(value=one.value.copy()) if one.is_array else one for one in first)
            return [one.launched for one in copies]

        subject = Subject(module, request.target, request.blocks, again, values, computed, time_of)
        subject.advise(found, kernel.events)
    return document([found], request.cycles)
