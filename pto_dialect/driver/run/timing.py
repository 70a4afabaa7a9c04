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

from .sanitizing import instrumented_kernel
from .status import LaunchState

if TYPE_CHECKING:
    from pto_dialect.analysis.cycles.static import ModuleCycles

    from .binding import Bound


def measured(
    launch: LaunchState,
    kernel: Kernel,
    originals: Callable[[], Sequence[Bound]],
    results: list[Any],
    not_tried: str | None = None,
) -> ModuleCycles:
    """Returns what the runs of a timed kernel have taken, with the advice that the request wants. ``originals`` returns
    the arguments before the run, ``results`` are those after it with what it returned, which a run for times alone
    leaves out. ``not_tried`` states why no change can be tried."""
    request = launch.request
    assert isinstance(kernel, CycleKernel)
    found = launch.timed = kernel.cycles(launch.item.name)
    module = kernel.function.get_toplevel_object()
    assert isinstance(module, ModuleOp)
    if request.advice and not_tried is not None:
        found.not_tried_reason = not_tried
    elif request.advice:
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
            return [one.copied().launched for one in first]

        subject = Subject(module, request.target, request.blocks, again, values, computed, time_of)
        subject.advise(found, kernel.events)
    return found
