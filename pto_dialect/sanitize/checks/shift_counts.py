"""Shift counts in tiles. Source: docs/reference/tiles.md, "Elementwise"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pto_dialect.ir.tile.elementwise import TShlOp, TShrOp

from .operand_values import checks_arguments, report_operand, second_source

if TYPE_CHECKING:
    from ..context import Context, RunObserver

_LIMIT = 32


@checks_arguments(TShlOp, TShrOp)
def check_counts(observer: RunObserver, context: Context, arguments: Sequence[Any]) -> None:
    """Warns of a tile of counts with one that the instruction takes modulo 32."""
    counts = second_source(observer, context, arguments)
    if counts is None:
        return
    site, values = counts
    values = values.astype(np.int64)
    wrong = np.argwhere((values < 0) | (values >= _LIMIT))
    if wrong.size and not observer.findings.repeated("shift-count", site):
        row, col = (int(n) for n in wrong[0])
        message = f"{site.name} takes the count {values[row, col]} at ({row}, {col}) modulo {_LIMIT}"
        report_operand(observer, context, site, "shift-count", message, "counts are between 0 and 31")
