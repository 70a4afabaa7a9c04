"""Vector clocks of the happens-before model: the events that each pipe of each core knows to have happened. Source:
docs/reference/instrumentation.md, "Order of events"."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from pto_dialect.ir.core.base import Pipe

if TYPE_CHECKING:
    from pto_dialect.runtime.run.machine import Core

PIPES = tuple(pipe.value for pipe in Pipe if pipe is not Pipe.ALL)

Clock = list[int]
"""Number of events of each thread of a device that are known to have happened."""


def merged(first: Clock, second: Clock) -> Clock:
    """Returns what both clocks know together."""
    return [one if one > other else other for one, other in zip(first, second, strict=True)]


class Thread:
    """A thread of the happens-before model: one pipe of one core, which executes its operations in order.

    ``number`` is unique in a run, ``index`` is the thread's position in the clocks of its device; ``time`` is when it
    will be free, in the unit of the cost table. ``settled`` counts its own events that are known to be complete,
    because a signal that was sent after them came back, ``transferred`` those up to the last transfer between ranks;
    operations of a ``pipelined`` thread may overlap; ``taken`` has, by sender and sites of wait and set, the last flags
    it waited for.
    """

    __slots__ = (
        *("_joined", "_shared", "clock", "core", "device", "index", "number", "pipe", "pipelined", "settled", "taken"),
        *("time", "transferred"),
    )

    def __init__(self, number: int, core: Core, pipe: str, device: int, index: int) -> None:
        self.number = number
        self.core = core
        self.pipe = pipe
        self.pipelined = pipe == "PIPE_V" and core.block.profile.arch == "a2a3"
        self.device = device
        self.index = index
        self.clock: Clock = []
        self.time = 0.0
        self.settled = 0
        self.transferred = 0
        self.taken: dict[tuple[int, int, int], Taken] = {}
        self._joined: Clock | None = None
        self._shared: Clock | None = None

    @property
    def name(self) -> str:
        """Returns the name for messages: ``MTE2 of AIC``."""
        return f"{self.pipe.removeprefix('PIPE_')} of {self.core.name}"

    def tick(self) -> int:
        """Starts the next event; returns its count."""
        self._shared = None
        count = self.clock[self.index] + 1
        self.clock[self.index] = count
        return count

    def snapshot(self) -> Clock:
        """Returns the present clock; callers must not modify it."""
        shared = self._shared
        if shared is None:
            shared = self._shared = self.clock.copy()
        return shared

    def issued(self) -> Clock:
        """Returns the clock of an operation that this thread issues now; callers must not modify it."""
        return self.snapshot()

    def drain(self) -> None:
        """Waits for its own work, which is complete when the next operation is issued; a scalar unit has pending
        stores."""

    def join(self, other: Clock) -> None:
        """Adds the knowledge of ``other``: a happens-before edge."""
        if other is self._joined:
            return
        self._joined = other
        self._shared = None
        clock = self.clock
        if other[self.index] > self.settled:
            self.settled = other[self.index]
        for index, count in enumerate(other):
            if count > clock[index]:
                clock[index] = count


class ScalarThread(Thread):
    """The scalar unit of a core, which issues the operations of all pipes.

    Its stores to the unified buffer may be pending when it issues the next operation, so they have a count of their own
    at ``slot`` of the clocks of the device. ``complete`` is how many of them are known to be complete: a signal that
    was sent after them came back, or a barrier has waited for them. A flag from S carries all of them.
    """

    __slots__ = ("_issued", "complete", "slot")

    def __init__(self, number: int, core: Core, pipe: str, device: int, index: int) -> None:
        super().__init__(number, core, pipe, device, index)
        self.slot = -1
        self.complete = 0
        self._issued: tuple[Clock, Clock] | None = None

    def store(self) -> int:
        """Starts a store to the unified buffer; returns its count."""
        self._shared = None
        self.clock[self.slot] += 1
        return self.clock[self.slot]

    def drain(self) -> None:
        """Waits for all stores."""
        self.complete = self.clock[self.slot]

    def issued(self) -> Clock:
        """Returns the clock of an operation that this thread issues now; callers must not modify it."""
        known = self.snapshot()
        if known[self.slot] == self.complete:
            return known
        if self._issued is None or self._issued[0] is not known or self._issued[1][self.slot] != self.complete:
            masked = known.copy()
            masked[self.slot] = self.complete
            self._issued = known, masked
        return self._issued[1]

    def join(self, other: Clock) -> None:
        """Adds the knowledge of ``other``: a happens-before edge."""
        if other is self.clock:
            return
        if other[self.slot] > self.complete:
            self.complete = other[self.slot]
        super().join(other)


class OrderedThread(Thread):
    """One pipe of a core whose pipes the compiler orders: they share a clock, so each knows the events of
    the others."""

    def snapshot(self) -> Clock:
        """Returns the present clock, which other pipes of the core change as well."""
        return self.clock.copy()


class Mark(NamedTuple):
    """The issue of an operation: its position, and the clock of the scalar unit.

    ``fence`` counts the barriers on the pipe that were issued before; ``time`` is the scalar unit's. ``order`` is the
    position in the order of the text, which the scalar unit follows: what the program means.
    """

    site: int
    loops: tuple[int, ...]
    known: Clock
    fence: int = 0
    time: float = 0.0
    order: int = 0


class Token(NamedTuple):
    """A pending signal: the clock of its sender, and the site that sent it; ``sender`` is the id of the thread."""

    known: Clock
    site: int
    loops: tuple[int, ...]
    sender: int
    time: float = 0.0
    flow: int = 0
    order: int = 0


class Taken(NamedTuple):
    """A flag that was waited for: the positions in the text order of its set and of its wait."""

    set_order: int
    wait_order: int


@dataclass
class EventLog:
    """All events of a run by id, from 1: thread, count in that thread, site, loop indices, barriers before it, position
    in the text order.

    ``atomic`` states how stores combined with memory by the mode of their core, ``stores`` has the counts of stores of
    scalar units to the unified buffer.
    """

    threads: list[Thread] = field(default_factory=list)
    thread: list[int] = field(default_factory=lambda: [0])
    count: list[int] = field(default_factory=lambda: [0])
    site: list[int] = field(default_factory=lambda: [0])
    loops: list[tuple[int, ...]] = field(default_factory=lambda: [()])
    fence: list[int] = field(default_factory=lambda: [0])
    order: list[int] = field(default_factory=lambda: [0])
    atomic: dict[int, str] = field(default_factory=dict)
    stores: dict[int, int] = field(default_factory=dict)

    def add(self, thread: Thread, count: int, mark: Mark) -> int:
        """Adds a new event; returns its id."""
        self.thread.append(thread.number)
        self.count.append(count)
        self.site.append(mark.site)
        self.loops.append(mark.loops)
        self.fence.append(mark.fence)
        self.order.append(mark.order)
        return len(self.count) - 1

    def clear(self) -> None:
        """Removes all events and threads."""
        self.threads.clear()
        self.atomic.clear()
        self.stores.clear()
        for column in (self.thread, self.count, self.site, self.loops, self.fence, self.order):
            del column[1:]

    def happened_before(self, event: int, thread: Thread) -> bool:
        """Returns whether ``event`` happens before the present operation of ``thread``."""
        source = self.threads[self.thread[event]]
        if source is thread:
            return True
        if source.device != thread.device or thread.clock[source.index] < self.count[event]:
            return False
        return event not in self.stores or self.stored(event, source, thread)

    def stored(self, event: int, source: Thread, thread: Thread) -> bool:
        """Returns whether ``thread`` knows the store ``event`` of the scalar unit ``source`` to be complete."""
        return not isinstance(source, ScalarThread) or thread.clock[source.slot] >= self.stores[event]
