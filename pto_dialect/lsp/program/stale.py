"""Analysis results of an earlier text, for queries on the present one while its analysis is running."""

from __future__ import annotations

from typing import NamedTuple

from .checked import Checked, TextRange
from .ends import common_ends


class StaleCheck(NamedTuple):
    """Results of a text that is equal to the present one up to ``begin``, and from ``end`` on, where its offsets plus
    ``moved`` are those of the present text."""

    checked: Checked
    begin: int
    end: int
    moved: int

    def offset(self, offset: int) -> int | None:
        """The offset in the earlier text of one in the present text; ``None`` for new text."""
        if offset <= self.begin:
            return offset
        return offset - self.moved if offset >= self.end else None

    def place(self, place: TextRange) -> TextRange:
        """The range in the present text; changed text is between its ends."""
        start, end = place
        return TextRange(
            start if start <= self.begin else max(start + self.moved, self.begin),
            end if end <= self.begin else max(end + self.moved, self.begin),
        )


def stale_check(checked: Checked, text: str) -> StaleCheck:
    """Wraps ``checked`` for queries on ``text``."""
    old = checked.text
    begin, tail = common_ends(old, text)
    return StaleCheck(checked, begin, len(text) - tail, len(text) - len(old))
