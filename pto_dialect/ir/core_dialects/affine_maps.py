"""Affine maps and sets of integers, which attributes store as text: their names and expressions.

Source: docs/reference/core-dialects.md, "Affine maps".
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

_HEAD = re.compile(r"\s*\((?P<dims>[\w\s,]*)\)\s*(?:\[(?P<symbols>[\w\s,]*)\])?\s*")
_TOKEN = re.compile(r"\s*(?:(\d+|[A-Za-z_]\w*|->|>=|<=|==|[-+*(),:]))")
_DIVISIONS = frozenset(("floordiv", "ceildiv", "mod"))


class Linear(NamedTuple):
    """The facts about an expression: whether it uses dimensions or symbols, and its name if it is just one."""

    dimensional: bool
    symbolic: bool
    name: str | None = None


class AffineText(NamedTuple):
    """The dimensions and symbols of a map or set, and its results or constraints."""

    dims: tuple[str, ...]
    symbols: tuple[str, ...]
    results: tuple[Linear, ...]

    @property
    def inputs(self) -> int:
        """Returns the number of operands that it takes."""
        return len(self.dims) + len(self.symbols)

    @property
    def permutation(self) -> bool:
        """Returns whether a map yields each of its dimensions once."""
        names = [result.name for result in self.results]
        return not self.symbols and sorted(map(str, names)) == sorted(self.dims)


class _NotAffine(ValueError):
    """The text is not a map or set of affine expressions."""


class _Reader:
    def __init__(self, dims: tuple[str, ...], symbols: tuple[str, ...], text: str) -> None:
        self.dims, self.symbols = dims, symbols
        self.tokens: list[str] = []
        position = 0
        text = text.rstrip()
        while position < len(text):
            found = _TOKEN.match(text, position)
            if found is None:
                raise _NotAffine
            self.tokens.append(found[1])
            position = found.end()
        self.tokens.append("")
        self.place = 0

    @property
    def ahead(self) -> str:
        return self.tokens[self.place]

    def take(self, *allowed: str) -> str:
        word = self.ahead
        if allowed and word not in allowed:
            raise _NotAffine
        self.place += 1
        return word

    def sum(self) -> Linear:
        value = self.product()
        while self.ahead in ("+", "-"):
            self.take()
            value = _joined(value, self.product())
        return value

    def product(self) -> Linear:
        value = self.factor()
        while self.ahead == "*" or self.ahead in _DIVISIONS:
            mark = self.take()
            other = self.factor()
            if other.dimensional and (mark != "*" or value.dimensional):
                raise _NotAffine
            value = _joined(value, other)
        return value

    def factor(self) -> Linear:
        word = self.take()
        if word == "-":
            return self.factor()._replace(name=None)
        if word == "(":
            value = self.sum()
            self.take(")")
            return value
        if word.isdigit():
            return Linear(False, False)
        if word in self.dims or word in self.symbols:
            return Linear(word in self.dims, word in self.symbols, word)
        raise _NotAffine

    def constraint(self) -> Linear:
        value = self.sum()
        self.take(">=", "==", "<=")
        return _joined(value, self.sum())


def _joined(a: Linear, b: Linear) -> Linear:
    return Linear(a.dimensional or b.dimensional, a.symbolic or b.symbolic)


def _names(head: re.Match[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Returns the dimensions and the symbols."""
    dims, symbols = (
        tuple(name.strip() for name in (names or "").split(",") if name.strip())
        for names in (head["dims"], head["symbols"])
    )
    return dims, symbols


def repeated_name(text: str) -> str | None:
    """Returns the first dimension or symbol that a map or set defines twice."""
    head = _HEAD.match(text.partition("<")[2])
    dims, symbols = _names(head) if head is not None else ((), ())
    names = dims + symbols
    return next((name for place, name in enumerate(names) if name in names[:place]), None)


@cache
def affine_text(text: str) -> AffineText | None:
    """Returns the map or set that ``affine_map<..>`` or ``affine_set<..>`` spells; ``None`` for other text."""
    word, _, body = text.partition("<")
    head = _HEAD.match(body)
    if head is None or not body.endswith(">") or word.strip() not in ("affine_map", "affine_set"):
        return None
    dims, symbols = _names(head)
    if repeated_name(text) is not None:
        return None
    constrained = word.strip() == "affine_set"
    try:
        reader = _Reader(dims, symbols, body[head.end() : -1])
        reader.take(":" if constrained else "->")
        reader.take("(")
        results: list[Linear] = []
        while reader.ahead != ")":
            if results:
                reader.take(",")
            results.append(reader.constraint() if constrained else reader.sum())
        reader.take(")")
        reader.take("")
    except _NotAffine:
        return None
    return AffineText(dims, symbols, tuple(results))
