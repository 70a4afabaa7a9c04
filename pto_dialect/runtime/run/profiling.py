"""Profile of a run: calls and seconds by instruction."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

from xdsl.ir import Operation


class ProfileLog:
    """Counts and times instructions; one slot for each location in the program."""

    def __init__(self) -> None:
        self.operations: list[Operation | None] = []
        self.calls: list[int] = []
        self.seconds: list[float] = []

    def slot(self, op: Operation | None) -> int:
        """Returns a new slot for ``op``."""
        self.operations.append(op)
        self.calls.append(0)
        self.seconds.append(0.0)
        return len(self.operations) - 1

    def add(self, slot: int, seconds: float) -> None:
        """Records one execution."""
        self.calls[slot] += 1
        self.seconds[slot] += seconds

    def timed(self, slot: int, function: Callable[..., Any]) -> Callable[..., None]:
        """Returns ``function`` as a call that records its execution, for instructions that run later than they are
        issued."""

        def run(*arguments: Any) -> None:
            started = perf_counter()
            function(*arguments)
            self.add(slot, perf_counter() - started)

        return run

    def mark(self) -> tuple[list[int], list[float]]:
        """Returns the records so far, for ``rewind``."""
        return self.calls.copy(), self.seconds.copy()

    def rewind(self, mark: tuple[list[int], list[float]]) -> None:
        """Removes the records after ``mark``: an attempt that is repeated must not count twice."""
        calls, seconds = mark
        self.calls[: len(calls)] = calls
        self.seconds[: len(seconds)] = seconds

    def since(self, mark: tuple[list[int], list[float]]) -> tuple[list[int], list[float]]:
        """Returns calls and seconds of each slot after ``mark``."""
        calls, seconds = mark
        known = len(calls)
        return (
            [now - before for now, before in zip(self.calls, calls, strict=False)] + self.calls[known:],
            [now - before for now, before in zip(self.seconds, seconds, strict=False)] + self.seconds[known:],
        )

    def add_times(self, times: tuple[list[int], list[float]] | None) -> None:
        """Adds the records of another process for the same slots; slots that only it has are ignored."""
        if times is not None:
            for slot, (calls, seconds) in enumerate(zip(*times, strict=True)):
                if slot < len(self.calls):
                    self.calls[slot] += calls
                    self.seconds[slot] += seconds

    def by_operation(self) -> list[tuple[str, int, float]]:
        """Returns (operation name, calls, seconds), slowest first."""
        totals: dict[str, list[float]] = {}
        for op, calls, seconds in zip(self.operations, self.calls, self.seconds, strict=True):
            entry = totals.setdefault(op.name if op is not None else "?", [0, 0.0])
            entry[0] += calls
            entry[1] += seconds
        return sorted(((name, int(c), s) for name, (c, s) in totals.items()), key=lambda row: -row[2])
