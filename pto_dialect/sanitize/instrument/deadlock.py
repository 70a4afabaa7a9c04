"""Deadlock reports: what every pipe of every core waits for when nothing can continue. Source:
docs/reference/execution.md, "Scheduling"; docs/reference/instrumentation.md, "Reports"."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pto_dialect.diagnostics.source import Span
from pto_dialect.runtime.queues.run import LEVEL, SET, WAIT, Key, describe
from pto_dialect.runtime.queues.senders import awaited, name_of, sender_of, sends

from ..report.describe import operation_text
from ..report.findings import Finding
from ..report.fixes import SendFlag
from .signals import is_flag

if TYPE_CHECKING:
    from ..state.clocks import Mark
    from .core import InstrumentedCore
    from .observer import RunObserver


def deadlock_finding(
    observer: RunObserver, cores: Sequence[InstrumentedCore], place: Span | None, calls: Mapping[str, str] | None = None
) -> Finding:
    """Returns the report of a deadlock: one note for each blocked pipe, one for the signals that are present. It is at
    the wait that blocks the others.

    ``calls`` has, by the name of a core, the calls that lead to its wait.
    """
    notes: list[tuple[str, Span | None]] = []
    first: Span | None = None
    for core in cores:
        for pipe, mark, keys in blocked(core):
            site = observer.sites[mark.site] if mark.site else None
            span = None if site is None else site.span
            awaited = ", ".join(_awaited(core, key) for key in keys)
            where = "" if site is None else f" in {operation_text(site, mark.loops, core.threads[pipe])}"
            notes.append((f"{core.name}: {pipe} waits for {awaited}{where}", span))
            notes += dict.fromkeys(note for key in keys if (note := _sender_note(observer, core, key)) is not None)
            first = first or span
        if core.polled is not None:
            mark = core.mark("PIPE_S")
            site = observer.sites[mark.site]
            where = f" in {operation_text(site, mark.loops, core.threads['PIPE_S'])}"
            led = "" if calls is None else calls.get(core.name, "")
            notes.append((f"{core.name}: PIPE_S waits {core.polled()}{where}{led}", site.span))
            first = first or site.span
        present = ", ".join(_present(core, observer))
        if present:
            notes.append((f"{core.name} has {present}", None))
    polls = any(core.polled is not None for core in cores)
    message = "the program cannot continue: every pipe that has work left waits for a signal that nothing will send"
    root = _root(cores)
    advice, wait = (None, None) if root is None else _advice(*root)
    if root is not None and root[0].site:
        first = observer.sites[root[0].site].span or first
    if advice is None and polls:
        advice = "pto.comm.tnotify of the signal by those that the wait is for, as often as it counts"
    fix = () if wait is None else (SendFlag(observer.sites[wait].op),)
    return Finding("sync-deadlock", message, (None,), first or place, notes, advice, fix=fix)


def blocked(core: InstrumentedCore) -> list[tuple[str, Mark, tuple[Key, ...]]]:
    """Returns the pipes that wait, where, and for which signals."""
    result: list[tuple[str, Any, tuple[Key, ...]]] = []
    for pipe, kind, mark, arguments in core.heads():
        if kind == WAIT:
            result.append((pipe, mark, tuple(key for key in arguments if not core.flags.get(key, 0))))
        elif kind == LEVEL:
            result.append((pipe, mark, (arguments[0],)))
    missing = tuple(key for key in core.scalar_wait if not core.flags.get(key, 0))
    if core.scalar_level is not None and core.flags.get(core.scalar_level[0], 0) < core.scalar_level[1]:
        missing += (core.scalar_level[0],)
    if missing:
        result.append(("PIPE_S", core.mark("PIPE_S"), missing))
    return result


def _awaited(core: InstrumentedCore, key: Key) -> str:
    return f"{describe(key)} to {key[1]}" if is_flag(key) else awaited(core, key)


def _sender_note(observer: RunObserver, core: InstrumentedCore, key: Key) -> tuple[str, Span | None] | None:
    """Returns a note about the core that is to send a signal; ``None`` for flags of one core."""
    sender: Any = None if is_flag(key) else sender_of(core, key)
    if sender is None:
        return None
    name = name_of(sender, core)
    for pipe, queue in sender.queues.items():
        for _, _, kind, mark, arguments in queue:
            if kind == SET and (core, key) in arguments and mark.site:
                site = observer.sites[mark.site]
                return f"{name}: {site.name} ({site.line_text}) sends it after what its {pipe} waits for", site.span
    sources = [site for site in observer.sites if sends(site.op, key, sender)]
    if not sources:
        return f"{name}: no operation of the program sends it", None
    count = sender.signals.sent[id(core), key]
    times = "once" if count == 1 else f"{count} times"
    state = f"has done so {times}, which was not enough" if count else "has not done so"
    site = sources[0]
    return f"{name}: {site.name} ({site.line_text}) sends it, and {state}", site.span


def _present(core: InstrumentedCore, observer: RunObserver) -> list[str]:
    """Returns the signals that have arrived and that nothing waits for."""
    present: list[str] = []
    for key, count in core.flags.items():
        tokens = core.signals.tokens.get(key)
        if count and tokens:
            lines = ", ".join(dict.fromkeys(observer.sites[token.site].line_text for token in tokens))
            number = "" if count == 1 else f" ({count} times)"
            present.append(f"{_awaited(core, key)}{number}, set at {lines}")
    return present


def _root(cores: Sequence[InstrumentedCore]) -> tuple[Mark, Key] | None:
    """Returns the wait that blocks the others, and its signal.

    That is one whose signal is not sent by any queued operation, otherwise, where all wait for each other, the first in
    the program.
    """
    waits = [(mark, key) for core in cores for _, mark, keys in blocked(core) for key in keys]
    sent = {key for core in cores for key in _to_be_sent(core)}
    return min(waits, key=lambda wait: (wait[1] in sent, wait[0].order), default=None)


def _advice(mark: Mark, key: Key) -> tuple[str | None, int | None]:
    """Returns what would end a wait for a flag, and its site."""
    if not is_flag(key):
        return None, None
    flag = f"[<{key[0]}>, <{key[1]}>, <EVENT_ID{key[2]}>]"
    return f"pto.set_flag{flag} after the work of {key[0]} that the wait is for", mark.site or None


def _to_be_sent(core: InstrumentedCore) -> list[Key]:
    """Returns the signals in the queues of a core."""
    entries = (entry for queue in core.queues.values() for entry in queue)
    return [key for _, _, kind, _, arguments in entries if kind == SET for _, key in arguments]
