"""The forms of an operation over several lines: one for the operands, one for each clause, one for the types."""

from __future__ import annotations

from typing import Final

WIDTH: Final = 92
"""Longest form in one line."""

_OPENING, _CLOSING = "([{<", ")]}>"


def laid_out(form: str) -> str:
    """``form`` with each clause, and the types, in a line of their own where it is long or has several clauses."""
    pieces = _pieces(form)
    clauses = sum(piece.startswith("[") for piece in pieces)
    if len(form) <= WIDTH and clauses < 2:
        return form
    return "\n    ".join(pieces)


def _pieces(form: str) -> list[str]:
    """The parts of a form that begin a line: the operands, bracketed clauses, ``outs``, the types."""
    pieces: list[str] = []
    begin = depth = 0
    for at, char in enumerate(form):
        if char in _OPENING:
            depth += 1
        elif char in _CLOSING and form[at - 1 : at + 1] != "->":
            depth -= 1
        elif char == " " and not depth and _begins(form[at + 1 :]):
            pieces.append(form[begin:at])
            begin = at + 1
    return [*pieces, form[begin:]]


def _begins(rest: str) -> bool:
    return rest.startswith(("[", ": ", "outs(")) and not rest.startswith("[, %")
