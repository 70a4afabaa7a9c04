"""What a run has taken by the cycle model, what its pipes have waited for, and advice.  Source: docs/cycles.md, "With a
run"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import ModuleOp

from pto_dialect.sanitize.options import SanitizeOptions
from pto_dialect.sanitize.timed import CycleKernel

from ..cycle_text import document
from .sanitizing import instrumented_kernel
from .status import LaunchState

if TYPE_CHECKING:
    from pto_dialect.runtime.run.launch import Kernel

    from .binding import Bound


def show_cycles(launch: LaunchState, kernel: Kernel, originals: Sequence[Bound], results: list[Any]) -> str:
    """What the runs of a timed kernel have taken, as text or JSON. ``originals`` are the arguments before the run,
    ``results`` those after it with what it returned."""
    request = launch.request
    assert isinstance(kernel, CycleKernel) and request.cycles is not None
    found = launch.timed = kernel.cycles(launch.item.name)
    module = kernel.function.get_toplevel_object()
    if request.advice:
        from ..advice.trial import Subject  # deferred: start-up

        sanitizing = request.sanitizing
        assert sanitizing is not None
        quiet = replace(sanitizing, options=SanitizeOptions(), trace=None, report=None, record=None, html=None)

        def again(changed: ModuleOp) -> CycleKernel:
            made = instrumented_kernel(changed, kernel.entry, request.target, request.run, quiet)
            assert isinstance(made, CycleKernel)
            return made

        def values() -> list[Any]:
            copies = (one._replace(value=one.value.copy()) if one.is_array else one for one in originals)
            return [one.launched for one in copies]

        assert isinstance(module, ModuleOp)
        subject = Subject(module, request.target, request.blocks, again, values, results)
        subject.advise(found, len(kernel.observer.log.count))
    return document([found], request.cycles)
