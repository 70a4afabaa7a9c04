"""The error a statement builder raises for an incorrect statement."""

from __future__ import annotations

from collections.abc import Sequence

from pto_dialect.diagnostics.diagnostic import Note
from pto_dialect.diagnostics.suggest import word_hint

from ..errors.located import LocatedError
from ..read.tokens import Tok

_LISTED = 16
"""Maximum number of names that a suggestion lists."""


class BuildError(LocatedError):
    """A statement that cannot be built, with notes about other locations."""

    def __init__(
        self, rule: str, message: str, start: int, end: int, help: str | None = None, notes: tuple[Note, ...] = ()
    ) -> None:
        super().__init__(rule, message, start, end, help)
        self.notes = notes


class FollowUp(BuildError):
    """A statement that cannot be built because of a mistake that was already reported; nothing is reported."""

    def __init__(self) -> None:
        super().__init__("", "", 0, 0)


def near_word(word: str, allowed: Sequence[str]) -> str | None:
    """Returns a suggestion for an unknown ``word``: the similar ones of those allowed, otherwise all of them."""
    listed = ", ".join(allowed[:_LISTED]) + (", .." if len(allowed) > _LISTED else "")
    return word_hint(word, allowed) or (f"one of {listed}" if allowed else None)


def at(token: Tok, rule: str, message: str, help: str | None = None) -> BuildError:
    """Returns the error about ``token``."""
    return BuildError(rule, message, token.start, token.end, help)
