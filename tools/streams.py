"""Standard streams of the commands, and their ends. Nothing is imported here that a short start could do without."""

from __future__ import annotations

import errno
import os
import sys
from contextlib import contextmanager, suppress

from pto_dialect.terminal import shown

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, TextIO

BROKEN_PIPE = 141
"""128 + SIGPIPE: the reader of the output has ended."""


def discard_output() -> None:
    """Lets Python's last flush succeed although nobody reads the output any more."""
    _discard(sys.stdout, sys.stderr)


def _discard(*streams: Any) -> None:
    with suppress(OSError, ValueError):
        devnull = os.open(os.devnull, os.O_WRONLY)
        for stream in streams:
            os.dup2(devnull, stream.fileno())


def stderr_is_terminal() -> bool:
    """Somebody may be watching."""
    return sys.stderr is not None and sys.stderr.isatty()


def wants_color(choice: str) -> bool:
    """Whether ``--color`` requests colours."""
    wanted = choice == "always"
    if choice == "auto":
        wanted = stderr_is_terminal() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"
    _let_through["colors"] = _let_through["colors"] or wanted
    return wanted


_let_through = {"colors": False, "annotations": False}
"""What is not escaped on standard error."""


def let_annotations_through() -> None:
    """Does not escape annotations for GitHub, which this command prints on request."""
    _let_through["annotations"] = True


class Escaped(str):
    """Text for standard error that :func:`shown_error` has escaped; it is not searched again."""

    __slots__ = ()


def shown_error(text: str) -> Escaped:
    """Escapes ``text`` for standard error."""
    return text if isinstance(text, Escaped) else Escaped(shown(text, **_let_through))


class Escaping:
    """A standard stream of which nothing but text comes, whatever is written to it."""

    def __init__(self, stream: TextIO, errors: bool) -> None:
        self.stream = stream
        self.errors = errors

    def write(self, text: str) -> int:
        """Writes a text."""
        self.stream.write(shown_error(text) if self.errors else shown(text))
        return len(text)

    def writelines(self, lines: list[str]) -> None:
        """Writes texts."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


def plain(stream: Any) -> Any:
    """The stream below an :class:`Escaping` one, for what moves the cursor on purpose."""
    return stream.stream if isinstance(stream, Escaping) else stream


@contextmanager
def escaping() -> Iterator[None]:
    """Escapes what is written to standard output and standard error in the block."""
    before = sys.stdout, sys.stderr
    for number, name in enumerate(("stdout", "stderr")):
        stream = getattr(sys, name)
        if stream is not None and not isinstance(stream, Escaping):
            setattr(sys, name, Escaping(stream, bool(number)))
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def check_open(stream: object) -> None:
    """Raises OSError for a standard stream that the shell closed (``<&-``, ``>&-``)."""
    if stream is None:
        raise OSError(errno.EBADF, "it is closed")


def write_stdout(text: str) -> None:
    """Writes a program to standard output as UTF-8, and as it is unless a terminal shows it; raises OSError when that
    is closed."""
    check_open(sys.stdout)
    if sys.stdout.isatty():
        text = shown(text)
    stream = sys.stdout.buffer
    try:
        stream.write(text.encode("utf-8"))
        stream.flush()
    except OSError:
        # What is left in the buffer would fail again when Python ends.
        _discard(stream)
        raise
