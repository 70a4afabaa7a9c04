"""Errors of compiling and running, each with the place in the program it belongs to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pto_dialect.diagnostics.diagnostic import Diagnostic, Note, Severity
from pto_dialect.diagnostics.render import render_text
from pto_dialect.diagnostics.source import Span
from pto_dialect.ir.core.location import span_of

if TYPE_CHECKING:
    from xdsl.ir import Operation


class ProgramError(Exception):
    """A program that cannot be compiled or run: rule id, message, source span, and the operation where it is known.

    ``str()`` shows an error with a span as the commands do.
    """

    def __init__(
        self,
        rule: str,
        message: str,
        span: Span | None = None,
        notes: tuple[str, ...] = (),
        operation: Operation | None = None,
    ) -> None:
        super().__init__(message)
        self.rule = rule
        self.message = message
        self.span = span
        self.notes = notes
        self.operation = operation

    def __str__(self) -> str:
        return self.message if self.span is None else render_text((self.diagnostic(),)).rstrip("\n")

    def diagnostic(self) -> Diagnostic:
        """The error as a diagnostic."""
        notes = tuple(Note(text) for text in self.notes)
        return Diagnostic(self.rule, Severity.ERROR, self.message, self.span, notes)


def located(error: ProgramError, module: Operation) -> ProgramError:
    """``error`` with a place for its operation in the printed ``module`` where it has none."""
    if error.span is None and error.operation is not None:
        from pto_dialect.syntax.print.places import printed_places

        with printed_places(module):
            error.span = span_of(error.operation)
    return error


class BindingError(Exception):
    """A launch that does not fit the program: wrong argument, size or name. The message is for the user.

    ``subject`` is the argument it is about, by the name that the caller used, where there is one; ``rule`` the id of
    the rule that the launch breaks, where that is one of the catalogue.
    """

    def __init__(self, message: str, subject: str | None = None, rule: str = "") -> None:
        super().__init__(message)
        self.subject = subject
        self.rule = rule
