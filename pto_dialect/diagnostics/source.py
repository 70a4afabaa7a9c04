"""Source text and positions in it."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from typing import Any, NamedTuple


class SourceFile:
    """A named text; positions in it are character offsets from 0 to ``len(text)`` inclusive.

    Lines end at ``\\n``; a ``\\r`` before it belongs to the line end.  ``first_line`` is the number of the
    first line: a chunk cut out of a larger file keeps the line numbers of that file.  Two objects are equal
    only if they are the same object. ``facts`` are what other modules know of the text, an object of each class.
    """

    __slots__ = ("_starts", "facts", "first_line", "name", "text")

    name: str
    text: str
    first_line: int

    def __init__(self, name: str, text: str, first_line: int = 1) -> None:
        self.name = name
        self.text = text
        self.first_line = first_line
        self.facts: dict[type[Any], Any] = {}
        self._starts: list[int] | None = None

    def __repr__(self) -> str:
        return f"SourceFile({self.name!r}, {len(self.text)} characters, first_line={self.first_line})"

    def _line_starts(self) -> list[int]:
        # Most runs report nothing, so the table is built by the first question about a line.
        starts = self._starts
        if starts is None:
            lengths = (len(line) + 1 for line in self.text.split("\n"))
            starts = list(accumulate(lengths, initial=0))
            starts.pop()
            self._starts = starts
        return starts

    def _visible_end(self, index: int) -> int:
        """Offset after the last character of line ``index`` (from 0) without its line end."""
        starts = self._line_starts()
        if index + 1 >= len(starts):
            return len(self.text)
        end = starts[index + 1] - 1
        return end - 1 if end > starts[index] and self.text[end - 1] == "\r" else end

    def line_col(self, offset: int) -> tuple[int, int]:
        """Line (numbered from ``first_line``) and column (from 1, in characters) of ``offset``.

        An offset on a line end has the column after the line's last character. Offsets outside the text are moved to
        its nearest end, so that a position can always be shown.
        """
        offset = min(max(offset, 0), len(self.text))
        starts = self._line_starts()
        index = bisect_right(starts, offset) - 1
        return self.first_line + index, min(offset, self._visible_end(index)) - starts[index] + 1

    def line_text(self, line: int) -> str:
        """Returns the text of ``line`` (numbered as in :meth:`line_col`) without its line end; empty outside the
        text."""
        starts = self._line_starts()
        index = line - self.first_line
        if not 0 <= index < len(starts):
            return ""
        return self.text[starts[index] : self._visible_end(index)]

    def line_start(self, line: int) -> int | None:
        """Returns the offset of the first character of ``line`` (numbered as in :meth:`line_col`); ``None`` outside the
        text."""
        starts = self._line_starts()
        index = line - self.first_line
        return starts[index] if 0 <= index < len(starts) else None


class Span(NamedTuple):
    """The characters ``start <= offset < end`` of a source; ``start == end`` is a position between two."""

    source: SourceFile
    start: int
    end: int

    @property
    def text(self) -> str:
        """The characters covered."""
        return self.source.text[self.start : self.end]

    @property
    def line(self) -> int:
        """Line of the first character, counted as in :meth:`SourceFile.line_col`."""
        return self.source.line_col(self.start)[0]
