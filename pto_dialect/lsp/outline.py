"""The parts of a text: symbols, and what can be folded."""

from __future__ import annotations

import re

from lsprotocol import types

from pto_dialect.patterns import portable
from pto_dialect.syntax.read.pieces import Pieces

from .program.document import Document
from .program.names import BLOCK, SYMBOL, VALUE

_FOLDED = re.compile(portable(r"(//[^\n]*)|\"(?:[^\"\\\n]++|\\.)*+\"|([{}])"))
_DECLARED = re.compile(r"func\.func\s+(?:(?:private|public|nested)\s+)?(@[\w$.]+)[^\n]*")


def symbols(
    server: object, document: Document, params: types.DocumentSymbolParams
) -> list[types.DocumentSymbol] | None:
    """Modules, functions with their arguments and blocks, aliases of types."""
    pieces = document.pieces or Pieces(document.text, (), document.text)
    found = [_function(document, start, end) for start, end in pieces.functions]
    for name in document.type_aliases:
        place = re.search(rf"^[ \t]*({re.escape(name)})[ \t]*=[^\n]*", document.text, re.MULTILINE)
        if place is not None:
            found.append(_symbol(document, name, types.SymbolKind.TypeParameter, place.span(), place.span(1)))
    for place in _DECLARED.finditer(document.text):
        if pieces.at(place.start()) is None:
            found.append(_symbol(document, place[1], types.SymbolKind.Interface, place.span(), place.span(1)))
    return sorted(found, key=lambda one: (one.range.start.line, one.range.start.character))


def _symbol(
    document: Document, name: str, kind: types.SymbolKind, whole: tuple[int, int], own: tuple[int, int]
) -> types.DocumentSymbol:
    return types.DocumentSymbol(name, kind, document.range(*whole), document.range(*own))


def _function(document: Document, start: int, end: int) -> types.DocumentSymbol:
    names = document.names_at(start)[1]
    own = next((one for one in names.names if one.kind == SYMBOL and one.defines), None)
    place = (start, start + len("func.func")) if own is None else (start + own.start, start + own.end)
    shown = _symbol(document, own.text if own else "func.func", types.SymbolKind.Function, (start, end), place)
    body = next((token.start for token in names.tokens if token.type == "LBRACE"), len(names.text))
    shown.children = [
        _symbol(
            document,
            one.text,
            types.SymbolKind.Variable if one.kind == VALUE else types.SymbolKind.Key,
            (start + one.start, start + one.end),
            (start + one.start, start + one.end),
        )
        for one in names.names
        if one.defines and (one.kind == BLOCK or (one.kind == VALUE and one.start < body))
    ]
    return shown


def folding(server: object, document: Document, params: types.FoldingRangeParams) -> list[types.FoldingRange]:
    """Regions, and comments of several lines."""
    lines = document.lines
    found: list[types.FoldingRange] = []
    opened: list[int] = []
    remark: tuple[int, int] | None = None
    for mark in _FOLDED.finditer(document.text):
        line = lines.line_of(mark.start())
        if mark[2] == "{":
            opened.append(line)
        elif mark[2] == "}" and opened:
            first = opened.pop()
            if line - 1 > first:
                found.append(types.FoldingRange(first, line - 1, kind=types.FoldingRangeKind.Region))
        elif mark[1] and not document.text[lines.starts[line] : mark.start()].strip():
            first, last = remark or (line, line)
            if line > last + 1:
                found += _remark(first, last)
                first = line
            remark = (first, line)
    return found + (_remark(*remark) if remark is not None else [])


def _remark(first: int, last: int) -> list[types.FoldingRange]:
    return [types.FoldingRange(first, last, kind=types.FoldingRangeKind.Comment)] if last > first else []
