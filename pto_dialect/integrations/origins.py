"""Source locations in the program that a compiler translated: the location after a statement.

Compilers write `loc("model.py":12:8)` after the statements of the text that they generate, or `loc(#loc3)` with `#loc3
= loc("model.py":12:8)` elsewhere in it. See docs/integrations.md.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from pto_dialect.diagnostics.diagnostic import Diagnostic
from pto_dialect.diagnostics.source import Span

_PLACE = re.compile(r'"((?:[^"\\\n]|\\.)*)"\s*:\s*(\d+)\s*:\s*(\d+)')
_ALIAS = re.compile(r"\s*(#[\w$.\-]+)\s*\)")


class Origin(NamedTuple):
    """A source location in another language: ``line`` and ``column`` count from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


def origin_of(span: Span | None) -> Origin | None:
    """The source location that follows the statement at ``span``; ``None`` where it has none."""
    if span is None:
        return None
    text = span.source.text
    end = text.find("\n", span.end)
    _, mark, location = text[span.start : end if end >= 0 else len(text)].rpartition("loc(")
    if not mark:
        return None
    alias = _ALIAS.match(location)
    if alias is not None:
        defined = re.search(rf"^{re.escape(alias[1])}\s*=\s*loc\((.*)$", text, re.MULTILINE)
        location = defined[1] if defined is not None else ""
    place = _PLACE.search(location)
    return None if place is None else Origin(re.sub(r"\\(.)", r"\1", place[1]), int(place[2]), int(place[3]))


def origins_of(found: Diagnostic) -> list[Origin]:
    """The source locations of the statements of a finding and its notes, each once."""
    spans = [found.span, *(note.span for note in found.notes)]
    return list(dict.fromkeys(origin for span in spans if (origin := origin_of(span)) is not None))
