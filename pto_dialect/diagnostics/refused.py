"""The exception for a program that is wrong."""

from __future__ import annotations

from .diagnostic import Diagnostic
from .render import render_text


class RefusedProgram(ValueError):
    """A program with errors. ``diagnostics`` says where and why; ``str()`` shows them as the commands do."""

    def __init__(self, diagnostics: tuple[Diagnostic, ...]) -> None:
        super().__init__(diagnostics)
        self.diagnostics = diagnostics

    def __str__(self) -> str:
        return render_text(self.diagnostics).rstrip("\n")


class ParseError(RefusedProgram):
    """A text is no program."""


class VerifyError(RefusedProgram):
    """A module breaks rules of the dialect."""
