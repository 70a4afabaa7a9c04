"""Waits of the pipes of a run, and their causes.  Source: docs/reference/cycles.md, "Waits"."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from xdsl.ir import Operation

from pto_dialect.analysis.cycles.limits import Limits, group_of
from pto_dialect.analysis.cycles.waits import Wait
from pto_dialect.analysis.type_facts import enumerator
from pto_dialect.diagnostics.origins import shown_line

if TYPE_CHECKING:
    from pto_dialect.analysis.cycles.schedule import Schedule

    from ..report.sites import Sites
    from ..state.clocks import Thread


class Cause(NamedTuple):
    """Why a pipe has waited: the pipe that it waited for, and the sites of the waiting operation, of the one that it
    waited for (0: unknown), and of the flag or barrier between them (0: none)."""

    kind: str
    awaited: str
    site: int = 0
    other: int = 0
    through: int = 0


class Waits:
    """Cycles that each thread has waited, by their causes.

    A flag is waited for before the operation that needs it is issued, so causes are ``held`` until then. ``behind``
    has, for each thread, the site of its last operation.
    """

    def __init__(self) -> None:
        self.cycles: dict[int, dict[Cause, float]] = {}
        self.held: dict[int, list[tuple[Cause, float]]] = {}
        self.behind: dict[int, int] = {}
        self.scalar: dict[int, Cause] = {}

    def hold(self, thread: Thread, cause: Cause, cycles: float) -> None:
        """Records that ``thread`` waits before its next operation."""
        if cycles <= 0:
            return
        if thread.pipe == "PIPE_S":
            self.scalar[id(thread.core)] = cause
        self.held.setdefault(thread.number, []).append((cause, cycles))

    def settle(self, thread: Thread, site: int, cause: Cause | None, cycles: float) -> None:
        """Assigns the waits to an issued operation: everything that was held, and ``cycles`` because of ``cause``."""
        self.behind[thread.number] = site
        held = self.held.pop(thread.number, [])
        if cause is not None and cycles > 0:
            held.append((cause, cycles))
        for one, waited in held:
            self.add(thread.number, one._replace(site=site), waited)

    def issued(self, thread: Thread, site: int) -> Cause:
        """Returns the cause of an operation that the scalar unit has issued late."""
        cause = self.scalar.get(id(thread.core))
        return Cause("scalar", "PIPE_S", site) if cause is None else cause._replace(site=site)

    def add(self, thread: int, cause: Cause, cycles: float) -> None:
        """Adds to the waits of the thread with this number."""
        known = self.cycles.setdefault(thread, {})
        known[cause] = known.get(cause, 0.0) + cycles

    def longest(self, threads: Sequence[Thread], sites: Sites, total: float, costs: Costs) -> list[Wait]:
        """Returns the waits of the threads that represent their pipes, those first that cost the run most, then the
        longest."""
        waits: list[Wait] = []
        for thread in threads:
            for cause, cycles in self.cycles.get(thread.number, {}).items():
                if thread.pipe != "PIPE_S":
                    cost, critical = costs.of(thread.pipe, cause)
                    one = _described(thread.pipe, cause, cycles, total, sites)
                    waits.append(replace(one, cost=cost, critical=critical))
        return sorted(
            waits, key=lambda one: (-one.cost, -one.critical, -one.cycles, one.pipe, one.line or 0, one.other_line or 0)
        )


class Costs:
    """What waits cost the run: without all those of a pipe for another one of a kind, and how long each of them is at
    steps of the critical path."""

    def __init__(self, schedule: Schedule, limits: Limits) -> None:
        self.by_group = {(one.pipe, one.awaited, one.kind): one.cycles for one in limits.waiting}
        self.on_path: dict[Hashable, float] = {}
        for number, cycles in limits.waited.items():
            pipe, cause = schedule.pipe_and_cause(number)
            assert isinstance(cause, Cause)
            key = _key(pipe, cause)
            self.on_path[key] = self.on_path.get(key, 0.0) + cycles

    def of(self, pipe: str, cause: Cause) -> tuple[float, float]:
        """The cost of such waits, and the cycles of this one on the critical path."""
        cost = self.by_group.get(group_of(pipe, cause), 0.0)
        return cost, self.on_path.get(_key(pipe, cause), 0.0)


def _key(pipe: str, cause: Cause) -> Hashable:
    """A wait; the operation that waits for a signal is not known when the signal comes."""
    return pipe, cause if not (cause.through or cause.kind == "unit-flag") else cause._replace(site=0)


def _described(pipe: str, cause: Cause, cycles: float, total: float, sites: Sites) -> Wait:
    operation, line, _ = _named(cause.site, sites)
    other, other_line, _ = _named(cause.other, sites)
    _, through, op = _named(cause.through, sites)
    event = "" if op is None or cause.kind != "flag" else enumerator(op, "event_id").removeprefix("EVENT_ID")
    share = cycles / total if total else 0.0
    return Wait(pipe, cause.awaited, cause.kind, cycles, share, operation, line, other, other_line, through, event)


def _named(number: int, sites: Sites) -> tuple[str, int | None, Operation | None]:
    if not number:
        return "", None, None
    site = sites[number]
    return site.name, shown_line(site.span) if site.span is not None else None, site.op
