"""Reports of internal errors: one line, and a file with a small program that reproduces it.

Developers see the traceback with ``PTO_TRACEBACK=1`` in the environment.
"""

from __future__ import annotations

import os
import platform
import sys
import tempfile
import traceback
from collections.abc import Callable

from pto_dialect.diagnostics.diagnostic import Diagnostic, Severity
from pto_dialect.diagnostics.source import Span
from pto_dialect.version import __version__

from .reduce.lines import reduced

RULE = "internal"
TRACKER = "the issue tracker of pto-dialect"
VARIABLE = "PTO_TRACEBACK"
SECONDS = 3.0
"""How long a program is made smaller."""

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_LONGEST = 160

Again = Callable[[str], object]
"""Does with another program what failed; raises what it raised."""


def wants_traceback() -> bool:
    """Returns whether exceptions are to be seen as they are."""
    return os.environ.get(VARIABLE, "") not in ("", "0")


def internal_error(
    error: BaseException, text: str, again: Again | None = None, what: str = "internal error", span: Span | None = None
) -> Diagnostic:
    """Returns the diagnostic for ``error``, which the program ``text`` caused; writes the file that it names.

    ``again`` is used to make the program smaller, ``what`` says what failed. Raises ``error`` itself when the traceback
    is wanted.
    """
    if wants_traceback():
        raise error
    path = write_report(error, _small(error, text, again))
    where = f" with '{path}'" if path else ""
    message = f"{what}: {error_text(error)}; please report it to {TRACKER}{where}"
    return Diagnostic(RULE, Severity.ERROR, message, span)


def error_text(error: BaseException) -> str:
    """Returns ``error`` in one line: its kind, its message and its location in this package."""
    text = " ".join(str(error).split())
    text = text if len(text) <= _LONGEST else text[: _LONGEST - 2] + ".."
    _, file, line = _place(error)
    return f"{type(error).__name__}{f': {text}' if text else ''} ({file}:{line})"


def write_report(error: BaseException, text: str) -> str | None:
    """Writes a file with what is known of ``error`` in comments and the program; its name, if it could be written."""
    about = [
        f"pto-dialect {__version__}, Python {platform.python_version()}, {platform.system()}",
        *(" ".join(sys.argv).splitlines() or [""])[:1],
        *"".join(traceback.format_exception(error)).splitlines(),
    ]
    head = "".join(f"// {line}\n" for line in about)
    try:
        handle, path = tempfile.mkstemp(prefix="pto-internal-error-", suffix=".pto")
        with open(handle, "w", encoding="utf-8", errors="backslashreplace", newline="") as stream:
            stream.write(head + text)
    except OSError:
        return None
    return path


def _small(error: BaseException, text: str, again: Again | None) -> str:
    """Returns ``text`` without what the error does not need."""
    if again is None or not text:
        return text
    wanted = _place(error)

    def fails_equally(candidate: str) -> bool:
        try:
            again(candidate)
        except Exception as other:
            return _place(other) == wanted
        return False

    try:
        return reduced(text, fails_equally, SECONDS)
    except (OSError, MemoryError):
        return text


def _place(error: BaseException) -> tuple[str, str, int]:
    """Kind of an error and where in this package it comes from; the same for the same fault."""
    place, line = "?", 0
    trace = error.__traceback__
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if file.startswith(_PACKAGE):
            place, line = os.path.relpath(file, _PACKAGE).replace(os.sep, "/"), trace.tb_lineno
        trace = trace.tb_next
    return type(error).__name__, place, line
