"""Estimates the cycles of one operation, with an error band and a class of evidence. Source: docs/reference/cycles.md,
"Evidence"."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from .moves import extra_column_cycles, move_cycles, product_cycles
from .repeats import repeat_cycles
from .table import CycleTable
from .vector_flow import PRECISE, flow_cycles
from .work import Work, ceil_div


class Estimate(NamedTuple):
    """``cycles`` between ``low`` and ``high``. ``evidence`` is ``measured``, ``neighbour``, ``published``, ``family``
    or ``assumed``; the last two mark operations and types without measurements."""

    cycles: float
    low: float
    high: float
    evidence: str


def estimate(work: Work, table: CycleTable) -> Estimate:
    """Returns the cycles of ``work``, with the figures of ``table``."""
    if work.name in ("flag", "barrier"):
        cycles = table.value_of("sync", work.name)
        return Estimate(cycles, cycles, 20 * cycles, table.evidence("sync", work.name, "*"))
    result = _cycles(work, table)
    if result is None:
        return _estimate_by_family(work, table) or _estimate_range(work, table)
    cycles, evidence = result
    if work.empty and evidence == "measured":
        evidence = "neighbour"  # No empty tile was measured.
    if not work.is_static:
        evidence = "assumed"
    error = table.value_of("band", evidence)
    if more := extra_column_cycles(work, table):
        # The lower bound is the law of a transfer, the upper one adds the maximum cost of the columns.
        error = max(error, ((cycles**2 + (more / 2) ** 2) ** 0.5 + more / 2) / cycles - 1)
    low = cycles / (1 + error)
    if not work.is_static:
        smallest = _cycles(replace(work, valid_rows=1, valid_cols=1), table)
        low = min(low, smallest[0] if smallest else low)
    return Estimate(cycles, low, cycles * (1 + error), evidence)


def _cycles(work: Work, table: CycleTable) -> tuple[float, str] | None:
    if work.k:
        return product_cycles(work, table)
    if work.path:
        return move_cycles(work, table)
    if table.value_of("machine", "flow"):
        return flow_cycles(work, table)
    return repeat_cycles(work, table)


def _estimate_by_family(work: Work, table: CycleTable) -> Estimate | None:
    """Returns the estimate by the law of the family: a fixed part, rows and registers, with a wide band; ``None``
    without a family, and for shapes unknown before a run."""
    precise = work.options.get("op_params") == PRECISE
    family = table.family_of(PRECISE if precise else work.name)
    if family is None or work.path or work.k:
        return None
    p = table.group("family", family, "*")
    if not work.is_static and (p["row"] or p["fixed"]):
        return None
    size = int(table.value_of("machine", "vector_bytes"))
    registers = ceil_div(work.bytes(), size)
    if not work.full and not work.empty:
        registers = work.valid_rows * ceil_div(ceil_div(work.bytes(), work.valid_rows), size)
    cycles = p["fixed"] + p["row"] * (0 if work.empty else work.valid_rows) + p["slope"] * registers
    return Estimate(cycles, cycles / (1 + p["error"]), cycles * (1 + p["error"]), "family")


def _estimate_range(work: Work, table: CycleTable) -> Estimate:
    """Returns a range for operations without a law, from the number of repeats."""
    kind = "vector" if not work.path and not work.k else "other"
    size = table.value_of("machine", "vector_bytes")
    repeats = max(1.0, work.bytes() / size)
    low, high = (table.get("range", kind, "*", end) for end in ("low", "high"))
    least, most = low * (16 + repeats), high * (16 + repeats)
    return Estimate((least * most) ** 0.5, least, most, "assumed")
