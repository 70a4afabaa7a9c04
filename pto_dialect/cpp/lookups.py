"""Which of the files that a kernel's texts name exist: a file that appears later may be found instead of another."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_SPLICE = re.compile(r"\\[ \t]*\n")
_LOOKUP = re.compile(
    r"(?:(?:#|%:)[ \t]*(?:include|include_next|import)\b|\b__has_include(?:_next)?[ \t]*\()[ \t]*"
    r'(?:"([^"\n]+)"|<([^>\n]+)>)?'
)


def lookups(texts: Iterable[str], folders: Sequence[str]) -> list[str] | None:
    """The paths of all names in ``texts`` in all ``folders``, whether they exist or not; ``None`` where a macro gives a
    name."""
    names: set[str] = set()
    for text in texts:
        for name in _names(text):
            if name is None:
                return None
            names.add(name)
    return sorted({os.path.join(folder, name) for folder in folders for name in names})


def _names(text: str) -> Iterator[str | None]:
    """The names that a text looks up; ``None`` for one that a macro gives.

    Texts with and without their comments are read, because what looks like one may be a part of a name or a string.
    """
    whole = _SPLICE.sub("", text)
    if "include" not in whole and "import" not in whole:
        return
    for match in _LOOKUP.finditer(_COMMENT.sub(" ", whole)):
        yield match[1] or match[2]
    for match in _LOOKUP.finditer(whole):
        if match[1] or match[2]:
            yield match[1] or match[2]
