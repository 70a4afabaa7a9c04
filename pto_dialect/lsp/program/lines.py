"""Positions as the protocol has them: lines, and columns in units of UTF-16.

A line ends at ``\\n``, ``\\r\\n`` or ``\\r`` and nowhere else; the separators U+2028 and U+2029 are characters.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from functools import cached_property
from itertools import accumulate

from lsprotocol.types import Position, Range

_LINE_END = re.compile(r"\r\n|\r|\n")
_WIDE = re.compile("[\U00010000-\U0010ffff]")
"""Characters of two units."""


class Lines:
    """The lines of ``text``; a question about a position costs a search in tables that are made once."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def starts(self) -> list[int]:
        """Where each line begins."""
        if "\r" in self.text:
            return [0, *(found.end() for found in _LINE_END.finditer(self.text))]
        return list(accumulate((len(line) + 1 for line in self.text.split("\n")), initial=0))[:-1]

    @cached_property
    def _wide(self) -> list[int]:
        return [] if self.text.isascii() else [found.start() for found in _WIDE.finditer(self.text)]

    def position(self, offset: int) -> Position:
        """Returns the position of a character; an offset outside of the text is that of its nearest end."""
        offset = min(max(offset, 0), len(self.text))
        line = bisect_right(self.starts, offset) - 1
        begin = self.starts[line]
        offset = min(offset, self.end_of(line))
        wide = self._wide
        return Position(line, offset - begin + (bisect_left(wide, offset) - bisect_left(wide, begin) if wide else 0))

    def range(self, start: int, end: int) -> Range:
        """Returns the positions of two characters."""
        return Range(self.position(start), self.position(end))

    def end_of(self, line: int) -> int:
        """Returns the offset of the end of a line, without its line break."""
        if line + 1 >= len(self.starts):
            return len(self.text)
        end = self.starts[line + 1] - 1
        return end - 1 if self.text[end] == "\n" and end > self.starts[line] and self.text[end - 1] == "\r" else end

    def offset(self, position: Position) -> int:
        """Returns the offset of a position. After the end of a line it is that end, after the last line the end of the
        text; inside a surrogate pair it is that character."""
        line, column = position.line, max(position.character, 0)
        if line < 0:
            return 0
        if line >= len(self.starts):
            return len(self.text)
        begin, end = self.starts[line], self.end_of(line)
        wide = self._wide
        first = bisect_left(wide, begin) if wide else 0
        if not wide or first == len(wide) or wide[first] >= end:
            return min(begin + column, end)
        for number, place in enumerate(wide[first : bisect_left(wide, end)]):
            units = place - begin + number
            if column <= units:
                return begin + column - number
            if column == units + 1:
                return place
        return min(begin + column - (bisect_left(wide, end) - first), end)

    def line_of(self, offset: int) -> int:
        """Returns the number of the line of a character, from 0."""
        return bisect_right(self.starts, min(max(offset, 0), len(self.text))) - 1
