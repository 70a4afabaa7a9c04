"""Static cycle estimates, without a run. Source: docs/reference/cycles.md, "Without a run"."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from pto_dialect.analysis.constants import constant_of
from pto_dialect.analysis.release import release_of
from pto_dialect.analysis.target import profile_of
from pto_dialect.diagnostics.origins import shown_line
from pto_dialect.ir.core.location import span_of
from pto_dialect.ir.core.operands import find
from pto_dialect.ir.core.roles import Role, roles_of
from pto_dialect.ir.core.walk import ancestors, walk
from pto_dialect.versions import NEWEST_RELEASE

from .estimate import Estimate, estimate
from .limits import Limits
from .moves import extract_lanes, lane_of
from .operations import pipe_work_of
from .table import CycleTable, CycleTableError, read_table, shipped
from .waits import Advice, Wait

UNMEASURED = ("family", "assumed")
"""Evidence of operations without measurements."""


@dataclass(frozen=True)
class Line:
    """One operation: its name, line and pipe, how often it executes, and the cycles of one execution. ``open``:
    enclosing loops or branches with unknown trip counts or conditions count once."""

    operation: str
    line: int | None
    pipe: str
    count: int
    open: bool
    estimate: Estimate


@dataclass
class Total:
    """Cycles of several operations, each as often as it runs."""

    cycles: float = 0.0
    low: float = 0.0
    high: float = 0.0

    def add(self, one: Estimate | Total, count: int = 1) -> None:
        """Counts ``count`` executions."""
        self.cycles += count * one.cycles
        self.low += count * one.low
        self.high += count * one.high


@dataclass
class ModuleCycles:
    """The cycles of one program read from ``file``, for the chip ``target`` and a ``release`` of the reference;
    measured in a ``run``, or static.

    ``pipes``: the sum of the operations of each pipe. ``total``: of all pipes, between the busiest pipe alone and the
    sum of all; for a run, the end of its schedule. ``open``: number of operations with an unknown execution count.
    ``ranges``: operations and types without measurements, with their count. ``waits``: waiting times of the pipes of a
    run, ``limits`` what limits it. ``advice``: changes that help; ``not_tried_reason`` states why none was tried.
    ``contents_reason`` states why a run for times alone has computed contents. ``task``: for a run, the microseconds of
    its task on a board, from the start of its launch.
    """

    file: str
    target: str
    clock_mhz: float
    lines: list[Line] = field(default_factory=list[Line])
    pipes: dict[str, Total] = field(default_factory=dict[str, Total])
    total: Total = field(default_factory=Total)
    open: int = 0
    ranges: dict[str, int] = field(default_factory=dict[str, int])
    run: bool = False
    limits: Limits | None = None
    waits: list[Wait] = field(default_factory=list[Wait])
    advice: list[Advice] = field(default_factory=list[Advice])
    not_tried_reason: str = ""
    contents_reason: str = ""
    release: str = NEWEST_RELEASE
    task: Total = field(default_factory=Total)


def task_time(total: Total, table: CycleTable) -> Total:
    """Returns the microseconds from the start of the launch to the end of a run of ``total`` cycles."""
    launch, error = table.optional("machine", "launch_us", 0.0), table.optional("band", "launch", 0.0)
    clock = table.value_of("machine", "clock_mhz")
    return Total(launch + total.cycles / clock, launch / (1 + error) + total.low / clock,
                 launch * (1 + error) + total.high / clock)  # fmt: skip


def with_schedule_band(total: Total, table: CycleTable) -> Total:
    """Returns ``total`` of a run, with a band that is no narrower than the error of schedules."""
    error = table.optional("band", "schedule", 0.0)
    return Total(total.cycles, min(total.low, total.cycles / (1 + error)), max(total.high, total.cycles * (1 + error)))


def table_for(arch: str, path: str | None) -> CycleTable:
    """Returns the table of the user, or the default table of ``arch``. Raises ``CycleTableError``."""
    table = shipped(arch) if path is None else read_table(path)
    if table.chip not in ("", arch):
        raise CycleTableError(f"'{path}' is a calibration of {table.chip}, and the program is for {arch}")
    return table


def static_cycles(
    module: ModuleOp, file: str, target: str | None, path: str | None, options: Mapping[str, str]
) -> ModuleCycles:
    """Returns the cycles of every operation of ``module``, and totals. Raises ``CycleTableError``."""
    profile = profile_of(module, target)
    table = table_for(profile.arch, path)
    clock = table.value_of("machine", "clock_mhz")
    result = ModuleCycles(file, profile.name, clock, release=str(release_of(module)))
    lanes: dict[tuple[str, int], Total] = {}
    for op in walk(module):
        one = pipe_work_of(op, profile.arch, options)
        if one is None:
            continue
        cycles = estimate(one.work, table)
        count, open_ = execution_count(op)
        span = span_of(op)
        result.lines.append(Line(op.name, shown_line(span) if span else None, one.pipe, count, open_, cycles))
        result.open += open_
        lane = lane_of(one.work.path) % extract_lanes(table) if one.pipe == "PIPE_MTE1" else 0
        lanes.setdefault((one.pipe, lane), Total()).add(cycles, count)
        if cycles.evidence in UNMEASURED:
            name = f"{op.name} {one.work.source}"
            result.ranges[name] = result.ranges.get(name, 0) + 1
    for (pipe, _), total in lanes.items():
        result.pipes[pipe] = total if pipe not in result.pipes else _combine_lanes(result.pipes[pipe], total)
    # Compute the total from the pipes: between the busiest one and the sum.
    totals = result.pipes.values()
    result.total.cycles = max((each.cycles for each in totals), default=0.0)
    result.total.low = max((each.low for each in totals), default=0.0)
    result.total.high = sum(each.high for each in totals)
    return result


def _combine_lanes(one: Total, other: Total) -> Total:
    """Combines two lanes of a pipe: between the busier one and the sum."""
    longer = one if one.cycles >= other.cycles else other
    return Total(longer.cycles, max(one.low, other.low), one.high + other.high)


def execution_count(op: Operation) -> tuple[int, bool]:
    """Returns the number of executions of ``op`` in one call of its function, and whether a loop or branch leaves that
    open."""
    count, open_ = 1, False
    for parent in ancestors(op):
        trips = trip_count(parent)
        open_ = open_ or trips is None
        count *= 1 if trips is None else trips
    return count, open_


def trip_count(op: Operation) -> int | None:
    """Returns how often the regions of ``op`` run when it does; ``None`` if the text does not say."""
    roles = roles_of(op)
    if Role.COUNTED in roles:
        bounds = [_bound(op, name) for name in ("lb", "ub", "step")]
        first, end, step = bounds
        if first is None or end is None or not step:
            return None
        return max(0, -(-(end - first) // step))
    return None if roles & (Role.LOOP | Role.CHOICE) else 1


def _bound(op: Operation, name: str) -> int | None:
    value = find(op, name) or getattr(op, name, None)
    number = None if value is None else constant_of(value)
    return number if isinstance(number, int) else None
