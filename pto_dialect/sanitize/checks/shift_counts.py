"""Counts with which tiles are shifted. Source: docs/reference/tiles.md, "Elementwise"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pto_dialect.ir.tile.elementwise import TShlOp, TShrOp
from pto_dialect.runtime.kernels.tile.operands import TILES, region

from ..report.describe import operation_text
from ..report.findings import Finding

if TYPE_CHECKING:
    from ..watch.watch import Context, Watch

_LIMIT = 32


def check_counts(watch: Watch, context: Context, arguments: Sequence[Any]) -> None:
    """Warns of a tile of counts with one that the instruction takes modulo 32."""
    if not context.mark.site:
        return
    site = watch.sites[context.mark.site]
    if not isinstance(site.op, (TShlOp, TShrOp)):
        return
    counts, dst = arguments[-2:]
    if not isinstance(counts, TILES) or not isinstance(dst, TILES):
        return
    muted, watch.muted = watch.muted, True
    try:
        values = np.array(region(counts, dst.valid_rows, dst.valid_cols)).astype(np.int64)
    finally:
        watch.muted = muted
    wrong = np.argwhere((values < 0) | (values >= _LIMIT))
    if not wrong.size or watch.findings.repeated("shift-count", site):
        return
    row, col = (int(n) for n in wrong[0])
    message = f"{site.name} takes the count {values[row, col]} at ({row}, {col}) modulo {_LIMIT}"
    notes = [(operation_text(site, context.mark.loops, context.actor), None)]
    finding = Finding("shift-count", message, (site,), site.span, notes, "counts are between 0 and 31")
    finding.event = context.event
    watch.findings.add(finding)
