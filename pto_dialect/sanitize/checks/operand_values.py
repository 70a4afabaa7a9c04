"""Checks of the values that an instruction is about to take: their registry, the values, and the report about one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from xdsl.ir import Operation

from pto_dialect.runtime.kernels.tile.operands import TILES, region
from pto_dialect.runtime.memory.spaces import Array

from ..report.describe import operation_text
from ..report.findings import Finding
from ..report.sites import Site

if TYPE_CHECKING:
    from ..context import Context, RunObserver

ArgumentCheck = Callable[["RunObserver", "Context", Sequence[Any]], None]

ARGUMENT_CHECKS: dict[type[Operation], ArgumentCheck] = {}
"""Checks of the arguments of an operation before it runs, by its class."""


def checks_arguments(*operations: type[Operation]) -> Callable[[ArgumentCheck], ArgumentCheck]:
    """Registers a check of the arguments of ``operations``."""

    def register(check: ArgumentCheck) -> ArgumentCheck:
        ARGUMENT_CHECKS.update(dict.fromkeys(operations, check))
        return check

    return register


def second_source(observer: RunObserver, context: Context, arguments: Sequence[Any]) -> tuple[Site, Array] | None:
    """Returns the site of an instruction and the content of its last source tile, of integers, in the valid region of
    its destination, without recording an access. ``None`` for other operands."""
    site = observer.sites[context.mark.site]
    source, dst = arguments[-2:]
    if not isinstance(source, TILES) or not isinstance(dst, TILES) or source.fmt.is_float:
        return None
    observer.judged_by_content = True
    muted, observer.muted = observer.muted, True
    try:
        return site, np.array(region(source, dst.valid_rows, dst.valid_cols))
    finally:
        observer.muted = muted


def report_operand(observer: RunObserver, context: Context, site: Site, rule: str, message: str, help: str) -> None:
    """Reports what the instruction at ``site`` takes."""
    notes = [(operation_text(site, context.mark.loops, context.thread), None)]
    finding = Finding(rule, message, (site,), site.span, notes, help)
    finding.event = context.event
    observer.findings.add(finding)
