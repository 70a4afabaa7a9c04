"""Signals in memory, and the clocks of the threads that have changed them last.

Source: docs/reference/execution.md, "Communication"; docs/reference/instrumentation.md, "Order of events".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pto_dialect.runtime.memory.data_cache import offsets_of

from ..state.clocks import Clock, Thread, merged

if TYPE_CHECKING:
    from ..context import RunObserver

Cell = tuple[int, int]
"""One number of a signal: its memory, and its byte offset there."""


class Posts:
    """The clocks of the numbers of all signals.

    A thread that reads a signal may have waited for any of those that have changed it, as with counters, so it joins
    the clocks of all of them.
    """

    def __init__(self) -> None:
        self._known: dict[Cell, Clock] = {}

    def give(self, thread: Thread, signal: Any) -> None:
        """Records that ``thread`` has changed ``signal``."""
        known = thread.snapshot()
        for cell in _cells(signal):
            before = self._known.get(cell)
            self._known[cell] = known if before is None else merged(before, known)
        thread.tick()

    def take(self, thread: Thread, signal: Any) -> None:
        """Records that ``thread`` has read ``signal`` with the awaited value."""
        for cell in _cells(signal):
            known = self._known.get(cell)
            if known is not None:
                thread.join(known)

    def clear(self) -> None:
        """Removes all clocks: other cores have other clocks."""
        self._known.clear()


def _cells(signal: Any) -> list[Cell]:
    return [(id(signal.pointer.arena), offset) for offset in offsets_of(signal)]


class UnreportedTest:
    """A condition on a signal that is not reported: it is polled many times, and no thread reads it yet."""

    def __init__(self, test: Any, observer: RunObserver) -> None:
        self.test = test
        self.observer = observer

    def __call__(self, signal: Any, value: int) -> bool:
        """Returns whether the condition holds."""
        return self._unseen(self.test, signal, value)

    def missing(self, signal: Any, value: int) -> str:
        """Returns what is missing."""
        return self._unseen(self.test.missing, signal, value)

    def _unseen(self, function: Any, signal: Any, value: int) -> Any:
        muted, self.observer.muted = self.observer.muted, True
        try:
            return function(signal, value)
        finally:
            self.observer.muted = muted
