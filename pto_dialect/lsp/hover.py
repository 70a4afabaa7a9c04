"""Hover texts: the meaning of an operation, a value, a type or a keyword."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

from lsprotocol import types
from xdsl.ir import BlockArgument, Operation, SSAValue

from pto_dialect.analysis.constants import constant_of
from pto_dialect.driver.explain.lookup import operation_named
from pto_dialect.driver.explain.manual.prose import marked, prose_of
from pto_dialect.driver.explain.manual.units import unit_of
from pto_dialect.driver.explain.operand_words import access, meaning
from pto_dialect.driver.explain.page import Code, Page, Text, plain
from pto_dialect.driver.explain.schema import forms
from pto_dialect.driver.explain.terms import terms
from pto_dialect.driver.reference.core import DOCUMENTED, declared
from pto_dialect.driver.reference.operations import pipe, targets
from pto_dialect.ir.clauses import clauses_of
from pto_dialect.ir.core.base import PtoOp, Slot, signature
from pto_dialect.ir.core.registry import op_class
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.types import type_text
from pto_dialect.ir.core_dialects.core_ops import ALIASES
from pto_dialect.ir.core_dialects.forms import forms_of, shown
from pto_dialect.syntax.read.tokens import Tok
from pto_dialect.syntax.text import split_types

from .program.document import Document
from .program.events import describe_partners
from .program.live import life
from .program.lookup import operation_at, operations_at, value_of
from .program.names import SYMBOL, VALUE
from .program.type_description import describe_type

_LINK = re.compile(r"\[(`[^`]*`)\]\([^)]*\)")
"""A link to a page, which an editor does not have."""
_WORD = re.compile(r"[A-Za-z_][\w.]*")


def hover(server: object, document: Document, params: types.HoverParams) -> types.Hover | None:
    """Returns the answer to a hover."""
    offset = document.offset(params.position)
    base, names = document.names_at(offset)
    name = names.at(offset - base)
    if name is not None:
        text = _named(document, base, offset, name.text, name.kind)
        if text is None and name.kind == VALUE:
            value = value_of(document, base, name)
            text = None if value is None else _value(document, name.text, value)
        area = document.range(base + name.start, base + name.end)
        return None if text is None else _shown(text, area)
    token = names.token_at(offset - base)
    return None if token is None else _token(document, base, offset, token)


def _shown(text: str, area: types.Range) -> types.Hover:
    return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, text), area)


def _named(document: Document, base: int, offset: int, text: str, kind: str) -> str | None:
    """Returns a function, by its header."""
    if kind != SYMBOL:
        return None
    found = re.search(rf"^[ \t]*(func\.func[^@\n]*{re.escape(text)}\(.*)$", document.text, re.MULTILINE)
    return None if found is None else f"```mlir\n{found[1].rstrip(' {')}\n```"


def _value(document: Document, name: str, value: SSAValue) -> str:
    lines = [f"```mlir\n{name} : {type_text(value.type)}\n```", *(f"{words}  " for words in describe_type(value.type))]
    number = constant_of(value)
    if number is not None:
        shown = f"{number} (0x{number:x})" if isinstance(number, int) and number > 9 else str(number)
        lines.append(f"always {shown}  ")
    if isinstance(value, BlockArgument):
        lines.append("argument of a region or function  ")
    elif isinstance(value.owner, Operation) and has_role(value.owner, Role.TILE_ALLOCATION):
        lines += _life(document, value.owner)
    return "\n".join(lines)


def _life(document: Document, made: Operation) -> list[str]:
    function = made
    while (outer := function.parent_op()) is not None and not has_role(function, Role.FUNCTION):
        function = outer
    found = life(document, function, made)
    if found is None:
        return []
    if found.first is None or found.last is None:
        return ["needed throughout the function  "]
    return [f"needed from line {found.first + 1} to line {found.last + 1}  "]


def _token(document: Document, base: int, offset: int, token: Tok) -> types.Hover | None:
    area = document.range(base + token.start, base + token.end)
    if token.type.startswith("OP_"):
        name = operation_named(token.text)
        if name is None:
            core = ALIASES.get(token.text, token.text)
            return _shown(core_operation_text(core), area) if core in DOCUMENTED else None
        text = operation_text(name)
        op = operation_at(document, base + token.start)
        event = describe_partners(document, op, operations_at(document, offset)) if op is not None else ""
        return _shown(text + (f"\n\n{event}" if event else ""), area)
    inside = offset - base - token.start
    if token.type in ("TYPES", "ANGLE", "HASH"):
        return _type(document, base, token, inside)
    for word in _WORD.finditer(token.text):
        if word.start() <= inside <= word.end():
            return _term(document, base + token.start, word)
    return None


def _type(document: Document, base: int, token: Tok, inside: int) -> types.Hover | None:
    for spelling, start in split_types(token.text):
        if start <= inside <= start + len(spelling):
            area = document.range(base + token.start + start, base + token.start + start + len(spelling))
            kind = document.type_named(spelling)
            if kind is not None:
                words = "  \n".join(describe_type(kind))
                alias = "" if type_text(kind) == spelling else f" = {type_text(kind)}"
                return _shown(f"```mlir\n{spelling}{alias}\n```\n{words}".rstrip(), area)
            text = term_text(spelling.strip("!#<>").partition("<")[0])
            return None if text is None else _shown(text, area)
    return None


def _term(document: Document, start: int, word: re.Match[str]) -> types.Hover | None:
    text = term_text(word[0])
    return None if text is None else _shown(text, document.range(start + word.start(), start + word.end()))


@cache
def _terms() -> dict[str, Callable[[], Page]]:
    return terms()


def warm() -> None:
    """Does what the first hover would have to do: looks up all words."""
    term_text("pipe_v")


@cache
def term_text(word: str) -> str | None:
    """Returns a short page about a term: what it is, and its first section."""
    maker = _terms().get(word.lower())
    return None if maker is None else _short(maker())


def _short(page: Page) -> str:
    lines = [f"**{page.title}** — {page.summary}"]
    for block in page.sections[0].blocks if page.sections else ():
        if isinstance(block, Text):
            lines += ["", block.text]
        elif isinstance(block, Code):
            lines += ["", f"```{block.language}", block.text, "```"]
    return "\n".join(lines)


def describe_attribute(cls: type[PtoOp], slot: Slot) -> str:
    """Returns what an attribute means."""
    return meaning(cls, slot, True)


@cache
def operation_text(name: str) -> str:
    """Returns the page of an operation in short: what it does and how, how it is written, its operands with their
    units, attributes and clauses, and its formula."""
    cls = op_class(name)
    declared = signature(cls)
    said = prose_of(name)
    lines = [f"**{name}** — {said.summary}", "", "```text", *forms(cls)[:-1], "```"]
    lines += ["", f"pipe: {pipe(cls)} · targets: {targets(cls) or '–'}", ""]
    for slot in declared.operands:
        number = {"1": "", "?": "optional", "*": "any number"}[slot.arity]
        words = ", ".join(filter(None, (plain(slot.kind.label), number, access(cls, slot.name))))
        lines.append(f"- `%{slot.name}` ({words}): {meaning(cls, slot)}{_measured(cls, slot)}")
    for slot in declared.attributes.values():
        lines.append(f"- `{slot.name}`: {describe_attribute(cls, slot)}{_measured(cls, slot, True)}")
    rows = clauses_of(cls)
    if rows:
        lines += ["", "clauses, in this order:", ""]
        lines += [f"- `{taken.keyword}`: {taken.row.summary}" for taken in rows]
    if said.formula:
        lines += ["", "```text", *said.formula, "```"]
    for paragraph in said.mechanism:
        lines += ["", _LINK.sub(r"\1", marked(paragraph))]
    return "\n".join(lines)


def _measured(cls: type[PtoOp], slot: Slot, attribute: bool = False) -> str:
    """Returns the unit of an operand or attribute, with its range."""
    found = unit_of(cls, slot, attribute)
    return "" if found is None else f" — {found}"


_ARITY = {"1": "", "?": " (optional)", "*": " (any number)"}


@cache
def core_operation_text(name: str) -> str:
    """Returns what an operation of another dialect takes and yields."""
    wanted = declared(name)
    lines = [f"**{name}** — operation of the dialect `{name.partition('.')[0]}`", ""]
    for slots, mark, words in (
        (wanted.operands, "%", "operand"),
        (wanted.results, "%", "result"),
        (wanted.attributes, "", "attribute"),
    ):
        lines += [f"- {words} `{mark}{slot.name}`{_ARITY[slot.arity]}: {plain(slot.kind.label)}" for slot in slots]
    written = [shown(form) for form in forms_of(name)]
    return "\n".join((*lines, *(("", "```pto", *written, "```") if written else ())))
