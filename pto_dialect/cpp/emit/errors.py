"""Errors: operations without a form in C++."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from pto_dialect.diagnostics.diagnostic import Diagnostic, Severity
from pto_dialect.ir.core.location import span_of

if TYPE_CHECKING:
    from xdsl.ir import Operation


class EmitError(Exception):
    """An operation without a form in C++: where it is, what is missing, and what to do instead."""

    def __init__(self, op: Operation, message: str, help: str = "") -> None:
        super().__init__(message)
        self.op = op
        self.message = message
        self.help = help

    def diagnostic(self) -> Diagnostic:
        """Returns the error as it is shown."""
        return Diagnostic("cpp-emit", Severity.ERROR, self.message, span_of(self.op), (), self.help or None)


def fail(op: Operation, message: str, help: str = "") -> NoReturn:
    """Raises :class:`EmitError`."""
    raise EmitError(op, message, help)


__all__ = ["EmitError", "fail"]
