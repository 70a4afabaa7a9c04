"""What was found out about an earlier text, for questions about the present one while that is still looked at."""

from __future__ import annotations

from typing import NamedTuple

from .checked import Checked, TextRange
from .ends import common_ends


class StaleCheck(NamedTuple):
    """``checked`` is about a text that is the same as the present one up to ``begin``, and from ``end`` on, where its
    characters stand ``moved`` places further in the present one."""

    checked: Checked
    begin: int
    end: int
    moved: int

    def offset(self, offset: int) -> int | None:
        """The character of its text for one of the present text; ``None`` where that is new."""
        if offset <= self.begin:
            return offset
        return offset - self.moved if offset >= self.end else None

    def place(self, place: TextRange) -> TextRange:
        """Where in the present text something stands; what has changed lies between its ends."""
        start, end = place
        return TextRange(
            start if start <= self.begin else max(start + self.moved, self.begin),
            end if end <= self.begin else max(end + self.moved, self.begin),
        )


def stale_check(checked: Checked, text: str) -> StaleCheck:
    """``checked`` for questions about ``text``."""
    old = checked.text
    begin, tail = common_ends(old, text)
    return StaleCheck(checked, begin, len(text) - tail, len(text) - len(old))
