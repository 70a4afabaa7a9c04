"""One statement about a program."""

import enum
from typing import NamedTuple

from .fix import Fix
from .remedy import Remedy
from .source import SourceFile, Span


class Severity(enum.IntEnum):
    """How much a diagnostic matters; ordered, so that ``max`` finds the worst."""

    INFO = 0
    WARNING = 1
    ERROR = 2

    @property
    def label(self) -> str:
        """Lower-case word used in all output forms."""
        return self.name.lower()


class Note(NamedTuple):
    """A remark that belongs to a diagnostic, at its own place (``None``: at the diagnostic's place)."""

    message: str
    span: Span | None = None


def notes_at(message: str, span: Span | None) -> tuple[Note, ...]:
    """Returns a note at ``span``; none where there is no source location."""
    return () if span is None else (Note(message, span),)


class Diagnostic(NamedTuple):
    """What is wrong or remarkable, found by rule ``rule``.

    ``message`` states what is wrong, the actual and the expected value, without the rule id. ``span`` is ``None`` when
    the statement has no source location. ``help`` states what would be right, ``fixes`` are edits of the source of
    ``span`` that make it so, the likeliest first. ``remedies`` make edits on request. ``edited`` is the source that
    fixes change where ``span`` is in another.
    """

    rule: str
    severity: Severity
    message: str
    span: Span | None = None
    notes: tuple[Note, ...] = ()
    help: str | None = None
    fixes: tuple[Fix, ...] = ()
    remedies: tuple[Remedy, ...] = ()
    edited: SourceFile | None = None
