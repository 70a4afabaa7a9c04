"""Edits of a text that fix what a diagnostic reports."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class Edit(NamedTuple):
    """The characters ``start <= offset < end`` of a text are replaced by ``text``; ``start == end`` inserts."""

    start: int
    end: int
    text: str


class Fix(NamedTuple):
    """A change in the source file of the diagnostic that it belongs to.

    ``title`` says what is done, in the imperative. ``edits`` do not overlap. ``safe``: the change does not alter what a
    program means whose author would have been understood; others are guesses, or add statements.
    """

    title: str
    edits: tuple[Edit, ...]
    safe: bool = True


class OverlapError(ValueError):
    """Two edits change the same characters."""


def edited(text: str, edits: Iterable[Edit]) -> str:
    """Returns ``text`` with all ``edits``, whose offsets are those of ``text``; insertions at one offset keep their
    order.

    Raises :class:`OverlapError`.
    """
    parts: list[str] = []
    position = 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        if edit.start < position:
            raise OverlapError(f"offset {edit.start} is changed twice")
        parts += (text[position : edit.start], edit.text)
        position = edit.end
    parts.append(text[position:])
    return "".join(parts)


def separate(fixes: Iterable[Fix]) -> list[Fix]:
    """Returns those of ``fixes`` that can be made together: the first of several that touch each other."""
    taken: list[Fix] = []
    held: list[tuple[int, int]] = []
    for fix in fixes:
        spans = [(edit.start, edit.end) for edit in fix.edits]
        if all(end < begin or stop < start for start, end in spans for begin, stop in held):
            taken.append(fix)
            held += spans
    return taken
