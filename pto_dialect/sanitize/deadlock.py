"""What every pipe of every core waits for when nothing can go on. Source: execution page, sections 4 and 6.5."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..diagnostics.source import Span
from ..runtime.queues import LEVEL, WAIT, Key, describe
from .describe import operation_text
from .findings import Finding
from .signals import is_flag

if TYPE_CHECKING:
    from .clocks import Mark
    from .core import WatchedCore
    from .watch import Watch


def deadlock_finding(watch: Watch, cores: Sequence[WatchedCore], place: Span | None) -> Finding:
    """The report of a deadlock: one note for each blocked pipe, one for the signals that are present."""
    notes: list[tuple[str, Span | None]] = []
    first: Span | None = None
    for core in cores:
        for pipe, mark, keys in blocked(core):
            site = watch.sites[mark.site] if mark.site else None
            span = None if site is None else site.span
            awaited = ", ".join(_awaited(core, key) for key in keys) or "what was issued before"
            where = "" if site is None else f" in {operation_text(site, mark.loops, core.actors[pipe])}"
            notes.append((f"{core.name}: {pipe} waits for {awaited}{where}", span))
            first = first or span
        present = ", ".join(_present(core, watch))
        if present:
            notes.append((f"{core.name} has {present}", None))
    message = "the program cannot go on: every pipe that has work left waits for a signal that nothing will send"
    return Finding("sync-deadlock", message, (None,), first or place, notes, _advice(cores))


def blocked(core: WatchedCore) -> list[tuple[str, Mark, tuple[Key, ...]]]:
    """Pipes that wait, where, and for which signals."""
    found: list[tuple[str, Any, tuple[Key, ...]]] = []
    for pipe, kind, mark, arguments in core.heads():
        if kind == WAIT:
            found.append((pipe, mark, tuple(key for key in arguments if not core.flags.get(key, 0))))
        elif kind == LEVEL:
            found.append((pipe, mark, (arguments[0],)))
    missing = tuple(key for key in core.scalar_wait if not core.flags.get(key, 0))
    if core.scalar_level is not None and core.flags.get(core.scalar_level[0], 0) < core.scalar_level[1]:
        missing += (core.scalar_level[0],)
    if missing:
        found.append(("PIPE_S", core.mark("PIPE_S"), missing))
    return found


def _awaited(core: WatchedCore, key: Key) -> str:
    return f"{describe(key)} to {key[1]}" if is_flag(key) else describe(key)


def _present(core: WatchedCore, watch: Watch) -> list[str]:
    """Signals that have arrived and that nobody took."""
    found: list[str] = []
    for key, count in core.flags.items():
        tokens = core.signals.tokens.get(key)
        if count and tokens:
            places = ", ".join(dict.fromkeys(watch.sites[token.site].place for token in tokens))
            number = "" if count == 1 else f" ({count} times)"
            found.append(f"{_awaited(core, key)}{number}, set at {places}")
    return found


def _advice(cores: Sequence[WatchedCore]) -> str | None:
    for core in cores:
        for _, _, keys in blocked(core):
            for key in keys:
                if is_flag(key):
                    flag = f"[<{key[0]}>, <{key[1]}>, <EVENT_ID{key[2]}>]"
                    return f"pto.set_flag{flag} after the work of {key[0]} that the wait is for"
    return None
