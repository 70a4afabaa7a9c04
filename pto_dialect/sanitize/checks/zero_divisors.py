"""Integers divided by zero, which gives 0. Source: docs/reference/tiles.md, "Elementwise"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pto_dialect.ir.tile.elementwise import TDivOp
from pto_dialect.runtime.kernels.tile.operands import TILES, region

from ..report.describe import operation_text
from ..report.findings import Finding

if TYPE_CHECKING:
    from ..watch.watch import Context, Watch


def check_divisors(watch: Watch, context: Context, arguments: Sequence[Any]) -> None:
    """Warns of a tile of integer divisors with a zero in it."""
    if not context.mark.site:
        return
    site = watch.sites[context.mark.site]
    if not isinstance(site.op, TDivOp):
        return
    divisors, dst = arguments[-2:]
    if not isinstance(divisors, TILES) or not isinstance(dst, TILES) or divisors.fmt.is_float:
        return
    muted, watch.muted = watch.muted, True
    try:
        zeros = np.argwhere(np.array(region(divisors, dst.valid_rows, dst.valid_cols)) == 0)
    finally:
        watch.muted = muted
    if not zeros.size or watch.findings.repeated("zero-divisor", site):
        return
    row, col = (int(n) for n in zeros[0])
    message = f"{site.name} divides by 0 at ({row}, {col}), which gives 0"
    notes = [(operation_text(site, context.mark.loops, context.actor), None)]
    finding = Finding("zero-divisor", message, (site,), site.span, notes, "divide by other numbers than 0")
    finding.event = context.event
    watch.findings.add(finding)
