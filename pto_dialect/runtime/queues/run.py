"""Runs a program with its pipes as queues: the reference schedule.

The scalar unit executes the program and appends instructions to the queue of their pipe; among the queue heads that can
run, the one issued first runs.  Source: docs/reference/execution.md, "Scheduling".
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Sequence
from copy import copy
from functools import partial
from typing import Any, Protocol

from pto_dialect.deadline import TimedOut

from ..faults import Fault, exhausted
from ..run.machine import Block, Core, NeedsQueues
from ..vector.streams import HOLDER
from .pending_stores import PendingStores
from .schedule import Schedule
from .senders import awaited

Key = tuple[Any, ...]


RUN, SET, WAIT, LEVEL = range(4)
"""Kinds of entries: an instruction, tokens to add, tokens to take, a counter to reach."""

Entry = tuple[int, int, int, Any, tuple[Any, ...]]
"""One queued entry: issue sequence number, line of the generated source, kind, action, arguments."""

DEPTH = 1024
"""Total number of queued entries beyond which the scalar unit usually lets the pipes run before it issues more."""


class Test(Protocol):
    """A condition on a signal in memory."""

    def __call__(self, signal: Any, value: int) -> bool:
        """Returns whether the signal satisfies the condition."""
        ...

    def missing(self, signal: Any, value: int) -> str:
        """Returns the required and the present value, for messages."""
        ...


class QueueCore(Core):
    """A core whose instructions wait in queues, one per pipe.

    ``ordered`` cores run in program order while nothing waits. ``polled`` is the signal in memory that the scalar unit
    waits for, if any. ``in_turn`` lists pipes whose instructions keep their relative order whatever the schedule.

    Signals are counters under keys: a wait takes one token of each of its keys, a level wait leaves the counter and
    continues once it is high enough.
    """

    ordered = False
    depth = DEPTH
    """Number of queued entries beyond which the pipes run."""

    def __init__(self, block: Block, kind: str, index: int) -> None:
        schedule = block.options.schedule
        self.chooser = None if schedule is None else schedule.chooser(f"{block.index} {kind} {index}")
        super().__init__(block, kind, index)
        self.in_turn: tuple[str, ...] = ()
        self.held: PendingStores | None = None

    def reset(self) -> None:
        """Resets the control state: nothing is queued, nothing waits."""
        super().reset()
        if self.chooser is not None:
            self.state[HOLDER] = self.chooser
        self.queues: dict[str, deque[Entry]] = {}
        self.issued = 0
        self.waiting = 0
        self.scalar_wait: tuple[Key, ...] = ()
        self.scalar_level: tuple[Key, int] | None = None
        self.polled: Callable[[], str] | None = None

    def issue(self, pipe: str, line: int, action: Callable[..., Any], *arguments: Any) -> None:
        """Appends an instruction; its operands were evaluated by the scalar unit."""
        self._append(pipe, (self.issued, line, RUN, action, arguments))

    def _append(self, pipe: str, entry: Any) -> None:
        queue = self.queues.get(pipe)
        if queue is None:
            queue = self.queues[pipe] = deque()
        queue.append(entry)
        self.issued += 1
        self.waiting += 1
        if self.chooser is not None:
            for _ in range(self.chooser.steps()):
                if not self.step():
                    break
        if self.waiting > self.depth:
            while self.waiting > self.depth // 2 and self.step():
                pass

    def set_valid(self, tile: Any, rows: int, cols: int) -> None:
        """Changes the valid region of a tile; queued instructions retain a handle with the previous region."""
        if self.waiting and (tile.valid_rows, tile.valid_cols) != (rows, cols):
            issued = None
            for queue in self.queues.values():
                for index, entry in enumerate(queue):
                    if _holds(entry[4], tile):
                        issued = issued or copy(tile)
                        queue[index] = (*entry[:4], _with_handle(entry[4], tile, issued))
        super().set_valid(tile, rows, cols)

    # signals

    def queue_set(self, source: str, target: str, event: int) -> None:
        """Appends a flag that ``source`` sets when it reaches it."""
        self.signal(source, ((self, (source, target, event)),))

    def queue_wait(self, source: str, target: str, event: int, line: int = 0) -> None:
        """Appends a flag that ``target`` consumes before it continues; ``line`` is that of the generated source."""
        self.await_signals(target, ((source, target, event),), line)

    def signal(self, pipe: str, targets: tuple[tuple[Core, Key], ...]) -> None:
        """Adds a token at each of ``targets`` once ``pipe`` reaches the signal."""
        if pipe == "PIPE_S":
            self.issued += 1
            self.drain()
            _give(targets)
        else:
            self._append(pipe, (self.issued, 0, SET, None, targets))

    def await_signals(self, pipe: str, keys: tuple[Key, ...], line: int = 0) -> None:
        """Makes ``pipe`` wait for a token under each of ``keys``; ``line`` is that of the generated source, 0 where a
        frame of the scalar unit states it."""
        if pipe == "PIPE_S":
            self.scalar_wait = keys
        else:
            self._append(pipe, (self.issued, line, WAIT, None, keys))

    def await_level(self, pipe: str, key: Key, level: int, line: int = 0) -> None:
        """Makes ``pipe`` wait until ``level`` tokens were added under ``key``."""
        if pipe == "PIPE_S":
            self.scalar_level = (key, level)
        elif self.flags.get(key, 0) < level:
            self._append(pipe, (self.issued, line, LEVEL, None, (key, level)))

    def _ready(self, keys: tuple[Key, ...]) -> bool:
        return all(map(self.flags.get, keys))

    def _take(self, keys: tuple[Key, ...]) -> None:
        for key in keys:
            self.flags[key] -= 1

    def join_scalar(self) -> Iterable[None]:
        """Makes the scalar unit wait for the signals it has requested, if any."""
        if self.scalar_level is None and self._ready(self.scalar_wait):
            self._take(self.scalar_wait)
            self.scalar_wait = ()
            self.issued += 1
            return ()
        return self._join_scalar()

    def _join_scalar(self) -> Generator[None, None, None]:
        while self.scalar_level is not None and self.flags.get(self.scalar_level[0], 0) < self.scalar_level[1]:
            yield
        while not self._ready(self.scalar_wait):
            yield
        self._take(self.scalar_wait)
        self.scalar_wait, self.scalar_level = (), None
        self.issued += 1

    def popped(self, entry: Any) -> Any:
        """Reports that an entry of a queue has been popped; returns the handle that the program uses."""
        return entry

    # signals in memory

    def until(self, test: Test, signal: Any, value: int) -> Generator[None, None, None]:
        """Makes the scalar unit wait until a signal in memory satisfies ``test``."""
        # The preceding operations may have changed what others wait for.
        self.issued += 1
        if not test(signal, value):
            self.polled = partial(test.missing, signal, value)
            yield
            while not test(signal, value):
                yield
            self.polled = None
        if self.cache is not None:
            self.cache.forget(signal)
        self.issued += 1
        self.block.passed()

    def look(self, test: Test, signal: Any, value: int) -> Generator[None, None, None]:
        """Runs other cores before the scalar unit queries an absent signal again."""
        self.issued += 1
        if not test(signal, value):
            yield

    def join_all(self) -> Generator[None, None, None]:
        """Makes the scalar unit wait until every queue is empty."""
        while self.waiting:
            yield
        self.drain()

    def reach(self, pipe: str) -> Generator[None, None, None]:
        """Makes the scalar unit wait until the queue of ``pipe`` is empty: the next operation is the pipe's
        own work."""
        while self.queues.get(pipe):
            yield

    def meet(self, *pipes: str) -> Generator[None, None, None]:
        """Makes the scalar unit wait until the queues of ``pipes`` are empty, and the pipes wait for each other."""
        while any(self.queues.get(pipe) for pipe in pipes):
            yield
        self.drain()

    # stores of the scalar unit

    def storing(self) -> None:
        """Starts a store of the scalar unit to the unified buffer."""
        if self.chooser is None or not self.chooser.holds():
            self.drain()
            return
        if self.held is None:
            self.held = PendingStores(self.arena("ub"))
        self.held.begin()

    def stored(self) -> None:
        """Ends the store; a schedule may hold it back."""
        if self.held is not None:
            self.held.end()

    def drain(self) -> None:
        """Makes the scalar unit wait for its stores."""
        if self.held is not None:
            self.held.complete()

    def chosen(self) -> str | None:
        """Returns the pipe whose head runs next where a schedule decides; ``None`` when none can run."""
        assert self.chooser is not None
        ready = [pipe for pipe, queue in self.queues.items() if queue and self.runnable(pipe, queue[0])]
        return ready[self.chooser.head([self.queues[pipe][0][0] for pipe in ready])] if ready else None

    def runnable(self, pipe: str, head: Entry) -> bool:
        """Returns whether the head of a queue can run."""
        if pipe in self.in_turn:
            others = (self.queues.get(other) for other in self.in_turn)
            if any(queue and queue[0][0] < head[0] for queue in others):
                return False
        return head[2] < WAIT or self._may_continue(head)

    def step(self) -> bool:
        """Runs a queue head that can run, the oldest one unless a schedule decides otherwise; returns False when none
        can."""
        best: deque[Entry] | None = None
        if self.chooser is not None:
            pipe = self.chosen()
            return pipe is not None and self._run(self.queues[pipe].popleft())
        oldest = self.issued
        for queue in self.queues.values():
            if queue:
                head = queue[0]
                if head[0] < oldest and (head[2] < WAIT or self._may_continue(head)):
                    best, oldest = queue, head[0]
        return best is not None and self._run(best.popleft())

    def _run(self, entry: Entry) -> bool:
        _, line, kind, action, arguments = entry
        self.waiting -= 1
        if kind == RUN:
            try:
                if self.held is not None and self.held.stores:
                    with self.held.hidden():
                        action(*arguments)
                else:
                    action(*arguments)
            except Fault as fault:
                raise QueuedFault(fault, line, self) from None
            except MemoryError as error:
                raise QueuedFault(exhausted(error), line, self) from None
            except TimedOut as over:
                over.line = line
                raise
            except NeedsQueues as early:
                fault = Fault("sync-deadlock", f"{early}, and a vector scope waits for no one")
                raise QueuedFault(fault, line, self) from None
        elif kind == SET:
            _give(arguments)
        elif kind == WAIT:
            self._take(arguments)
        return True

    def _may_continue(self, waiting: Entry) -> bool:
        arguments = waiting[4]
        if waiting[2] == WAIT:
            return self._ready(arguments)
        return self.flags.get(arguments[0], 0) >= arguments[1]

    def blocked(self) -> list[tuple[str, int]]:
        """Returns what each unit waits for, for a deadlock report, and the line of the generated source with its wait:
        0 for the scalar unit, which stops where it waits."""
        waits: list[tuple[str, tuple[Key, ...], int]] = []
        for pipe, queue in self.queues.items():
            if queue and queue[0][2] == WAIT:
                waits.append((pipe, self._missing(queue[0][4]), queue[0][1]))
            elif queue and queue[0][2] == LEVEL:
                waits.append((pipe, queue[0][4][:1], queue[0][1]))
        waits.append(("PIPE_S", self._missing(self.scalar_wait), 0))
        if self.scalar_level is not None:
            waits.append(("PIPE_S", self.scalar_level[:1], 0))
        found = [
            (f"{self.name}: {pipe} waits for {awaited(self, key)}", line) for pipe, keys, line in waits for key in keys
        ]
        return found if self.polled is None else [*found, (f"{self.name}: PIPE_S waits {self.polled()}", 0)]

    def _missing(self, keys: tuple[Key, ...]) -> tuple[Key, ...]:
        return tuple(key for key in keys if not self.flags.get(key, 0))


def _holds(value: Any, handle: object) -> bool:
    """Returns whether nested operands contain a handle."""
    for part in value:  # noqa: SIM110 (a generator is slower, and this runs for every queued operation)
        if part is handle or (type(part) in (tuple, list) and _holds(part, handle)):
            return True
    return False


def _with_handle(value: Any, handle: object, other: object) -> Any:
    """Returns operands with one handle replaced."""
    if value is handle:
        return other
    if type(value) not in (tuple, list):
        return value
    return type(value)(_with_handle(part, handle, other) for part in value)


class OrderedCore(QueueCore):
    """A core that runs instructions in program order as long as nothing waits in its queues.

    For programs without flags between their pipes, which leave that order to the compiler.
    """

    ordered = True

    def issue(self, pipe: str, line: int, action: Callable[..., Any], *arguments: Any) -> None:
        """Runs an instruction at once, or appends it where pipes wait."""
        if self.waiting:
            self._append(pipe, (self.issued, line, RUN, action, arguments))
        else:
            self.issued += 1
            action(*arguments)

    def signal(self, pipe: str, targets: tuple[tuple[Core, Key], ...]) -> None:
        """Adds a token at each of ``targets`` at once, or once ``pipe`` reaches the signal where pipes wait."""
        super().signal(pipe if self.waiting else "PIPE_S", targets)

    def await_signals(self, pipe: str, keys: tuple[Key, ...], line: int = 0) -> None:
        """Takes a token under each of ``keys`` at once where all are present, otherwise makes ``pipe`` wait
        for them."""
        if pipe != "PIPE_S" and not self.waiting and self._ready(keys):
            self.issued += 1
            self._take(keys)
        else:
            super().await_signals(pipe, keys, line)


def _give(targets: tuple[tuple[Core, Key], ...]) -> None:
    for core, key in targets:
        core.flags[key] = core.flags.get(key, 0) + 1


def describe(key: Key) -> str:
    """Returns a token as text."""
    if isinstance(key[0], str) and key[0].startswith("PIPE_"):
        return f"a flag from {key[0]}, EVENT_ID{key[2]}"
    text = getattr(key, "text", None)
    return text if isinstance(text, str) else f"signal {key[1]} of another core"


class QueuedFault(Exception):
    """A fault of a queued instruction of ``core``, with the line of the generated source that issued it."""

    def __init__(self, fault: Fault, line: int, core: Core) -> None:
        super().__init__(fault.message)
        self.fault = fault
        self.line = line
        self.core = core


class Deadlock(Fault):
    """No core can continue; ``stopped`` is a program that did not end, if there is one, ``ended`` are the cores that
    have no work left. ``line`` of the generated source has the first wait of a pipe, 0 where a scalar unit waits."""

    def __init__(
        self,
        waits: tuple[str, ...],
        stopped: Generator[None, None, Any] | None,
        ended: Sequence[Core] = (),
        line: int = 0,
    ) -> None:
        super().__init__("sync-deadlock", "the program cannot continue", waits)
        self.stopped = stopped
        self.ended = ended
        self.line = line


def run_queued(
    programs: list[tuple[QueueCore, Generator[None, None, Any]]],
    relieve: Callable[[], bool] | None = None,
    schedule: Schedule | None = None,
) -> list[Any]:
    """Runs the programs of several cores to their end; returns their results.

    ``relieve`` is called to make progress when no core can; ``schedule`` orders the cores. Raises ``Fault``
    (``sync-deadlock``) when that fails.
    """
    results: dict[int, Any] = {}
    chooser = None if schedule is None else schedule.chooser("cores")
    while True:
        progress = False
        for index in range(len(programs)) if chooser is None else chooser.order(len(programs)):
            core, program = programs[index]
            if chooser is not None and chooser.skips(index):
                progress = True
                continue
            if index not in results:
                before = core.issued
                try:
                    next(program)
                except StopIteration as stop:
                    results[index] = stop.value
                    progress = True
                progress = progress or core.issued != before
            rest = 0 if chooser is None else chooser.quantum()
            while core.waiting and core.step():
                progress = True
                rest -= 1
                if rest == 0:
                    break
        if len(results) == len(programs) and not any(core.waiting for core, _ in programs):
            return [results[index] for index in range(len(programs))]
        if not progress and not (relieve is not None and relieve()):
            waits = [wait for core, _ in programs for wait in core.blocked()]
            stopped = (program for index, (_, program) in enumerate(programs) if index not in results)
            ended = [core for index, (core, _) in enumerate(programs) if index in results and not core.waiting]
            texts = tuple(text for text, _ in waits)
            raise Deadlock(texts, next(stopped, None), ended, waits[0][1] if waits else 0)
