"""What the cursor in a statement expects: the operand that comes next, and the type that comes next."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from xdsl.ir import Attribute

from pto_dialect.ir.core.base import PtoOp, Slot, op_spec, signature
from pto_dialect.ir.core.types import type_text
from pto_dialect.syntax.text import split_types

from .program.document import Document
from .program.statement import Statement
from .statements.core_snippets import operand_patterns
from .statements.scope import values_before
from .statements.snippets import suits

_VALUE = re.compile(r"%[\w$.-]+(?:#\d+)?")
_ARROW = re.compile(r"->|\bto\b")
_NOT_OPERANDS = ("RESULTS", "BINDINGS")
"""Tokens with values that are no operands, or come before an equals sign."""

Accepts = Callable[[Attribute], bool]


class TypePlace(NamedTuple):
    """Where a type is written: the values whose types the same list states, how many types precede it there, and
    whether it is the type of a result."""

    values: tuple[str, ...]
    number: int
    is_result: bool


def type_place(statement: Statement) -> TypePlace | None:
    """Returns where the next type is written; ``None`` where the colon before types is not."""
    text = _innermost(statement.text_behind)
    before, colon, after = text.rpartition(" : ") if " : " in text else text.rpartition(": ")
    if not colon and not text.rstrip().endswith(":"):
        return None
    if not colon:
        before, after = text.rstrip()[:-1], ""
    arrow = _ARROW.split(after)
    listed = split_types(arrow[-1].strip().removeprefix("("))
    return TypePlace(tuple(_VALUE.findall(before)), max(0, len(listed) - 1), len(arrow) > 1)


def _innermost(text: str) -> str:
    """Returns what follows the last round bracket that is open, but for one after the colon."""
    depth = 0
    for at in range(len(text) - 1, -1, -1):
        if text[at] == ")":
            depth += 1
        elif text[at] == "(":
            if depth == 0 and not text[:at].rstrip().endswith((":", "->")):
                return text[at + 1 :]
            depth = max(0, depth - 1)
    return text


def expected_types(document: Document, statement: Statement) -> Iterator[str]:
    """Yields the types that may come next in a list of types, as this program writes them, the most likely ones first:
    that of the value whose type comes next, then those of values in scope that the operand or result may have."""
    place = type_place(statement)
    if place is None:
        return
    scope = values_before(document, statement.start)
    names = {meaning: name for name in document.type_aliases if (meaning := document.type_named(name)) is not None}
    types = {value.name: value.type for value in scope}
    found: list[Attribute] = []
    if not place.is_result and place.number < len(place.values):
        found += [types[name] for name in place.values[place.number : place.number + 1] if name in types]
    accepts = _accepts_type(statement, place)
    if accepts is not None:
        given = [types[name] for name in place.values if name in types]
        found += [one for one in (*reversed(given), *types.values(), *names) if accepts(one)]
    for one in dict.fromkeys(found):
        yield names.get(one) or type_text(one)


def _accepts_type(statement: Statement, place: TypePlace) -> Accepts | None:
    cls = statement.operation
    if cls is None:
        return (lambda _: True) if place.values else None
    declared = signature(cls)
    if place.is_result or not place.values:
        slots = declared.results or declared.operands
        return slots[0].kind.accepts if slots else None
    slot = _slot(cls, min(place.number, len(place.values) - 1) + _values_in(statement) - len(place.values))
    return None if slot is None else _usual_for(cls, slot)


def _usual_for(cls: type[PtoOp], slot: Slot) -> Accepts:
    return lambda kind: slot.kind.accepts(kind) and suits(cls, slot, kind)


def expected_value(statement: Statement) -> Accepts | None:
    """Returns what the type of the next operand must be; ``None`` where everything may follow."""
    number = _values_in(statement)
    cls = statement.operation
    if cls is not None:
        slot = _slot(cls, number, "outs" if statement.opened()[-1:] and statement.opened()[-1].word == "outs" else "")
        return None if slot is None else _usual_for(cls, slot)
    patterns = operand_patterns(statement.name)
    if number >= len(patterns):
        return None
    pattern = re.compile(patterns[number])
    return lambda kind: pattern.fullmatch(type_text(kind)) is not None


def in_order(document: Document, statement: Statement, names: Iterable[str]) -> list[str]:
    """Returns the values with those first that fit as the next operand; among them first those with the type of the
    operand before, the nearest ones first."""
    accepts = expected_value(statement)
    types = {value.name: value.type for value in values_before(document, statement.start)}
    if accepts is None or not types:
        return list(names)
    written = [types[name] for name in _VALUE.findall(statement.text_behind) if name in types]
    like = next((one for one in reversed(written) if accepts(one)), None)

    def rank(name: str) -> int:
        kind = types.get(name)
        if kind is None:
            return 1
        return 0 if kind == like or (like is None and accepts(kind)) else 1 if accepts(kind) else 2

    return sorted(names, key=rank)


def _values_in(statement: Statement) -> int:
    """Returns the operands that are written before the cursor."""
    number = 0
    for token in statement.behind:
        if token.type == "BINDINGS":
            number += len(_VALUE.findall(token.text.partition("=")[2]))
        elif token.type not in _NOT_OPERANDS:
            number += len(_VALUE.findall(token.text))
    return number


def _slot(cls: type[PtoOp], number: int, word: str = "") -> Slot | None:
    """Returns the operand that is written after so many others, or in the parentheses of ``outs``."""
    slots = {slot.name: slot for slot in signature(cls).operands}
    if word == "outs" and "dst" in slots:
        return slots["dst"]
    order = [slots[name] for name in op_spec(cls).text or tuple(slots)]
    if not order:
        return None
    if number < len(order):
        return order[number]
    return order[-1] if order[-1].arity == "*" else None
