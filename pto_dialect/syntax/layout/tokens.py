"""The tokens of a program between white space, for the formatter.

They are finer than those of the reader, and have no meaning: white space between two of them may be any white space
where there was some, and must be absent where there was none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from pto_dialect.patterns import portable

_TOKEN = re.compile(
    portable(r"""(?P<SPACE>[^\S\n]+)|(?P<NEWLINE>\n)|(?P<COMMENT>//[^\n]*)|(?P<STRING>"(?:[^"\\\n]++|\\.)*+")
    |(?P<OTHER>->|::|[=<>!]=|(?:[\w$.%@\#!^?*+]|-(?!>)|/(?!/))+|.)"""),
    re.VERBOSE | re.DOTALL,
)
_HASH_COMMENT = re.compile(r"[ \t]*(#(?![\w.]*[<=]|[\w.]+[ \t]*=)[^\n]*)")
"""A comment of the assembly form, which takes a line of its own."""


class Token(NamedTuple):
    """A token, whether white space precedes it, and the number of line ends before it."""

    text: str
    space: bool
    lines: int
    number: int
    """Its line, from 1."""

    comment: bool = False
    """A comment, which ends with the line."""

    @property
    def is_value(self) -> bool:
        """The name of a value."""
        return self.text.startswith("%")


def tokens(text: str, assembly: bool = False) -> Iterator[Token]:
    """Returns the tokens of ``text``, comments among them; in the ``assembly`` form ``#`` starts a comment
    on a line."""
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
