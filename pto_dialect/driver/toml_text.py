"""Reads TOML that somebody else has written, in a time and a depth that do not depend on what it says."""

from __future__ import annotations

import re
import tomllib
from typing import Any

MOST_PARTS = 64
"""Names in one dotted key."""

MOST_LEVELS = 200
"""Tables and arrays in one another. :mod:`tomllib` itself reads as many as the process may make calls in one another,
which programs that are nested deeply raise."""

_NAME = r"""(?:[A-Za-z0-9_-]++|"[^"\n]*+"|'[^'\n]*+')"""
_LONG_KEY = re.compile(rf"(?:^|[\[{{,])[ \t]*+(?:{_NAME}[ \t]*+\.[ \t]*+){{{MOST_PARTS}}}", re.MULTILINE)
"""What takes :mod:`tomllib` a time that grows with the square of its length."""


class NestedError(ValueError):
    """Tables, arrays or names nested too deeply; ``place`` is where, if that is known."""

    def __init__(self, message: str, place: int | None = None) -> None:
        super().__init__(message)
        self.place = place


def loads(text: str) -> dict[str, Any]:
    """Returns the tables in ``text``. Raises ``TOMLDecodeError``, ``NestedError``, and ``ValueError`` for a number with
    more digits than Python reads."""
    long = _LONG_KEY.search(text)
    if long is not None:
        raise NestedError(f"a key has more than {MOST_PARTS} names", long.start())
    try:
        content = tomllib.loads(text)
    except RecursionError:
        content = None
    if content is None or _is_deeper(content, MOST_LEVELS):
        raise NestedError("arrays or tables are nested too deeply")
    return content


def _is_deeper(content: dict[str, Any], levels: int) -> bool:
    """Returns whether a table has more than ``levels`` tables and arrays in one another, itself included."""
    found: list[dict[str, Any] | list[Any]] = [content]
    for _ in range(levels):
        parts = (part for one in found for part in (one.values() if isinstance(one, dict) else one))
        found = [part for part in parts if isinstance(part, (dict, list))]
    return bool(found)
