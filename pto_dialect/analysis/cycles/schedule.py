"""The schedule of a run: its steps, and what each of them has waited for.

Source: docs/reference/cycles.md, "Critical path".
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping
from typing import Protocol

Block = tuple[int, int]
"""Blocks that are simulated together, and the index of a block."""

ORDER = 0
"""Cause of a step that begins when another one has ended on the same pipe."""

STARTS = 1
"""Cause of a step that begins when another one has begun: transfers of one pipe that overlap start in order."""

CAUSES = 2
"""The first number of the causes for which pipes wait for one another."""

_EPSILON = 1e-6


class Reason(Protocol):
    """Why a step has waited: for a pipe, in a way."""

    @property
    def kind(self) -> str: ...

    @property
    def awaited(self) -> str: ...


class Schedule:
    """Steps in the order in which they were scheduled: an operation or a signal of a pipe.

    A step begins when all steps before it have ended, each for a cause, and ``gaps`` later, where it began later than
    all known causes say. ``first`` has the index of the first edge of each step, and the number of edges.
    """

    def __init__(self) -> None:
        self.thread = array("i")
        self.starts = array("d")
        self.cycles = array("d")
        self.resource: list[str] = []
        self.gaps = array("d")
        self.first = array("i", (0,))
        self.before = array("i")
        self.cause = array("i")
        self.causes: list[tuple[str, Reason]] = []
        self.blocks: dict[int, Block] = {}
        """The block of each thread."""
        self.units: dict[int, str] = {}
        """The name of each thread in its block."""
        self._known: dict[tuple[str, Reason], int] = {}

    def __len__(self) -> int:
        return len(self.starts)

    def number_of(self, pipe: str, reason: Reason) -> int:
        """Returns the number of the cause that ``pipe`` waits for a reason; the same cause has the same one."""
        found = self._known.get((pipe, reason))
        if found is None:
            found = self._known[pipe, reason] = CAUSES + len(self.causes)
            self.causes.append((pipe, reason))
        return found

    def pipe_and_cause(self, number: int) -> tuple[str, Reason]:
        """Returns the pipe that waits, and why."""
        return self.causes[number - CAUSES]

    def end(self, step: int) -> float:
        """When a step ends."""
        return self.starts[step] + self.cycles[step]

    def add(
        self, thread: int, start: float, cycles: float, resource: str, edges: Iterable[tuple[int, int]] = ()
    ) -> int:
        """Adds a step that begins at ``start``, after the steps of ``edges``, each with the number of its cause; its
        index. Steps that end later cannot have held it back and are left out."""
        ready = 0.0
        for before, cause in edges:
            time = self.starts[before] if cause == STARTS else self.end(before)
            if time <= start + _EPSILON:
                self.before.append(before)
                self.cause.append(cause)
                ready = max(ready, time)
        self.first.append(len(self.before))
        self.thread.append(thread)
        self.starts.append(start)
        self.cycles.append(cycles)
        self.resource.append(resource)
        self.gaps.append(max(0.0, start - ready))
        return len(self.starts) - 1


def placed(ends: Mapping[Block, float], cores: int) -> dict[Block, tuple[int, float]]:
    """Returns the core of each block, and when it begins there: blocks start in their order as cores become free."""
    free = [0.0] * max(cores, 1)
    found: dict[Block, tuple[int, float]] = {}
    for block, end in sorted(ends.items()):
        core = free.index(min(free))
        found[block] = core, free[core]
        free[core] += end
    return found
