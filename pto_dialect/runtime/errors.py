"""Errors of compiling and running, each with its source location in the program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pto_dialect.diagnostics.diagnostic import Diagnostic, Note, Severity
from pto_dialect.diagnostics.render import render_text
from pto_dialect.diagnostics.source import Span
from pto_dialect.diagnostics.wording import listed
from pto_dialect.ir.core.location import span_of
from pto_dialect.ir.core.types import type_text

if TYPE_CHECKING:
    from xdsl.ir import Attribute, Operation


class ProgramError(Exception):
    """A program that cannot be compiled or run: rule id, message, source span, and the operation where it is known.

    ``str()`` formats an error with a span as the commands do.
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
        """Returns the error as a diagnostic."""
        notes = tuple(Note(text) for text in self.notes)
        return Diagnostic(self.rule, Severity.ERROR, self.message, self.span, notes)


def located(error: ProgramError, module: Operation) -> ProgramError:
    """Returns ``error`` with a source location in the printed ``module`` where its operation has none."""
    if error.span is None and error.operation is not None:
        from pto_dialect.syntax.print.locations import printed_locations  # deferred: start-up

        with printed_locations(module):
            error.span = span_of(error.operation)
    return error


class BindingError(Exception):
    """A launch that does not fit the program: wrong argument, size or name. The message is for the user.

    ``subject`` is the argument concerned, by the name that the caller used, if there is one; ``rule`` is the id of the
    violated rule, if the catalogue has one.
    """

    def __init__(self, message: str, subject: str | None = None, rule: str = "") -> None:
        super().__init__(message)
        self.subject = subject
        self.rule = rule


class NoValueError(BindingError):
    """A launch without values for the arguments ``names``, of which there is at least one.

    Where ``taken`` is given, which states what the function takes, the message ends with it.
    """

    def __init__(self, names: Sequence[str], taken: str = "") -> None:
        suffix = f"; {taken}" if taken else ""
        super().__init__(f"no value for argument{'s' if len(names) > 1 else ''} {listed(names)}{suffix}")
        self.names = tuple(names)


def takes_text(function: str, arguments: Sequence[tuple[str, Attribute]]) -> str:
    """Returns the sentence that states what a function takes; ``arguments`` are names and types of at least one
    argument."""
    return f"@{function} takes {_listed(arguments)}"


def wrong_argument_count(function: str, arguments: Sequence[tuple[str, Attribute]], actual: int) -> BindingError:
    """Returns the error for ``actual`` values by position, which is the wrong number."""
    which = f": {_listed(arguments)}" if arguments else ""
    return BindingError(f"@{function} takes {len(arguments)} arguments, found {actual}{which}")


def _listed(arguments: Sequence[tuple[str, Attribute]]) -> str:
    return ", ".join(f"{name} : {type_text(type_)}" for name, type_ in arguments)
