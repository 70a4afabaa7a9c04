"""Semantic tokens: what each word is, where a grammar of regular expressions cannot tell."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from lsprotocol import types

from pto_dialect.ir.clauses import clause_keywords
from pto_dialect.ir.core.aliases import DEPRECATED
from pto_dialect.syntax.read.tokens import Tok
from pto_dialect.syntax.text import split_types

from .program.document import Document
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


class Word(NamedTuple):
    """A word of the text, what it is, and its modifiers."""

    start: int
    end: int
    kind: str
    modifiers: int = 0


def whole(server: object, document: Document, params: types.SemanticTokensParams) -> types.SemanticTokens:
    """The words of the whole text."""
    return _encoded(document, 0, len(document.text))


def part(server: object, document: Document, params: types.SemanticTokensRangeParams) -> types.SemanticTokens:
    """The words between two positions."""
    return _encoded(document, document.offset(params.range.start), document.offset(params.range.end))


def _encoded(document: Document, start: int, end: int) -> types.SemanticTokens:
    data: list[int] = []
    line = column = 0
    lines = document.lines
    for word in sorted(_words(document, start, end)):
        begin, stop = lines.position(word.start), lines.position(word.end)
        if begin.line != stop.line or stop.character <= begin.character:
            continue
        if begin.line != line:
            column = 0
        data += [begin.line - line, begin.character - column, stop.character - begin.character]
        data += [TYPES.index(word.kind), word.modifiers]
        line, column = begin.line, begin.character
    return types.SemanticTokens(data)


def _words(document: Document, start: int, end: int) -> Iterator[Word]:
    last = 0
    for begin, stop in document.pieces.functions if document.pieces is not None else ():
        if begin > start and last < end:
            yield from _of_tokens(tokens(document.text[last:begin], assembly=False), last)
        if stop >= start and begin <= end:
            yield from _of_names(document.names_at(begin)[1], begin)
        last = stop
    if document.pieces is None:
        yield from _of_names(document.names_at(0)[1], 0)
    elif last < end:
        yield from _of_tokens(tokens(document.text[last:], assembly=False), last)


def _of_names(names: Names, base: int) -> Iterator[Word]:
    yield from _of_tokens(names.tokens, base, names=True)
    body = next((token.start for token in names.tokens if token.type == "LBRACE"), 0)
    parameters = {name.binding for name in names.names if name.kind == VALUE and name.defines and name.start < body}
    for name in names.names:
        kind = "parameter" if name.kind == VALUE and name.binding in parameters else _OF_KIND[name.kind]
        yield Word(base + name.start, base + name.end, kind, int(name.defines))


def _of_tokens(found: list[Tok], base: int, names: bool = False) -> Iterator[Word]:
    for number, token in enumerate(found):
        start, kind = base + token.start, token.type
        if kind.startswith("OP_"):
            yield Word(start, start + len(token.text), "method", 2 * (token.text in DEPRECATED))
        elif kind in ("TYPES", "TYPE_ALIAS"):
            for spelling, place in split_types(token.text.removesuffix("=")):
                yield Word(start + place, start + place + len(spelling), "type", int(kind == "TYPE_ALIAS"))
        elif kind == "SYMBOL" and not names:
            yield Word(start, start + len(token.text), "function")
        elif kind in _OF_TOKEN:
            yield Word(start, start + len(token.text), _OF_TOKEN[kind])
        elif token.text in _CLAUSES or kind in ("INS", "OUTS"):
            yield Word(start, start + len(token.text.rstrip("( \t\n")), "keyword")
        elif token.text[:1].isalpha() and kind not in _NAMED:
            key = number + 1 < len(found) and found[number + 1].text == "="
            yield Word(start, start + len(token.text), "property" if key else "keyword")
