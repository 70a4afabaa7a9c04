"""Errors about the commas of a statement: missing, surplus, or without an entry."""

from __future__ import annotations

import re

from pto_dialect.diagnostics.remedies.marks import CLOSING, closing_before, comma_before, without_comma
from pto_dialect.diagnostics.remedies.names import replace

from ..read.situation import Message, Situation, shown
from ..read.tokens import Tok
from ..text import split_types

_TYPES = frozenset(("TYPES", "ANGLE"))
_ENDS_A_LIST = frozenset(("RPAR", "RSQB", "RBRACE", "COLON", "ARROW", "LBRACE"))
_ALIKE = frozenset(("STRING", "ANGLE", "HASH", "INTEGER", "FLOAT", "SYMBOL", "WORD"))
"""Tokens that are never adjacent inside brackets."""
_KEYS = frozenset(("WORD", "OP_UNKNOWN", "STRING", "TYPES"))
_HYPHENATED = re.compile(r"[\w.]+(?:-[\w.]+)+")


def comma_error(s: Situation) -> Message | None:
    """Returns the error about the commas around the unexpected token."""
    if s.previous is None:
        return None
    return _followed_by_nothing(s) or _needless(s) or _between_entries(s) or _between_types(s) or _between_others(s)


def _missing(left: str, right: str, at: Tok) -> Message:
    text = f"',' is missing between {shown(left)} and {shown(right)}"
    return Message("parse-missing-token", text, f"{shown(left)}, {shown(right)}", at, remedies=(comma_before(),))


def _followed_by_nothing(s: Situation) -> Message | None:
    """Returns a comma at the end of a list."""
    previous = s.statement[-1]
    if previous.type != "COMMA" or not (s.token.type in _ENDS_A_LIST or s.begins_statement):
        return None
    help = "remove the comma, or add what is missing"
    return Message("parse-syntax", "nothing follows this ','", help, previous, remedies=(without_comma(),))


def _needless(s: Situation) -> Message | None:
    """Returns a comma before something that would be right without it."""
    following = s.following
    if s.token.type != "COMMA" or "COMMA" in s.expected or following is None or following.type not in s.expected:
        return None
    text = f"no comma comes before '{shown(following.text)}'"
    return Message("parse-syntax", text, "remove the comma", remedies=(without_comma(),))


def _between_entries(s: Situation) -> Message | None:
    """Returns two entries of a dictionary."""
    token, previous, following = s.token, s.statement[-1], s.following
    if not s.inside("LBRACE") or "RESULTS" in s.expected or token.type not in _KEYS:
        return None
    if previous.type not in ("LBRACE", "COMMA"):
        if "COMMA" in s.expected and following is not None and following.type in ("EQUAL", "COMMA", "RBRACE"):
            return _missing(previous.text, token.text, token)
        return None
    name = _HYPHENATED.match(s.text, token.start)
    if name is not None:
        whole = Tok("WORD", name.group(), token.start)
        text, quoted = "names with '-' are written in quotes", f'"{name.group()}"'
        return Message("parse-syntax", text, quoted, whole, remedies=(replace(None, quoted),))
    if token.type == "OP_UNKNOWN" and following is not None and following.type in ("WORD", "OP_UNKNOWN"):
        return _missing(token.text, following.text, following)
    return None


def _between_types(s: Situation) -> Message | None:
    """Returns two types of a list, unless the second one is the result of an operation whose arrow is missing."""
    token, previous = s.token, s.statement[-1]
    if token.type not in _TYPES or previous.type not in _TYPES:
        return None
    if not s.open_brackets and "ARROW" in s.expected and not s.arrow_follows:
        return None
    left, right = split_types(previous.text)[-1][0], split_types(token.text)[0][0]
    return _missing(left, right, Tok("TYPES", right, token.start))


def _between_others(s: Situation) -> Message | None:
    """Returns two entries of a list of words, strings, numbers or attributes."""
    token, previous = s.token, s.statement[-1]
    if token.type != previous.type or token.type not in _ALIKE or not s.open_brackets or s.inside("LBRACE"):
        return None
    if s.starts_line(token) and s.inside("LPAR"):
        return None
    found = _missing(previous.text, token.text, token)
    mark = CLOSING[s.open_brackets[-1].text[-1:]]
    return found._replace(remedies=(*found.remedies, closing_before(mark)))
