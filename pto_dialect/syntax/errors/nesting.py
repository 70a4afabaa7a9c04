"""Brackets that nest deeper than the lexer supports, so that their type, attribute or location is not a token."""

from __future__ import annotations

import re

from pto_dialect.nesting import ANGLES, LIMIT, RULE
from pto_dialect.patterns import portable

from ..read.situation import Message, Situation
from ..read.tokens import Tok

_MARK = re.compile(portable(r'"(?:[^"\\\n]++|\\.)*+"|//[^\n]*|->|[<>]|\n\s*\n'))
_BEGINS = re.compile(r"\s*<")
_LOCATION = re.compile(r"\s*\(")


def nesting_error(s: Situation) -> Message | None:
    """Returns the error that brackets at or after the unexpected token are too deep."""
    token, text = s.token, s.text
    if token.text == "loc" and _LOCATION.match(text, token.end):
        return _location(token, text)
    start = token.start if text[token.start : token.start + 1] == "<" else token.end
    if not _BEGINS.match(text, start):
        return None
    depth = 0
    for found in _MARK.finditer(text, start):
        mark = found[0]
        if mark == "<":
            depth += 1
        elif mark == ">":
            depth -= 1
        elif mark[0] == "\n":
            return None
        if depth > ANGLES:
            return Message(
                RULE, f"angle brackets nest at most {ANGLES} deep", None, Tok("LESSTHAN", "<", found.start())
            )
        if depth == 0:
            return None
    return None


def _location(token: Tok, text: str) -> Message | None:
    depth = 0
    for position in range(token.end, len(text)):
        depth += (text[position] == "(") - (text[position] == ")")
        if depth > LIMIT:
            return Message(RULE, f"locations nest at most {LIMIT:,} deep", None, Tok("LPAR", "(", position))
        if depth == 0:
            return None
    return None
