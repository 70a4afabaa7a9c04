"""Regular expressions with possessive groups, such as ``(?:a|b)*+``, on every Python.

Before Python 3.11.5, a possessive group continues where its last attempt has failed instead of where that attempt began
(github.com/python/cpython/issues/106052). The same group is written as an atomic one there, which takes more memory.
"""

from __future__ import annotations

import re
import sys

_HAS_POSSESSIVE_GROUPS = sys.version_info >= (3, 11, 5)
_PART = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\((?:\?[^)]?)?|\)([*+?]|\{[\d,]+\})\+|\)", re.DOTALL)
"""An escape, a set of characters, the beginning of a group, or its end."""


def portable(pattern: str) -> str:
    """Returns a regular expression in the form that this Python matches correctly."""
    return pattern if _HAS_POSSESSIVE_GROUPS else with_atomic_groups(pattern)


def with_atomic_groups(pattern: str) -> str:
    """Returns a regular expression with ``(?>(?:a)*)`` for each ``(?:a)*+``."""
    parts: list[str] = []
    opened: list[int] = []
    end = 0
    for match in _PART.finditer(pattern):
        parts.append(pattern[end : match.start()])
        end = match.end()
        if match[0][0] == "(":
            opened.append(len(parts))
        elif match[0][0] == ")":
            begin = opened.pop()
            if match[1]:
                parts[begin] = f"(?>{parts[begin]}"
                parts.append(f"){match[1]})")
                continue
        parts.append(match[0])
    return "".join([*parts, pattern[end:]])


__all__ = ["portable", "with_atomic_groups"]
