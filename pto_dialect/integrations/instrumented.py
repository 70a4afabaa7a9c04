"""Instrumented kernels, and the findings of the sanitizers in a run of one.

See docs/sanitizers.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pto_dialect.diagnostics.diagnostic import Diagnostic
from pto_dialect.runtime.run.launch import Kernel

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from pto_dialect.runtime.compile.group import Group
    from pto_dialect.runtime.run.machine import RunOptions
    from pto_dialect.sanitize.options import SanitizeOptions


def instrumented_kernel(
    module: ModuleOp | None,
    entry: str | None,
    target: str | None,
    options: RunOptions,
    sanitize: SanitizeOptions,
    group: Group | None = None,
    beside: Kernel | None = None,
) -> Kernel:
    """Returns the instrumented variant of a function or a group; on-chip memory starts with values that no program
    should read. Launches that are known to be ordered are not sanitized again.

    ``beside`` is an instrumented kernel that shares its instrumentation with this one, because both run concurrently.
    """
    from dataclasses import replace  # deferred: start-up

    from pto_dialect.sanitize.launch import InstrumentedKernel  # deferred: start-up
    from pto_dialect.sanitize.repeated import RepeatedKernel  # deferred: start-up

    shared = beside.observer if isinstance(beside, InstrumentedKernel) else None
    return RepeatedKernel(
        module, entry, target, replace(options, fill="poison"), sanitize, group=group, observer=shared
    )


def collect(kernel: Kernel) -> tuple[tuple[Diagnostic, ...], bool]:
    """Returns the findings since the last call, without those that comments of the program allow, and whether a finding
    ended the run; empty for kernels that are not instrumented.

    Clears the recorded state, so a kernel may run any number of times.
    """
    if not hasattr(kernel, "observer"):
        return (), False
    from pto_dialect.sanitize.launch import InstrumentedKernel  # deferred: start-up
    from pto_dialect.sanitize.report.suppress import unsuppressed  # deferred: start-up

    assert isinstance(kernel, InstrumentedKernel)
    kept = unsuppressed(kernel.observer.findings.all, kernel.accepted)
    kernel.observer.forget()
    stopped, kernel.stopped = kernel.stopped, False
    return tuple(finding.diagnostic() for finding in kept), stopped
