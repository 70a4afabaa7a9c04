"""Errors of a running program, before they have a source location."""

from __future__ import annotations


class Fault(Exception):
    """A program did something the machine does not allow.

    Kernels and memory functions raise it without knowing which operation they serve; the caller that knows
    turns it into a diagnostic by adding the source location (docs/reference/watching.md, "Findings").

    Attributes:
        rule: kebab-case id of the violated rule, e.g. ``mem-oob``, ``mem-align``, ``unmodelled``.
        message: what happened, with the values involved.
        notes: further lines that help the reader, possibly empty.
    """

    rule: str
    message: str
    notes: tuple[str, ...]

    def __init__(self, rule: str, message: str, notes: tuple[str, ...] = ()) -> None:
        super().__init__(rule, message, notes)
        self.rule = rule
        self.message = message
        self.notes = notes

    def __str__(self) -> str:
        return "\n".join((f"{self.rule}: {self.message}", *(f"  note: {note}" for note in self.notes)))
