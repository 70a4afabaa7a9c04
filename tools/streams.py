"""Standard streams of the commands, and their ends. Nothing is imported here that a short start could do without."""

from __future__ import annotations

import errno
import os
import sys
from contextlib import suppress

BROKEN_PIPE = 141
"""128 + SIGPIPE: whoever read the output has gone."""


def discard_output() -> None:
    """Lets Python's last flush succeed although nobody reads the output any more."""
    with suppress(OSError, ValueError):
        devnull = os.open(os.devnull, os.O_WRONLY)
        for stream in (sys.stdout, sys.stderr):
            os.dup2(devnull, stream.fileno())


def stderr_is_terminal() -> bool:
    """Somebody may be watching."""
    return sys.stderr is not None and sys.stderr.isatty()


def wants_color(choice: str) -> bool:
    """Whether ``--color`` asks for colours."""
    if choice != "auto":
        return choice == "always"
    return stderr_is_terminal() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"


def check_open(stream: object) -> None:
    """Raises OSError for a standard stream that the shell closed (``<&-``, ``>&-``)."""
    if stream is None:
        raise OSError(errno.EBADF, "it is closed")


def write_stdout(text: str) -> None:
    """Writes a text to standard output as UTF-8; raises OSError when that is closed."""
    check_open(sys.stdout)
    stream = sys.stdout.buffer
    stream.write(text.encode("utf-8"))
    stream.flush()
