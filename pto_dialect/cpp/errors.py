"""Errors of the translation of C++ kernels."""

from __future__ import annotations

from collections.abc import Sequence

from pto_dialect.diagnostics.refused import RefusedProgram

from .llvm.location import SourceLocation


class CppError(RefusedProgram):
    """A kernel that cannot be compiled or translated; the exception has the diagnostics."""


class TranslationError(Exception):
    """A kernel that cannot be translated: what, where in the C++ text, and what to write instead.

    ``location`` is the innermost line of the user's files; its callers are notes.
    """

    def __init__(
        self,
        message: str,
        location: SourceLocation | None = None,
        help: str = "",
        notes: Sequence[tuple[str, SourceLocation | None]] = (),
    ) -> None:
        super().__init__(message)
        self.message = message
        self.location = location
        self.help = help
        self.notes = tuple(notes)

    def __str__(self) -> str:
        return f"{self.location}: {self.message}" if self.location else self.message
