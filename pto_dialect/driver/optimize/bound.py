"""The cycles that a program takes at least: what its busiest pipe does, as if all others overlapped with it.

Only what runs in every call counts, so a program whose bound is above the time of another one need not run.
Source: docs/reference/cycles.md, "Without a run".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, Region

from pto_dialect.analysis.cycles.estimate import estimate
from pto_dialect.analysis.cycles.moves import extract_lanes, lane_of
from pto_dialect.analysis.cycles.operations import pipe_work_of
from pto_dialect.analysis.cycles.static import table_for, trip_count
from pto_dialect.analysis.cycles.table import CycleTable
from pto_dialect.analysis.target import profile_of
from pto_dialect.ir.core.base import section_of
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.runtime.compile.program import find_entry, functions_of
from pto_dialect.runtime.errors import ProgramError

from ..options import CycleRequest

_ASSUMED = "assumed"
"""Evidence of operations whose figure may be too large."""

_EXTRACTS = "PIPE_MTE1"

_OPERATIONS = ("", "", 0)
"""The key of the number of operations."""

Busy = Counter[tuple[str, str, int]]
"""Cycles by kind of core, pipe and lane."""


def least_cycles(module: ModuleOp, entry: str | None, target: str | None, request: CycleRequest) -> tuple[float, int]:
    """Returns the bound of a call of ``entry``, or of the only function that can be meant, and how many operations it
    executes; 0 where nothing is known."""
    try:
        name = find_entry(module, entry)
    except ProgramError:
        return 0.0, 0
    profile = profile_of(module, target)
    counter = _Counter(profile.arch, table_for(profile.arch, request.table), dict(request.options))
    found = counter.region(functions_of(module)[name].regions[0], "")
    executed = found.pop(_OPERATIONS, 0)
    return max(found.values(), default=0.0), round(executed)


class _Counter:
    def __init__(self, arch: str, table: CycleTable, options: Mapping[str, str]) -> None:
        self.arch, self.table, self.options = arch, table, options
        self.lanes = extract_lanes(table)

    def region(self, region: Region, core: str) -> Busy:
        """Returns what each run of a region takes."""
        found = Busy()
        if len(region.blocks) == 1:
            for op in region.block.ops:
                found.update(self.operation(op, core))
        return found

    def operation(self, op: Operation, core: str) -> Busy:
        """Returns what each execution of an operation takes."""
        one = pipe_work_of(op, self.arch, self.options)
        if one is not None:
            cost = estimate(one.work, self.table)
            lane = lane_of(one.work.path) % self.lanes if one.pipe == _EXTRACTS else 0
            return Busy({_OPERATIONS: 1} | ({(core, one.pipe, lane): cost.cycles} if cost.evidence != _ASSUMED else {}))
        # Runs have another model of vector functions than the sum of their instructions.
        if not op.regions or has_role(op, Role.SCOPE):
            return Busy({_OPERATIONS: 1} if op.regions else {})
        inner = [self.region(region, section_of(op) or core) for region in op.regions]
        if has_role(op, Role.CHOICE):
            return Busy({key: least for key in inner[0] if (least := min(one[key] for one in inner))})
        trips = trip_count(op) or 0
        return Busy({key: trips * cycles for one in inner for key, cycles in one.items()})
