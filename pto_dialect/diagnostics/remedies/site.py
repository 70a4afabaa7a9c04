"""What a remedy sees: a diagnostic, and the text around what it points at.

The fixes that a remedy makes are proposals. The program is checked with each of them before anybody sees it, so a
proposal that does not help costs a check and no more.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import Concatenate, NamedTuple, ParamSpec

from pto_dialect.diagnostics.diagnostic import Diagnostic
from pto_dialect.diagnostics.fix import Edit, Fix
from pto_dialect.diagnostics.remedy import Remedy
from pto_dialect.diagnostics.source import SourceFile, Span
from pto_dialect.patterns import portable

# Patterns are compiled where they are used: sites of mistakes import this module when a command starts.
_PIECE = portable(r"""(?x)(?P<comment>//[^\n]*)|(?P<string>"(?:[^"\\\n]++|\\.)*+")|(?P<mark>->|<<<|>>>|[(){}\[\]<>,:=])
    |(?P<word>[%@\#!^]?[\w$.\-]*[\w$])|(?P<other>\S)""")
_CONTINUES = r"\s*(?::(?!:)|->|,|outs\s*\(|ins\s*\(|nburst\s*\(|\{\s*\w+\s*=)"
_OPENS = {"(": ")", "[": "]", "<": ">", "{": "}"}
_CLOSES = frozenset(_OPENS.values())


class Piece(NamedTuple):
    """A mark, word or string of a text, from ``start`` up to ``end``."""

    kind: str
    text: str
    start: int
    end: int


def pieces(text: str, start: int, end: int) -> Iterator[Piece]:
    """Yields the pieces between two offsets, without comments."""
    for found in re.compile(_PIECE).finditer(text, start, end):
        kind = found.lastgroup
        if kind is not None and kind != "comment":
            yield Piece(kind, found.group(), found.start(), found.end())


TypeReader = Callable[[SourceFile], dict[str, str]]
"""Finds the types of the values of a program, by name."""


class Site:
    """A diagnostic with a source location, and queries about the text around it."""

    def __init__(self, diagnostic: Diagnostic, span: Span, read_types: TypeReader) -> None:
        self.diagnostic = diagnostic
        self.source: SourceFile = span.source
        self.text = span.source.text
        self.start, self.end = span.start, span.end
        self._read_types = read_types

    @property
    def word(self) -> str:
        """The text that the diagnostic points at."""
        return self.text[self.start : self.end]

    @property
    def line_start(self) -> int:
        """Where the line begins."""
        return self.text.rfind("\n", 0, self.start) + 1

    def line_end(self, offset: int) -> int:
        """Returns where the line of ``offset`` ends."""
        found = self.text.find("\n", offset)
        return len(self.text) if found < 0 else found

    def indentation(self, start: int) -> str:
        """White space at the beginning of the line that begins at ``start``."""
        rest = self.text[start : self.line_end(start)]
        return rest[: len(rest) - len(rest.lstrip())]

    @cached_property
    def statement_start(self) -> int:
        """Where the statement begins: a line that does not continue the one above."""
        start = self.line_start
        while start and re.compile(_CONTINUES).match(self.text, start):
            start = self.text.rfind("\n", 0, start - 1) + 1
        return start + len(self.indentation(start))

    @cached_property
    def statement_end(self) -> int:
        """The end of the line after which the statement does not continue."""
        end = self.line_end(self.start)
        while end < len(self.text) and re.compile(_CONTINUES).match(self.text, end):
            end = self.line_end(end + 1 + len(self.text[end:]) - len(self.text[end:].lstrip()))
        return end

    @cached_property
    def statement(self) -> list[Piece]:
        """The pieces of the statement."""
        return list(pieces(self.text, self.statement_start, self.statement_end))

    @cached_property
    def operation(self) -> Piece | None:
        """The name of the operation."""
        begin = next((n + 1 for n, piece in enumerate(self.statement) if piece.text == "="), 0)
        words = [piece for piece in self.statement if piece.kind == "word" and piece.text[0] not in "%@#!^"]
        behind = [piece for piece in words if piece.start >= self.statement[begin].start] if begin else []
        named = behind if begin and self.statement[0].text.startswith("%") else words
        return named[0] if named else None

    def pieces_from(self, offset: int) -> list[Piece]:
        """Returns the pieces of the statement from ``offset`` on."""
        return [piece for piece in self.statement if piece.start >= offset]

    def closing(self, opening: int) -> int | None:
        """Returns the offset of the bracket that closes the one at ``opening``; any closing bracket counts."""
        depth = 0
        for piece in pieces(self.text, opening, len(self.text)):
            if piece.text in _OPENS:
                depth += 1
            elif piece.text in _CLOSES:
                depth -= 1
                if depth <= 0:
                    return piece.start
        return None

    def trimmed(self, offset: int) -> int:
        """Returns the end of the text before ``offset``, without the white space between them."""
        return len(self.text[:offset].rstrip())

    def type_end(self, start: int) -> int:
        """Returns the end of the type that begins at ``start``."""
        depth, end = 0, start
        for piece in pieces(self.text, start, self.statement_end):
            if depth == 0 and piece.start > end:
                break
            if piece.text in _OPENS:
                depth += 1
            elif piece.text in _CLOSES:
                depth -= 1
            elif depth == 0 and piece.kind == "mark":
                break
            if depth < 0:
                break
            end = piece.end
        return end

    @cached_property
    def types(self) -> dict[str, str]:
        """The types of the values of the program that could be read, by name."""
        return self._read_types(self.source)

    # ------------------------------------------------------------ fixes

    def replaced(self, new: str, start: int | None = None, end: int | None = None, *, safe: bool = True) -> Fix:
        """Returns the fix that replaces what the diagnostic points at, or the given range, by ``new``."""
        first, last = self.start if start is None else start, self.end if end is None else end
        old = self.text[first:last]
        title = f"replace {_short(old)} by {_short(new)}" if old.strip() else f"insert {_short(new.strip())}"
        if not new.strip():
            title = f"remove {_short(old.strip())}"
        return Fix(title, (Edit(first, last, new),), safe)

    def inserted(self, new: str, at: int, *, safe: bool = True) -> Fix:
        """Returns the fix that inserts ``new`` at ``at``."""
        return self.replaced(new, at, at, safe=safe)


def _short(text: str) -> str:
    line = text.split("\n")[0]
    return f"'{line if len(line) <= 60 else line[:58] + '..'}'"


P = ParamSpec("P")

REMEDIES: dict[str, Callable[..., Iterable[Fix]]] = {}
"""What makes the fixes of a remedy, by its name."""


def remedy(fixes: Callable[Concatenate[Site, P], Iterable[Fix]]) -> Callable[P, Remedy]:
    """Declares a remedy: called with arguments it makes the data that a diagnostic carries, and ``fixes`` makes the
    edits of the text from the same arguments on request."""
    name = fixes.__name__
    assert name not in REMEDIES
    REMEDIES[name] = fixes

    def make(*arguments: P.args, **_: P.kwargs) -> Remedy:
        return Remedy(name, arguments)  # pyright: ignore[reportArgumentType]

    return make
