"""The page of a run: ``pto-run --html``, also of one that has failed.

Source: docs/report.md, "What is in the page".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from pto_dialect.analysis.cycles.summary import limits_data
from pto_dialect.diagnostics.files import atomic_write
from pto_dialect.report import Buffer, Run, page_of
from pto_dialect.report.model import Remark, failure

from ..cycle_text import advice_text, costly_wait_text, shown_waits
from .files import FileError
from .sanitizing import Sanitizing, kept_findings
from .status import Failure, LaunchState

if TYPE_CHECKING:
    from pto_dialect.analysis.cycles.static import ModuleCycles
    from pto_dialect.report.kernel import ReportKernel

    from .binding import Bound
    from .compare import Expected


class RunPage:
    """Writes the page at the end of a block, whichever way that ends. Raises ``FileError`` where it cannot be
    written."""

    def __init__(
        self,
        launch: LaunchState,
        kernel: ReportKernel,
        request: Sanitizing,
        bound: Sequence[Bound],
        expected: Sequence[Expected],
    ) -> None:
        self.launch = launch
        self.kernel = kernel
        self.request = request
        self.bound = bound
        self.wanted = {one.place.name: np.broadcast_to(one.values, one.place.shape) for one in expected}

    def __enter__(self) -> RunPage:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if error is not None and not isinstance(error, (Failure, FileError)):
            return
        kernel, launch = self.kernel, self.launch
        kernel.kept += kept_findings(kernel, self.request)
        failures = [*launch.failures, *(failure(text.strip(), "expectation") for text in launch.mismatches)]
        buffers = [
            Buffer(one.name, tuple(one.value.shape), one.fmt.name, self.wanted.get(one.name))
            for one in self.bound
            if one.is_array
        ]
        ended = bool(launch.failures or kernel.stopped)
        checked = sorted(self.request.options.checks)
        run = Run(launch.item.name, buffers, failures, not ended, checked)
        if not ended:
            add_times(run, launch.timed or kernel.cycles(launch.item.name), launch)
        text = page_of(kernel, run)
        assert self.request.html is not None
        try:
            atomic_write(self.request.html, text, "page")
        except OSError as problem:
            raise FileError(f"cannot write '{self.request.html}': {problem.strerror or problem}") from None


def add_times(run: Run, found: ModuleCycles, launch: LaunchState) -> None:
    """Adds to ``run`` what limits it, the costliest waits of the pipes and, where changes were tried, the advice."""
    run.limits = None if found.limits is None else limits_data(found.limits, found)
    for one in shown_waits(found):
        run.waits = [*run.waits, Remark(costly_wait_text(one, found.total.cycles), one.share)]
    if launch.timed is not None and launch.request.advice:
        run.advice = [Remark(advice_text(one), one.saved, one.passes) for one in found.advice]
        run.untried = found.not_tried_reason or ""
