"""The statements of a function, one by one: their tokens, and the names in them.

A statement of the same text is looked at once, so that an edit costs what its line costs. A line that begins like a
statement begins one, whatever is open before it: brackets that are not closed yet concern their own statement only.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from pto_dialect.patterns import portable
from pto_dialect.syntax.read.tokens import Tok

from .ends import common_ends
from .tokens import tokens

VALUE, BLOCK, SYMBOL = "value", "block", "symbol"
OPEN, CLOSE = "{", "}"
_VALUE = re.compile(r"%[\w$.\-]+")
_SYMBOL = re.compile(r"@(?:[\w$.]+|\"(?:[^\"\\\n]|\\.)*\")")
_DEFINING = ("OP_FUNC", "OP_MODULE")
_BETWEEN = ("private", "public", "nested", "constant")
_BEGIN = re.compile(
    portable(
        r"(?<![,(=])\n[ \t]*+(?=(?:%[^=\n\"/]*=[ \t]*+)?+\"?[a-z_]\w*+\.[a-z][\w.]*+"
        r"(?<!func\.func)\"?+(?![ \t]*+[=<,}]))"
    )
)


class Event(NamedTuple):
    """An event at an offset of a statement: ``OPEN`` and ``CLOSE`` are regions, all others the definition or use of a
    name."""

    kind: str
    text: str
    start: int
    end: int
    defines: bool


class Part:
    """A statement with the text that follows it, and the offsets of its names."""

    __slots__ = ("events", "text", "tokens")

    def __init__(self, text: str, assembly: bool) -> None:
        self.text = text
        self.tokens = tokens(text, assembly)
        self.events = _Walk(self.tokens).events


def starts_of_parts(text: str) -> list[int]:
    """Returns where the parts of a function begin; the first one is its header."""
    return [0, *(found.end() for found in _BEGIN.finditer(text))]


def starts_after(text: str, old: str, starts: list[int]) -> list[int]:
    """Returns the same, where ``starts`` are those of ``old``, of which ``text`` may be an edit: lines that are in both
    are not looked at again."""
    begin, tail = common_ends(old, text)
    # A line starts a statement depending only on itself and the end of the preceding line.
    first = text.rfind("\n", 0, begin) + 1
    last = text.find("\n", len(text) - tail + 1)
    moved = len(text) - len(old)
    found = starts[: max(bisect_left(starts, first), 1)]
    found += [one.end() for one in _BEGIN.finditer(text, max(first - 1, 0), last if last >= 0 else len(text))]
    if last >= 0:
        found += [start + moved for start in starts[bisect_right(starts, last - moved) :]]
    return found


class _Walk:
    """One walk through the tokens of a statement: the values that its next region will define."""

    def __init__(self, found: list[Tok]) -> None:
        self.events: list[Event] = []
        self.tokens = found
        self.pending: list[tuple[str, int]] = []
        self.depth = self.dictionary = 0
        self.header = self.label = False
        for number, token in enumerate(found):
            self._token(number, token)
        # A header without a body, as while it is written.
        self._define_pending()

    def _token(self, number: int, token: Tok) -> None:
        kind = token.type
        if self.dictionary or (kind == "LBRACE" and number and self.tokens[number - 1].text == "attributes"):
            # Attributes of a function, no region: the arguments belong to the next one.
            self.dictionary += (kind == "LBRACE") - (kind == "RBRACE")
        elif kind == "LBRACE":
            self.events.append(Event(OPEN, "", token.end, token.end, False))
            if self.depth == 0:
                self._define_pending()
                self.header = False
        elif kind == "RBRACE":
            self.events.append(Event(CLOSE, "", token.start, token.start, False))
        elif kind in ("LPAR", "RPAR", "INS", "OUTS"):
            self.depth = max(self.depth + (1 if kind != "RPAR" else -1), 0)
            self.label = self.label and self.depth > 0
        elif kind in ("RESULTS", "BINDINGS", "USES"):
            self._values(number, token)
        elif kind == "BLOCK":
            self._block(number, token)
        elif kind == "SYMBOL":
            defines = _is_definition(self.tokens, number)
            for part in _SYMBOL.finditer(token.text):
                self._name(SYMBOL, part[0], token.start + part.start(), defines)
        elif kind == "OP_FUNC":
            self.header, self.depth, self.pending = True, 0, []

    def _name(self, kind: str, text: str, start: int, defines: bool) -> None:
        self.events.append(Event(kind, text, start, start + len(text), defines))

    def _define_pending(self) -> None:
        for text, start in self.pending:
            self._name(VALUE, text, start, True)
        self.pending = []

    def _values(self, number: int, token: Tok) -> None:
        toks = self.tokens
        before = toks[number - 1].type if number else ""
        typed = number + 1 < len(toks) and toks[number + 1].type == "COLON"
        in_header = self.header and self.depth > 0 and typed
        in_head = before == "LPAR" and _is_head(toks, number)
        for place, (text, start) in enumerate(_values(token)):
            if token.type == "BINDINGS":
                defines, later = place % 2 == 0, True
            elif token.type == "RESULTS":
                defines, later = True, before == "OP_FOR"
            else:
                defines, later = (self.label and typed) or in_header or in_head, not (self.label and typed)
            if defines and later:
                self.pending.append((text, start))
            else:
                self._name(VALUE, text, start, defines)

    def _block(self, number: int, token: Tok) -> None:
        toks = self.tokens
        before = toks[number - 1].type if number else ""
        used = (before in ("COMMA", "COLON") or before.startswith("OP_")) and not _begins_label(toks, number)
        self._name(BLOCK, token.text, token.start, not used)
        if not used:
            self.label = number + 1 < len(toks) and toks[number + 1].type == "LPAR"


def _values(token: Tok) -> Iterator[tuple[str, int]]:
    """Returns the names of values in a token, without the numbers of packs."""
    return ((found[0], token.start + found.start()) for found in _VALUE.finditer(token.text))


def _is_head(toks: list[Tok], number: int) -> bool:
    """Returns whether the values in parentheses are those of a loop: ``(%i, %j) = ..``, ``(%i) in ..``."""
    following = [token.text for token in toks[number + 1 : number + 3]]
    return len(following) == 2 and following[0] == ")" and following[1] in ("=", "in")


def _begins_label(toks: list[Tok], number: int) -> bool:
    """Returns whether a block is the label after an operation without operands, such as an early ``return``."""
    before = toks[number - 1]
    if before.type == "COMMA" or (before.type == "COLON"):
        return False
    after = toks[number + 1].type if number + 1 < len(toks) else ""
    return after == "COLON"


def _is_definition(toks: list[Tok], number: int) -> bool:
    place = number - 1
    while place >= 0 and toks[place].text in _BETWEEN:
        place -= 1
    return place >= 0 and toks[place].type in _DEFINING
