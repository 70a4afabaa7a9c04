"""Errors of compiling and running, each with the place in the program it belongs to."""

from __future__ import annotations

from ..diagnostics.diagnostic import Diagnostic, Note, Severity
from ..diagnostics.source import Span


class ProgramError(Exception):
    """A program that cannot be compiled or run: rule id, message, source span."""

    def __init__(self, rule: str, message: str, span: Span | None = None, notes: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.rule = rule
        self.message = message
        self.span = span
        self.notes = notes

    def diagnostic(self) -> Diagnostic:
        """The error as a diagnostic."""
        notes = tuple(Note(text) for text in self.notes)
        return Diagnostic(self.rule, Severity.ERROR, self.message, self.span, notes)


class BindingError(Exception):
    """A launch that does not fit the program: wrong argument, size or name. The message is for the user.

    ``subject`` is the argument it is about, by the name that the caller used, where there is one.
    """

    def __init__(self, message: str, subject: str | None = None) -> None:
        super().__init__(message)
        self.subject = subject
