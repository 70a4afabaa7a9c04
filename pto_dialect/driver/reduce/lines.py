"""Makes a text smaller while something about it stays true, within a few seconds.

Statements with their regions are left out first, then runs of lines, from long to short; a region may also lose the
lines around it.
"""

from __future__ import annotations

import os
import re
import signal
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress

from pto_dialect.deadline import quiet_fork
from pto_dialect.patterns import portable

Holds = Callable[[str], bool]

_BRACES = re.compile(portable(r'//[^\n]*|"(?:[^"\\\n]++|\\.)*+"|([{}])'))


def reduced(text: str, holds: Holds, seconds: float) -> str:
    """Returns the smallest program found in ``seconds`` for which ``holds`` is true, as it is for ``text``.

    Where the system can, the search runs in a process of its own, so that it ends in time whatever the programs that
    are tried do.
    """
    if not hasattr(os, "fork"):
        return search(text, holds, time.monotonic() + seconds)
    with tempfile.TemporaryDirectory(prefix="pto-reduce-") as folder:
        best = os.path.join(folder, "best")
        with quiet_fork():
            process = os.fork()
        if process == 0:
            _work(text, holds, seconds, best)
        try:
            _wait(process, time.monotonic() + seconds)
        finally:
            _end(process)
        try:
            with open(best, encoding="utf-8", errors="surrogatepass", newline="") as stream:
                return stream.read()
        except OSError:
            return text


def _work(text: str, holds: Holds, seconds: float, best: str) -> None:
    """What the process does that searches: keeps the smallest program in the file ``best``."""

    def keep(smaller: str) -> None:
        with open(best + ".new", "w", encoding="utf-8", errors="surrogatepass", newline="") as stream:
            stream.write(smaller)
        os.replace(best + ".new", best)

    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        search(text, holds, time.monotonic() + seconds, keep)
    finally:
        os._exit(0)


def _wait(process: int, deadline: float) -> None:
    """Waits for ``process``, at most until ``deadline``."""
    pause = 0.002
    while time.monotonic() < deadline and os.waitpid(process, os.WNOHANG) == (0, 0):
        time.sleep(pause)
        pause = min(0.05, pause * 2)


def _end(process: int) -> None:
    """Ends ``process`` if it has not ended."""
    with suppress(ProcessLookupError, ChildProcessError):
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)


def search(text: str, holds: Holds, deadline: float, keep: Callable[[str], None] = lambda _: None) -> str:
    """Returns the smallest program that is found until ``deadline`` of ``time.monotonic``; ``keep`` gets each smaller
    one. Returns ``text`` itself where ``holds`` is false for it."""
    lines = text.splitlines(keepends=True)
    if not holds(text):
        return text
    before = len(lines) + 1
    while len(lines) < before and time.monotonic() < deadline:
        before = len(lines)
        size = max(1, before // 2)
        while size >= 1:
            lines = _without_regions(lines, size, holds, deadline, keep)
            lines = _without_runs(lines, size, holds, deadline, keep)
            size //= 2
    return "".join(lines)


def _without_runs(lines: list[str], size: int, holds: Holds, deadline: float, keep: Callable[[str], None]) -> list[str]:
    """``lines`` without runs of ``size`` lines, from the end: what uses a value comes after it."""
    end = len(lines)
    while end > 0 and time.monotonic() < deadline:
        start = max(0, end - size)
        lines = _tried(lines, lines[:start] + lines[end:], holds, keep)
        end = start
    return lines


def _without_regions(
    lines: list[str], size: int, holds: Holds, deadline: float, keep: Callable[[str], None]
) -> list[str]:
    """Returns ``lines`` without regions of more than ``size`` and up to twice as many lines, or without what is around
    them."""
    number = 0
    while time.monotonic() < deadline:
        groups = [(start, end) for start, end in _groups(lines) if size < end - start <= 2 * size]
        if number >= len(groups):
            break
        start, end = groups[number]
        smaller = _tried(lines, lines[:start] + lines[end:], holds, keep)
        if smaller is lines:
            smaller = _tried(lines, lines[:start] + lines[start + 1 : end - 1] + lines[end:], holds, keep)
        number += smaller is lines
        lines = smaller
    return lines


def _tried(lines: list[str], smaller: list[str], holds: Holds, keep: Callable[[str], None]) -> list[str]:
    """Returns ``smaller`` if ``holds`` is true for it, else ``lines``."""
    candidate = "".join(smaller)
    if not holds(candidate):
        return lines
    keep(candidate)
    return smaller


def _groups(lines: list[str]) -> list[tuple[int, int]]:
    """Runs of lines from one that opens a region to the one that closes it."""
    found: list[tuple[int, int]] = []
    opened: list[int] = []
    for number, line in enumerate(lines):
        for brace in _BRACES.finditer(line):
            if brace[1] == "{":
                opened.append(number)
            elif brace[1] == "}" and opened:
                start = opened.pop()
                if start < number:
                    found.append((start, number + 1))
    return found
