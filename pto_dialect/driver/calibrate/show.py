"""What a calibration has changed, and measurements beside predictions, as text."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import median

from pto_dialect.analysis.cycles.calibration import Calibration
from pto_dialect.analysis.cycles.table import CycleTable

from ..aligned import aligned
from .inputs import Measured

MOST_SHOWN = 40
"""Parameters that are printed at the most; the file has all."""


def calibration_lines(path: str, measured: Measured, table: CycleTable, found: Calibration) -> Iterable[str]:
    """Yields the errors before and after, and the parameters that have changed, the largest changes first."""
    yield f"{path}: {len(measured.observations)} measurements of {measured.chip}"
    yield from (f"{count} rows skipped: {reason}" for reason, count in measured.skipped.items())
    yield f"median error {_percent(found.before)} before, {_percent(found.after)} after{_left_out(found)}"
    if not found.values:
        yield "no parameter has changed"
        return
    old = {key: table.entries[key].value for key in found.values}
    order = sorted(found.values, key=lambda key: -abs(found.values[key] - old[key]) / max(abs(old[key]), 1.0))
    rows = [("parameter", "before", "after")]
    rows += [(" ".join(key), f"{old[key]:.4g}", f"{found.values[key]:.4g}") for key in order[:MOST_SHOWN]]
    yield from aligned(rows, "<>>")
    if len(order) > MOST_SHOWN:
        yield f"and {len(order) - MOST_SHOWN} more"


def _left_out(found: Calibration) -> str:
    return "" if found.left_out is None else f", {_percent(found.left_out)} for operations or kernels that are left out"


def _percent(error: float) -> str:
    return f"{100 * error:.1f} %"


def comparison_lines(path: str, measured: Measured, table: CycleTable) -> Iterable[str]:
    """Yields each measurement with its prediction, and the median error."""
    rows = [("measurement", "measured", "predicted", "error")]
    errors: list[float] = []
    for one in measured.observations:
        predicted = one.predict(table)
        errors.append(predicted / one.cycles - 1)
        rows.append((one.name, f"{one.cycles:.6g}", f"{predicted:.6g}", f"{100 * errors[-1]:+.1f} %"))
    yield from aligned(rows, "<>>>")
    yield f"{path}: {_percent(median(map(abs, errors)))} median error"
