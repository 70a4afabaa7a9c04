"""Names in a function, and what each stands for: values and blocks by the regions that they are visible in.

Taken from the tokens, so that it holds while statements are incomplete.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from pto_dialect.syntax.read.tokens import Tok

from .tokens import tokens

VALUE, BLOCK, SYMBOL = "value", "block", "symbol"
_VALUE = re.compile(r"%[\w$.\-]+")
_SYMBOL = re.compile(r"@(?:[\w$.]+|\"(?:[^\"\\\n]|\\.)*\")")
_DEFINING = ("OP_FUNC", "OP_MODULE")
_BETWEEN = ("private", "public", "nested", "constant")


class Name(NamedTuple):
    """A name where it stands, as offsets in the text of its function; ``binding`` is what it stands for, ``None`` for
    a symbol and for what nothing defines."""

    kind: str
    text: str
    start: int
    end: int
    defines: bool
    binding: int | None


@dataclass
class _Scope:
    """A region: the names it defines, each with the numbers of its bindings."""

    outer: _Scope | None
    bindings: dict[str, list[int]] = field(default_factory=dict)


class Names:
    """The names in ``text``, a function or a program without functions."""

    def __init__(self, text: str, assembly: bool = False) -> None:
        self.text = text
        self.tokens = tokens(text, assembly)
        self._scopes = [(0, _Scope(None))]
        self._found: list[tuple[str, str, int, int, bool, _Scope | None]] = []
        self._starts_of_bindings: list[int] = []
        self._walk()
        self.names = [Name(*found[:5], self._binding(*found)) for found in sorted(self._found, key=lambda f: f[2])]
        self._starts = [name.start for name in self.names]
        del self._found

    # ------------------------------------------------------------ questions

    def at(self, offset: int) -> Name | None:
        """The name that the character, or the one in front of it, belongs to."""
        for place in (offset, offset - 1):
            number = bisect_right(self._starts, place) - 1
            if number >= 0 and self.names[number].start <= place < self.names[number].end:
                return self.names[number]
        return None

    def same(self, name: Name) -> list[Name]:
        """All places of what ``name`` stands for, in the order of the text."""
        if name.kind == SYMBOL or name.binding is None:
            return [other for other in self.names if (other.kind, other.text) == (name.kind, name.text)]
        return [other for other in self.names if other.binding == name.binding and other.kind == name.kind]

    def visible(self, offset: int) -> list[Name]:
        """Definitions of values that may be named at a place: those in front of it, in regions around it."""
        number = bisect_right(self._scopes, offset, key=lambda entry: entry[0]) - 1
        scope: _Scope | None = self._scopes[number][1]
        by_start = {name.start: name for name in self.names if name.defines}
        found: dict[str, Name] = {}
        while scope is not None:
            for numbers in scope.bindings.values():
                for binding in reversed(numbers):
                    start = self._starts_of_bindings[binding]
                    name = by_start.get(start)
                    if name is not None and name.kind == VALUE and start < offset:
                        found.setdefault(name.text, name)
                        break
            scope = scope.outer
        return sorted(found.values(), key=lambda name: -name.start)

    # ------------------------------------------------------------ the walk

    def _walk(self) -> None:
        walk = _Walk(self, self._scopes[0][1])
        for number, token in enumerate(self.tokens):
            walk.token(number, token)
        # A header without a body, as while it is written.
        for text, start in walk.pending:
            self.define(VALUE, text, start, walk.scope)

    def enter(self, start: int, scope: _Scope) -> None:
        """From ``start`` on, ``scope`` is the innermost region."""
        self._scopes.append((start, scope))

    def symbols(self, token: Tok, defined: bool) -> None:
        """The names of functions and modules in a token."""
        for part in _SYMBOL.finditer(token.text):
            start = token.start + part.start()
            self._found.append((SYMBOL, part[0], start, start + len(part[0]), defined, None))

    def define(self, kind: str, text: str, start: int, scope: _Scope) -> None:
        """A name that ``scope`` defines."""
        scope.bindings.setdefault(text, []).append(len(self._starts_of_bindings))
        self._starts_of_bindings.append(start)
        self._found.append((kind, text, start, start + len(text), True, scope))

    def use(self, kind: str, text: str, start: int, scope: _Scope) -> None:
        """A name that is used in ``scope``."""
        self._found.append((kind, text, start, start + len(text), False, scope))

    def _binding(self, kind: str, text: str, start: int, end: int, defines: bool, scope: _Scope | None) -> int | None:
        while scope is not None:
            numbers = scope.bindings.get(text)
            if numbers:
                if defines:
                    return next(n for n in numbers if self._starts_of_bindings[n] == start)
                earlier = [n for n in numbers if self._starts_of_bindings[n] < start]
                return earlier[-1] if earlier else numbers[0]
            scope = scope.outer
        return None


class _Walk:
    """One walk through the tokens: the region that it is in, and the names that the next region will define."""

    def __init__(self, names: Names, scope: _Scope) -> None:
        self.names = names
        self.scope = scope
        self.pending: list[tuple[str, int]] = []
        self.depth = 0
        self.header = self.label = False

    def token(self, number: int, token: Tok) -> None:
        """Takes the next token."""
        kind = token.type
        if kind == "LBRACE":
            self._open(token)
        elif kind == "RBRACE":
            self.scope = self.scope.outer or self.scope
            self.names.enter(token.start, self.scope)
        elif kind in ("LPAR", "RPAR", "INS", "OUTS"):
            self.depth = max(self.depth + (1 if kind != "RPAR" else -1), 0)
            self.label = self.label and self.depth > 0
        elif kind in ("RESULTS", "BINDINGS", "USES"):
            self._values(number, token)
        elif kind == "BLOCK":
            self._block(number, token)
        elif kind == "SYMBOL":
            self.names.symbols(token, _is_definition(self.names.tokens, number))
        elif kind == "OP_FUNC":
            self.header, self.depth, self.pending = True, 0, []

    def _open(self, token: Tok) -> None:
        inner = _Scope(self.scope)
        self.names.enter(token.end, inner)
        if self.depth == 0:
            for text, start in self.pending:
                self.names.define(VALUE, text, start, inner)
            self.pending, self.header = [], False
        self.scope = inner

    def _values(self, number: int, token: Tok) -> None:
        toks = self.names.tokens
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
            if not defines:
                self.names.use(VALUE, text, start, self.scope)
            elif later:
                self.pending.append((text, start))
            else:
                self.names.define(VALUE, text, start, self.scope)

    def _block(self, number: int, token: Tok) -> None:
        toks = self.names.tokens
        before = toks[number - 1].type if number else ""
        if (before in ("COMMA", "COLON") or before.startswith("OP_")) and not _begins_label(toks, number):
            self.names.use(BLOCK, token.text, token.start, self.scope)
        else:
            self.names.define(BLOCK, token.text, token.start, self.scope)
            self.label = number + 1 < len(toks) and toks[number + 1].type == "LPAR"


def _values(token: Tok) -> Iterator[tuple[str, int]]:
    """The names of values in a token, without the numbers of packs."""
    return ((found[0], token.start + found.start()) for found in _VALUE.finditer(token.text))


def _is_head(toks: list[Tok], number: int) -> bool:
    """Whether the values in parentheses are those of a loop: ``(%i, %j) = ..``, ``(%i) in ..``."""
    following = [token.text for token in toks[number + 1 : number + 3]]
    return len(following) == 2 and following[0] == ")" and following[1] in ("=", "in")


def _begins_label(toks: list[Tok], number: int) -> bool:
    """Whether a block is the label behind an operation without operands, such as an early ``return``."""
    before = toks[number - 1]
    if before.type == "COMMA" or (before.type == "COLON"):
        return False
    after = toks[number + 1].type if number + 1 < len(toks) else ""
    return after == "COLON"


_DEFINES = re.compile(r"(?:\bfunc\.func|(?<![\w.])module)\s+(?:(?:private|public|nested)\s+)?\Z")


def is_symbol_definition(text: str, offset: int) -> bool:
    """Whether the symbol at a place is that of a function or module."""
    return _DEFINES.search(text, max(0, text.rfind("\n", 0, offset)), offset) is not None


def _is_definition(toks: list[Tok], number: int) -> bool:
    place = number - 1
    while place >= 0 and toks[place].text in _BETWEEN:
        place -= 1
    return place >= 0 and toks[place].type in _DEFINING
