"""Side-by-side timing: both candidates alternate in one process, so that a noisy machine hits them alike."""

from __future__ import annotations

import gc
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any


@dataclass(frozen=True)
class Comparison:
    """Times of two candidates in seconds (the shortest of each) and the limit for their ratio."""

    name: str
    ours: float
    reference: float
    limit: float
    at_least: bool = False
    unit: str = ""

    @property
    def ratio(self) -> float:
        """ours / reference, or reference / ours where a speed-up is asked for."""
        return self.reference / self.ours if self.at_least else self.ours / self.reference

    @property
    def met(self) -> bool:
        """True when the ratio keeps its limit."""
        return self.ratio >= self.limit if self.at_least else self.ratio <= self.limit

    def row(self) -> str:
        """One line of the table."""
        sign = ">=" if self.at_least else "<="
        verdict = "ok" if self.met else "MISSED"
        ours, reference = self.ours * 1e3, self.reference * 1e3
        return f"{self.name:58} {ours:10.3f} {reference:10.3f} {self.ratio:8.2f}x  {sign} {self.limit:<5} {verdict}"


def alternate(
    ours: Callable[[], Any], reference: Callable[[], Any], rounds: int, *, warm_up: int = 1
) -> tuple[float, float]:
    """Seconds of the fastest run of both callables, run in turns: what other work on the machine adds is left out."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(warm_up):
        ours()
        reference()
    for _ in range(rounds):
        for record, function in zip(times, (ours, reference), strict=True):
            gc.collect()
            started = perf_counter()
            function()
            record.append(perf_counter() - started)
    return min(times[0]), min(times[1])
