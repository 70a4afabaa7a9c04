"""The curly braces of a program: which one has no partner, judged by counting and by indentation."""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

from ..text import indentation, starts_line

_BRACES = re.compile(r"//[^\n]*|\"(?:[^\"\\\n]++|\\.)*+\"|([{}])")


class _Scan(NamedTuple):
    """What one walk over the braces finds, as positions: the opening one without partner, the closing one too many."""

    unclosed: int | None
    surplus: int | None


class Braces:
    """The braces of ``text``, looked at when something is wrong with it."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def _positions(self) -> tuple[list[int], list[int]]:
        found = [(m.start(), 1 if m[1] == "}" else -1) for m in _BRACES.finditer(self.text) if m[1]]
        return [p for p, _ in found], list(accumulate((s for _, s in reversed(found)), initial=0))

    def closing_behind(self, position: int) -> int:
        """How many more closing than opening braces stand behind ``position``."""
        positions, closing = self._positions
        return closing[len(positions) - bisect_left(positions, position)]

    @cached_property
    def _scan(self) -> _Scan:
        text = self.text
        opened: list[tuple[int, int]] = []
        shallow = deep = extra = None
        last, indent = 0, indentation(text, 0)
        for found in _BRACES.finditer(text):
            if found[1] is None:
                continue
            position = found.start()
            # Lines are measured once: a line may have any number of braces.
            if "\n" in text[last:position]:
                indent = indentation(text, position)
            last = position
            if found[1] == "{":
                opened.append((position, indent))
            elif not opened:
                extra = position if extra is None else extra
            else:
                start, expected = opened.pop()
                difference = indent - expected if starts_line(text, position) else 0
                if difference < 0 and shallow is None:
                    shallow = start
                elif difference > 0 and deep is None:
                    deep = position
        unclosed = None
        if opened:
            unclosed = shallow if shallow is not None else opened[-1][0]
        surplus = None
        if extra is not None:
            surplus = deep if deep is not None else extra
        return _Scan(unclosed, surplus)

    @property
    def unclosed(self) -> int | None:
        """The opening brace that has no closing one: the first whose partner is indented like an outer one's."""
        return self._scan.unclosed

    @property
    def surplus(self) -> int | None:
        """The closing brace that has no opening one: the first that is indented deeper than its partner's line."""
        return self._scan.surplus

    @cached_property
    def doubtful_from(self) -> int:
        """Position from which on the regions are not those that were meant."""
        return min((p for p in self._scan if p is not None), default=len(self.text) + 1)
