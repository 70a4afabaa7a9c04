"""The cycles of what a run has executed, operation by operation and pipe by pipe.

Source: docs/reference/cycles.md, "Pipes".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from pto_dialect.analysis.cycles.estimate import Estimate, estimate
from pto_dialect.analysis.cycles.limiter import limiter
from pto_dialect.analysis.cycles.limits import limits_of
from pto_dialect.analysis.cycles.moves import extract_lanes, lane_of
from pto_dialect.analysis.cycles.operations import PipeWork, pipe_work_of
from pto_dialect.analysis.cycles.schedule import Block, placed
from pto_dialect.analysis.cycles.static import (
    UNMEASURED,
    Line,
    ModuleCycles,
    Total,
    task_time,
    with_schedule_band,
)
from pto_dialect.analysis.cycles.table import EVIDENCE, CycleTable
from pto_dialect.analysis.cycles.traffic import Moved
from pto_dialect.analysis.cycles.work import Work
from pto_dialect.diagnostics.origins import shown_line
from pto_dialect.runtime.kernels.tile.operands import TILES

from ..report.timeline import Ran, Timeline
from .cycle_steps import NoSteps, StepLog
from .cycle_waits import Costs, Waits
from .warmth import WAVE, Saved, Warmth, cold_bytes, fill

if TYPE_CHECKING:
    from ..context import Context
    from ..report.sites import Site, Sites
    from ..state.clocks import Thread

_PATHS = {"PIPE_MTE1": "l1:l0a", "PIPE_MTE3": "ub:gm", "PIPE_FIX": "l0c:gm"}
"""Assumed paths of instructions without tiles, by their pipe; MTE2 loads into the memory of its core."""

_GLOBAL = "gm"

_CUBE_PIPES = frozenset(("PIPE_M", "PIPE_MTE1", "PIPE_FIX"))

VECTOR_CORES = 2
"""Vector cores beside each cube core; a block of a vector kernel runs on one of them."""


_GRID = 1 << 16
"""Times are multiples of this part of a cycle: then sums of them, in whatever order, have no rounding errors."""


def exact(cycles: float) -> float:
    """Returns the nearest time that is a multiple of the grid."""
    return round(cycles * _GRID) / _GRID


def _exact(one: Estimate) -> Estimate:
    return Estimate(exact(one.cycles), exact(one.low), exact(one.high), one.evidence)


@dataclass
class Executed:
    """All executions of one operation on one pipe."""

    site: Site
    pipe: str
    count: int = 0
    total: Total = field(default_factory=Total)
    evidence: str = EVIDENCE[0]


class CycleTimeline(Timeline):
    """A timeline whose durations are those of ``table`` for the chip ``arch``, with variants as ``options`` state.

    ``kept`` states whether slices are required as well, ``steps`` whether ``log`` keeps what limits the run; ``busy``
    has the cycles of each thread by its id.
    """

    def __init__(
        self, table: CycleTable, arch: str, options: Mapping[str, str], cached: bool, steps: bool = True
    ) -> None:
        super().__init__(costs=True)
        self.table = table
        self.arch = arch
        self.options = options
        self.kept = cached
        self.steps = steps
        self.microseconds = 1 / table.value_of("machine", "clock_mhz")
        self.signal = self._flag = exact(table.value_of("sync", "flag"))
        self.log = StepLog() if steps else NoSteps()
        self.moved = Moved()
        self.executed: dict[tuple[int, str], Executed] = {}
        self.busy: dict[int, Total] = {}
        self.overlapping: set[int] = set()
        """Threads whose transfers overlap."""
        self.waits = Waits()
        self.leaving: dict[int, int] = {}
        """The last operation before each pending signal, by the id of its flow."""
        self._flows = 0
        self.warmth = Warmth()
        self._side_by_side = int(table.value_of("machine", "cores"))
        self._rate = table.value_of("machine", "memory_gbps") * 1e3 / table.value_of("machine", "clock_mhz")
        self.lanes = extract_lanes(table)
        """Transfers of MTE1 that overlap."""
        self._counted: dict[int, PipeWork | None] = {}
        self._known: dict[Work, Estimate] = {}

    # ------------------------------------------------------------ slices

    def operation(self, thread: Thread, site: Site, ran: Ran) -> None:
        """Adds the slice as ``Timeline`` does, where slices are required."""
        if self.kept:
            super().operation(thread, site, ran)

    def sent(self, thread: Thread, site: Site, loops: tuple[int, ...]) -> int:
        """Adds a signal that is sent; returns the id of its flow."""
        flow, start = self.next_flow(), thread.time
        if self.kept:
            flow = super().sent(thread, site, loops)
        else:
            thread.time += self._flag
        self._account_signal(thread, site)
        self.log.signal(thread, start, self._flag, flow)
        self.leaving[flow] = self.waits.behind.get(thread.number, 0)
        return flow

    def next_flow(self) -> int:
        """Returns the id of a new flow."""
        self._flows += 1
        return self._flows

    def taken(self, thread: Thread, site: Site, loops: tuple[int, ...], since: float, flow: int) -> None:
        """Adds a wait that is over."""
        start = thread.time
        if self.kept:
            super().taken(thread, site, loops, since, flow)
        else:
            thread.time += self._flag
        self._account_signal(thread, site)
        self.log.signal(thread, start, self._flag)

    def _account_signal(self, thread: Thread, site: Site) -> None:
        # Beside transfers that overlap a signal takes no time of the pipe.
        hidden = self._flag if thread.number in self.overlapping else 0.0
        self._add(thread, site, Estimate(self._flag, self._flag, self._flag, "published"), hidden)

    # ------------------------------------------------------------ costs

    def work_of(self, thread: Thread, site: Site, context: Context) -> Work:
        """Returns the work of an instruction that has run."""
        if site.number not in self._counted:
            self._counted[site.number] = pipe_work_of(site.op, self.arch, self.options)
        counted = self._counted[site.number]
        name = site.name.removeprefix("pto.")
        work = Work(name, "i8", "i8", 1, 1, 1, 1, is_static=False) if counted is None else counted.work
        return work if work.is_static else self._completed(work, thread, context)

    def cost(self, thread: Thread, work: Work, regions: Sequence[tuple[Any, Any, bool]], start: float) -> Estimate:
        """Returns the cycles of an instruction that starts at ``start`` and has accessed ``regions``: memory, bytes,
        and whether they were written."""
        known = self._known.get(work)
        if known is None:
            known = self._known[work] = _exact(estimate(work, self.table))
        if _GLOBAL not in work.path.split(":"):
            return known
        return self.shared(known, work.path, thread, regions, start)

    def alone(self, work: Work) -> Estimate:
        """Returns the cycles of an instruction that has run, without other cores."""
        return self._known[work]

    def estimates(self) -> Iterable[tuple[Work, Estimate]]:
        """Returns all kinds of work of the run, with the cycles of each alone."""
        return self._known.items()

    def lane_of(self, work: Work) -> int:
        """Returns the lane of MTE1 in which a transfer runs."""
        return lane_of(work.path) % self.lanes

    def _completed(self, work: Work, thread: Thread, context: Context) -> Work:
        """Returns the work with the facts known at run time: the valid part of its last tile, or the accessed bytes."""
        tile = next((each for each in reversed(context.operands) if isinstance(each, TILES)), None)
        if tile is not None and not work.k:
            rows, cols = max(tile.valid_rows, 1), max(tile.valid_cols, 1)
            shape = (max(tile.rows, rows), max(tile.cols, cols))
            if work.by_columns:
                rows, cols, shape = cols, rows, shape[::-1]
            return replace(work, rows=shape[0], cols=shape[1], valid_rows=rows, valid_cols=cols, is_static=True)
        if work.k:
            return work
        size = max(1, context.nbytes // 2)
        path = _path_of(work.name, thread)
        certain = path == (_stated_path(work.name) or "")
        return replace(work, source="i8", result="i8", rows=1, cols=size, valid_rows=1, valid_cols=size, path=path,
                       is_static=certain)  # fmt: skip

    def shared(
        self,
        one: Estimate,
        path: str,
        thread: Thread,
        regions: Sequence[tuple[Any, Any, bool]],
        start: float,
        saved: Saved | None = None,
    ) -> Estimate:
        """Returns the cycles of a transfer whose bytes are not in the cache: at least its share of the memory's
        bandwidth. ``saved`` receives what is changed."""
        touched = self.warmth.touched(regions)
        if not touched:
            return one
        block = thread.core.block
        cores = self._side_by_side * (1 if thread.core.kind == "aic" or "l1" in path else VECTOR_CORES)
        start += WAVE * (block.index // cores)
        cold = cold_bytes(touched, start)
        if cold:
            # The cache takes what is written, so only bytes that are read wait for the memory.
            if any(arena.public and not writes for arena, _, writes in regions):
                least = cold * min(block.count, cores) / self._rate
                if least > one.cycles:
                    one = _exact(Estimate(least, one.low, max(one.high, 2 * least), one.evidence))
            if saved is not None:
                saved += [(since, where, since[where].copy()) for since, where, _ in touched]
            fill(touched, start + one.cycles)
        return one

    def record(self, thread: Thread, site: Site, one: Estimate, hidden: float = 0.0) -> None:
        """Records an instruction that has run; for ``hidden`` of its cycles its pipe was already busy."""
        self._add(thread, site, one, hidden)

    def _add(self, thread: Thread, site: Site, one: Estimate, hidden: float = 0.0) -> None:
        entry = self.executed.get((site.number, thread.pipe))
        if entry is None:
            entry = self.executed[site.number, thread.pipe] = Executed(site, thread.pipe)
        entry.count += 1
        entry.total.add(one)
        entry.evidence = max(entry.evidence, one.evidence, key=EVIDENCE.index)
        if hidden:
            share = 1 - hidden / one.cycles
            one = _exact(Estimate(one.cycles * share, one.low * share, one.high * share, one.evidence))
        self.busy.setdefault(thread.number, Total()).add(one)

    # ------------------------------------------------------------ result

    def cycles(self, file: str, target: str, threads: Sequence[Thread], sites: Sites) -> ModuleCycles:
        """Returns the cycles of the run, with the ``threads`` that took part and the sites of their operations."""
        table = self.table
        result = ModuleCycles(file, target, table.value_of("machine", "clock_mhz"), run=True)
        for entry in sorted(self.executed.values(), key=lambda each: (each.site.number, each.pipe)):
            if not entry.total.cycles:
                continue
            span, total = entry.site.span, entry.total
            count = entry.count
            mean = Estimate(total.cycles / count, total.low / count, total.high / count, entry.evidence)
            line = shown_line(span) if span is not None else None
            result.lines.append(Line(entry.site.name, line, entry.pipe, entry.count, False, mean))
            if entry.evidence in UNMEASURED:
                result.ranges[entry.site.name] = entry.count
        busiest: dict[str, Thread] = {}
        for thread in threads:
            busy = self.busy.get(thread.number)
            if busy is not None and busy.cycles > result.pipes.get(thread.pipe, Total()).cycles:
                result.pipes[thread.pipe] = busy
                busiest[thread.pipe] = thread
        ends: dict[Block, float] = {}
        for thread in threads:
            block = (thread.device, thread.core.block.index)
            ends[block] = max(ends.get(block, 0.0), thread.time)
        cores = places(threads, table)
        where = placed(ends, cores)
        end = max((start + ends[block] for block, (_, start) in where.items()), default=0.0)
        totals = result.pipes.values()
        less = max((each.cycles - each.low for each in totals), default=0.0)
        more = max((each.high - each.cycles for each in totals), default=0.0)
        result.total = with_schedule_band(Total(end, max(end - less, 0.0), end + more), table)
        result.task = task_time(result.total, table)
        limits = limits_of(self.log.schedule, self.moved, table, cores)
        if len(self.log.schedule):
            limits.kind, limits.text = limiter(limits, self.moved, table, result.lines)
            result.limits = limits
        costs = Costs(self.log.schedule, limits)
        result.waits = self.waits.longest(list(busiest.values()), sites, end, costs)
        return result


def places(threads: Iterable[Thread], table: CycleTable) -> int:
    """Returns how many blocks run concurrently: on cube cores, or, if none of their pipes worked, on vector cores."""
    vector = all(thread.core.kind == "all" and not (thread.pipe in _CUBE_PIPES and thread.time) for thread in threads)
    return int(table.value_of("machine", "cores")) * (VECTOR_CORES if vector else 1)


_NAMED = {
    **{"gm": "gm", "ub": "ub", "ubuf": "ub", "l1": "l1", "cbuf": "l1", "l0a": "l0a", "ca": "l0a", "l0b": "l0b"},
    **{"cb": "l0b", "l0c": "l0c", "cc": "l0c", "bt": "bt", "fb": "fb", "fbuf": "fb"},
}
"""Memories by their names in the names of transfers."""


def _stated_path(name: str) -> str | None:
    """Returns the memories in the name of a transfer: ``mte_gm_ub``, ``copy_gm_to_ubuf``, ``load_cbuf_to_ca_mx``."""
    verb, *words = name.replace("_matrix_", "_").replace("_to_", "_").split("_")
    if verb not in ("mte", "copy", "load") or len(words) < 2 or not {*words[:2]} <= _NAMED.keys():
        return None
    return f"{_NAMED[words[0]]}:{_NAMED[words[1]]}"


def _path_of(name: str, thread: Thread) -> str:
    """Returns the path of an instruction without tiles: by its name, otherwise by its pipe; nothing for other pipes."""
    if not thread.pipe.startswith("PIPE_MTE") and thread.pipe != "PIPE_FIX":
        return ""
    return _stated_path(name) or _PATHS.get(thread.pipe, "gm:l1" if thread.core.kind == "aic" else "gm:ub")
