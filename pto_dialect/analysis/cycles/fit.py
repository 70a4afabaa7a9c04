"""Fits the parameters of a table to measurements.  Source: docs/reference/cycles.md, "Fitting"."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from .table import POSITIVE, SIGNED, CycleTable, Entry, Key

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[Any]

ROUNDS = 8
PRIOR_WEIGHT = 0.02
"""Weight of the distance from the prior, against the relative error of one row. It determines only what the
measurements leave open."""

LEAST_SCALE = 10.0
"""Parameters below this many cycles are scaled like one of this size."""


LEAST_RATE = 0.05
"""The lowest value of a parameter that others are divided by, relative to its start."""


class Observed(Protocol):
    """Measured cycles, and what a table predicts for them; ``group`` as in a calibration."""

    @property
    def name(self) -> str: ...
    @property
    def cycles(self) -> float: ...
    @property
    def group(self) -> str: ...
    def predict(self, table: CycleTable) -> float: ...
    def identity(self, table: CycleTable) -> object: ...


def was_fitted(key: Key, entry: Entry) -> bool:
    """Returns whether a parameter of the shipped tables comes from a fit."""
    return entry.prior is not None


def reset_to_priors(table: CycleTable) -> CycleTable:
    """Returns the table with every parameter that is fitted at the value a fit starts from."""
    return table.with_values({key: one.prior for key, one in table.entries.items() if one.prior is not None})


def fit(
    table: CycleTable,
    measurements: Sequence[Observed],
    is_free: Callable[[Key, Entry], bool] = was_fitted,
    pull: Callable[[Key], float] = lambda key: PRIOR_WEIGHT,
) -> CycleTable:
    """Returns ``table`` with the parameters that are free changed so that the relative errors of ``measurements`` are
    small: least squares by Gauss-Newton steps. Each is pulled towards its start with the weight ``pull``; those that no
    measurement depends on stay."""
    import numpy as np  # deferred: start-up

    rows = _deduplicate(measurements, table)
    parameters = [fitted_parameters(one, table, is_free) for one in rows]
    keys = sorted({key for each in parameters for key in each})
    if not keys:
        return table
    starts = np.array([table.entries[key].value for key in keys])
    weights = np.array([pull(key) for key in keys])
    scale = np.maximum(np.abs(starts), LEAST_SCALE)
    least = [_least(key, start) for key, start in zip(keys, starts.tolist(), strict=True)]
    users = [[number for number, each in enumerate(parameters) if key in each] for key in keys]

    def at(values: Array) -> CycleTable:
        clipped = (max(value, bound) for value, bound in zip(values, least, strict=True))
        return table.with_values(dict(zip(keys, (float(value) for value in clipped), strict=True)))

    def residuals(values: Array) -> Array:
        now = at(values)
        pulled = weights * (values - starts) / scale
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
            jacobian[len(rows) + column, column] = weights[column]
        steps = np.linalg.lstsq(jacobian, -errors, rcond=None)[0] * scale
        for factor in (1.0, 0.5, 0.25, 0.1):
            trial = values + factor * steps
            if float(np.sum(residuals(trial) ** 2)) < float(np.sum(errors**2)) * (1 - 1e-4):
                values = trial
                break
        else:
            break
    return table.with_values(at(values).values(keys), "measured")


def _least(key: Key, start: float) -> float:
    return float("-inf") if key[3] in SIGNED else LEAST_RATE * start if key[3] in POSITIVE else 0.0


def _relative_error(one: Observed, table: CycleTable) -> float:
    return one.predict(table) / one.cycles - 1


def fitted_parameters(
    one: Observed, table: CycleTable, is_free: Callable[[Key, Entry], bool] = was_fitted
) -> frozenset[Key]:
    """Returns the free parameters that the law of a measurement reads."""
    table.used = set()
    try:
        one.predict(table)
        return frozenset(key for key in table.used if is_free(key, table.entries[key]))
    finally:
        table.used = None


def _deduplicate(measurements: Sequence[Observed], table: CycleTable) -> list[Observed]:
    """Drops measurements that are equal to another one under the law."""
    unique: dict[object, Observed] = {}
    for one in measurements:
        unique.setdefault(one.identity(table), one)
    return list(unique.values())
