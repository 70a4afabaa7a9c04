"""Recordings, pages, timelines and findings of the launches of a file: each launch has its own. Source:
docs/report.md, "A run that fails".
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from pto_dialect.diagnostics.files import atomic_write

from ..run.files import FileError
from ..run.sanitizing import Sanitizing

if TYPE_CHECKING:
    from pto_dialect.report.kernel import ReportKernel

    from .plan import Plan, Step
    from .prepared import Prepared


_FILES = ("record", "html", "trace", "report")
"""Files that each run leaves."""


def has_run_output(request: Sanitizing | None) -> bool:
    """Returns True where each launch is to leave a recording or a page."""
    return request is not None and (request.record is not None or request.html is not None)


def is_observed(request: Sanitizing | None) -> bool:
    """Returns True where each launch of one rank needs a kernel of its own, which retains what its run has left."""
    timed = request is not None and (request.trace is not None or request.cycles is not None)
    return timed or has_run_output(request)


def check_run_outputs(plans: Sequence[Plan], request: Sanitizing | None) -> str | None:
    """Why the launches cannot be stored as requested."""
    names = (*_FILES, "cycles")
    option = next((f"--{name}" for name in names if getattr(request, name, None) is not None), None)
    if request is None or option is None:
        return None
    if plans[0].steps[0].task is not None:
        return f"{option} does not go with tasks; [[launch]] tables instead run in the order of the file"
    if request.cycles is not None and plans[0].rank is not None:
        return "--cycles times the run of one rank; it does not go with ranks"
    if request.trace is not None and plans[0].rank is not None:
        return "--trace shows the run of one rank; --html and --record keep all of them"
    for rank, plan in enumerate(plans if has_run_output(request) else ()):
        for step, first in zip(plan.steps, plans[0].steps, strict=True):
            if _functions(step) != _functions(first):
                what = f"rank {rank} runs {_functions_text(step)}, rank 0 {_functions_text(first)}"
                return f"{option} keeps ranks that run one function: {what}"
    return None


def _functions(step: Step) -> list[tuple[str, str | None]]:
    """Returns the programs of a launch, with the functions that it names."""
    parts = step.group or (step,)
    return [(os.path.realpath(part.program), part.entry) for part in parts]


def _functions_text(step: Step) -> str:
    """Returns the same for messages."""
    parts = step.group or (step,)
    return ", ".join(part.program if part.entry is None else f"{part.entry} of {part.program}" for part in parts)


def numbered_outputs(request: Sanitizing | None, number: int, count: int) -> Sanitizing | None:
    """Returns the outputs requested of run ``number`` of ``count``, of the launches of a file or of functions one after
    the other: with several, names of files include its number."""
    if request is None or count < 2:
        return request
    paths = {name: _numbered(getattr(request, name), number) for name in _FILES}
    return replace(request, **paths)


def outputs_of_ranks(request: Sanitizing | None, scratch: str) -> Sanitizing | None:
    """Returns the outputs requested of a launch on several ranks: its page is made from its recording, in the folder
    ``scratch`` if the recording was not requested."""
    if request is None or request.html is None:
        return request
    return replace(request, html=None, record=request.record or os.path.join(scratch, "ranks.pto-rec"))


def write_page(path: str, recording: str) -> None:
    """Writes the page of a recording. Raises ``FileError`` where it cannot be written."""
    from pto_dialect.recording import open as open_recording  # deferred: start-up
    from pto_dialect.report.recorded import page_of_recording  # deferred: start-up

    with open_recording(recording) as recorded:
        text = page_of_recording(recorded)
    try:
        atomic_write(path, text, "page")
    except OSError as problem:
        raise FileError(f"cannot write '{path}': {problem.strerror or problem}") from None


def _numbered(path: str | None, number: int) -> str | None:
    if path is None:
        return None
    stem, ending = os.path.splitext(path)
    return f"{stem}-{number}{ending}"


def page_of_launch(one: Prepared) -> AbstractContextManager[object]:
    """Writes the page of a launch at the end of the block, if there is to be one."""
    request = one.launch.request.sanitizing
    if request is None or request.html is None:
        return nullcontext()
    from ..run.page import RunPage  # deferred: start-up

    return RunPage(one.launch, cast("ReportKernel", one.kernel), request, one.bound, one.expected)
