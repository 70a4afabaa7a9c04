"""The error of the translation of C++ kernels."""

from __future__ import annotations

from collections.abc import Sequence

from .llvm.place import Place


class TranslationError(Exception):
    """A kernel that cannot be translated: what, where in the C++ text, and what to write instead.

    ``place`` is the innermost line of the user's files; its callers are notes.
    """

    def __init__(
        self, message: str, place: Place | None = None, help: str = "", notes: Sequence[tuple[str, Place | None]] = ()
    ) -> None:
        super().__init__(message)
        self.message = message
        self.place = place
        self.help = help
        self.notes = tuple(notes)

    def __str__(self) -> str:
        return f"{self.place}: {self.message}" if self.place else self.message
