"""Signals of a recording that nobody else watches: they know which step has sent them, and nothing of clocks.

Source: docs/reference/recording.md, "Steps".
"""

from __future__ import annotations

from collections import deque
from typing import Any, NamedTuple

from pto_dialect.runtime.kernels.sync.buffers import BufferKey
from pto_dialect.runtime.queues.run import Key
from pto_dialect.runtime.run.machine import Core
from pto_dialect.sanitize.state.clocks import Mark, Thread

from .instrumentation import SET, WAIT, RecordedSignals, sent_text


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
