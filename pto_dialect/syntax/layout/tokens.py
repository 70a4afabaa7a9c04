"""The tokens of a program between white space, as a formatter sees them.

They are finer than those of the reader, and know nothing of what they mean: white space between two of them may be
anything that separates, where it stood, and nothing where it did not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_TOKEN = re.compile(
    r"""(?P<SPACE>[^\S\n]+)|(?P<NEWLINE>\n)|(?P<COMMENT>//[^\n]*)|(?P<STRING>"(?:[^"\\\n]++|\\.)*+")
    |(?P<OTHER>->|::|[=<>!]=|(?:[\w$.%@\#!^?*+]|-(?!>)|/(?!/))+|.)""",
    re.VERBOSE | re.DOTALL,
)
_HASH_COMMENT = re.compile(r"[ \t]*(#(?![\w.]*[<=]|[\w.]+[ \t]*=)[^\n]*)")
"""A comment of the assembly form, which takes a line of its own."""


class Token(NamedTuple):
    """A token, whether white space stands before it, and the numbers of line ends before it."""

    text: str
    space: bool
    lines: int
    number: int
    """The line it stands on, from 1."""

    comment: bool = False
    """A comment, which ends with the line."""

    @property
    def is_value(self) -> bool:
        """The name of a value."""
        return self.text.startswith("%")


def tokens(text: str, assembly: bool = False) -> Iterator[Token]:
    """The tokens of ``text``, comments among them; in the ``assembly`` form ``#`` begins a comment on a line."""
    space, lines, number, at, size = False, 0, 1, 0, len(text)
    while at < size:
        if assembly and (lines or at == 0):
            line = _HASH_COMMENT.match(text, at)
            if line is not None:
                yield Token(line[1].rstrip(), True, lines, number, True)
                space, lines, at = False, 0, line.end()
                continue
        found = _TOKEN.match(text, at)
        assert found is not None
        at = found.end()
        if found.lastgroup == "SPACE":
            space = True
        elif found.lastgroup == "NEWLINE":
            space, lines, number = True, lines + 1, number + 1
        else:
            word = found.group()
            comment = found.lastgroup == "COMMENT"
            yield Token(word.rstrip() if comment else word, space, lines, number, comment)
            space, lines = False, 0
            number += word.count("\n")
