"""Semantic tokens: the kinds of tokens that a grammar of regular expressions cannot distinguish."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple
from weakref import WeakKeyDictionary

from lsprotocol import types

from pto_dialect.ir.clauses import clause_keywords
from pto_dialect.ir.core.aliases import DEPRECATED
from pto_dialect.syntax.read.tokens import Tok
from pto_dialect.syntax.text import split_types

from .program.document import Document
from .program.lines import Lines
from .program.names import BLOCK, SYMBOL, VALUE, Names
from .program.tokens import tokens

TYPES = (
    *("method", "variable", "parameter", "function", "label", "type"),
    *("keyword", "property", "enumMember", "number", "string"),
)
MODIFIERS = ("declaration", "deprecated")
LEGEND = types.SemanticTokensLegend(list(TYPES), list(MODIFIERS))
_CLAUSES = frozenset(clause_keywords())
_OF_KIND = {VALUE: "variable", BLOCK: "label", SYMBOL: "function"}
_OF_TOKEN = {"INTEGER": "number", "FLOAT": "number", "STRING": "string", "HASH": "enumMember", "ANGLE": "enumMember"}
_NAMED = ("USES", "RESULTS", "BINDINGS", "BLOCK", "SYMBOL")


class SemanticToken(NamedTuple):
    """A token of the text, its kind and its modifiers."""

    start: int
    end: int
    kind: str
    modifiers: int = 0


def whole(server: object, document: Document, params: types.SemanticTokensParams) -> types.SemanticTokens:
    """Returns the semantic tokens of the whole text."""
    return _encoded(document, 0, len(document.text))


def part(server: object, document: Document, params: types.SemanticTokensRangeParams) -> types.SemanticTokens:
    """Returns the semantic tokens between two positions."""
    return _encoded(document, document.offset(params.range.start), document.offset(params.range.end))


class _Encoder:
    """Data of the protocol: each token by its distance from the one before."""

    def __init__(self) -> None:
        self.data: list[int] = []
        self.line = self.column = 0

    def add(self, words: Iterable[SemanticToken], lines: Lines, first: types.Position) -> None:
        """Words of a text whose lines are ``lines`` and that begins at ``first``."""
        for word in sorted(words):
            begin, end = lines.position(word.start), lines.position(word.end)
            if begin.line == end.line and end.character > begin.character:
                size = end.character - begin.character
                self._token(_shifted(first, begin), [size, TYPES.index(word.kind), word.modifiers])

    def _token(self, place: types.Position, rest: list[int]) -> None:
        same = place.line == self.line
        self.data += [place.line - self.line, place.character - (self.column if same else 0), *rest]
        self.line, self.column = place.line, place.character

    def join(self, part: _Encoder, first: types.Position) -> None:
        """The tokens of ``part``, a text that begins at ``first``."""
        if part.data:
            place = _shifted(first, types.Position(part.data[0], part.data[1]))
            self._token(place, part.data[2:5])
            self.data += part.data[5:]
            last = _shifted(first, types.Position(part.line, part.column))
            self.line, self.column = last.line, last.character


def _shifted(first: types.Position, place: types.Position) -> types.Position:
    """Returns a position of a text that begins at ``first`` in a larger one."""
    return types.Position(first.line + place.line, place.character + (0 if place.line else first.character))


def _encoded(document: Document, start: int, end: int) -> types.SemanticTokens:
    found = _Encoder()
    last = 0
    for begin, stop in document.pieces.functions if document.pieces is not None else ():
        if begin > start and last < end:
            _frame(found, document, last, begin)
        if stop >= start and begin <= end:
            _function(found, document, begin)
        last = stop
    if document.pieces is None:
        _function(found, document, 0)
    elif last < end:
        _frame(found, document, last, len(document.text))
    return types.SemanticTokens(found.data)


def _frame(found: _Encoder, document: Document, start: int, end: int) -> None:
    text = document.text[start:end]
    if not text.isspace():
        found.add(_of_tokens(tokens(text, assembly=False)), Lines(text), document.lines.position(start))


def _function(found: _Encoder, document: Document, start: int) -> None:
    names = document.names_at(start)[1]
    part = _PARTS.get(names)
    if part is None:
        part = _PARTS[names] = _Encoder()
        part.add(_of_names(names), Lines(names.text), types.Position(0, 0))
    found.join(part, document.lines.position(start))


_PARTS: WeakKeyDictionary[Names, _Encoder] = WeakKeyDictionary()
"""The tokens of functions, which stay the same while other functions are edited."""


def _of_names(names: Names) -> Iterator[SemanticToken]:
    yield from _of_tokens(names.tokens, names=True)
    body = next((token.start for token in names.tokens if token.type == "LBRACE"), 0)
    parameters = {name.binding for name in names.names if name.kind == VALUE and name.defines and name.start < body}
    for name in names.names:
        kind = "parameter" if name.kind == VALUE and name.binding in parameters else _OF_KIND[name.kind]
        yield SemanticToken(name.start, name.end, kind, int(name.defines))


def _of_tokens(found: list[Tok], names: bool = False) -> Iterator[SemanticToken]:
    for number, token in enumerate(found):
        start, kind = token.start, token.type
        if kind.startswith("OP_"):
            yield SemanticToken(start, start + len(token.text), "method", 2 * (token.text in DEPRECATED))
        elif kind in ("TYPES", "TYPE_ALIAS"):
            for spelling, place in split_types(token.text.removesuffix("=")):
                yield SemanticToken(start + place, start + place + len(spelling), "type", int(kind == "TYPE_ALIAS"))
        elif kind == "SYMBOL" and not names:
            yield SemanticToken(start, start + len(token.text), "function")
        elif kind in _OF_TOKEN:
            yield SemanticToken(start, start + len(token.text), _OF_TOKEN[kind])
        elif token.text in _CLAUSES or kind in ("INS", "OUTS"):
            yield SemanticToken(start, start + len(token.text.rstrip("( \t\n")), "keyword")
        elif token.text[:1].isalpha() and kind not in _NAMED:
            key = number + 1 < len(found) and found[number + 1].text == "="
            yield SemanticToken(start, start + len(token.text), "property" if key else "keyword")
