"""Parts of snippets: texts as they are written in one, and names for new values."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .scope import Typed

_LETTERS = "abcdefghklmpqrstuvwxyz"
_MOST = 1000


def escaped(text: str) -> str:
    """Returns ``text`` inside a snippet."""
    return re.sub(r"([\\$}])", r"\\\1", text)


def free_names(stem: str, scope: Sequence[Typed], number: int) -> list[str]:
    """So many names that no value in scope has: letters, then the stem with a number."""
    taken = {value.name for value in scope}
    names = [*(f"%{letter}" for letter in _LETTERS), *(f"%{stem}{count}" for count in range(_MOST))]
    return [name for name in names if name not in taken][:number]
