"""A pipe whose transfers start in order and overlap where they go to different memories.

Source: docs/reference/cycles.md, "Pipes".
"""

from __future__ import annotations


class OverlappingPipe:
    """Free times of the lanes of the pipe, and the earliest next start: transfers start in order, and a wait delays all
    that follow it. A signal is sent when all lanes are complete."""

    __slots__ = ("_ends", "_from")

    def __init__(self, lanes: int) -> None:
        self._ends = [0.0] * lanes
        self._from = 0.0

    def free(self, lane: int) -> float:
        """Returns when the next transfer of ``lane`` may start."""
        return max(self._from, self._ends[lane])

    @property
    def done(self) -> float:
        """Returns when all started transfers are complete."""
        return max(self._ends)

    def take(self, lane: int, start: float, end: float) -> None:
        """Occupies ``lane`` from ``start`` to ``end``."""
        self._from = start
        self._ends[lane] = end

    @property
    def earliest(self) -> float:
        """Returns the earliest time at which a transfer may start."""
        return self._from

    def relative(self, reference: float) -> tuple[float, ...]:
        """Returns the state relative to a time; what is complete before the earliest start counts as complete then."""
        return self._from - reference, *(max(end, self._from) - reference for end in self._ends)

    def restore(self, state: tuple[float, ...], reference: float) -> None:
        """Takes over a state relative to a time."""
        self._from, *self._ends = (reference + one for one in state)

    def wait(self, until: float) -> None:
        """Delays everything that follows until ``until``."""
        self._from = max(self._from, until)
