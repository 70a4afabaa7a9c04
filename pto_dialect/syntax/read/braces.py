"""Unbalanced curly braces of a program, found by counting and by indentation."""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

from pto_dialect.patterns import portable

from ..text import indentation, starts_line

_BRACES = re.compile(portable(r"//[^\n]*|\"(?:[^\"\\\n]++|\\.)*+\"|([{}])"))


class _Scan(NamedTuple):
    """The results of one scan of the braces, as positions: the unclosed opening brace, the surplus closing brace."""

    unclosed: int | None
    surplus: int | None


class Braces:
    """The braces of ``text``, scanned when it has an error."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def _positions(self) -> tuple[list[int], list[int]]:
        found = [(m.start(), 1 if m[1] == "}" else -1) for m in _BRACES.finditer(self.text) if m[1]]
        return [p for p, _ in found], list(accumulate((s for _, s in reversed(found)), initial=0))

    def closing_after(self, position: int) -> int:
        """Returns how many more closing than opening braces follow ``position``."""
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
        """Returns the opening brace without a closing one: the first whose partner is indented like an outer one's."""
        return self._scan.unclosed

    @property
    def surplus(self) -> int | None:
        """Returns the closing brace without an opening one: the first that is indented deeper than its
        partner's line."""
        return self._scan.surplus

    @cached_property
    def doubtful_from(self) -> int:
        """Returns the position from which on the regions are not those that were meant."""
        return min((p for p in self._scan if p is not None), default=len(self.text) + 1)
