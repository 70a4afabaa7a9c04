"""Signals in memory, and what those knew who have changed them last.

Source: docs/reference/execution.md, "Communication"; docs/reference/instrumentation.md, "Order of events".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pto_dialect.runtime.memory.data_cache import offsets_of

from ..state.clocks import Actor, Clock

if TYPE_CHECKING:
    from ..context import Watch

Cell = tuple[int, int]
"""One number of a signal: its memory, and its byte offset there."""


class Posts:
    """What the numbers of all signals carry.

    Whoever sees a signal may have waited for any of those who have changed it, as counters have it, so it learns what
    all of them knew.
    """

    def __init__(self) -> None:
        self._known: dict[Cell, Clock] = {}

    def give(self, actor: Actor, signal: Any) -> None:
        """``actor`` has changed ``signal``."""
        known = actor.snapshot()
        for cell in _cells(signal):
            before = self._known.get(cell)
            self._known[cell] = known if before is None else [max(pair) for pair in zip(before, known, strict=True)]
        actor.tick()

    def take(self, actor: Actor, signal: Any) -> None:
        """``actor`` has seen ``signal`` as it wanted it."""
        for cell in _cells(signal):
            known = self._known.get(cell)
            if known is not None:
                actor.join(known)

    def clear(self) -> None:
        """Other cores have other clocks."""
        self._known.clear()


def _cells(signal: Any) -> list[Cell]:
    return [(id(signal.pointer.arena), offset) for offset in offsets_of(signal)]


class Unseen:
    """A question about a signal that the watch does not see: asked over and over, by nobody yet."""

    def __init__(self, test: Any, watch: Watch) -> None:
        self.test = test
        self.watch = watch

    def __call__(self, signal: Any, value: int) -> bool:
        """The answer."""
        return self._unseen(self.test, signal, value)

    def missing(self, signal: Any, value: int) -> str:
        """What is missing."""
        return self._unseen(self.test.missing, signal, value)

    def _unseen(self, function: Any, signal: Any, value: int) -> Any:
        muted, self.watch.muted = self.watch.muted, True
        try:
            return function(signal, value)
        finally:
            self.watch.muted = muted
