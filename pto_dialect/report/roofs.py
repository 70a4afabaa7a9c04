"""What the chip can do at best, by its cycle table.  Source: docs/report.md, "Roofline"."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from pto_dialect.analysis.cycles.estimate import estimate
from pto_dialect.analysis.cycles.static import UNMEASURED
from pto_dialect.analysis.cycles.table import CycleTable
from pto_dialect.analysis.cycles.work import Work

from .instrumentation import ReportTimeline, operations_of

_PATHS: Final = {"PIPE_M": ("gm:l1", "l0c:gm"), "PIPE_V": ("gm:ub", "ub:gm")}
"""How the cores with a pipe that computes read and write global memory."""

_SIDE = 2048
"""Rows and columns of the work that the limits are taken from: far more than any start-up."""

_LAWS: Final = ("operation", "repeat", "divide")
"""Laws of operations that compute one element from one of each source."""


class Roof(NamedTuple):
    """The most elementary operations in a cycle of one core, and what that figure rests on."""

    peak: float
    evidence: str


def roofs(times: ReportTimeline) -> dict[str, Any]:
    """Elementary operations in a cycle of one core, by pipe and element type, and bytes in a cycle from and to global
    memory: of all cores together, and for each pipe those that its core reads and writes."""
    table = times.table
    found: dict[tuple[str, str], Roof] = {}
    for work, one in times.estimates():
        pipe = "PIPE_M" if work.k else "" if work.path else "PIPE_V"
        if not pipe or not one.cycles:
            continue
        key = (pipe, work.source)
        if key not in found:
            found[key] = _best(table, *key)
        # No operation of the run is faster than the roof.
        rate = operations_of(work, pipe) / one.cycles
        if rate > found[key].peak:
            found[key] = Roof(rate, one.evidence)
    clock = table.value_of("machine", "clock_mhz")
    computing = {entry.pipe for entry in times.executed.values()}
    return {
        "compute": [
            {"pipe": pipe, "element": element, "peak": roof.peak, "evidence": roof.evidence}
            for (pipe, element), roof in found.items()
            if pipe in computing
        ],
        "memory": table.value_of("machine", "memory_gbps") * 1e3 / clock,
        "cores": int(table.value_of("machine", "cores")),
        "paths": {pipe: [_rate(table, path) for path in paths] for pipe, paths in _PATHS.items()},
    }


def _rate(table: CycleTable, path: str) -> float | None:
    return table.group("move", path, "*")["rate"] if table.type_of("move", path, "*") else None


def _best(table: CycleTable, pipe: str, element: str) -> Roof:
    """The fastest operation on elements of this type, with endless work."""
    if pipe == "PIPE_M":
        works = [Work("tmatmul", element, "f32", _SIDE, _SIDE, _SIDE, _SIDE, "", 1, _SIDE)]
    else:
        names = sorted({name for law, name in table.types if law in _LAWS and "." not in name} | {"tadd"})
        works = [Work(name, element, element, 1, _SIDE * 16, 1, _SIDE * 16) for name in names]
    estimates = [(estimate(work, table), work) for work in works]
    known = [pair for pair in estimates if pair[0].evidence not in UNMEASURED] or estimates
    rates = [Roof(operations_of(work, pipe) / one.cycles, one.evidence) for one, work in known]
    return max(rates, key=lambda roof: roof.peak)
