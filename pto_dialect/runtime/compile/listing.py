"""Generated source for readers: each section of it under its line of the program.

Only the shown text has the comments; the executed code is compiled without them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xdsl.ir import Operation

from pto_dialect.diagnostics.source import SourceFile
from pto_dialect.ir.core.location import span_of

_WIDEST = 160
"""Maximum number of characters of a line of the program in a comment."""


def listing(lines: Sequence[str], origin: Iterable[Operation | None]) -> str:
    """Returns ``lines`` of Python, with a comment where another line of the program starts; ``origin`` has the
    operation of each. Code of operations without a source location has no comment of its own."""
    shown: list[str] = []
    # The first line is no comment, so no later line can name the encoding of a file that the text is written to.
    previous: tuple[SourceFile, int] | None = None
    for number, (line, op) in enumerate(zip(lines, origin, strict=True)):
        span = span_of(op) if number else None
        if span is not None:
            position = (span.source, span.line)
            if position != previous:
                previous = position
                indent = line[: len(line) - len(line.lstrip(" "))]
                shown.append(f"{indent}# {span.line}: {comment(span.source.line_text(span.line))}")
        shown.append(line)
    return "\n".join(shown) + "\n"


def comment(text: str) -> str:
    """Returns a line of a program as it can follow ``#``: nothing in it ends a line or changes how others are read.

    Characters that are not printed are escaped, among them all that end lines somewhere, marks of direction and halves
    of surrogate pairs.
    """
    text = text.strip()
    if len(text) > _WIDEST:
        text = text[: _WIDEST - 1] + "…"
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)
