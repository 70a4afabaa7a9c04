"""A pipe whose transfers start in order and overlap where they go to different memories.

Source: docs/reference/cycles.md, "Pipes".
"""

from __future__ import annotations


class OverlappingPipe:
    """When each lane of the pipe is free, and before when nothing may start: transfers start in order, and a wait
    holds back all that follow it. A signal is sent when all lanes are done."""

    __slots__ = ("_ends", "_from")

    def __init__(self, lanes: int) -> None:
        self._ends = [0.0] * lanes
        self._from = 0.0

    def free(self, lane: int) -> float:
        """When the next transfer of ``lane`` may start."""
        return max(self._from, self._ends[lane])

    @property
    def done(self) -> float:
        """When all transfers are done that have started."""
        return max(self._ends)

    def take(self, lane: int, start: float, end: float) -> None:
        """A transfer takes ``lane`` from ``start`` to ``end``."""
        self._from = start
        self._ends[lane] = end

    def wait(self, until: float) -> None:
        """Nothing that follows starts before ``until``."""
        self._from = max(self._from, until)
