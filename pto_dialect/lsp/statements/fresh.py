"""Completions at the beginning of a statement: operations, the usual ones first, each with a whole statement."""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple
from urllib.parse import unquote

from lsprotocol import types
from xdsl.ir import Attribute

from pto_dialect.driver.explain.schema import forms
from pto_dialect.driver.reference.operations import computes
from pto_dialect.ir.core.aliases import DEPRECATED
from pto_dialect.ir.core.base import signature
from pto_dialect.ir.core.index import OPS
from pto_dialect.ir.core.registry import op_class
from pto_dialect.ir.core_dialects.core_ops import ALIASES, CORE_SHAPES
from pto_dialect.ir.core_dialects.forms import MANY_RESULTS, forms_of, result_counts, shown

from ..program.document import Document
from ..program.statement import Statement
from .names import targets_of
from .scope import values_before
from .snippets import plain, statement
from .usual import ranking

MOST = 100
"""Operations that are offered at once; what is written further chooses among all."""
WHOLE = 12
"""The first of them, which have whole statements."""
_SHORT = {long: short for short, long in ALIASES.items()}
_TARGET = re.compile(r'pto\.target_arch\s*=\s*"(\w+)"')
_OUTSIDE = {"func.func": True, "module": True}
"""Operations that are outside of functions; others are inside."""
_OPERANDS = 120
"""Values that may become operands, the nearest ones."""
_PLAIN = ("kernel", "main")
"""Names of files that say nothing."""
_NEAR = 20_000
"""Characters before the cursor that say what is usual."""


class _Row(NamedTuple):
    """An operation in the list: what it computes, its form, the numbers of results it may have, and its targets."""

    computes: str
    form: str
    results: range
    targets: frozenset[str]


def takes_snippets(server: object) -> bool:
    """Returns whether the client fills in snippets."""
    capabilities = getattr(getattr(server, "client_capabilities", None), "text_document", None)
    item = getattr(getattr(capabilities, "completion", None), "completion_item", None)
    return bool(getattr(item, "snippet_support", False))


def fits(prefix: str, label: str) -> bool:
    """Returns whether ``label`` contains the typed characters in their order."""
    rest = iter(label.lower())
    return all(char in rest for char in prefix.lower())


def warm() -> None:
    """Does what the first completion would have to do: looks at all operations."""
    _operations()
    ranking("")


@cache
def _operations() -> dict[str, _Row]:
    """Returns the operations by their names in texts."""
    rows: dict[str, _Row] = {}
    for name in OPS:
        if name not in DEPRECATED:
            cls = op_class(name)
            slots = signature(cls).results
            most = MANY_RESULTS if any(slot.arity == "*" for slot in slots) else len(slots)
            results = range(sum(slot.arity == "1" for slot in slots), most + 1)
            rows[name] = _Row(computes(cls).replace("``", "`"), forms(cls)[0], results, targets_of(name))
    for name in CORE_SHAPES:
        full = ALIASES.get(name, name)
        form = shown(forms_of(full)[0]).splitlines()[0]
        rows[_SHORT.get(name, name)] = _Row("", form, result_counts(full), frozenset())
    return rows


def operation_list(document: Document, written: Statement, offset: int, snippets: bool) -> types.CompletionList:
    """Returns the operations that the prefix fits, the usual ones first."""
    prefix, results = written.prefix, _results_before(written)
    scores = ranking(text_before(document.text, written.start), document.type_aliases, title_of(document.uri))
    rows = [
        (name, row) for name, row in _operations().items() if fits(prefix, name) and (not results or row.results[-1])
    ]
    # What begins as written comes first, also after the name of its dialect.
    target, inside = _target(document), _is_in_function(document.text, written.start)

    def order(item: tuple[str, _Row]) -> tuple[object, ...]:
        name, row = item
        absent = bool(row.targets) and target is not None and target not in row.targets
        absent = absent or _OUTSIDE.get(name, False) == inside
        misfit = bool(results) and results not in row.results
        return _distance(prefix, name), absent or misfit, -scores.get(ALIASES.get(name, name), 0.0)

    rows.sort(key=order)
    area = document.range(written.prefix_start, offset)
    scope = values_before(document, written.start)[:_OPERANDS] if snippets else []
    named = _named_types(document) if snippets else ()
    items: list[types.CompletionItem] = []
    for number, (name, row) in enumerate(rows[:MOST]):
        item = types.CompletionItem(name, kind=types.CompletionItemKind.Function, data=ALIASES.get(name, name))
        item.label_details = types.CompletionItemLabelDetails(description=row.computes) if row.computes else None
        item.detail = row.form or None
        item.filter_text, item.sort_text = name, f"{number:05}"
        text = statement(ALIASES.get(name, name), scope, results, named) if snippets and number < WHOLE else None
        if text is None:
            item.text_edit = types.TextEdit(area, name)
        else:
            item.text_edit = types.TextEdit(area, text)
            item.insert_text_format = types.InsertTextFormat.Snippet
            item.insert_text_mode = types.InsertTextMode.AdjustIndentation
            item.detail = plain(text).splitlines()[0]
        items.append(item)
    return types.CompletionList(len(rows) > MOST or (snippets and len(rows) > WHOLE), items)


def _results_before(written: Statement) -> int:
    """Returns the number of results whose names, with the equals sign, are before the cursor."""
    token = written.tokens[-1] if written.tokens else None
    if token is None or token.type != "RESULTS":
        return 0
    return sum(int(count or 1) for count in re.findall(r"%[\w.$-]+(?::(\d+))?", token.text))


def title_of(uri: str) -> str:
    """Returns the name of a file without its ending, or that of its folder where it says nothing."""
    *folders, name = unquote(uri).split("/")
    stem = name.partition(".")[0]
    return folders[-1] if stem in _PLAIN and folders else stem


def text_before(text: str, offset: int) -> str:
    """Returns what says what is usual: the text near an offset, with the headers of its module and function."""
    start = text.rfind("\n", 0, max(0, offset - _NEAR)) + 1
    headers = (text.rfind(word, 0, offset) for word in ("module attributes", "func.func"))
    lines = (text[at : text.find("\n", at) + 1] for at in headers if 0 <= at < start)
    return f"{''.join(lines)}{text[start:offset]}"


def _is_in_function(text: str, offset: int) -> bool:
    """Returns whether a function is open at an offset."""
    start = text.rfind("func.func", 0, offset)
    return start >= 0 and text.count("{", start, offset) > text.count("}", start, offset)


def _target(document: Document) -> str | None:
    """Returns the chip that the program is for, as lists of targets name it."""
    found = _TARGET.search(document.text)
    target = document.options.target or (found[1] if found else None)
    return "a2a3" if target in ("a2", "a3") else target


def _distance(prefix: str, name: str) -> int:
    if name.startswith(prefix) or name.rpartition(".")[2].startswith(prefix):
        return 0
    return 1


def _named_types(document: Document) -> tuple[Attribute, ...]:
    """Returns the types that the program has names for."""
    found = (document.type_named(name) for name in document.type_aliases)
    return tuple(kind for kind in found if kind is not None)
