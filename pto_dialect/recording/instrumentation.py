"""Instrumentation that records a run, with its cores and signals. Source: docs/reference/recording.md, "Steps"."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from pto_dialect.runtime.kernels.sync.buffers import BufferKey
from pto_dialect.runtime.queues.run import Key, describe
from pto_dialect.runtime.run.machine import Block, Core
from pto_dialect.sanitize.context import Context
from pto_dialect.sanitize.instrument.core import InstrumentedCore
from pto_dialect.sanitize.instrument.cycles import CycleObserver
from pto_dialect.sanitize.instrument.observed import ObservedCore
from pto_dialect.sanitize.instrument.observer import RunObserver
from pto_dialect.sanitize.instrument.signals import Signals
from pto_dialect.sanitize.state.arena import InstrumentedArena
from pto_dialect.sanitize.state.clocks import Mark, Thread
from pto_dialect.sanitize.state.regions import Bytes

from .log import Log

OPERATION, PART, SET, WAIT = range(4)
"""Kinds of steps, as in ``format.KINDS``."""


class RecordingInstrumentation(RunObserver):
    """Writes what it sees to ``record``; checks see it as well."""

    record: Log

    def open_device(self, cores: Sequence[ObservedCore]) -> None:
        """Opens the cores that run concurrently from now on."""
        super().open_device(cores)
        for thread in self.log.threads[len(self.record.threads) :]:
            self.record.add_thread(thread)

    def run(self, context: Context, action: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        """Runs an instruction."""
        self.begin_step(context)
        result = super().run(context, action, arguments)
        self.record.event_steps.setdefault(context.event, context.step)
        return result

    def begin_step(self, context: Context, kind: int = OPERATION) -> int:
        """Returns the step of an operation, which begins now."""
        if context.issue < 0:
            core: Any = context.thread.core
            context.issue = core.numbers[context.mark.order]
        context.step = self.record.step(context.issue, context.thread.number, kind)
        return context.step

    def timed(self, context: Context, first: int) -> None:
        """Records the start and end of an instruction on its pipe."""
        super().timed(context, first)
        if isinstance(self, CycleObserver):
            self.record.time(context.step, *self.span)

    def begin(self, context: Context) -> int:
        """Gives the operation its event."""
        event = super().begin(context)
        self.record.event_steps[event] = context.step
        return event

    def read(self, arena: InstrumentedArena, region: Bytes) -> None:
        """The current operation is about to read."""
        context = self.current
        if context is not None and not self.muted:
            step = context.step if context.step >= 0 else self.begin_step(context)
            self.record.access(step, arena, region, False)
            super().read(arena, region)

    def write(self, arena: InstrumentedArena, region: Bytes) -> None:
        """The current operation is about to write."""
        context = self.current
        if context is not None and not self.muted:
            step = context.step if context.step >= 0 else self.begin_step(context)
            self.record.access(step, arena, region, True)
            super().write(arena, region)


class TimedRecordingInstrumentation(RecordingInstrumentation, CycleObserver):
    """The same, and every instruction gets its cycles."""


class RecordedSignals(Signals):
    """Signals that know which step has sent them."""

    def __init__(self, core: InstrumentedCore, observer: RunObserver) -> None:
        super().__init__(core, observer)
        self.senders: dict[Key, deque[int]] = {}
        self.level_senders: dict[Key, list[int]] = {}

    def give(self, thread: Thread, mark: Mark, targets: tuple[tuple[Core, Key], ...]) -> None:
        """``thread`` gets to a signal and sends it."""
        log, step, began = self._begin(thread, mark, 2)
        for target, key in targets:
            log.signal(step, False, sent_text(key, target, thread.core), -1)
            signals: Any = getattr(target, "signals")  # noqa: B009
            if isinstance(key, BufferKey):
                signals.level_senders.setdefault(key, []).append(step)
            else:
                signals.senders.setdefault(key, deque()).append(step)
        super().give(thread, mark, targets)
        self._end(step, thread, began)

    def take(self, thread: Thread, mark: Mark, keys: tuple[Key, ...]) -> None:
        """``thread`` gets to a wait and takes a signal of each kind."""
        if not keys:
            super().take(thread, mark, keys)
            return
        log, step, began = self._begin(thread, mark, 3)
        for key in keys:
            senders = self.senders.get(key)
            sent = bool(senders) and self.core.flags[key] <= len(senders or ())
            log.signal(step, True, sent_text(key, self.core, self.core), senders.popleft() if sent and senders else -1)
        super().take(thread, mark, keys)
        self._end(step, thread, began)

    def reach(self, thread: Thread, mark: Mark, key: Key, level: int) -> None:
        """``thread`` gets to a wait for the first ``level`` signals of a kind."""
        log, step, began = self._begin(thread, mark, 3)
        log.signal(step, True, sent_text(key, self.core, self.core), self.sender(key, level))
        super().reach(thread, mark, key, level)
        self._end(step, thread, began)

    def sender(self, key: Key, level: int) -> int:
        """Returns the step that has sent the last of the first ``level`` signals of a kind, -1 where there is none."""
        senders = self.level_senders.get(key, [])
        return senders[level - 1] if 0 < level <= len(senders) else -1

    def _begin(self, thread: Thread, mark: Mark, kind: int) -> tuple[Log, int, float]:
        core: Any = self.core
        log: Log = core.observer.record
        step = log.step(core.numbers[mark.order], thread.number, kind)
        return log, step, max(thread.time, mark.time)

    def _end(self, step: int, thread: Thread, began: float) -> None:
        observer = self.observer
        if isinstance(observer, CycleObserver):
            watch_record: Log = getattr(observer, "record")  # noqa: B009
            watch_record.time(step, began, max(thread.time, began))


class RecordedCore(InstrumentedCore):
    """A core that reports issued operations to the recording; ``numbers`` has the issue of each position in program
    order."""

    def __init__(self, block: Block, kind: str, index: int, observer: RecordingInstrumentation, ordered: bool) -> None:
        super().__init__(block, kind, index, observer, ordered)
        self.record = observer.record
        self.signals = RecordedSignals(self, observer)
        self.numbers: list[int] = [-1]
        self.noted = -1

    def note(self, statement: int, loops: tuple[int, ...], numbers: tuple[Any, ...], handles: tuple[Any, ...]) -> None:
        """A statement comes next."""
        self.noted = self.record.issue(statement, self.order + 1, loops, numbers, handles)

    def at(self, site: int, loops: tuple[int, ...]) -> None:
        """The scalar unit reaches an operation."""
        super().at(site, loops)
        self.numbers.append(self.noted)

    def inside(self, site: int, loops: tuple[int, ...]) -> None:
        """The instruction that runs reaches one of its parts."""
        super().inside(site, loops)
        self._begin_part()

    def in_body(self, site: int, loops: tuple[int, ...]) -> None:
        """The work-items that run reach one of their operations."""
        super().in_body(site, loops)
        self._begin_part()

    def _begin_part(self) -> None:
        observer: Any = self.observer
        context = observer.current
        if context is not None and not observer.muted:
            context.issue = self.noted
            observer.begin_step(context, PART)

    def alone(self) -> None:
        """What was noted last is done, without a queue."""
        context = self._own()
        if context is None or context.step < 0:
            self.structure()

    def _own(self) -> Context | None:
        """Returns the running operation, unless it belongs to another core that ran in between."""
        context = self.observer.current
        return context if context is not None and context.thread.core is self else None

    def structure(self) -> None:
        """A loop, a branch or a call begins."""
        context = self._own()
        scalar = self.threads["PIPE_S"] if context is None else context.thread
        self.record.step(self.noted, scalar.number, OPERATION)


def signal_text(key: Key) -> str:
    """Returns a signal as text."""
    if isinstance(key[0], str) and key[0].startswith("PIPE_"):
        names = [str(part).removeprefix("PIPE_") for part in key[:2]]
        return f"{names[0]} -> {names[1]} event {key[2]}"
    return describe(key)


def sent_text(key: Key, target: Core, source: Core) -> str:
    """Returns a signal as text, with the receiving core where that is another one."""
    return signal_text(key) if target is source else f"{signal_text(key)} to {target.name}"
