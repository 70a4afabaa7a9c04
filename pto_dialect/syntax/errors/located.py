"""The content of a reader's error: rule, message, location and help."""

from __future__ import annotations

from pto_dialect.diagnostics.remedy import Remedy


class LocatedError(Exception):
    """A mistake in a text: rule id, message, extent, help."""

    def __init__(
        self, rule: str, message: str, start: int, end: int, help: str | None = None, remedies: tuple[Remedy, ...] = ()
    ) -> None:
        super().__init__(message)
        self.rule = rule
        self.message = message
        self.start = start
        self.end = end
        self.help = help
        self.remedies = remedies
