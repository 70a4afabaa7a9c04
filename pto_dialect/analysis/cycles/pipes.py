"""Pipes as in-order queues that overlap.  Source: docs/reference/cycles.md, "Pipes"."""

from __future__ import annotations

from collections.abc import Iterable


class Pipes:
    """Clocks of the pipes of one core, in cycles: ``ends`` is when each becomes idle, ``busy`` how long it worked."""

    def __init__(self) -> None:
        self.ends: dict[str, float] = {}
        self.busy: dict[str, float] = {}

    def issue(self, pipe: str, cycles: float, after: Iterable[float] = ()) -> float:
        """Puts work of ``cycles`` at the end of ``pipe``, not before any of the times ``after``; when it is done."""
        start = max((self.ends.get(pipe, 0.0), *after))
        end = start + cycles
        self.ends[pipe] = end
        self.busy[pipe] = self.busy.get(pipe, 0.0) + cycles
        return end

    @property
    def end(self) -> float:
        """When all pipes are done."""
        return max(self.ends.values(), default=0.0)
