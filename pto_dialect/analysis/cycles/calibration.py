"""Calibrations: changes of some parameters of a table, fitted to a user's measurements. Source:
docs/reference/cycles.md, "Calibration"."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final

from .estimate import estimate
from .fit import PRIOR_WEIGHT, Observed, fit
from .moves import extract_lanes, lane_of
from .table import CycleTable, Entry, Key
from .work import Work

FREE: Final[Mapping[str, frozenset[str]]] = {
    "move": frozenset(("fixed", "rate")),
    "cube": frozenset(("head", "passes")),
    **dict.fromkeys(("repeat", "convert-repeat", "divide"), frozenset(("fixed", "slope"))),
    "reduce": frozenset(("row", "row_more", "fixed", "fixed_more")),
    "column": frozenset(("row", "row_more", "fixed", "fixed_more")),
    "broadcast": frozenset(("row", "row_more", "fixed")),
    "transpose": frozenset(("fixed", "slope", "copy")),
    "copy": frozenset(("fixed", "block")),
    "operation": frozenset(("chain", "busy")),
    "family": frozenset(("fixed", "row", "slope")),
}
"""Parameters that measurements of a user may change, by law, besides those that the shipped tables were fitted in."""

LEAST_CHANGE: Final = 0.005
"""Smaller relative changes are omitted."""

FOLDS: Final = 10

SHARED: Final = frozenset(("flow", "copy"))
"""Laws whose parameters several operations share."""

SHARED_WEIGHT: Final = 0.5
"""Weight of a shared parameter's distance from its start: one operation does not move what holds for all."""


@dataclass(frozen=True)
class Observation:
    """Measured cycles of a pipe that executes each of ``works`` as often as stated. ``group``: observations that are
    left out together, when a fit is judged by what it has not seen."""

    name: str
    works: tuple[tuple[Work, int], ...]
    cycles: float
    group: str

    def predict(self, table: CycleTable) -> float:
        """Returns the cycles by ``table``: transfers of two lanes overlap."""
        lanes: dict[int, float] = {}
        for work, count in self.works:
            lane = lane_of(work.path) % extract_lanes(table)
            lanes[lane] = lanes.get(lane, 0.0) + count * estimate(work, table).cycles
        return max(lanes.values(), default=0.0)

    def identity(self, table: CycleTable) -> object:
        """Returns what equal observations have in common."""
        return self.name, self.works, self.cycles


@dataclass(frozen=True)
class Calibration:
    """The ``values`` that a fit has changed in a table, and the median errors before and after it, and of groups that
    were left out (``None`` with a single group)."""

    values: dict[Key, float]
    before: float
    after: float
    left_out: float | None


def is_free(key: Key, entry: Entry) -> bool:
    """Returns whether a calibration may change a parameter."""
    return entry.prior is not None or key[3] in FREE.get(key[0], ())


def pull_of(key: Key) -> float:
    """Returns the weight with which a parameter is pulled towards its start."""
    return SHARED_WEIGHT if key[0] in SHARED else PRIOR_WEIGHT


def calibrate(table: CycleTable, observations: Sequence[Observed]) -> Calibration:
    """Fits the free parameters of ``table``. Those that no observation depends on stay."""
    fitted = fit(table, observations, is_free, pull_of)
    values = {key: one.value for key, one in fitted.entries.items() if _differs(one.value, table.entries[key].value)}
    return Calibration(
        values, _error(observations, table), _error(observations, fitted), _left_out(table, observations)
    )


def _differs(new: float, old: float) -> bool:
    return abs(new - old) > LEAST_CHANGE * max(abs(old), 1.0)


def _error(observations: Sequence[Observed], table: CycleTable) -> float:
    return median(abs(one.predict(table) / one.cycles - 1) for one in observations)


def _left_out(table: CycleTable, observations: Sequence[Observed]) -> float | None:
    """Returns the median error of groups that a fit has not seen, in at most ``FOLDS`` folds."""
    groups = sorted({one.group for one in observations})
    if len(groups) < 2:
        return None
    errors: list[float] = []
    for fold in range(min(FOLDS, len(groups))):
        held = set(groups[fold::FOLDS])
        fitted = fit(table, [one for one in observations if one.group not in held], is_free, pull_of)
        errors += [abs(one.predict(fitted) / one.cycles - 1) for one in observations if one.group in held]
    return median(errors)


def calibration_text(chip: str, table: CycleTable, values: Mapping[Key, float], origin: str) -> str:
    """Returns the file of a calibration."""
    lines = [f"# calibration of {chip} by {origin}", "law,name,type,parameter,value,evidence,note"]
    for key, value in values.items():
        lines.append(f"{','.join(key)},{value:.6g},measured,{table.entries[key].value:g} before")
    return "\n".join(lines) + "\n"
