"""The token object shared by both lexers, and regular expressions for the lexical forms.

The parser's loop only reads ``type``; the rest is for the builder and for error messages.
"""

from __future__ import annotations

import re

from pto_dialect.patterns import portable


class Tok:
    """One token: terminal name, text, offset of its first character, and (for types and attributes) its value."""

    __slots__ = ("start", "text", "type", "value")

    def __init__(self, type: str, text: str, start: int, value: object = None) -> None:
        self.type = type
        self.text = text
        self.start = start
        self.value = value

    @property
    def end(self) -> int:
        """Offset just past the token."""
        return self.start + len(self.text)

    def __repr__(self) -> str:
        return f"Tok({self.type}, {self.text!r}, {self.start})"

    def __str__(self) -> str:
        return self.text


SPACE = portable(r"(?:\s++|//[^\n]*+)*+")
"""White space and comments, possibly empty."""

COMMENT = re.compile(r"//[^\n]*")

SUFFIX_ID = r"(?:[A-Za-z_$.\-][\w$.\-]*|\d+)"
SSA = rf"%{SUFFIX_ID}"
USE = rf"{SSA}(?:\#\d+)?"
BARE_ID = r"[A-Za-z_][\w$.]*"


def balanced(depth: int) -> str:
    """Returns a regular expression of ``<...>`` with ``depth`` further levels of nesting; ``->`` and strings do not
    count."""
    return _nested("<", portable(r'[^<>"\-]++|->|-|"(?:[^"\\\n]++|\\.)*+"'), ">", depth)


def braced(depth: int) -> str:
    """Returns a regular expression of ``{...}`` with ``depth`` further levels of nesting; strings do not count."""
    return _nested(r"\{", portable(r'[^{}"]++|"(?:[^"\\\n]++|\\.)*+"'), r"\}", depth)


def _nested(opening: str, plain: str, closing: str, depth: int) -> str:
    pattern = portable(rf"{opening}(?:{plain})*+{closing}")
    for _ in range(depth):
        pattern = portable(rf"{opening}(?:{plain}|{pattern})*+{closing}")
    return pattern


def without_comments(text: str) -> str:
    """Returns ``text`` with every comment replaced by as many blanks."""
    return COMMENT.sub(lambda found: " " * len(found.group()), text)


def is_alias(text: str) -> bool:
    """Returns whether the spelling of an attribute can only be an alias: dialects' own have a point or brackets."""
    return text[0] == "#" and "." not in text and "<" not in text


def integer(text: str) -> int:
    """Returns the value of an INTEGER token."""
    return int(text, 16) if "x" in text else int(text)


def fits_64_bits(text: str) -> bool:
    """Returns whether the value of an INTEGER token is a signed or unsigned 64-bit number."""
    return len(text) <= 20 and -(1 << 63) <= integer(text) < 1 << 64
