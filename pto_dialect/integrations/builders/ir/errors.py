"""The exception of refused programs."""

from __future__ import annotations

from collections.abc import Sequence

from pto_dialect.diagnostics.diagnostic import Diagnostic
from pto_dialect.diagnostics.render import render_text, shortened


class MLIRError(Exception):
    """A program, type or attribute that is refused; ``error_diagnostics`` says where and why."""

    # The name under which users know it, which tracebacks show.
    __module__ = "mlir.ir"

    def __init__(self, message: str, error_diagnostics: Sequence[Diagnostic] = ()) -> None:
        # The text of diagnostics has lines of the program, and marks below them.
        self.message = message if error_diagnostics else shortened(message)
        super().__init__(self.message, error_diagnostics)
        self.error_diagnostics = list(error_diagnostics)

    def __str__(self) -> str:
        return self.message


def refused(diagnostics: Sequence[Diagnostic]) -> MLIRError:
    """Returns the exception with these diagnostics, shown as the commands show them."""
    # Fixes are edits of a text in the language of programs, not of the Python code that makes the program.
    shown = [one._replace(fixes=(), remedies=()) for one in diagnostics]
    return MLIRError(render_text(shown).rstrip("\n"), shown)
