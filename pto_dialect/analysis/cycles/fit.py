"""Fits the parameters of a table to measurements.  Source: docs/reference/cycles.md, "Fitting"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .estimate import estimate
from .measurements import Measurement
from .table import SIGNED, CycleTable, Key

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[Any]

ROUNDS = 8
PRIOR_WEIGHT = 0.02
"""Weight of the distance from the prior, against the relative error of one row. It determines only what the
measurements leave open."""

LEAST_SCALE = 10.0
"""Parameters below this many cycles are scaled like one of this size."""


def reset_to_priors(table: CycleTable) -> CycleTable:
    """The table with every parameter that is fitted at the value a fit starts from."""
    return table.with_values({key: one.prior for key, one in table.entries.items() if one.prior is not None})


def fit(table: CycleTable, measurements: Sequence[Measurement]) -> CycleTable:
    """``table`` with the parameters that have a ``prior`` changed so that the relative errors of ``measurements`` are
    small: least squares by Gauss-Newton steps. Parameters that no measurement depends on stay."""
    import numpy as np  # deferred: start-up

    rows = _deduplicate(measurements, table)
    parameters = [fitted_parameters(one, table) for one in rows]
    keys = sorted({key for each in parameters for key in each})
    if not keys:
        return table
    starts = np.array([table.entries[key].value for key in keys])
    scale = np.maximum(np.abs(starts), LEAST_SCALE)
    users = [[number for number, each in enumerate(parameters) if key in each] for key in keys]

    def at(values: Array) -> CycleTable:
        clipped = (value if key[3] in SIGNED else max(value, 0.0) for key, value in zip(keys, values, strict=True))
        return table.with_values(dict(zip(keys, (float(value) for value in clipped), strict=True)))

    def residuals(values: Array) -> Array:
        now = at(values)
        pulled = PRIOR_WEIGHT * (values - starts) / scale
        return np.concatenate([[_relative_error(one, now) for one in rows], pulled])

    values = starts
    for _ in range(ROUNDS):
        errors = residuals(values)
        jacobian = np.zeros((len(errors), len(keys)))
        for column in range(len(keys)):
            moved = values.copy()
            moved[column] += 1e-4 * scale[column]
            beside = at(moved)
            for number in users[column]:
                jacobian[number, column] = (_relative_error(rows[number], beside) - errors[number]) / 1e-4
            jacobian[len(rows) + column, column] = PRIOR_WEIGHT
        steps = np.linalg.lstsq(jacobian, -errors, rcond=None)[0] * scale
        for factor in (1.0, 0.5, 0.25, 0.1):
            trial = values + factor * steps
            if float(np.sum(residuals(trial) ** 2)) < float(np.sum(errors**2)) * (1 - 1e-4):
                values = trial
                break
        else:
            break
    return table.with_values(at(values).values(keys), "measured")


def _relative_error(one: Measurement, table: CycleTable) -> float:
    return estimate(one.work, table).cycles / one.cycles - 1


def fitted_parameters(one: Measurement, table: CycleTable) -> frozenset[Key]:
    """The fitted parameters that the law of a measurement reads."""
    table.used = set()
    try:
        estimate(one.work, table)
        return frozenset(key for key in table.used if table.entries[key].prior is not None)
    finally:
        table.used = None


def _deduplicate(measurements: Sequence[Measurement], table: CycleTable) -> list[Measurement]:
    """Drops measurements that are equal to another one under the law."""
    unique: dict[tuple[object, ...], Measurement] = {}
    for one in measurements:
        work = one.work
        key = (work.name, work.source, work.result, work.valid_rows, tuple(sorted(work.options.items())))
        unique.setdefault((*key, estimate(work, table).cycles, one.cycles), one)
    return list(unique.values())
