"""Fixes function by function.

Every fix is tried with a check, so that each mistake of a long text would cost its length. A function with its mistakes
is fixed in a text of its own, the frame of the whole one with the functions that it names, where the same diagnostics
are reported; one check of the whole text then confirms all fixes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from pto_dialect.diagnostics.diagnostic import Diagnostic
from pto_dialect.syntax.read.pieces import Pieces, split

_HEADER = re.compile(r"func\.func\s+(?:(?:private|public|nested)\s+)?@(\"(?:[^\"\\\n]|\\.)*\"|[\w$.]+)")
_WORD = re.compile(r"\"(?:[^\"\\\n]|\\.)*\"|[\w$.]+")

Inside = Callable[[Diagnostic], bool]
"""Whether a diagnostic is one of those to be fixed."""


class Apart(NamedTuple):
    """A function in a text of its own: ``before`` and ``after`` are the characters around it there."""

    text: str
    before: int
    after: int

    def has(self, diagnostic: Diagnostic) -> bool:
        """Returns whether a diagnostic is about the function, which may have been edited."""
        span = diagnostic.span
        return span is not None and self.before <= span.start <= len(span.source.text) - self.after

    def function(self, edited: str) -> str | None:
        """Returns the function in a text that was edited; ``None`` where something around it was edited as well."""
        before, after = self.text[: self.before], self.text[len(self.text) - self.after :]
        if len(edited) < self.before + self.after or not (edited.startswith(before) and edited.endswith(after)):
            return None
        return edited[self.before : len(edited) - self.after]


class Functions:
    """The functions of a text, each with its diagnostics."""

    def __init__(self, pieces: Pieces, found: Sequence[Diagnostic]) -> None:
        self.pieces = pieces
        self.texts = [pieces.text[start:end] for start, end in pieces.functions]
        self._places = pieces.places()
        self._names: list[set[str]] | None = None
        self._homes: dict[str, int] = {}
        self.reported: dict[int, list[Diagnostic]] = {}
        for diagnostic in found:
            if diagnostic.span is not None:
                number = pieces.at(diagnostic.span.start)
                if number is not None:
                    self.reported.setdefault(number, []).append(diagnostic)

    def apart(self, number: int) -> Apart:
        """Returns a function with the frame and the functions that it names, and those that these name."""
        frame, text, last = self.pieces.frame, "", 0
        before = 0
        for one in self._named_by(number):
            text += frame[last : self._places[one]]
            last = self._places[one]
            if one == number:
                before = len(text)
            text += self.texts[one]
        text += frame[last:]
        return Apart(text, before, len(text) - before - len(self.texts[number]))

    def _named_by(self, number: int) -> list[int]:
        if self._names is None:
            # A name may have lost its sign.
            self._homes = {found[1]: one for one, text in enumerate(self.texts) for found in _HEADER.finditer(text)}
            self._names = [self._homes.keys() & set(_WORD.findall(text)) for text in self.texts]
        reached, pending = {number}, [number]
        while pending:
            for name in self._names[pending.pop()]:
                home = self._homes[name]
                if home not in reached:
                    reached.add(home)
                    pending.append(home)
        return sorted(reached)

    def is_same_report(self, number: int, apart: Apart, found: Sequence[Diagnostic]) -> bool:
        """Returns whether ``found``, reported for the separate function, is what is reported for it in the whole
        text."""
        start = self.pieces.functions[number][0]
        here = sorted(map(repr, (_words(one, start) for one in self.reported[number])))
        return here == sorted(map(repr, (_words(one, apart.before) for one in found if apart.has(one))))

    def with_texts(self, new: dict[int, str]) -> str:
        """Returns the whole text with other functions."""
        text, last = "", 0
        for number in sorted(new):
            start, end = self.pieces.functions[number]
            text += self.pieces.text[last:start] + new[number]
            last = end
        return text + self.pieces.text[last:]


def functions(text: str, found: Sequence[Diagnostic]) -> Functions | None:
    """Returns the functions of a text that can be fixed one by one; ``None`` where it has one function only."""
    pieces = split(text)
    return None if pieces is None or len(pieces.functions) < 2 else Functions(pieces, found)


def _words(diagnostic: Diagnostic, start: int) -> tuple[object, ...]:
    """Severity, rule, message and position in the function."""
    span = diagnostic.span
    place = None if span is None else (span.start - start, span.end - start)
    return diagnostic.rule, diagnostic.severity, diagnostic.message, diagnostic.help, place
