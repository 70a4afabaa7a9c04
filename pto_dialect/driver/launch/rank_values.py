"""Values that differ from rank to rank, as launch files write them. Source: docs/ranks.md, "Values"."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import NamedTuple

from pto_dialect.diagnostics.suggest import nearest_or

from ..run.value_text import (
    Content,
    Generated,
    Given,
    Number,
    Split,
    Stored,
    ValueTextError,
    parse_content,
    parse_given,
)

CONTEXT, RANK, RANKS = "context", "rank", "ranks"
"""Words that stand for values: the context of the communication, the number of the rank, how many there are."""

_SPLIT = "split:"
_WINDOW = re.compile(r"(?P<name>[^@{}]+)@(?P<sign>[+-]?)(?P<number>\d{1,4})")


class Window(NamedTuple):
    """An argument that is a buffer in the window of a rank."""

    name: str
    rank: int


class RankContext(NamedTuple):
    """An argument that is the context of the communication of a rank."""

    rank: int


class RankText(NamedTuple):
    """Reads values for rank ``number`` of ``ranks``."""

    number: int
    ranks: int

    def expand(self, text: str) -> str:
        """Returns ``text`` with the number of the rank for ``{rank}`` and how many there are for ``{ranks}``."""
        return text.replace("{rank}", str(self.number)).replace("{ranks}", str(self.ranks))

    def argument(self, text: str, windows: Collection[str]) -> Given | Window | RankContext:
        """Returns the value of an argument. Raises ``ValueTextError``."""
        if text in (RANK, RANKS):
            return Given(Number(self.number if text == RANK else self.ranks, text))
        if text == CONTEXT:
            return RankContext(self.number)
        if text in windows:
            return Window(text, self.number)
        found = _WINDOW.fullmatch(text)
        if found is not None and found["name"] not in windows:
            hint = nearest_or(found["name"], windows, f"there are: {', '.join(windows) or 'none'}")
            raise ValueTextError(f"there is no window '{found['name']}'; {hint}")
        if found is not None:
            return Window(found["name"], self._peer(found["sign"], int(found["number"]), text))
        return self.given(text)

    def _peer(self, sign: str, number: int, text: str) -> int:
        if sign:
            return (self.number + (number if sign == "+" else -number)) % self.ranks
        if number >= self.ranks:
            raise ValueTextError(f"'{text}' names rank {number}; there are {self.ranks} ranks, from 0")
        return number

    def given(self, text: str) -> Given:
        """Returns a value as ``--arg`` takes it, with the keywords for ranks. Raises ``ValueTextError``."""
        return Given(self.content(text)) if text.startswith(_SPLIT) else parse_given(self.expand(text))

    def content(self, text: str) -> Content:
        """Returns a number, a file or generated elements; with ``split:`` the part of this rank. Raises
        ``ValueTextError``."""
        if text in (RANK, RANKS):
            return Number(self.number if text == RANK else self.ranks, text)
        if not text.startswith(_SPLIT):
            return parse_content(self.expand(text))
        whole = parse_content(self.expand(text.removeprefix(_SPLIT)))
        if not isinstance(whole, Stored | Generated):
            raise ValueTextError(f"'{text}' is a number, which ranks cannot share")
        return Split(whole, self.number, self.ranks)
