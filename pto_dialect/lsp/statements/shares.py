"""The shares of operations among those that follow a context, from counts of programs."""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from math import log1p
from pathlib import Path

import numpy as np
import numpy.typing as npt

from .contexts import CONTEXTS, USE, USE_OF_KIND, Counts, Key
from .names import INDEX, NAMES

TABLE = Path(__file__).with_name("usual.csv")
Vector = npt.NDArray[np.float64]
_WORD_WEIGHT = 4.0
"""Operations in general that weigh as much as those of a term."""
_OPERATIONS, _MARK, _BASE = "operations", "~", 36
"""The first row of the table, what is before the index of an operation in a content, and the base of indices."""
_MOST = 1000
"""Shares that are kept."""


class _Coding:
    """How a table writes operations: their indices among the names in its first row, in base 36."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names
        self._indices = {name: np.base_repr(index, _BASE).lower() for index, name in enumerate(names)}

    def content(self, content: Iterable[str]) -> str:
        """Returns a content, with indices for its operations."""
        return "|".join(f"{_MARK}{self._indices[part]}" if part in self._indices else part for part in content)

    def counts(self, numbers: Mapping[str, int]) -> str:
        """``2 a 1f|9 b`` are operations in 2 programs and one in 9."""
        found: defaultdict[int, list[str]] = defaultdict(list)
        for name, number in sorted(numbers.items()):
            found[number].append(self._indices[name])
        return "|".join(" ".join((str(number), *each)) for number, each in sorted(found.items()))

    def parsed(self, text: str) -> dict[str, int]:
        """Returns the counts that a text states."""
        groups = (group.split(" ") for group in text.split("|"))
        return {self._names[int(index, _BASE)]: int(number) for number, *indices in groups for index in indices}


def rows(counts: Counts) -> Iterator[tuple[str, str, str]]:
    """Yields the rows of a table: the names of the operations, then what follows each content, by numbers of
    programs."""
    names = sorted({name for numbers in counts.values() for name in numbers})
    coding = _Coding(names)
    yield _OPERATIONS, "", " ".join(names)
    for (kind, content), numbers in sorted(counts.items()):
        yield kind, coding.content(content), coding.counts(numbers)


class Shares:
    """Shares by context. ``counts`` returns how often operations follow a content."""

    def __init__(self, counts: Callable[[Key], Mapping[str, int] | None]) -> None:
        self._counts = counts
        self._kept: dict[Key, Vector] = {}

    def context(self, name: str, contents: Mapping[str, tuple[str, ...]]) -> Vector:
        """Returns the shares of all operations in a context. What it has not seen has the shares of the wider context,
        which weigh as much as the number of different operations that it has seen."""
        wider = CONTEXTS[name].wider
        narrow = (name, contents[name]) if wider else (name, ())
        return self._filled(narrow, (lambda: self.context(wider, contents)) if wider else self._even)

    def use(self, made: tuple[str, str]) -> Vector:
        """Returns the shares of operations among the first ones to use a value of a kind that an operation has
        written."""
        kind = USE_OF_KIND, (made[1],)
        return self._filled((USE, made), lambda: self._filled(kind, lambda: self.context("all", {})))

    def lift(self, kind: str, term: str) -> Vector | None:
        """Returns how much likelier all operations are where a term speaks for them by a kind of rows, as the logarithm
        of a factor; ``None`` for an unknown term."""
        key = kind, (term,)
        kept = self._kept.get(key)
        if kept is None and (counts := self._counts(key)):
            everywhere = self.context("all", {})
            kept = np.log(self._mixed(counts, everywhere, _WORD_WEIGHT) / everywhere)
            self._keep(key, kept)
        return kept

    def known(self, name: str, contents: Mapping[str, tuple[str, ...]]) -> float:
        """Returns how often something has followed a content, as a logarithm."""
        return log1p(sum((self._counts((name, contents[name])) or {}).values()))

    @staticmethod
    def _mixed(counts: Mapping[str, int], wider: Vector, weight: float) -> Vector:
        own = np.zeros(len(NAMES))
        for name, number in counts.items():
            if name in INDEX:
                own[INDEX[name]] = number
        return (own + weight * wider) / (own.sum() + weight)

    def _keep(self, key: Key, found: Vector) -> None:
        if len(self._kept) >= _MOST:
            self._kept.clear()
        self._kept[key] = found

    def _filled(self, key: Key, wider: Callable[[], Vector]) -> Vector:
        kept = self._kept.get(key)
        if kept is not None:
            return kept
        counts, found = self._counts(key), wider()
        if counts:
            found = self._mixed(counts, found, len(counts))
        self._keep(key, found)
        return found

    def _even(self) -> Vector:
        return np.full(len(NAMES), 1 / len(NAMES))


@cache
def usual_shares() -> Shares:
    """Returns those of the table of this package."""
    with open(TABLE, encoding="utf-8", newline="") as stream:
        (_, _, names), *found = csv.reader(stream)
    coding, texts = _Coding(names.split(" ")), {(kind, content): text for kind, content, text in found}

    def counts(key: Key) -> Mapping[str, int] | None:
        text = texts.get((key[0], coding.content(key[1])))
        return None if text is None else coding.parsed(text)

    return Shares(counts)


def shares_of(counts: Counts) -> Shares:
    """Returns those of counts that are given."""
    return Shares(lambda key: counts.get(key))
