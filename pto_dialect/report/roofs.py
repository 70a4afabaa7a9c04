"""What the chip can do at best, by its cycle table.  Source: docs/report.md, "Roofline"."""

from __future__ import annotations

from typing import Any

from pto_dialect.analysis.cycles.estimate import estimate
from pto_dialect.analysis.cycles.work import Work

from .watch import ReportTimeline, operations_of

_PATHS = ("gm:ub", "gm:l1", "ub:gm", "l0c:gm")

_SIDE = 2048
"""Rows and columns of the work that the limits are taken from: far more than any start-up."""


def roofs(times: ReportTimeline) -> dict[str, Any]:
    """Elementary operations in a cycle of one core, by pipe and element type, and bytes in a cycle from and to global
    memory: of all cores together, and of each path of one core."""
    table = times.table
    found: list[dict[str, Any]] = []
    seen: set[tuple[str, str]] = set()
    for entry in times.executed.values():
        counted = times.counted_of(entry.site.number)
        if counted is None or entry.pipe not in ("PIPE_M", "PIPE_V") or (entry.pipe, counted.source) in seen:
            continue
        seen.add((entry.pipe, counted.source))
        work = Work("tmatmul", counted.source, "f32", _SIDE, _SIDE, _SIDE, _SIDE, "", 1, _SIDE)
        if entry.pipe == "PIPE_V":
            work = Work("tadd", counted.source, counted.source, 1, _SIDE * 16, 1, _SIDE * 16)
        one = estimate(work, table)
        peak = operations_of(work, entry.pipe) / one.cycles
        found.append({"pipe": entry.pipe, "element": counted.source, "peak": peak, "evidence": one.evidence})
    clock = table.one("machine", "clock_mhz")
    known = (path for path in _PATHS if table.type_of("move", path, "*"))
    paths = {path: table.group("move", path, "*").get("rate") for path in known}
    return {
        "compute": found,
        "memory": table.one("machine", "memory_gbps") * 1e3 / clock,
        "cores": int(table.one("machine", "cores")),
        "paths": paths,
    }
