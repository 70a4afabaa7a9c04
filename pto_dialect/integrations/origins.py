"""Source locations in the program that a compiler translated: the location after a statement.

Compilers write `loc("model.py":12:8)` after the statements of the text that they generate, or `loc(#loc3)` with `#loc3
= loc("model.py":12:8)` elsewhere in it. See docs/integrations.md.
"""

from __future__ import annotations

from typing import NamedTuple

from pto_dialect.diagnostics.diagnostic import Diagnostic
from pto_dialect.diagnostics.origins import location_of
from pto_dialect.diagnostics.source import Span


class Origin(NamedTuple):
    """A source location in another language: ``line`` and ``column`` count from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


def origin_of(span: Span | None) -> Origin | None:
    """Returns the source location that follows the statement at ``span``; ``None`` where it has none."""
    frames = location_of(span).frames
    return Origin(*frames[0]) if frames else None


def origins_of(found: Diagnostic) -> list[Origin]:
    """Returns the source locations of the statements of a finding and its notes, each once."""
    spans = [found.span, *(note.span for note in found.notes)]
    return list(dict.fromkeys(origin for span in spans if (origin := origin_of(span)) is not None))
