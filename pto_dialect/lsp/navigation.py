"""From a name to what it stands for and back: definition, references, rename, highlights."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams

from pto_dialect.patterns import portable

from .program.document import Document
from .program.events import partner_locations
from .program.names import BLOCK, SYMBOL, VALUE, Name, is_symbol_definition

_OUTSIDE = re.compile(
    portable(r"//[^\n]*|(@(?:[\w$.]+|\"(?:[^\"\\\n]|\\.)*\"))|\"(?:[^\"\\\n]++|\\.)*+\"|(![A-Za-z_]\w*)(?![\w.$<])")
)
_NEW = {VALUE: re.compile(r"%?[A-Za-z_$.\-][\w$.\-]*|%?\d+"), BLOCK: re.compile(r"\^?[A-Za-z_$.\-][\w$.\-]*|\^?\d+"),
        SYMBOL: re.compile(r"@?[A-Za-z_][\w$.]*"), "type": re.compile(r"!?[A-Za-z_]\w*")}  # fmt: skip
_MARKS = {VALUE: "%", BLOCK: "^", SYMBOL: "@", "type": "!"}


class Use(NamedTuple):
    """A use of a name in the text."""

    start: int
    end: int
    defines: bool


class Occurrence(NamedTuple):
    """The name at a position, and all uses of what it refers to."""

    kind: str
    text: str
    here: Use
    uses: tuple[Use, ...]


def occurrence_at(document: Document, offset: int) -> Occurrence | None:
    """Returns the name at a position with all its uses: a value, block, function, or alias of a type."""
    base, names = document.names_at(offset)
    name = names.at(offset - base)
    if name is not None and name.kind != SYMBOL:
        uses = tuple(_use(base, one) for one in names.same(name))
        return Occurrence(name.kind, name.text, _use(base, name), uses)
    here = next((use for use in _outside(document.text) if use[0].start <= offset <= use[0].end), None)
    if here is None:
        return None
    use, kind, text = here
    if kind == "type" and text not in document.type_aliases:
        return None
    return Occurrence(kind, text, use, tuple(one for one, k, t in _outside(document.text) if (k, t) == (kind, text)))


def _use(base: int, name: Name) -> Use:
    return Use(base + name.start, base + name.end, name.defines)


def _outside(text: str) -> Iterator[tuple[Use, str, str]]:
    """Symbols and aliases of types, which are visible in the whole text."""
    for found in _OUTSIDE.finditer(text):
        if found[1]:
            yield Use(*found.span(1), is_symbol_definition(text, found.start())), SYMBOL, found[1]
        elif found[2]:
            defines = text[found.end() :].lstrip(" \t").startswith("=")
            yield Use(*found.span(2), defines), "type", found[2]


def symbol_definitions(text: str) -> list[str]:
    """Returns the functions and modules of a text."""
    return list(dict.fromkeys(name for use, kind, name in _outside(text) if kind == SYMBOL and use.defines))


def definition(server: object, document: Document, params: types.DefinitionParams) -> list[types.Location] | None:
    """Returns where it is defined; of a flag that is waited for, where it is set, and the other way round."""
    offset = document.offset(params.position)
    found = occurrence_at(document, offset)
    if found is None:
        return [types.Location(document.uri, area) for area in partner_locations(document, offset)] or None
    places = [use for use in found.uses if use.defines]
    return [types.Location(document.uri, document.range(use.start, use.end)) for use in places] or None


def references(server: object, document: Document, params: types.ReferenceParams) -> list[types.Location] | None:
    """Returns where it is used."""
    offset = document.offset(params.position)
    found = occurrence_at(document, offset)
    if found is None:
        return [types.Location(document.uri, area) for area in partner_locations(document, offset)] or None
    wanted = [use for use in found.uses if params.context.include_declaration or not use.defines]
    return [types.Location(document.uri, document.range(use.start, use.end)) for use in wanted]


def highlight(
    server: object, document: Document, params: types.DocumentHighlightParams
) -> list[types.DocumentHighlight] | None:
    """Returns all uses of the name at a position; definitions as writes."""
    offset = document.offset(params.position)
    found = occurrence_at(document, offset)
    if found is None:
        return [types.DocumentHighlight(area) for area in partner_locations(document, offset)] or None
    kinds = {True: types.DocumentHighlightKind.Write, False: types.DocumentHighlightKind.Read}
    return [types.DocumentHighlight(document.range(use.start, use.end), kinds[use.defines]) for use in found.uses]


def prepare_rename(server: object, document: Document, params: types.PrepareRenameParams) -> types.Range | None:
    """Returns what a rename would rename."""
    found = occurrence_at(document, document.offset(params.position))
    return None if found is None else document.range(found.here.start, found.here.end)


def rename(server: object, document: Document, params: types.RenameParams) -> types.WorkspaceEdit | None:
    """Edits that rename all uses; an invalid name, or one that is already in use there, is refused."""
    found = occurrence_at(document, document.offset(params.position))
    if found is None:
        return None
    if not _NEW[found.kind].fullmatch(params.new_name):
        raise JsonRpcInvalidParams(f"'{params.new_name}' is no name of a {found.kind}")
    mark = _MARKS[found.kind]
    new = mark + params.new_name.removeprefix(mark)
    if new != found.text and _is_name_in_use(document, found, new):
        raise JsonRpcInvalidParams(f"{new} exists already")
    edits = [types.TextEdit(document.range(use.start, use.end), new) for use in found.uses]
    return types.WorkspaceEdit(changes={document.uri: edits})


def _is_name_in_use(document: Document, found: Occurrence, new: str) -> bool:
    if found.kind in (VALUE, BLOCK):
        return any(one.text == new for one in document.names_at(found.here.start)[1].names)
    return any(text == new for _, _, text in _outside(document.text))
