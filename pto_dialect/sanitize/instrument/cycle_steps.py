"""The steps of a timed run, with everything that each of them has waited for.

Source: docs/reference/cycles.md, "Critical path".
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from pto_dialect.analysis.cycles.schedule import ORDER, STARTS, Schedule
from pto_dialect.analysis.cycles.traffic import SYNC

from .cycle_waits import Cause

if TYPE_CHECKING:
    from ..state.clocks import Thread

_EPSILON = 1e-6
Edge = tuple[int, int]


class Steps:
    """The steps of a thread: the last one, the last of each lane of transfers that overlap, and for each time that the
    thread was free the step that ended then. ``held`` are what its next operation waits for."""

    __slots__ = ("ends", "held", "last", "last_of", "overlaps", "steps")

    def __init__(self) -> None:
        self.overlaps = False
        self.last = -1
        self.last_of: dict[int, int] = {}
        self.ends: list[float] = []
        self.steps: list[int] = []
        self.held: list[Edge] = []


class StepLog:
    """Writes a ``schedule`` while a program runs; ``sent`` has the step of each signal by its flow."""

    def __init__(self) -> None:
        self.schedule = Schedule()
        self.sent: dict[int, int] = {}
        self._threads: dict[int, Steps] = {}

    def _of(self, thread: Thread) -> Steps:
        found = self._threads.get(thread.number)
        if found is None:
            found = self._threads[thread.number] = Steps()
            self.schedule.blocks[thread.number] = (thread.device, thread.core.block.index)
            self.schedule.units[thread.number] = f"{thread.core.name} {thread.pipe}"
        return found

    def overlap(self, thread: Thread) -> None:
        """Transfers of ``thread`` overlap."""
        self._of(thread).overlaps = True

    def at(self, thread: Thread, time: float) -> int:
        """Returns the step of ``thread`` that ended at ``time``, -1 for none."""
        known = self._of(thread)
        place = bisect_left(known.ends, time - _EPSILON)
        if place < len(known.ends) and known.ends[place] <= time + _EPSILON:
            return known.steps[place]
        return -1

    def edge(self, thread: Thread, step: int, cause: Cause) -> list[Edge]:
        """Returns the edge from ``step`` to one of ``thread`` because of ``cause``; none for -1."""
        return [] if step < 0 else [(step, self.schedule.number_of(thread.pipe, cause))]

    def hold(self, thread: Thread, step: int, cause: Cause, at_once: bool = False) -> None:
        """What ``thread`` does next waits for ``step``; in a barrier the scalar unit waits ``at_once``."""
        if step < 0:
            return
        self._of(thread).held += self.edge(thread, step, cause)
        if at_once and thread.pipe == "PIPE_S":
            self.add(thread, max(thread.time, self.schedule.end(step)), 0.0, SYNC)

    def add(
        self, thread: Thread, start: float, cycles: float, resource: str, edges: Iterable[Edge] = (), lane: int = 0
    ) -> int:
        """Adds a step of ``thread``; its index. Transfers of threads that overlap wait for the earlier ones of their
        ``lane``, and begin in order. A signal is sent when all lanes are done, and holds none of them back."""
        state = self._of(thread)
        before = [*state.held, *edges]
        if not state.overlaps or resource == SYNC:
            before += [(one, ORDER) for one in {state.last, *state.last_of.values()} if one >= 0]
            step = state.last = self.schedule.add(thread.number, start, cycles, resource, before)
        else:
            before += [(one, STARTS) for one in state.last_of.values()]
            before += [(state.last_of[lane], ORDER)] if lane in state.last_of else []
            step = state.last_of[lane] = self.schedule.add(thread.number, start, cycles, resource, before)
        if not state.overlaps or resource != SYNC:
            state.held = []
        if not state.ends or start + cycles >= state.ends[-1] + _EPSILON:
            state.ends.append(start + cycles)
            state.steps.append(step)
        return step

    def issued(self, thread: Thread, time: float, cause: Cause) -> list[Edge]:
        """Returns the edge of a step that the scalar unit has issued at ``time``."""
        core: Any = thread.core
        scalar = core.threads["PIPE_S"]
        return [] if scalar is thread else self.edge(thread, self.at(scalar, time), cause)

    def signal(self, thread: Thread, start: float, cycles: float, flow: int = 0) -> None:
        """A signal that is sent as ``flow``, or one that was waited for (0)."""
        step = self.add(thread, start, cycles, SYNC)
        if flow:
            self.sent[flow] = step


class NoSteps(StepLog):
    """Keeps nothing, where only times are wanted."""

    def overlap(self, thread: Thread) -> None:
        """Does nothing."""

    def at(self, thread: Thread, time: float) -> int:
        """No step."""
        return -1

    def add(
        self, thread: Thread, start: float, cycles: float, resource: str, edges: Iterable[Edge] = (), lane: int = 0
    ) -> int:
        """No step."""
        return -1
