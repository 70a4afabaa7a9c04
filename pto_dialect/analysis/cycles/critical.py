"""The critical path of a schedule, and how much shorter it would be without some of its causes.

Source: docs/reference/cycles.md, "Critical path".
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from .schedule import CAUSES, ORDER, STARTS, Block, Schedule, placed

_EPSILON = 1e-6


@dataclass(frozen=True)
class Part:
    """A step of the path: the ``cycles`` of the path that are its own, the number of the cause for which it has waited
    for the step before it (``None`` for the first one), and how long its pipe has ``waited``."""

    step: int
    cycles: float
    cause: int | None
    waited: float


@dataclass
class CriticalPath:
    """The chain of steps of which each began when the previous one allowed it, up to the end of the run.

    ``parts`` in their order, of all blocks of the core that ends last. ``unknown``: cycles without a known cause.
    ``resources``: cycles by what was at work. ``causes``: how long the pipes have waited at steps of the path, by the
    numbers of the causes.
    """

    parts: list[Part] = field(default_factory=list[Part])
    unknown: float = 0.0
    resources: dict[str, float] = field(default_factory=dict[str, float])
    causes: dict[int, float] = field(default_factory=dict[int, float])


def critical_path(schedule: Schedule, cores: int) -> CriticalPath:
    """Returns the critical path of a run on a chip with so many ``cores``."""
    last: dict[Block, int] = {}
    for step, thread in enumerate(schedule.thread):
        block = schedule.blocks[thread]
        if block not in last or schedule.end(step) > schedule.end(last[block]):
            last[block] = step
    where = placed({block: schedule.end(step) for block, step in last.items()}, cores)
    found = CriticalPath()
    if not where:
        return found
    final = max(where, key=lambda block: where[block][1] + schedule.end(last[block]))
    core = where[final][0]
    for block in sorted(where, key=lambda one: where[one][1]):
        if where[block][0] == core and where[block][1] <= where[final][1]:
            _follow(schedule, last[block], found)
    return found


def _follow(schedule: Schedule, step: int, found: CriticalPath) -> None:
    """Adds the path that ends with ``step``."""
    parts: list[Part] = []
    end = schedule.end(step)
    while True:
        start = schedule.starts[step]
        # After an overlapping start the rest of this step is not on the path.
        parts_cycles = max(0.0, end - start)
        before, cause = _binding(schedule, step)
        waited = start - _own(schedule, step)
        parts.append(Part(step, parts_cycles, cause, waited))
        resource = schedule.resource[step]
        found.resources[resource] = found.resources.get(resource, 0.0) + parts_cycles
        found.unknown += schedule.gaps[step]
        if before is None:
            break
        assert cause is not None
        if cause >= CAUSES:
            found.causes[cause] = found.causes.get(cause, 0.0) + waited
        end = schedule.starts[before] if cause == STARTS else schedule.end(before)
        step = before
    found.parts += reversed(parts)


def _own(schedule: Schedule, step: int) -> float:
    """When the pipe of a step was free for it."""
    edges = range(schedule.first[step], schedule.first[step + 1])
    own = [schedule.end(schedule.before[edge]) for edge in edges if schedule.cause[edge] == ORDER]
    return max(own, default=0.0)


def _binding(schedule: Schedule, step: int) -> tuple[int | None, int | None]:
    """Returns the step that held back ``step`` the longest, and the number of the cause; of equal ones the own pipe."""
    latest, before, cause = -1.0, None, None
    for edge in range(schedule.first[step], schedule.first[step + 1]):
        one, kind = schedule.before[edge], schedule.cause[edge]
        time = schedule.starts[one] if kind == STARTS else schedule.end(one)
        if time > latest + _EPSILON or (kind == ORDER and time >= latest - _EPSILON):
            latest, before, cause = max(time, latest), one, kind
    return before, cause


def end_without(schedule: Schedule, cores: int, removed: Collection[int] = ()) -> float:
    """When the run would end if no step waited for the causes with the numbers ``removed``. Durations, and the order
    of the steps of each pipe, stay what they are."""
    gone = [False] * (CAUSES + len(schedule.causes))
    for cause in removed:
        gone[cause] = True
    starts: list[float] = []
    ends: list[float] = []
    by_thread: dict[int, float] = {}
    before, causes, first = schedule.before, schedule.cause, schedule.first
    for step, (cycles, gap, thread) in enumerate(zip(schedule.cycles, schedule.gaps, schedule.thread, strict=True)):
        ready = 0.0
        for edge in range(first[step], first[step + 1]):
            cause = causes[edge]
            if gone[cause]:
                continue
            time = starts[before[edge]] if cause == STARTS else ends[before[edge]]
            if time > ready:
                ready = time
        ready += gap
        starts.append(ready)
        ends.append(ready + cycles)
        if ready + cycles > by_thread.get(thread, 0.0):
            by_thread[thread] = ready + cycles
    by_block: dict[Block, float] = {}
    for thread, end in by_thread.items():
        block = schedule.blocks[thread]
        by_block[block] = max(by_block.get(block, 0.0), end)
    return max((start + by_block[block] for block, (_, start) in placed(by_block, cores).items()), default=0.0)
