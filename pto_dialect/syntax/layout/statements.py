"""Division of a program into statements, and their nesting depth.

Nothing ends a statement of MLIR: the next one starts. A line of the source starts one when it is outside of all
brackets and starts as statements do: results before `=`, an operation, a label, an alias, a directive, a bracket that
closes a region. Every other line continues the statement.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..read.lexer import OPERATION_TERMINALS
from .tokens import Token

OPENING = {"(": ")", "[": "]", "<": ">", "{": "}"}
CLOSING = frozenset(OPENING.values())
_DEMANDING = frozenset((",", ":", "->", "=", "(", "[", "<"))
"""Tokens after which a statement continues."""

_PLAIN_WORDS = frozenset(("return", "module", "func"))
"""Names of operations that are written without the dialect."""

_LOOPS = ("for", "forall", "parallel")
"""Last components of the names of operations that define values before `=`."""

_GOES_ON = frozenset(("else", "do"))
"""Keywords between two regions of an operation."""


@dataclass
class Statement:
    """The tokens of a statement up to a region, the bracket that closes one, or a comment."""

    tokens: list[Token]
    depth: int
    """Number of regions around it."""

    comment: Token | None = None
    """A comment after it, on its last line."""

    own_lines: bool = False
    """Whether the source lines are retained: a comment is inside."""

    @property
    def first(self) -> str:
        """Text of the first token."""
        return self.tokens[0].text


def statements(found: Sequence[Token], assembly: bool) -> Iterator[Statement]:
    """Returns the statements of a program, in order."""
    return _Reader(found, assembly).read()


class _Reader:
    def __init__(self, found: Sequence[Token], assembly: bool) -> None:
        self.found = [token for token in found if not token.comment]
        self.all = found
        self.assembly = assembly
        self.regions = regions(self.found)
        self.labelled = set(_label_ends(self.found))

    def read(self) -> Iterator[Statement]:
        place, depth, brackets = 0, 0, 0
        current: Statement | None = None
        ended = True
        outer: list[int] = []
        for token in self.all:
            if token.comment:
                if current is not None and not token.lines:
                    if ended or self._ends(place, brackets):
                        current.comment = token
                        continue
                    current.own_lines = True
                    current.tokens.append(token)
                elif current is not None and not ended and not self._ends(place, brackets):
                    current.own_lines = True
                    current.tokens.append(token)
                else:
                    if current is not None:
                        yield current
                    current = Statement([token], depth)
                    ended = True
                continue
            kind = self.regions.get(place)
            if kind == "close":
                brackets = outer.pop()
            if current is None or ended or kind == "close" or (not brackets and self._begins(place)):
                if current is not None:
                    yield current
                depth -= kind == "close"
                level = max(depth - (token.text.startswith("^")), 0)
                current = Statement([], level)
            ended = False
            current.tokens.append(token)
            if kind == "open":
                depth += 1
                ended = True
                outer.append(brackets)
                brackets = 0
            elif kind is None and token.text in OPENING:
                brackets += 1
            elif kind is None and token.text in CLOSING and brackets:
                brackets -= 1
            place += 1
        if current is not None:
            yield current

    def _ends(self, place: int, brackets: int) -> bool:
        """Returns whether the statement ends before the token at ``place``."""
        if place == len(self.found) or self.regions.get(place) == "close":
            return True
        return not brackets and self._begins(place)

    def _begins(self, place: int) -> bool:
        """Returns whether the token at ``place``, outside of brackets, starts a statement."""
        token = self.found[place]
        if place in self.labelled:
            return True
        if not token.lines:
            return False
        before = self.found[place - 1] if place else None
        if before is not None and (before.text in _DEMANDING or before.text in _GOES_ON):
            return False
        if before is not None and before.text == "}" and token.text in _GOES_ON:
            return False
        if before is not None and token.is_value and before.text.rpartition(".")[2] in _LOOPS:
            return False
        if self.assembly and token.text[0] not in "{(:->":
            return True
        return begins_operation(self.found, place)


def begins_operation(found: Sequence[Token], place: int) -> bool:
    """Returns whether the tokens from ``place`` on start an operation, a label or an alias."""
    text = found[place].text
    following = found[place + 1].text if place + 1 < len(found) else ""
    if text.startswith("%"):
        return _has_results(found, place)
    if text.startswith("^"):
        return following in (":", "(")
    if text[0] in "#!":
        return following == "="
    if text.startswith('"'):
        return following == "("
    if text in OPERATION_TERMINALS:
        return following != "=" or "." not in text
    name = text.partition(".")
    return text in _PLAIN_WORDS or text.startswith(".") or (
        bool(name[1]) and name[0].isidentifier() and name[2][:1].isalpha() and following not in ("=", ",", "}")
    )  # fmt: skip


def _label_ends(found: Sequence[Token]) -> Iterator[int]:
    """Returns the positions after the colons of labels, which have a line of their own."""
    for place, token in enumerate(found):
        if token.text.startswith("^") and token.lines:
            at = place + 1
            depth = 0
            while at < len(found) and (depth or found[at].text == "("):
                depth += (found[at].text == "(") - (found[at].text == ")")
                at += 1
            if at < len(found) and found[at].text == ":":
                yield at + 1


def _has_results(found: Sequence[Token], place: int) -> bool:
    """`%a, %b:2 =`"""
    at, size = place, len(found)
    while at < size and found[at].is_value:
        at += 1
        if at + 1 < size and found[at].text == ":" and found[at + 1].text.isdigit():
            at += 2
        if at < size and found[at].text == "=":
            return True
        if at >= size or found[at].text != ",":
            return False
        at += 1
    return False


def regions(found: Sequence[Token]) -> dict[int, str]:
    """Returns the positions of the braces around regions that have lines of their own: `open` and `close`."""
    kinds: dict[int, str] = {}
    stack: list[int] = []
    for place, token in enumerate(found):
        if token.text == "{":
            stack.append(place)
        elif token.text == "}" and stack:
            start = stack.pop()
            if _is_region(found, start, place):
                kinds[start], kinds[place] = "open", "close"
    return kinds


def _is_region(found: Sequence[Token], start: int, end: int) -> bool:
    """Returns whether braces enclose a region: several lines with operations between, or nothing."""
    lines = any(token.lines for token in found[start + 1 : end + 1])
    if not lines:
        return False
    first = start + 1
    return first == end or found[first].text.startswith("^") or begins_operation(found, first)
