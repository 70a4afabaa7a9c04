"""The forms of an operation over several lines: one for the operands, one for each clause, one for the types, which are
spelled as far as the operation decides them."""

from __future__ import annotations

import re
from typing import Final

from pto_dialect.ir.core.base import PtoOp, op_spec, signature

from ..operand_words import kind_of
from .memories import memories

WIDTH: Final = 92
"""Longest form in one line."""

_CLAUSE: Final = re.compile(r"\[, [a-z]")
"""An optional clause after a comma; types and operands begin otherwise."""
_OPENING, _CLOSING = "([{<", ")]}>"


def laid_out(form: str) -> str:
    """Returns ``form`` with each clause, and the types, in a line of their own where it is long or has several
    clauses."""
    pieces = _pieces(form)
    clauses = sum(piece.startswith("[") for piece in pieces)
    if len(form) <= WIDTH and clauses < 2:
        return form
    return "\n    ".join(pieces)


def _pieces(form: str) -> list[str]:
    """Returns the parts of a form that begin a line: the operands, bracketed clauses, ``outs``, the types."""
    pieces: list[str] = []
    begin = depth = 0
    for at, char in enumerate(form):
        if char in _OPENING:
            if not depth and _CLAUSE.match(form, at) and not form.startswith(": ", begin):
                pieces.append(form[begin:at])
                begin = at
            depth += 1
        elif char in _CLOSING and form[at - 1 : at + 1] != "->":
            depth -= 1
        elif char == " " and not depth and _begins(form[at + 1 :]) and not form.startswith(": ", begin):
            pieces.append(form[begin:at])
            begin = at + 1
    return [*pieces, form[begin:]]


def _begins(rest: str) -> bool:
    return rest.startswith(("[", ": ", "outs(")) and not rest.startswith("[, %")


_OPEN: Final = re.compile(r"\bT\b")
_LABEL: Final = re.compile(r"i\d+|index|f\d+|bf16")
"""Kinds that are one type."""


def typed(form: str, cls: type[PtoOp]) -> str:
    """Returns ``form`` with the types that ``cls`` decides in place of ``T``: numbers, and the memories of pointers."""
    head, colon, types = form.rpartition(" : ")
    names = op_spec(cls).typed or re.findall(r"%(\w+)", head.rpartition(" = ")[2] if " = pto." in head else head)
    words = [_type(name, cls) for name in names]
    stated, arrow, results = types.partition(" ->")
    if not colon or len(_OPEN.findall(stated)) != len(words):
        return form
    rest = iter(words)
    return head + colon + _OPEN.sub(lambda _: next(rest), stated) + arrow + results


def _type(name: str, cls: type[PtoOp]) -> str:
    """Returns the type of one operand, with ``T`` for what is open in it."""
    label = next((kind_of(cls, slot) for slot in signature(cls).operands if slot.name == name), "")
    if _LABEL.fullmatch(label):
        return label
    place = memories(cls).get(name, "").strip(" in`")
    return f"!pto.ptr<T, {place}>" if place and label.startswith("!pto.ptr") else "T"
