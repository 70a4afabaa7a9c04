"""A recording that nobody else watches: what checks would ask for is left out. Source: docs/reference/recording.md,
"Steps".
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from pto_dialect.runtime.faults import Fault
from pto_dialect.runtime.kernels.sync.buffers import BufferKey
from pto_dialect.runtime.memory.spaces import Array
from pto_dialect.runtime.queues.run import Key
from pto_dialect.runtime.run.machine import Block, Core
from pto_dialect.runtime.run.windows import Bounded, WindowArena
from pto_dialect.sanitize.context import Context
from pto_dialect.sanitize.state.arena import InstrumentedArena, Listener
from pto_dialect.sanitize.state.clocks import Clock, Mark, Thread
from pto_dialect.sanitize.state.regions import Bytes

from .instrumentation import (
    OPERATION,
    PART,
    SET,
    WAIT,
    RecordedCore,
    RecordedSignals,
    RecordingInstrumentation,
    sent_text,
)


class Doing(Context):
    """An operation while it runs; ``part`` is the index of the nested one that runs now, with loop indices."""

    __slots__ = ("part",)

    def __init__(self, thread: Thread, mark: Mark, issue: int = -1) -> None:
        self.thread = thread
        self.mark = mark
        self.issue = issue
        self.step = -1
        self.part: tuple[int, tuple[int, ...]] | None = None


class IdleThread(Thread):
    """One pipe of a core without a vector clock."""

    __slots__ = ()

    def tick(self) -> int:
        """Starts the next event; nobody counts them."""
        return 0

    def snapshot(self) -> Clock:
        """Returns the clock, which does not advance."""
        return self.clock

    def join(self, other: Clock) -> None:
        """Learns nothing."""


class LightArena(InstrumentedArena):
    """A memory that reports accesses to the recording only."""

    __slots__ = ()

    def on_read(self, region: Bytes, data: Array | None = None) -> None:
        """Bytes are about to be read."""
        observer: Any = self.observer
        context = observer.current
        if context is not None and not observer.muted:
            step = context.step if context.step >= 0 else observer.begin_step(context)
            observer.record.access(step, self, region, False)

    def on_write(self, region: Bytes, data: Array | None = None) -> None:
        """Bytes are about to be written."""
        observer: Any = self.observer
        context = observer.current
        if context is not None and not observer.muted:
            step = context.step if context.step >= 0 else observer.begin_step(context)
            observer.record.access(step, self, region, True)


class LightWindows(Bounded, LightArena):
    """The windows of all ranks, which report accesses to the recording."""

    __slots__ = ("layout",)

    def __init__(self, original: WindowArena, observer: Listener) -> None:
        LightArena.__init__(self, original, observer, original.bytes, public=True)
        self.layout = original.layout


class LightInstrumentation(RecordingInstrumentation):
    """Writes what it sees to ``record``, and looks for nothing."""

    thread_class = scalar_thread_class = IdleThread
    arena_class = LightArena
    windows_class = LightWindows

    def part(self) -> None:
        """The cores that come belong to several blocks or ranks, which nobody orders here."""

    def run(self, context: Context, action: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        """Runs an instruction."""
        context.step = self.record.step(context.issue, context.thread.number, OPERATION)
        outer = self.current
        self.current = context
        try:
            return action(*arguments)
        except Fault:
            part = getattr(context, "part", None)
            if part is not None:
                context.mark = context.mark._replace(site=part[0], loops=part[1])
            self.failed = context
            raise
        finally:
            self.current = outer


class LightCore(RecordedCore):
    """A core that reports to the recording only."""

    def __init__(self, block: Block, kind: str, index: int, observer: RecordingInstrumentation, ordered: bool) -> None:
        super().__init__(block, kind, index, observer, ordered)
        self.signals = LightSignals(self, observer)
        self.place = Mark(0, (), [])

    def reached(
        self, statement: int, site: int, loops: tuple[int, ...], numbers: Sequence[Any], handles: Sequence[Any]
    ) -> None:
        """The scalar unit reaches an operation."""
        self.order += 1
        self.site = site
        self.loops = loops
        self.noted = self.record.issue(statement, self.order, loops, numbers, handles)
        self.numbers.append(self.noted)
        scalar = self.threads["PIPE_S"]
        # Written out, as this is done for every operation: Mark(site, loops, clock, fence, time, order).
        self.place = tuple.__new__(Mark, (site, loops, scalar.clock, 0, 0.0, self.order))
        self.observer.current = Doing(scalar, self.place, self.noted)

    def placed(
        self, statement: int, site: int, loops: tuple[int, ...], numbers: Sequence[Any], handles: Sequence[Any]
    ) -> None:
        """The scalar unit reaches an allocation, which is done at once."""
        self.reached(statement, site, loops, numbers, handles)
        doing: Any = self.observer.current
        doing.step = self.record.step(self.noted, doing.thread.number, OPERATION)

    def mark(self, pipe: str) -> Mark:
        """Returns what an operation that is issued now to ``pipe`` takes with it."""
        return self.place

    def context(self, pipe: str) -> Context:
        """Returns the context of an operation that is issued now on ``pipe``."""
        return Doing(self.threads[pipe], self.place, self.numbers[-1])

    def reached_part(
        self, statement: int, site: int, loops: tuple[int, ...], numbers: Sequence[Any], handles: Sequence[Any]
    ) -> None:
        """The instruction that runs reaches one of its parts."""
        observer: Any = self.observer
        context = observer.current
        if context is not None and not observer.muted:
            context.part = (site, loops)
            issue = self.record.issue(statement, self.order + 1, loops, numbers, handles)
            context.step = self.record.step(issue, context.thread.number, PART)


class Sent(NamedTuple):
    """A signal in flight: the position and the step that sent it."""

    site: int
    step: int


class LightSignals(RecordedSignals):
    """Signals of one core on their way."""

    def give(self, thread: Thread, mark: Mark, targets: tuple[tuple[Core, Key], ...]) -> None:
        """``thread`` gets to a signal and sends it."""
        core: Any = self.core
        log = core.record
        step = log.step(core.numbers[mark.order], thread.number, SET)
        for receiver, key in targets:
            target: Any = receiver
            log.signal(step, False, sent_text(key, target, core), -1)
            target.flags[key] = target.flags.get(key, 0) + 1
            signals = target.signals
            if isinstance(key, BufferKey):
                signals.level_senders.setdefault(key, []).append(step)
                continue
            waiting: Any = signals.tokens.get(key)
            if waiting is None:
                waiting = signals.tokens[key] = deque()
            waiting.append(Sent(mark.site, step))

    def take(self, thread: Thread, mark: Mark, keys: tuple[Key, ...]) -> None:
        """``thread`` gets to a wait and takes a signal of each kind."""
        if not keys:
            return
        core: Any = self.core
        log, flags = core.record, core.flags
        step = log.step(core.numbers[mark.order], thread.number, WAIT)
        for key in keys:
            tokens: Any = self.tokens.get(key)
            # Signals that were there from the start come from no step and are taken first.
            peer = tokens.popleft().step if tokens and flags[key] <= len(tokens) else -1
            log.signal(step, True, sent_text(key, core, core), peer)
            flags[key] -= 1

    def reach(self, thread: Thread, mark: Mark, key: Key, level: int) -> None:
        """``thread`` gets to a wait for the first ``level`` signals of a kind."""
        core: Any = self.core
        step = core.record.step(core.numbers[mark.order], thread.number, WAIT)
        core.record.signal(step, True, sent_text(key, core, core), self.sender(key, level))
