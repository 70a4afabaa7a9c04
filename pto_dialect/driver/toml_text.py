"""Reads TOML that somebody else has written, in a time and a depth that do not depend on what it says."""

from __future__ import annotations

import re
import tomllib
from typing import Any

MOST_PARTS = 64
"""Names in one dotted key."""

_NAME = r"""(?:[A-Za-z0-9_-]++|"[^"\n]*+"|'[^'\n]*+')"""
_LONG_KEY = re.compile(rf"(?:^|[\[{{,])[ \t]*+(?:{_NAME}[ \t]*+\.[ \t]*+){{{MOST_PARTS}}}", re.MULTILINE)
"""What takes :mod:`tomllib` a time that grows with the square of its length."""


class NestedError(ValueError):
    """Tables, arrays or names nested too deeply; ``place`` is where, if that is known."""

    def __init__(self, message: str, place: int | None = None) -> None:
        super().__init__(message)
        self.place = place


def loads(text: str) -> dict[str, Any]:
    """The tables in ``text``. Raises ``TOMLDecodeError``, ``NestedError``, and ``ValueError`` for a number with more
    digits than Python reads."""
    long = _LONG_KEY.search(text)
    if long is not None:
        raise NestedError(f"a key has more than {MOST_PARTS} names", long.start())
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise NestedError("arrays or tables are nested too deeply") from None
