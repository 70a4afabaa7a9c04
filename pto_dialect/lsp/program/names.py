"""The names in a text: the ranges of values, blocks and functions, and what each refers to.

Based on tokens, statement by statement, so that incomplete statements are supported.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from pto_dialect.syntax.read.tokens import Tok

from .parts import BLOCK, CLOSE, OPEN, SYMBOL, VALUE, Event, Part, starts_after, starts_of_parts

__all__ = ["BLOCK", "SYMBOL", "VALUE", "Name", "Names", "is_symbol_definition"]
_MOST = 60_000
"""Statements that are kept."""


class Name(NamedTuple):
    """A use of a name, as offsets in the text of its function; ``binding`` is the offset of its definition, ``None``
    for symbols and undefined names."""

    kind: str
    text: str
    start: int
    end: int
    defines: bool
    binding: int | None


@dataclass
class _Scope:
    """A region: the names it defines, and the offsets of their definitions."""

    outer: _Scope | None
    bindings: dict[str, list[int]] = field(default_factory=dict)

    def binding(self, text: str, start: int, defines: bool) -> int | None:
        """Returns the definition of the name at ``start``."""
        if defines:
            return start
        scope: _Scope | None = self
        while scope is not None:
            places = scope.bindings.get(text)
            if places:
                return next((place for place in reversed(places) if place < start), places[0])
            scope = scope.outer
        return None


class Names:
    """The names in ``text``, a function or a program without functions. ``known`` are statements that were looked at
    before; new ones are added. ``before`` are the names of a text that may be like this one."""

    def __init__(
        self,
        text: str,
        assembly: bool = False,
        known: dict[str, Part] | None = None,
        before: Names | None = None,
    ) -> None:
        self.text = text
        self._assembly = assembly
        if before is None or assembly or before._assembly:
            self._starts = [0] if assembly else starts_of_parts(text)
        else:
            self._starts = starts_after(text, before.text, before._starts)
        self._texts = [text[a:b] for a, b in zip(self._starts, [*self._starts[1:], len(text)], strict=True)]
        self._known = {} if known is None or assembly else known
        if len(self._known) > _MOST:
            self._known.clear()

    def _part(self, number: int) -> Part:
        """Returns a statement, which is looked at on the first question about it."""
        text = self._texts[number]
        part = self._known.get(text)
        if part is None:
            part = self._known[text] = Part(text, self._assembly)
        return part

    # ------------------------------------------------------------ questions

    @cached_property
    def names(self) -> list[Name]:
        """All of them, in the order of the text."""
        return self._resolved(None)

    @cached_property
    def tokens(self) -> list[Tok]:
        """The tokens of the text."""
        found: list[Tok] = []
        for number, base in enumerate(self._starts):
            tokens = self._part(number).tokens
            found += [Tok(token.type, token.text, base + token.start, token.value) for token in tokens]
        return found

    def token_at(self, offset: int) -> Tok | None:
        """Returns the first token that contains the character or the preceding one."""
        number = bisect_right(self._starts, offset) - 1
        for one in (number - 1, number) if number else (number,):
            base = self._starts[one]
            for token in self._part(one).tokens:
                if base + token.start <= offset <= base + token.end:
                    return Tok(token.type, token.text, base + token.start, token.value)
        return None

    def at(self, offset: int) -> Name | None:
        """Returns the name that contains the character or the preceding one."""
        for place in (offset, offset - 1):
            number = bisect_right(self._starts, place) - 1
            inside = place - self._starts[number]
            for event in self._part(number).events if number >= 0 else ():
                if event.start <= inside < event.end:
                    start = self._starts[number] + event.start
                    return next(name for name in self._resolved(event.text) if name.start == start)
        return None

    def same(self, name: Name) -> list[Name]:
        """Returns all uses of what ``name`` refers to, in the order of the text."""
        found = [other for other in self._resolved(name.text) if other.kind == name.kind]
        if name.kind == SYMBOL or name.binding is None:
            return found
        return [other for other in found if other.binding == name.binding]

    def visible(self, offset: int) -> Iterator[Name]:
        """Definitions of values that are visible at an offset: preceding ones in enclosing regions; the nearest one
        first."""
        inner = 0
        found: set[str] = set()
        for number in range(bisect_right(self._starts, offset) - 1, -1, -1):
            text = self._texts[number]
            if inner and not _has_regions(text):
                continue
            base = self._starts[number]
            events = self._part(number).events
            # Definitions after the start of a later region belong to that region.
            later = (place for place, event in enumerate(events) if not event.text and base + event.start > offset)
            for event in reversed(events[: next(later, len(events))]):
                start = base + event.start
                if not event.text:
                    inner = inner + 1 if event.kind == CLOSE else max(inner - 1, 0)
                elif event.defines and event.kind == VALUE and start < offset and not inner and event.text not in found:
                    found.add(event.text)
                    yield Name(VALUE, event.text, start, base + event.end, True, start)

    # ------------------------------------------------------------ what names stand for

    def _events(self, text: str | None) -> Iterator[tuple[int, Event]]:
        """Yields the names of one spelling, or all, with the regions between them, and where their statements begin."""
        for number, (base, written) in enumerate(zip(self._starts, self._texts, strict=True)):
            if text is None or text in written or _has_regions(written):
                for event in self._part(number).events:
                    if text is None or event.text == text or not event.text:
                        yield base, event

    def _resolved(self, text: str | None) -> list[Name]:
        scope = _Scope(None)
        found: list[tuple[int, int, Event, _Scope]] = []
        for base, event in self._events(text):
            if event.kind == OPEN:
                scope = _Scope(scope)
            elif event.kind == CLOSE:
                scope = scope.outer or scope
            else:
                start = base + event.start
                if event.defines and event.kind != SYMBOL:
                    scope.bindings.setdefault(event.text, []).append(start)
                found.append((start, base + event.end, event, scope))
        found.sort(key=lambda one: one[0])
        return [
            Name(
                event.kind,
                event.text,
                start,
                end,
                event.defines,
                None if event.kind == SYMBOL else scope.binding(event.text, start, event.defines),
            )
            for start, end, event, scope in found
        ]


def _has_regions(text: str) -> bool:
    """Returns whether regions may begin or end in a statement."""
    return "{" in text or "}" in text


_DEFINES = re.compile(r"(?:\bfunc\.func|(?<![\w.])module)\s+(?:(?:private|public|nested)\s+)?\Z")


def is_symbol_definition(text: str, offset: int) -> bool:
    """Returns whether the symbol at an offset is the name of a function or module."""
    return _DEFINES.search(text, max(0, text.rfind("\n", 0, offset)), offset) is not None
