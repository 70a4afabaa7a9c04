"""Pending signals of one core: flags, semaphores, locks and queue tokens with the clocks of their senders.

Source: docs/reference/execution.md, "Synchronisation"; docs/reference/instrumentation.md, "Order of events".
"""

from __future__ import annotations

from collections import Counter, deque
from typing import Any

from pto_dialect.diagnostics.diagnostic import Severity
from pto_dialect.runtime.kernels.sync.buffers import BufferKey
from pto_dialect.runtime.queues.fifo import Token as Entry
from pto_dialect.runtime.queues.run import Key, describe
from pto_dialect.runtime.run.machine import Core
from pto_dialect.targets.sync_resources import A5_SYNC

from ..report.findings import Finding
from ..report.fixes import TakeFlag
from ..state.clocks import Clock, Mark, Taken, Thread, Token, merged
from .observed import ObservedCore
from .observer import RunObserver

_COUNTER_LIMIT = (1 << A5_SYNC.counter_bits) - 1
"""Maximum number of signals in a counter between cores."""


def is_flag(key: Key) -> bool:
    """Returns whether a signal is a flag between two pipes of a core."""
    return isinstance(key[0], str) and key[0].startswith("PIPE_")


class Signals:
    """Signals that have arrived at ``core`` and those it sends; ``sent`` counts those that are not flags."""

    def __init__(self, core: ObservedCore, observer: RunObserver) -> None:
        self.core = core
        self.observer = observer
        self.tokens: dict[Key, deque[Token]] = {}
        self.levels: dict[Key, list[Clock]] = {}
        self.level_tokens: dict[Key, list[Token]] = {}
        self.held: Counter[tuple[str, int]] = Counter()
        self.sent: Counter[tuple[int, Key]] = Counter()
        self.holders: dict[tuple[str, int], int] = {}

    # ------------------------------------------------------------ transport

    def give(self, thread: Thread, mark: Mark, targets: tuple[tuple[Core, Key], ...]) -> None:
        """Handles that ``thread`` reaches a signal and sends it."""
        thread.join(mark.known)
        observer = self.observer
        thread.time = max(thread.time, mark.time)
        for target, key in targets:
            flow = 0
            if observer.timeline is not None and mark.site:
                flow = observer.timeline.sent(thread, observer.sites[mark.site], mark.loops)
            known = thread.snapshot()
            if isinstance(key, Entry) and key.kind == "slot":
                # A slot is free when all pipes that may have used its entry have finished.
                known = self._everyone(known)
            core: Any = target
            if not is_flag(key):
                self.sent[id(core), key] += 1
            core.flags[key] = core.flags.get(key, 0) + 1
            core.signals.receive(key, Token(known, mark.site, mark.loops, thread.number, thread.time, flow, mark.order))
        thread.tick()

    def _everyone(self, known: Clock) -> Clock:
        return list(map(max, known, *(thread.clock for thread in self.core.threads.values())))

    def receive(self, key: Key, token: Token) -> None:
        """Handles the arrival of a signal."""
        if isinstance(key, BufferKey):
            reached = self.levels.setdefault(key, [])
            known = token.known
            if reached:
                known = merged(known, reached[-1])
            reached.append(known)
            tokens = self.level_tokens.setdefault(key, [])
            tokens.append(max(token, tokens[-1], key=lambda one: one.time) if tokens else token)
            return
        self.tokens.setdefault(key, deque()).append(token)
        if isinstance(key, Entry):
            return
        count = self.core.flags[key]
        if is_flag(key):
            if count > 1:
                self._deep(key, token, count, Severity.WARNING)
        elif count > _COUNTER_LIMIT:
            self._deep(key, token, count, Severity.ERROR)

    def take(self, thread: Thread, mark: Mark, keys: tuple[Key, ...]) -> None:
        """Handles that ``thread`` reaches a wait and takes a signal of each kind."""
        thread.join(mark.known)
        for key in keys:
            tokens = self.tokens.get(key)
            # Signals that were present from the start carry no clock and are taken first.
            if tokens and self.core.flags[key] <= len(tokens):
                token = tokens.popleft()
                thread.join(token.known)
                thread.taken[token.sender, mark.site, token.site] = Taken(token.order, mark.order)
                self.observer.arrived(token, thread, mark)
            self.core.flags[key] -= 1

    def reach(self, thread: Thread, mark: Mark, key: Key, level: int) -> None:
        """Handles that ``thread`` reaches a wait for the first ``level`` signals of a kind."""
        thread.join(mark.known)
        if level:
            thread.join(self.levels[key][level - 1])
            token = self.level_tokens[key][level - 1]
            observer = self.observer
            thread.time = max(thread.time, mark.time)
            observer.delay(thread, token.time, "lock", observer.log.threads[token.sender], mark.site)

    # ------------------------------------------------------------ findings

    def _deep(self, key: Key, token: Token, count: int, severity: Severity) -> None:
        observer = self.observer
        if not observer.wants("sync"):
            return
        site = observer.sites[token.site]
        if observer.findings.repeated("sync-flag-depth", site):
            return
        first = observer.sites[self.tokens[key][0].site]
        message = (
            f"{describe(key)} is set again before it is waited for: {count} signals are pending on {self.core.name}"
        )
        notes = [(f"the oldest was set by {first.name} ({first.line_text})", first.span)]
        observer.findings.add(Finding("sync-flag-depth", message, (site,), site.span, notes, severity=severity))

    def leftovers(self) -> None:
        """Reports at the end signals that nothing waited for, and buffer ids that are still held."""
        observer = self.observer
        for key, tokens in self.tokens.items():
            for token in tokens if not isinstance(key, Entry) else ():
                site = observer.sites[token.site]
                if observer.findings.repeated("sync-flag-unconsumed", site):
                    continue
                message = f"{describe(key)} is set for {self.core.name} and never waited for"
                finding = Finding("sync-flag-unconsumed", message, (site,), site.span)
                if is_flag(key):
                    wait = f"pto.wait_flag[<{key[0]}>, <{key[1]}>, <EVENT_ID{key[2]}>]"
                    finding.help = f"{wait} for what comes after it, after the loop for the last round; or remove it"
                    finding.fix = (TakeFlag(site.op),)
                observer.findings.add(finding)
        for (pipe, number), count in self.held.items():
            if count:
                site = observer.sites[self.holders[pipe, number]]
                if not observer.findings.repeated("sync-buf-nesting", site):
                    message = f"{_pipe(pipe)} still holds buffer {number} at the end"
                    observer.findings.add(
                        Finding("sync-buf-nesting", message, (site,), site.span, severity=Severity.WARNING)
                    )

    def lock(self, pipe: str, number: int, acquire: bool) -> None:
        """Handles that ``pipe`` acquires or releases a buffer id."""
        observer, key = self.observer, (pipe, number)
        site = observer.sites[self.core.site]
        wrong = self.held[key] > 0 if acquire else self.held[key] == 0
        if wrong and observer.wants("sync") and not observer.findings.repeated("sync-buf-nesting", site):
            state = "already holds" if acquire else "does not hold"
            notes: list[tuple[str, Any]] = []
            if acquire:
                first = observer.sites[self.holders[key]]
                notes.append((f"it got it here ({first.line_text})", first.span))
            message = f"{_pipe(pipe)} {state} buffer {number}"
            observer.findings.add(Finding("sync-buf-nesting", message, (site,), site.span, notes))
        if acquire:
            self.held[key] += 1
            self.holders[key] = self.core.site
        elif self.held[key]:
            self.held[key] -= 1


def _pipe(pipe: str) -> str:
    return pipe.removeprefix("PIPE_")
