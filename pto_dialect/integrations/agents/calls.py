"""Runs a sub-command of ``pto`` on a private copy of a program, within limits."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import suppress
from threading import BoundedSemaphore
from typing import NamedTuple

from pto_dialect.children import child_environment, python_command, run_limited_apart

from .folder import Program, RefusedError

COPY = "program.pto"
"""Name of the copy, in an empty folder in which the child runs."""

AT_ONCE = 2
"""Calls that run at the same time; others wait."""

_COMMAND = "pto_dialect.tools.start:pto"
_LEFT_OUT = ("PTO_SERVER",)
"""Variables by which another process, which has no limits, would do the work."""


class Limits(NamedTuple):
    """Limits of a call: seconds of processor time (twice as much by the clock), and megabytes of address space."""

    seconds: int
    megabytes: int


class Ended(NamedTuple):
    """What a command gave: its exit code, both streams, and the program that it wrote or left: the file ``result.pto``,
    or else the copy."""

    code: int
    out: str
    err: str
    result: str | None


class Calls:
    """Runs commands within the same limits."""

    RESULT = "result.pto"

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._turn = BoundedSemaphore(AT_ONCE)

    def command(
        self, source: Program, name: str, options: Sequence[str], *, settings: bool, last: Sequence[str] = ()
    ) -> Ended:
        """Returns what ``pto NAME OPTIONS FILE LAST`` gives for a program. ``settings`` says whether the command reads
        those of a project. Raises :class:`RefusedError` where a limit ended it."""
        with tempfile.TemporaryDirectory(prefix="pto-mcp-", ignore_cleanup_errors=True) as folder:
            with open(os.path.join(folder, COPY), "w", encoding="utf-8", errors="surrogatepass", newline="") as stream:
                stream.write(source.text)
            if source.settings is not None:
                shutil.copyfile(source.settings, os.path.join(folder, os.path.basename(source.settings)))
            none = ["--no-config"] if settings and source.settings is None else []
            ended = self._run([_COMMAND, name, *none, *options, COPY, *last], folder)
            return ended._replace(result=_read(os.path.join(folder, name) for name in (self.RESULT, COPY)))

    def function(self, function: str, *arguments: str) -> Ended:
        """Returns what a function of the package prints in a child. Raises :class:`RefusedError` where a limit ended
        it."""
        with tempfile.TemporaryDirectory(prefix="pto-mcp-") as folder:
            return self._run([function, *arguments], folder)

    def _run(self, words: Sequence[str], folder: str) -> Ended:
        variables = {name: value for name, value in child_environment().items() if name not in _LEFT_OUT}
        with self._turn:
            code, out, err = run_limited_apart(
                python_command(*words), folder, seconds=self.limits.seconds, megabytes=self.limits.megabytes,
                variables=variables,
            )  # fmt: skip
        if code < 0 or code >= 126:
            raise RefusedError(
                f"ended by a limit: a call may use {self.limits.seconds} s of processor time and "
                f"{self.limits.megabytes} MB; take a smaller program or smaller sizes"
            )
        if "Traceback (most recent call last)" in err or "MemoryError" in err:
            raise RefusedError(f"the program cannot be processed: {_last_line(err)}")
        return Ended(code, out, err, None)


def _read(paths: Iterable[str]) -> str | None:
    """Returns the text of the first file that there is."""
    for path in paths:
        with suppress(OSError, UnicodeDecodeError), open(path, encoding="utf-8", newline="") as stream:
            return stream.read()
    return None


def expect_result(ended: Ended) -> None:
    """Raises :class:`RefusedError` with what the command says where it has failed."""
    if ended.code:
        raise RefusedError(reason(ended))


def reason(ended: Ended) -> str:
    """Returns what a command without a result says, without the lines on its usage."""
    said = ended.err.strip() or ended.out.strip() or "no result"
    document = said.find("\n{")
    said = said[:document] if document > 0 else said
    return clipped(said[said.find("\nError: ") + 1 :], MOST_TEXT)


MOST_TEXT = 4000
"""Characters of a text in an answer."""


def clipped(text: str, most: int) -> str:
    """Returns the beginning of a text, with a note of what is left out."""
    return text if len(text) <= most else f"{text[:most]}\n… {len(text) - most} more characters"


def _last_line(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return clipped(lines[-1].strip(), 200) if lines else ""
