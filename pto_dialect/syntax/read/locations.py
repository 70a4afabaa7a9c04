"""Locations after statements: where one ends in the text, and whether it is valid.

The content of a location is not stored, but invalid text is an error as it is in MLIR: an unclosed string in a location
would otherwise swallow the following statements. Source: docs/reference/language.md, "Attributes".
"""

from __future__ import annotations

import re

from pto_dialect.nesting import LIMIT
from pto_dialect.patterns import portable

STRING = portable(r'"(?:[^"\\\n]++|\\[^\n])*+"')
"""A string; it ends in its line."""

_MARK = re.compile(rf"{STRING}|[^\s]")
_STRING = re.compile(STRING)
_COMMENT = re.compile(r"//[^\n]*")
_METADATA = re.compile(r"\bfused\s*<(?:[^<>]|<[^<>]*>)*>")
_LEAF = re.compile(
    r"""\0\s*:\s*\d+\s*:\s*\d+(?:\s*to\s*(?:\d*\s*:\s*)?\d+)?   # a position or a range in a file
    |\0(?!\s*[:(])                                              # a name
    |\#[\w.$]+(?:<(?:[^<>]|<[^<>]*>)*>)?                        # an alias
    |\bunknown\b""",
    re.VERBOSE,
)
_TOKEN = re.compile(r"fused\b|callsite\b|at\b|\S")
_OPENING = {")": "(", "]": "["}


def location_end(text: str, start: int) -> int | None:
    """Returns the end of the brackets at ``start`` that hold a location; ``None`` where there are none, a string does
    not end, or they are too deep."""
    depth = 0
    for found in _MARK.finditer(text, start):
        mark = found[0]
        if mark == "(":
            depth += 1
        elif mark == ")":
            depth -= 1
        elif mark == '"':
            return None
        if depth == 0:
            return found.end() if text[start] == "(" else None
        if depth > LIMIT:
            return None
    return None


def is_location(text: str) -> bool:
    """Returns whether ``loc(..)`` holds a location of MLIR: a name, a position in a file, ``unknown``, ``callsite``,
    ``fused`` or an alias."""
    inside = text[text.index("(") + 1 : -1]
    if "\0" in inside or "\x01" in inside:
        return False
    inside = _COMMENT.sub(" ", _STRING.sub("\0", inside))
    inside = _LEAF.sub("\x01", _METADATA.sub("fused", inside))
    stack: list[str] = []
    for token in _TOKEN.findall(inside):
        stack.append(token)
        if token in _OPENING and not _reduce(stack, _OPENING[token]):
            return False
    return stack == ["\x01"]


def _reduce(stack: list[str], opening: str) -> bool:
    """Replaces the location that ends with the last token by one token; returns whether it is one."""
    stack.pop()
    parts: list[str] = []
    while stack and stack[-1] not in "([":
        parts.append(stack.pop())
    if len(stack) < 2 or stack.pop() != opening:
        return False
    kind = stack.pop()
    stack.append("\x01")
    if kind == "fused" and opening == "[":
        return bool(parts) and all(part == ("," if place % 2 else "\x01") for place, part in enumerate([*parts, ","]))
    return parts == {"callsite": ["\x01", "at", "\x01"], "\0": ["\x01"]}.get(kind) and opening == "("
