"""Makes a program smaller while something about it stays true, within a few seconds.

Statements with their regions are left out first, then runs of lines, from long to short; a region may also lose the
lines around it.
"""

from __future__ import annotations

import os
import re
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress

from pto_dialect.deadline import quiet_fork

Holds = Callable[[str], bool]

_BRACES = re.compile(r'//[^\n]*|"(?:[^"\\\n]++|\\.)*+"|([{}])')


def reduced(text: str, holds: Holds, seconds: float) -> str:
    """The smallest program found in ``seconds`` for which ``holds`` is true, as it is for ``text``.

    Where the system can, the search runs in a process of its own, so that it ends in time whatever the programs that
    are tried do.
    """
    if not hasattr(os, "fork"):
        return _search(text, holds, time.monotonic() + seconds, lambda _: None)
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
        _search(text, holds, time.monotonic() + seconds, keep)
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


def _search(text: str, holds: Holds, deadline: float, keep: Callable[[str], None]) -> str:
    lines = text.splitlines(keepends=True)
    if not holds(text):
        return text
    progress = True
    while progress:
        progress = False
        for smaller in _smaller(lines):
            if time.monotonic() > deadline:
                return "".join(lines)
            candidate = "".join(smaller)
            if holds(candidate):
                lines, progress = smaller, True
                keep(candidate)
                break
    return "".join(lines)


def _smaller(lines: list[str]) -> Iterator[list[str]]:
    """``lines`` with something left out, what is large first."""
    size = len(lines) // 2
    groups = _groups(lines)
    while size >= 1:
        for start, end in groups:
            if size < end - start <= 2 * size:
                yield lines[:start] + lines[end:]
                yield lines[:start] + lines[start + 1 : end - 1] + lines[end:]
        for start in range(0, len(lines), size):
            yield lines[:start] + lines[start + size :]
        size //= 2


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
