"""Tiles that have lost bytes to others since they wrote them.

Each cell of the shadow memory refers to a set of victims by its number, because few sets occur. Source:
docs/reference/instrumentation.md, "Shadow memory".
"""

from __future__ import annotations

from collections.abc import Collection

MOST = 8
"""Victims of one byte; the earliest are forgotten."""
FORGOTTEN = 0
"""Stands for the victims that are forgotten."""


class Victims:
    """Sets of victims, numbered from 0, the empty one. A tile whose bytes were replaced by a write that was made of
    their content is a negative number."""

    def __init__(self) -> None:
        self._sets: list[tuple[int, ...]] = [()]
        self._numbers: dict[tuple[int, ...], int] = {(): 0}

    def clear(self) -> None:
        """Forgets all sets."""
        del self._sets[1:]
        self._numbers = {(): 0}

    def replace(self, number: int, owner: int, shown: Collection[int]) -> int:
        """Returns the set ``number`` after a write that replaces what ``owner`` wrote (0: nobody loses anything) and
        that is the content of all tiles of ``shown``."""
        before = self._sets[number]
        shown = {FORGOTTEN, abs(owner), *shown}
        left = tuple(victim for victim in before if victim == FORGOTTEN or abs(victim) not in shown)
        if owner:
            left = (owner, *left)
        if len(left) > MOST:
            left = (*left[: MOST - 1], FORGOTTEN)
        known = self._numbers.get(left)
        if known is None:
            known = self._numbers[left] = len(self._sets)
            self._sets.append(left)
        return known

    def holds(self, number: int, tile: int) -> bool:
        """Returns whether ``tile`` may have lost bytes with the set ``number``."""
        victims = self._sets[number]
        return tile in victims or -tile in victims

    def is_renewed(self, number: int, tile: int) -> bool:
        """Returns whether the bytes that ``tile`` lost were replaced by a write that was made of their content."""
        return -tile in self._sets[number]

    def is_complete(self, number: int) -> bool:
        """Returns whether no victim of the set ``number`` is forgotten."""
        return FORGOTTEN not in self._sets[number]
