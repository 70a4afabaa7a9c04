"""What the scalar unit has reached, packed: rows of statements with their numbers. Source: docs/reference/recording.md,
"Columns".
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress
from typing import Any, NamedTuple

import numpy as np

from pto_dialect.runtime.memory.spaces import Array

from .format import COLUMNS, FLOATS
from .model import Statement


class Counts(NamedTuple):
    """How many loop indices, integers, floats and handles an issue of a statement has."""

    loops: int
    integers: int
    floats: int
    handles: int


def counts_of(statement: Statement) -> Counts:
    """Returns what an issue of ``statement`` has."""
    floats = sum(type_ in FLOATS for _, type_ in statement.scalars)
    return Counts(len(statement.loops), len(statement.scalars) - floats, floats, len(statement.handles))


class Issues(NamedTuple):
    """Issues as columns: a row for each in ``statement`` and ``order``, any number of values in the others."""

    statement: Array
    order: Array
    loops: Array
    integers: Array
    floats: Array
    handles: Array

    @classmethod
    def of(cls, columns: Sequence[Any]) -> Issues:
        """Columns of any type as those of a recording."""
        return cls(*(np.asarray(one, COLUMNS[f"issue.{name}"]) for name, one in zip(cls._fields, columns, strict=True)))

    @classmethod
    def joined(cls, parts: Sequence[Issues]) -> Issues:
        """Returns the issues of all parts, one after the other."""
        return cls(*map(np.concatenate, zip(*parts, strict=True))) if parts else cls.of(((),) * len(cls._fields))

    def chosen(self, rows: Array, statements: Sequence[Statement]) -> Issues:
        """Returns some of the issues, in the order of ``rows``."""
        counts = np.array([counts_of(one) for one in statements], np.int64).reshape(-1, len(Counts._fields))
        mine = counts[self.statement]
        starts = np.cumsum(mine, axis=0) - mine
        found = [self.statement[rows], self.order[rows]]
        for column, start, count in zip(self[2:], starts[rows].T, mine[rows].T, strict=True):
            ends = np.cumsum(count)
            # The offset of each value in its row, after the start of the row.
            places = np.arange(int(ends[-1]) if len(ends) else 0) - np.repeat(ends - count, count)
            found.append(column[np.repeat(start, count) + places])
        return Issues(*found)


class OpenIssues:
    """Issues that are collected one by one."""

    def __init__(self) -> None:
        self.heads: list[int] = []
        """Statement and order of one issue after the other."""
        self.loops: list[int] = []
        self.numbers: list[Any] = []
        self.handles: list[int] = []

    def __len__(self) -> int:
        return len(self.heads) // 2

    def packed(self, statements: Sequence[Statement]) -> Issues:
        """Returns all of them as columns."""
        heads = np.array(self.heads, np.int64).reshape(-1, 2)
        kinds = [[type_ in FLOATS for _, type_ in one.scalars] for one in statements]
        floats = [each for statement in self.heads[::2] for each in kinds[statement]]
        integers = list(compress(self.numbers, [not each for each in floats]))
        return Issues.of((*heads.T, _words(self.loops), _words(integers),
                          list(map(float, compress(self.numbers, floats))), self.handles))  # fmt: skip


def _words(numbers: list[Any]) -> Any:
    """Integers as 64 bits."""
    try:
        return np.array(numbers, np.int64)
    except OverflowError:
        return np.array([signed_64(int(each)) for each in numbers], np.int64)


def signed_64(number: int) -> int:
    """Returns an integer as 64 bits in two's complement hold it."""
    return (number + (1 << 63)) % (1 << 64) - (1 << 63)
