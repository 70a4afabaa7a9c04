"""How much of the chip a run has used, and what holds it back.  Source: docs/reference/cycles.md, "Critical path"."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from .critical import critical_path, end_without
from .schedule import CAUSES, Block, Reason, Schedule, placed
from .table import CycleTable
from .traffic import CUBE, VECTOR, Moved

MOST_VISITS = 1_500_000
"""Steps that are scheduled again for the costs of waits; the longest waits of the path come first."""


Group = tuple[str, str, str]
"""The pipe that waits, the pipe that it waits for, and the kind of the cause."""


class Use(NamedTuple):
    """The share of the time in which a resource works: ``busiest`` on the core where it works longest, ``chip`` of all
    cores of the chip. ``units`` is how many have worked."""

    busiest: float
    chip: float
    units: int


class Path(NamedTuple):
    """Transfers between two memories: bytes in a second, in GB/s, of the ``limit`` of the cores that work (``None``:
    not known), and the share of the time in which the busiest core transfers."""

    name: str
    bytes: int
    gbps: float
    limit: float | None
    busy: float

    @property
    def share(self) -> float | None:
        """The share of the limit."""
        return None if not self.limit else min(1.0, self.gbps / self.limit)


class Waiting(NamedTuple):
    """All waits of ``pipe`` for ``awaited`` of one ``kind``; the run would be ``cycles`` shorter without them."""

    pipe: str
    awaited: str
    kind: str
    cycles: float


class Launch(NamedTuple):
    """The time of the launch, and its share of launch and run."""

    microseconds: float
    share: float


NO_LAUNCH = Launch(0.0, 0.0)


@dataclass
class Limits:
    """What limits a run of ``whole`` cycles.

    ``core``: what a core is, a vector core where no cube core works. ``balance``: mean time of the cores that work over
    the longest one. ``tail``: share of the time from the end of the first of them. ``critical``: cycles of the critical
    path by resource, the longest first. ``waiting``: what costs the critical path most, first. ``waited``: waits on the
    critical path by the numbers of their causes. ``text``: the limiter in one sentence, ``kind`` its kind.
    """

    whole: float
    cores_used: int = 0
    cores: int = 0
    core: str = "core"
    blocks: int = 0
    uses: dict[str, Use] = field(default_factory=dict[str, Use])
    paths: list[Path] = field(default_factory=list[Path])
    critical: dict[str, float] = field(default_factory=dict[str, float])
    waiting: list[Waiting] = field(default_factory=list[Waiting])
    balance: float = 1.0
    tail: float = 0.0
    launch: Launch = NO_LAUNCH
    waited: dict[int, float] = field(default_factory=dict[int, float])
    kind: str = ""
    text: str = ""


def limits_of(schedule: Schedule, moved: Moved, table: CycleTable, places: int | None = None) -> Limits:
    """Returns the limits of a run whose blocks run concurrently in so many ``places``, without the sentence."""
    whole_cores = int(table.value_of("machine", "cores"))
    cores = places or whole_cores
    ends: dict[Block, float] = {}
    for step, thread in enumerate(schedule.thread):
        block = schedule.blocks[thread]
        ends[block] = max(ends.get(block, 0.0), schedule.end(step))
    where = placed(ends, cores)
    found = Limits(end_without(schedule, cores), cores=cores, blocks=len(ends))
    found.core = "core" if cores <= whole_cores else "vector core"
    if not found.whole:
        return found
    last: dict[int, float] = {}
    for block, (core, start) in where.items():
        last[core] = max(last.get(core, 0.0), start + ends[block])
    working = [end for end in last.values() if end > 0]
    found.cores_used = len(working)
    found.balance = sum(working) / len(working) / found.whole
    found.tail = 1 - min(working) / found.whole
    _add_uses(found, schedule, {block: core for block, (core, _) in where.items()})
    _add_paths(found, moved, table)
    _add_costs(found, schedule)
    microseconds = table.optional("machine", "launch_us", 0.0)
    time = found.whole / table.value_of("machine", "clock_mhz")
    found.launch = Launch(microseconds, microseconds / (microseconds + time))
    return found


def _add_uses(found: Limits, schedule: Schedule, core_of: dict[Block, int]) -> None:
    """How long each resource works on each core."""
    busy: dict[tuple[str, int, str], float] = {}
    until: dict[tuple[str, int], float] = {}
    for step, thread in enumerate(schedule.thread):
        resource, end = schedule.resource[step], schedule.end(step)
        # Of transfers that overlap, the common time counts once.
        alone = end - max(schedule.starts[step], until.get((resource, thread), 0.0))
        if alone > 0:
            key = (resource, core_of[schedule.blocks[thread]], schedule.units[thread])
            busy[key] = busy.get(key, 0.0) + alone
            until[resource, thread] = end
    for name in {resource for resource, _, _ in busy}:
        own = {(core, unit): cycles for (resource, core, unit), cycles in busy.items() if resource == name}
        units = len({unit for _, unit in own})
        whole = found.whole
        chip = sum(own.values()) / (whole * found.cores * units)
        found.uses[name] = Use(max(own.values()) / whole, chip, len(own))


def _add_paths(found: Limits, moved: Moved, table: CycleTable) -> None:
    """What has been moved along each path, of what the cores that work could have moved in that time."""
    seconds = found.whole / table.value_of("machine", "clock_mhz") / 1e6
    for name, traffic in sorted(moved.items(), key=lambda one: -one[1].cycles):
        if not traffic.bytes or name in (CUBE, VECTOR):
            continue
        rate = table.group("move", name, "*")["rate"] if table.type_of("move", name, "*") else 0.0
        limit = rate * table.value_of("machine", "clock_mhz") / 1e3 * found.uses[name].units
        gbps = traffic.bytes / seconds / 1e9
        found.paths.append(Path(name, traffic.bytes, gbps, limit or None, found.uses[name].busiest))


def _add_costs(found: Limits, schedule: Schedule) -> None:
    """The critical path, and what its waits cost."""
    path = critical_path(schedule, found.cores)
    found.critical = dict(sorted(path.resources.items(), key=lambda one: (-one[1], one[0])))
    found.waited = path.causes
    groups: dict[Group, list[int]] = {}
    for number in range(CAUSES, CAUSES + len(schedule.causes)):
        groups.setdefault(group_of(*schedule.pipe_and_cause(number)), []).append(number)
    causes = sorted(path.causes, key=lambda one: -path.causes[one])
    visits = MOST_VISITS
    for group in dict.fromkeys(group_of(*schedule.pipe_and_cause(one)) for one in causes):
        visits -= len(schedule)
        if visits >= 0:
            saved = found.whole - end_without(schedule, found.cores, groups[group])
            found.waiting.append(Waiting(*group, max(0.0, saved)))
    found.waiting.sort(key=lambda one: (-one.cycles, one.pipe, one.awaited, one.kind))


def group_of(pipe: str, reason: Reason) -> Group:
    """Returns the waits that one is counted with. Who writes what another pipe has written mostly reads it as well."""
    return pipe, reason.awaited, "reads" if reason.kind == "rewrites" else reason.kind
