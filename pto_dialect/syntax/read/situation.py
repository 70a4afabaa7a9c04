"""The situation at a syntax error: the unexpected token, and its context for messages."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from pto_dialect.diagnostics.remedy import Remedy

from ..text import starts_line
from .tokens import Tok

_SHOWN = 60
"""Maximum number of characters of a token in a message."""

_ARROW_FOLLOWS = re.compile(r"(?:[^\n>-]|-(?!>)|(?<!-)>|\n[ \t]*(?=:|,|->))*->")
"""Up to an arrow on this line or on those that continue it."""

_CLOSING = {"LPAR": "RPAR", "LSQB": "RSQB", "LBRACE": "RBRACE"}


class Message(NamedTuple):
    """Rule id, message, help, and the token to point at if it is not the unexpected one.

    Of messages that are reported ``once`` in a program others of the same text are omitted; nothing is read after one
    that is the ``last``.
    """

    rule: str
    text: str
    help: str | None = None
    at: Tok | None = None
    once: bool = False
    last: bool = False
    remedies: tuple[Remedy, ...] = ()


def shown(text: str) -> str:
    """Returns a piece of the program as messages show it: its first line, shortened."""
    line = text.split("\n")[0]
    return line if len(line) <= _SHOWN else line[: _SHOWN - 2] + ".."


@dataclass(eq=False)
class Situation:
    """A token that the grammar does not allow in its position.

    ``expected`` are the terminals that could follow, ``statement`` the tokens of its statement before it, ``following``
    the token after it, ``names`` the values visible here.
    """

    token: Tok
    expected: frozenset[str]
    statement: list[Tok]
    following: Tok | None
    names: Collection[str]
    text: str

    @property
    def previous(self) -> Tok | None:
        """Returns the last token of the statement before the unexpected one."""
        return self.statement[-1] if self.statement else None

    @cached_property
    def head(self) -> Tok | None:
        """Returns the operation of the statement."""
        return next((tok for tok in self.statement if tok.type.startswith("OP_")), None)

    @cached_property
    def open_brackets(self) -> list[Tok]:
        """Returns the open brackets of the statement, the innermost last."""
        opened: list[Tok] = []
        for tok in self.statement:
            if tok.type in ("INS", "OUTS"):
                # These tokens end with the bracket.
                opened.append(Tok("LPAR", "(", tok.end - 1))
            elif tok.type in _CLOSING:
                opened.append(tok)
            elif opened and tok.type == _CLOSING[opened[-1].type]:
                opened.pop()
        return opened

    @property
    def last(self) -> Tok | None:
        """Returns the last character before the unexpected token."""
        previous = self.previous
        return Tok(previous.type, previous.text[-1:], previous.end - 1) if previous is not None else None

    @cached_property
    def arrow_follows(self) -> bool:
        """Returns whether there is an arrow between the unexpected token and the end of its statement."""
        return _ARROW_FOLLOWS.match(self.text, self.token.end) is not None

    def inside(self, bracket: str) -> bool:
        """Returns whether ``bracket`` is the innermost open one."""
        return bool(self.open_brackets) and self.open_brackets[-1].type == bracket

    def starts_line(self, token: Tok) -> bool:
        """Returns whether only blanks precede ``token`` on its line."""
        return starts_line(self.text, token.start)

    @property
    def begins_statement(self) -> bool:
        """Returns whether the unexpected token looks like the start of the next statement."""
        kind = self.token.type
        return kind in ("RESULTS", "RBRACE", "BLOCK", "$END") or (kind.startswith("OP_") and kind != "OP_UNKNOWN")
