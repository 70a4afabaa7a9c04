"""Integers divided by zero, which gives 0. Source: docs/reference/tiles.md, "Elementwise"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pto_dialect.ir.tile.elementwise import TDivOp

from .operand_values import checks_arguments, report_operand, second_source

if TYPE_CHECKING:
    from ..context import Context, RunObserver


@checks_arguments(TDivOp)
def check_divisors(observer: RunObserver, context: Context, arguments: Sequence[Any]) -> None:
    """Warns of a tile of integer divisors with a zero in it."""
    second = second_source(observer, context, arguments)
    if second is None:
        return
    site, divisors = second
    zeros = np.argwhere(divisors == 0)
    if zeros.size and not observer.findings.repeated("zero-divisor", site):
        row, col = (int(n) for n in zeros[0])
        message = f"{site.name} divides by 0 at ({row}, {col}), which gives 0"
        report_operand(observer, context, site, "zero-divisor", message, "divide by other numbers than 0")
