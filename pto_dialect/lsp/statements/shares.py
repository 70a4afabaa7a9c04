"""The shares of operations among those that follow a context, from counts of programs."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from pto_dialect.ir.core_dialects.core_ops import CORE_SHAPES

from .contexts import CONTEXTS, USE, USE_OF_KIND, WORD, Counts, Key
from .names import INDEX, NAMES

TABLE = Path(__file__).with_name("usual.csv")
Vector = npt.NDArray[np.float64]
_WORD_WEIGHT = 4.0
"""Operations in general that weigh as much as those of a part of a name."""
_MOST = 1000
"""Shares that are kept."""


def rows(counts: Counts) -> Iterator[tuple[str, str, str]]:
    """The rows of a table."""
    for (kind, content), numbers in sorted(counts.items()):
        texts = [f"{name.removeprefix('pto.')} {number}" for name, number in sorted(numbers.items())]
        yield kind, "|".join(content), "|".join(texts)


def _parsed(text: str) -> Counter[str]:
    pairs = (one.rpartition(" ") for one in text.split("|"))
    return Counter({name if name in CORE_SHAPES else f"pto.{name}": int(number) for name, _, number in pairs})


class Shares:
    """Shares by context. ``counts`` returns how often operations follow a content."""

    def __init__(self, counts: Callable[[Key], Mapping[str, int] | None]) -> None:
        self._counts = counts
        self._kept: dict[Key, Vector] = {}

    def context(self, name: str, contents: Mapping[str, tuple[str, ...]]) -> Vector:
        """The shares of all operations in a context. What it has not seen has the shares of the wider context, which
        weigh as much as the number of different operations that it has seen."""
        wider = CONTEXTS[name].wider
        narrow = (name, contents[name]) if wider else (name, ())
        return self._filled(narrow, (lambda: self.context(wider, contents)) if wider else self._even)

    def use(self, made: tuple[str, str]) -> Vector:
        """The shares of operations among the first ones to use a value of a kind that an operation has written."""
        kind = USE_OF_KIND, (made[1],)
        return self._filled((USE, made), lambda: self._filled(kind, lambda: self.context("all", {})))

    def word(self, word: str) -> Vector | None:
        """How much likelier all operations are in functions with this part of a name, or in files with it, as the
        logarithm of a factor; ``None`` for an unknown part."""
        key = WORD, (word,)
        kept = self._kept.get(key)
        if kept is None and (counts := self._counts(key)):
            everywhere = self.context("all", {})
            kept = np.log(self._mixed(counts, everywhere, _WORD_WEIGHT) / everywhere)
            self._keep(key, kept)
        return kept

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
    """Those of the table of this package."""
    with open(TABLE, encoding="utf-8", newline="") as stream:
        texts = {(kind, tuple(content.split("|"))): counts for kind, content, counts in csv.reader(stream)}

    def counts(key: Key) -> Mapping[str, int] | None:
        text = texts.get((key[0], key[1] or ("",)))
        return None if text is None else _parsed(text)

    return Shares(counts)


def shares_of(counts: Counts) -> Shares:
    """Those of counts that are given."""
    return Shares(lambda key: counts.get(key))
