"""Origins of infinities and NaNs. Source: docs/reference/instrumentation.md, "Findings"."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pto_dialect.runtime.memory.spaces import Array

from ..report.describe import operation_text
from ..report.findings import Finding

if TYPE_CHECKING:
    from ..context import Context, RunObserver


class Numbers:
    """Checks the floating-point elements that one instruction reads and writes."""

    def __init__(self, observer: RunObserver) -> None:
        self.observer = observer
        self.strange = False
        self.written: list[Array] = []

    def start(self) -> None:
        """Starts an instruction."""
        self.strange = False
        self.written = []

    def read(self, data: Array) -> None:
        """Records whether an operand already has such elements."""
        if not self.strange and data.dtype.kind == "f":
            self.strange = not np.isfinite(data).all()

    def write(self, data: Array) -> None:
        """Records the written elements."""
        if data.dtype.kind == "f":
            self.written.append(data)

    def settle(self, context: Context) -> None:
        """Checks, after the instruction has run, whether it made an infinity or a NaN of finite numbers."""
        site = self.observer.sites[context.mark.site]
        if self.strange or site.moves or not any(not np.isfinite(data).all() for data in self.written):
            return
        if self.observer.findings.repeated("numeric-nan-inf", site):
            return
        kinds = ["NaN"] * any(np.isnan(data).any() for data in self.written)
        kinds += ["infinity"] * any(np.isinf(data).any() for data in self.written)
        message = f"{site.name} produces {' and '.join(kinds)} from numbers"
        notes = [(operation_text(site, context.mark.loops, context.thread), None)]
        finding = Finding("numeric-nan-inf", message, (site,), site.span, notes)
        finding.event = context.event
        self.observer.findings.add(finding)
