"""Which of the files that a kernel's texts name exist: a file that appears later may be found instead of another."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence

_SPLICE = re.compile(r"\\[^\S\n]*\n")
_DIRECTIVE = re.compile(
    r"(?:\*/|(?<![^\S\n]))[^\S\n]*(?:#|%:)[^\S\n]*"
    r'(?:/\*|(?:include|include_next|import)\b[^\S\n]*(?:"[^"\n]+"|<[^>\n]+>)?)'
)
"""A directive that includes a file, or may include one after a comment."""
_PLAIN = re.compile(r'[ \t]*#[ \t]*include[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>)')
_ASKED = re.compile(r'\b__has_include[ \t]*\([ \t]*(?:"([^"\n]+)"|<([^>\n]+)>)[ \t]*\)')
_TIME = re.compile(r"\b__(?:TIME|DATE|TIMESTAMP)__\b")
_PASTE = re.compile(r"##|%:%:")
"""What may put together any of these names."""


def lookups(texts: Iterable[str], defines: Iterable[str], folders: Sequence[str]) -> list[str] | None:
    """Returns the paths of all names in ``texts`` in all ``folders``, whether they exist or not; ``None`` where the
    texts or ``defines`` may look for other files, or read the time.

    Comments count: what looks like one may be a part of a string, and what looks like a string a part of one.
    """
    names: set[str] = set()
    for text in (*texts, *defines):
        whole = _SPLICE.sub("", text)
        directives = _DIRECTIVE.findall(whole)
        if whole != text and directives != _DIRECTIVE.findall(text):
            return None
        plain = [_PLAIN.fullmatch(directive) for directive in directives]
        asked = list(_ASKED.finditer(whole))
        if not all(plain) or len(asked) != whole.count("__has_") or _TIME.search(whole) or _PASTE.search(whole):
            return None
        names.update(match[1] or match[2] for match in (*plain, *asked) if match)
    return sorted({os.path.join(folder, name) for folder in folders for name in names})
