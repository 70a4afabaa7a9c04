"""Which functions name which."""

from __future__ import annotations

from collections.abc import Iterator

from lsprotocol import types

from .navigation import occurrence_at
from .program.document import Document
from .program.names import SYMBOL, Name, Names


def prepare(
    server: object, document: Document, params: types.CallHierarchyPrepareParams
) -> list[types.CallHierarchyItem] | None:
    """Returns the function named at a position."""
    found = occurrence_at(document, document.offset(params.position))
    if found is None or found.kind != SYMBOL:
        return None
    return [item for item in _items(document) if item.name == found.text] or None


def incoming(
    server: object, document: Document, params: types.CallHierarchyIncomingCallsParams
) -> list[types.CallHierarchyIncomingCall]:
    """Returns the functions that name it, and where."""
    found = []
    for start, names in _functions(document):
        places = [_range(document, start, one) for one in _uses(names) if one.text == params.item.name]
        if places:
            found.append(types.CallHierarchyIncomingCall(_item(document, start, names), places))
    return found


def outgoing(
    server: object, document: Document, params: types.CallHierarchyOutgoingCallsParams
) -> list[types.CallHierarchyOutgoingCall]:
    """Returns the functions that it names, and where."""
    known = {item.name: item for item in _items(document)}
    places: dict[str, list[types.Range]] = {}
    for start, names in _functions(document):
        if _item(document, start, names).name == params.item.name:
            for one in _uses(names):
                places.setdefault(one.text, []).append(_range(document, start, one))
    return [types.CallHierarchyOutgoingCall(known[name], found) for name, found in places.items() if name in known]


def _functions(document: Document) -> Iterator[tuple[int, Names]]:
    for start, _ in document.pieces.functions if document.pieces is not None else ():
        yield start, document.names_at(start)[1]


def _uses(names: Names) -> Iterator[Name]:
    return (one for one in names.names if one.kind == SYMBOL and not one.defines)


def _items(document: Document) -> list[types.CallHierarchyItem]:
    return [_item(document, start, names) for start, names in _functions(document)]


def _item(document: Document, start: int, names: Names) -> types.CallHierarchyItem:
    own = next((one for one in names.names if one.kind == SYMBOL and one.defines), None)
    whole = document.range(start, start + len(names.text))
    area = whole if own is None else _range(document, start, own)
    return types.CallHierarchyItem(own.text if own else "", types.SymbolKind.Function, document.uri, whole, area)


def _range(document: Document, start: int, one: Name) -> types.Range:
    return document.range(start + one.start, start + one.end)
