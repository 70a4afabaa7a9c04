"""Completions at a position: operations, clauses in their order, enumerators of attributes, values, types."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice

from lsprotocol import types

from pto_dialect.driver.explain.schema import forms, values_of
from pto_dialect.driver.reference.clauses import words_of, written
from pto_dialect.driver.reference.core import DOCUMENTED
from pto_dialect.ir.clauses import CLAUSES, clauses_of
from pto_dialect.ir.core.attributes import ENUMS
from pto_dialect.ir.core.base import PtoOp, Shape, op_spec, signature
from pto_dialect.ir.core.clauses import Form
from pto_dialect.ir.core.index import OPS
from pto_dialect.ir.core.roles import Role
from pto_dialect.ir.core.types import BUILTIN_SCALARS, PLAIN_TYPES
from pto_dialect.ir.core_dialects.core_ops import CORE_SHAPES
from pto_dialect.ir.core_dialects.words import PREDICATES
from pto_dialect.passes.accesses.items import NUMBER
from pto_dialect.syntax.types.forms import PTO_FORMS

from .expected import expected_types, in_order, type_place
from .hover import core_operation_text, describe_attribute, operation_text
from .navigation import symbol_definitions
from .program.document import Document
from .program.events import used_ids
from .program.lookup import operations_at
from .program.names import BLOCK, SYMBOL
from .program.statement import Opened, Statement
from .statements.fresh import fits as _fits
from .statements.fresh import operation_list, takes_snippets
from .statements.words import frame_words, run_line_items, tile_words

_WITHOUT_VALUES = {"arith.constant": True, "func.call": True}
_FOLLOWING = {"scf.for": ("to", "step", "iter_args(")}
"""Keywords that follow the values of an operation, in their order."""
_TYPES = 20
"""Whole types that are offered."""
_PIPE = re.compile(r"PIPE_\w+")
_NUMBERS = {pipe.value: number for pipe, number in NUMBER.items()}
Kind = types.CompletionItemKind
_MOST = 250
"""Values that are offered, the nearest ones; what is written further chooses among all of them."""
TRIGGERS = [".", "%", "!", "@", "#", "^", "<", "{", "[", "(", '"', " "]


def completion(server: object, document: Document, params: types.CompletionParams) -> types.CompletionList:
    """Returns the answer to a request for completion."""
    offset = document.offset(params.position)
    statement = Statement(document.text, offset)
    if statement.in_comment:
        items = list(run_line_items(document.text, offset))
    elif (words := frame_words(document.text, statement.prefix_start)) is not None:
        items = list(words)
    elif statement.names_operation:
        return operation_list(document, statement, offset, takes_snippets(server))
    else:
        items = list(_items(document, statement, offset))
    items = [item for item in items if _fits(statement.prefix, item.filter_text or item.label)]
    items.sort(key=lambda item: not (item.filter_text or item.label).startswith(statement.prefix))
    area = document.range(statement.prefix_start, offset)
    for number, item in enumerate(items):
        text = item.insert_text or item.label
        item.text_edit = types.TextEdit(area, text)
        item.insert_text = None
        item.filter_text = item.filter_text or item.label
        item.sort_text = item.sort_text or f"{number:05}"
    return types.CompletionList(len(items) >= _MOST, items)


def resolve(item: types.CompletionItem) -> types.CompletionItem:
    """Returns the page of an operation, for the one that is looked at."""
    if isinstance(item.data, str) and item.data in OPS:
        item.documentation = types.MarkupContent(types.MarkupKind.Markdown, operation_text(item.data))
    elif isinstance(item.data, str) and item.data in DOCUMENTED:
        item.documentation = types.MarkupContent(types.MarkupKind.Markdown, core_operation_text(item.data))
    return item


def _items(document: Document, statement: Statement, offset: int) -> Iterator[types.CompletionItem]:
    mark = statement.prefix[:1]
    opened = statement.opened()
    if mark == "%":
        yield from _values(document, statement)
    elif mark == "!":
        yield from _types(document, statement)
    elif mark == "@":
        yield from _names(document, SYMBOL)
    elif mark == "^":
        yield from _names(document, BLOCK, offset)
    elif mark == "#":
        yield from _attributes(statement, opened[-1] if opened else None)
    elif (words := tile_words(document.text, statement.prefix_start + (mark == "<"))) is not None:
        yield from _after_bracket(words, mark)
    elif (cls := statement.operation) is not None:
        yield from _in_statement(document, statement, cls, opened[-1] if opened else None, offset)
    elif statement.name in CORE_SHAPES:
        yield from _in_core_statement(document, statement)


def _in_core_statement(document: Document, statement: Statement) -> Iterator[types.CompletionItem]:
    """Completions after the name of an operation of another dialect: keywords, values, and types after the colon."""
    if type_place(statement) is not None:
        yield from _types(document, statement)
        return
    last = statement.behind[-1] if statement.behind else None
    if last is None or last.text in (",", "to", "step", "(", "[") or last.text.endswith("="):
        predicates = PREDICATES.get(statement.name, ()) if last is None else ()
        yield from _words(predicates)
        if not predicates and not _WITHOUT_VALUES.get(statement.name, False):
            yield from _values(document, statement)
    elif not statement.opened():
        present = [token.text for token in statement.behind]
        following = [word for word in _FOLLOWING.get(statement.name, ()) if word not in present]
        yield from _words(following[:1])


def _after_bracket(words: Iterable[types.CompletionItem], mark: str) -> Iterator[types.CompletionItem]:
    """Keywords after an angle bracket, which they replace where it is the beginning of the prefix."""
    for item in words:
        if mark == "<":
            item.insert_text, item.filter_text = f"<{item.insert_text or item.label}", f"<{item.label}"
        yield item


def _in_statement(
    document: Document, statement: Statement, cls: type[PtoOp], inside: Opened | None, offset: int
) -> Iterator[types.CompletionItem]:
    """Completions after the name of an operation of this dialect."""
    tokens = list(_tokens(document, statement, cls, inside, offset))
    if tokens:
        yield from tokens
    elif inside is not None and inside.bracket == "{":
        yield from _dictionary(cls, inside)
    elif inside is not None and any(inside.word in taken.row.keywords for taken in clauses_of(cls)):
        yield from _clause_keywords(cls, inside)
    elif inside is not None and inside.bracket == "(" and not inside.commas and _opens_values(statement):
        yield from _values(document, statement)
    elif statement.stated_types and not _ends_list(statement):
        yield from _types(document, statement)
    elif inside is None:
        yield from _lists(statement, cls)
        yield from _clauses(statement, cls)
        if not statement.behind or statement.behind[-1].text == ",":
            yield from _values(document, statement)
    else:
        yield from _values(document, statement)


def _opens_values(statement: Statement) -> bool:
    """Returns whether the cursor follows the parenthesis that opens a group of values."""
    return statement.behind[-1].type in ("INS", "OUTS")


def _ends_list(statement: Statement) -> bool:
    """Returns whether the cursor follows the parenthesis that closes such a group."""
    return statement.behind[-1].text == ")" and any(token.type in ("INS", "OUTS") for token in statement.behind)


def _lists(statement: Statement, cls: type[PtoOp]) -> Iterator[types.CompletionItem]:
    """Yields the group of values that must come next, ``ins`` or ``outs``."""
    present = [token.type for token in statement.behind]
    for word in ("ins(", "outs("):
        if word[:-1].upper() not in present:
            if word in forms(cls)[0] and (not present or statement.behind[-1].text == ")"):
                yield types.CompletionItem(word, kind=Kind.Keyword)
            return


# ------------------------------------------------------------ kinds of items


def _values(document: Document, statement: Statement) -> Iterator[types.CompletionItem]:
    names = document.names_before(statement.start)
    fitting = (name for name in names.visible(len(names.text) + 1) if _fits(statement.prefix, name.text))
    found = {name.text: name for name in islice(fitting, _MOST)}
    for name in map(found.__getitem__, in_order(document, statement, found)):
        first = names.text.rfind("\n", 0, name.start) + 1
        line = names.text[first : names.text.find("\n", first)]
        yield types.CompletionItem(name.text, kind=Kind.Variable, detail=line.strip()[:120])


def _types(document: Document, statement: Statement) -> Iterator[types.CompletionItem]:
    """Whole types that fit, as the program writes them, then all names of types."""
    for text in islice(expected_types(document, statement), _TYPES):
        yield types.CompletionItem(text, kind=Kind.Class, detail=document.type_aliases.get(text))
    for name, meaning in document.type_aliases.items():
        yield types.CompletionItem(name, kind=Kind.Class, detail=meaning)
    for name in (*PTO_FORMS, *PLAIN_TYPES):
        yield types.CompletionItem(f"!{name}", kind=Kind.Class)
    for name in BUILTIN_SCALARS:
        yield types.CompletionItem(name, kind=Kind.Class)


def _names(document: Document, kind: str, offset: int | None = None) -> Iterator[types.CompletionItem]:
    if kind == BLOCK and offset is not None:
        found = [one.text for one in document.names_at(offset)[1].names if one.kind == BLOCK and one.defines]
        yield from (types.CompletionItem(name, kind=Kind.Reference) for name in dict.fromkeys(found))
        return
    for name in symbol_definitions(document.text):
        yield types.CompletionItem(name, kind=Kind.Function)


def _attributes(statement: Statement, inside: Opened | None) -> Iterator[types.CompletionItem]:
    cls = statement.operation
    if cls is not None and inside is not None and inside.bracket == "{" and inside.key in signature(cls).attributes:
        yield from _dictionary(cls, inside)
        return
    for spec in ENUMS.values():
        for value in spec.values:
            text = spec.spell(value)
            if text.startswith("#"):
                yield types.CompletionItem(text, kind=Kind.EnumMember, detail=spec.name)


def _words(words: Iterable[str], detail: str = "") -> Iterator[types.CompletionItem]:
    for word in words:
        yield types.CompletionItem(word, kind=Kind.EnumMember, detail=detail or None)


# ------------------------------------------------------------ parts of statements


def _tokens(
    document: Document, statement: Statement, cls: type[PtoOp], inside: Opened | None, offset: int
) -> Iterator[types.CompletionItem]:
    """Yields keywords in fixed places: pipes and events in brackets, patterns in quotes."""
    spec = op_spec(cls)
    if spec.shape in (Shape.SYNC_BRACKET, Shape.SYNC_TOKEN):
        if spec.shape is Shape.SYNC_BRACKET and (inside is None or inside.bracket != "["):
            return
        number = inside.commas if inside is not None else sum(token.text == "," for token in statement.behind)
    elif spec.shape in (Shape.LEAD_STRING, Shape.CACHE) and statement.behind[-1:] == []:
        number = 0
    else:
        return
    if number >= len(spec.tokens):
        return
    slot = signature(cls).attributes.get(spec.tokens[number])
    words = values_of(cls, slot) if slot is not None else ()
    if slot is not None and slot.kind.enums == ("event",):
        words, free = _events(document, statement, words, offset)
        details = "free between these pipes"
        for word in words:
            item = types.CompletionItem(word, kind=Kind.EnumMember, detail=details if word in free else "in use")
            yield _bracketed(item, statement)
        return
    for item in _words(words, spec.tokens[number]):
        if spec.shape in (Shape.LEAD_STRING, Shape.CACHE):
            item.insert_text = f'"{item.label}"'
        else:
            _bracketed(item, statement)
        yield item


def _bracketed(item: types.CompletionItem, statement: Statement) -> types.CompletionItem:
    """With the angle brackets of pipe and event enumerators."""
    item.insert_text = f"<{item.label}>"
    item.filter_text = f"{'<' if statement.prefix.startswith('<') else ''}{item.label}"
    return item


def _events(document: Document, statement: Statement, words: Iterable[str], offset: int) -> tuple[list[str], list[str]]:
    """Returns the events in the order in which they are useful, and those that nobody uses between the pipes of the
    statement: for a set the free ones first, for a wait those that are set."""
    pipes = [word for token in statement.behind for word in _PIPE.findall(token.text)]
    numbers = [_NUMBERS[pipe] for pipe in pipes if pipe in _NUMBERS]
    used = used_ids(operations_at(document, offset), *numbers[:2]) if len(numbers) >= 2 else set()
    all_words = list(words)
    free = [word for number, word in enumerate(all_words) if number not in used]
    taken = [word for word in all_words if word not in free]
    waits = (cls := statement.operation) is not None and bool(op_spec(cls).roles & Role.WAITS)
    return (taken + free if waits else free + taken), free


def _dictionary(cls: type[PtoOp], inside: Opened) -> Iterator[types.CompletionItem]:
    """Yields the keys of the attribute dictionary, or the enumerators of one after its equals sign."""
    attributes = signature(cls).attributes
    if not inside.key:
        for name, slot in attributes.items():
            words = describe_attribute(cls, slot)
            yield types.CompletionItem(name, kind=Kind.Property, detail=words, insert_text=f"{name} = ")
        return
    slot = attributes.get(inside.key)
    if slot is None:
        return
    for enum in slot.kind.enums:
        yield from _words((ENUMS[enum].spell(value) for value in ENUMS[enum].values), slot.name)
    for word in slot.kind.words:
        yield types.CompletionItem(word, kind=Kind.EnumMember, detail=slot.name, insert_text=f'"{word}"')


def _clause_keywords(cls: type[PtoOp], inside: Opened) -> Iterator[types.CompletionItem]:
    """Inside of the parentheses of a clause."""
    taken = next(one for one in clauses_of(cls) if inside.word in one.row.keywords)
    row = taken.row
    if inside.key or row.form is Form.CHOICE:
        name = dict(row.named).get(inside.key, row.attribute)
        yield from _words(row.words or words_of([cls], name), row.name)
    else:
        for key, _ in row.named:
            yield types.CompletionItem(key, kind=Kind.Property, insert_text=f"{key} = ")
        for keyword, option, _ in row.options:
            if keyword == inside.word:
                yield types.CompletionItem(option, kind=Kind.EnumMember)


def _clauses(statement: Statement, cls: type[PtoOp]) -> Iterator[types.CompletionItem]:
    """Clauses after the last one present, in the order of their table."""
    rows = clauses_of(cls)
    if not rows or not any(token.type in ("USES", "INS", "OUTS", "WORD") for token in statement.behind):
        return
    table = CLAUSES[op_spec(cls).shape]
    order = list(table.rows)
    depth, last = 0, -1
    for token in statement.behind:
        depth += token.text.endswith(("(", "{", "[")) - (token.text in ")}]")
        row = table.find(token.text) if depth == 0 or token.text.endswith("(") else None
        if row is not None and token.type != "USES":
            last = max(last, order.index(row))
    repeated = [one for one in rows if one.row.form is Form.REPEATED]
    for one in rows:
        if order.index(one.row) > last or one in repeated:
            for text in written(one.row, [cls]):
                yield types.CompletionItem(text, kind=Kind.Keyword, detail=one.row.summary, filter_text=text)
