"""The spaces between the tokens of a statement."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..read.lexer import OPERATION_TERMINALS
from .statements import CLOSING, OPENING
from .tokens import Token

_DECLARING = "OP_FUNC"
"""The terminal of operations whose first parentheses declare values with their types."""

_GROUPS = frozenset(("ins", "outs"))


class Spaced(NamedTuple):
    """A token of a statement."""

    token: Token
    space: bool
    """Whether a space, or the end of a line, precedes it."""

    depth: int
    """Number of brackets around it."""


def spaced(tokens: Sequence[Token]) -> list[Spaced]:
    """Returns the tokens of a statement with the spaces of the canonical style, and single ones elsewhere where some
    were."""
    found: list[Spaced] = []
    stack: list[tuple[str, str]] = []
    declares = OPERATION_TERMINALS.get(tokens[0].text) == _DECLARING or tokens[0].text.startswith("^")
    label = tokens[0].text.startswith("^")
    before = ""
    for place, token in enumerate(tokens):
        text = token.text
        if token.comment:
            found.append(Spaced(token, True, len(stack)))
            continue
        closes = text in CLOSING and bool(stack) and OPENING[stack[-1][0]] == text
        if closes:
            stack.pop()
        inner = stack[-1] if stack else ("", "")
        space = token.space
        if place:
            counted = text == ":" and place + 1 < len(tokens) and tokens[place + 1].text[0].isdigit()
            wanted = None if counted else _space(before, text, inner, closes, label and not stack)
            if wanted is None and text == ":" and inner[0] == "(" and inner[1] == "values":
                wanted = False
            elif wanted is None and before == ":" and inner[1] == "values":
                wanted = True
            space = token.space if wanted is None else wanted
        found.append(Spaced(token, space and place > 0, len(stack)))
        if text in OPENING:
            is_declaration = text == "(" and declares and not stack
            stack.append((text, "values" if is_declaration else before))
            declares = declares and not is_declaration
        before = text
    return found


def _space(before: str, text: str, inner: tuple[str, str], closes: bool, label: bool) -> bool | None:
    """Returns whether there is a space between two tokens inside of the bracket ``inner``; ``None`` where the original
    is retained."""
    if text in (",", ")", "]") or closes or (before in ("(", "[", "<", "{") and before == inner[0]):
        return False
    if before == ",":
        return True
    if text == "(" and before in _GROUPS:
        return False
    if inner[0] == "<":
        return None
    if "->" in (before, text):
        return True
    if inner[0] != "[" and "=" in (before, text):
        return True
    if not inner[0] and (text in ("{", "}") or text in _GROUPS or before == "}"):
        return True
    if label and text == ":":
        return False
    if inner[0] == "" or inner[1] in _GROUPS:
        return _colon(before, text)
    return None


def _colon(before: str, text: str) -> bool | None:
    """Returns the spaces around the colon before types; one before a number counts results or is part of a source
    location."""
    if text == ":":
        return True
    return True if before == ":" and not text[0].isdigit() else None
