"""Operations found by plain words: "row maximum", "cast", "wait for a flag"."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

from pto_dialect.ir.core.aliases import DEPRECATED
from pto_dialect.ir.core.index import OPS
from pto_dialect.ir.core.registry import op_class

from ..reference.operations import TITLES, computes
from .purposes import PURPOSES
from .related import aliases
from .search_words import ABBREVIATIONS, STOP, concepts

_WORD = re.compile(r"[a-z][a-z0-9^]*|[0-9]+", re.IGNORECASE)
_BITWISE = re.compile(r"\bbitwise (and|or|xor|not)\b", re.IGNORECASE)
"""Words that say nothing elsewhere."""
_PART = re.compile("|".join(ABBREVIATIONS))
_NAME, _PHRASE, _SENTENCE, _TITLE = 1.0, 0.9, 0.7, 0.4
"""Weight of a match in the name, in a phrase of its purpose, in its sentence, in the title of its family."""
_CLOSENESS = 2.0
"""What a name or phrase counts for that says what is wanted and no more."""
_UNKNOWN = 4.0
"""Weight of a term that no operation has."""
_LEVELS = {"tile": 1.0, "matmul": 1.0, "gemv": 0.9, "views": 0.95, "sync": 0.95, "vector": 0.8, "dma": 0.8}
_OTHER_LEVEL, _SPECIAL, _OLD = 0.75, 0.55, 0.3


class Entry(NamedTuple):
    """An operation as the search sees it: the parts of its name, weights of concepts, what it
    is there for, and how usual it is."""

    name: str
    parts: frozenset[str]
    weights: dict[str, float]
    phrases: tuple[frozenset[str], ...]
    usual: float


def words_of(text: str) -> list[str]:
    """The concepts of a text, without words that say nothing."""
    text = _BITWISE.sub(r"bitwise bit\1", text)
    words = [word for word in _WORD.findall(text) if word.lower() not in STOP and (len(word) > 1 or word.isdigit())]
    return [one for word in words for one in concepts(word)]


@cache
def _entries() -> tuple[Entry, ...]:
    return tuple(_entry(name, aliases().get(name, ())) for name in OPS)


def _entry(name: str, spelled: Iterable[str]) -> Entry:
    family = OPS[name][0]
    own = frozenset(_concepts_of(_PART.findall(name.removeprefix("pto."))))
    other = _concepts_of(part for alias in spelled for part in _PART.findall(alias.removeprefix("pto.")))
    phrases = tuple(frozenset(words_of(phrase)) for phrase in PURPOSES.get(name, ()))
    weights: dict[str, float] = {}
    fields = (
        (own | other, _NAME),
        (words_of(computes(op_class(name))), _SENTENCE),
        (words_of(TITLES[family]), _TITLE),
        ((one for phrase in phrases for one in phrase), _PHRASE),
    )
    for words, weight in fields:
        for one in set(words):
            weights[one] = max(weights.get(one, 0.0), weight)
    return Entry(name, own, weights, phrases, _usual(name, family))


def _concepts_of(words: Iterable[str]) -> frozenset[str]:
    return frozenset(one for word in words for one in concepts(word))


def _usual(name: str, family: str) -> float:
    """How usual an operation is among those that do the same."""
    if name in DEPRECATED:
        return _OLD
    if family.startswith(("vmi", "ub_", "simt", "mte_raw", "predicate", "scalar_config", "memref")) or "_raw" in name:
        return _SPECIAL
    return next((level for start, level in _LEVELS.items() if family.startswith(start)), _OTHER_LEVEL)


@cache
def _rarity() -> dict[str, float]:
    """Weight of a concept: rare ones weigh more."""
    entries = _entries()
    known = Counter(one for entry in entries for one in entry.weights)
    return {one: math.log(1 + len(entries) / number) for one, number in known.items()}


def search(question: str, most: int = 8) -> list[str]:
    """Operations that match ``question``, the best first; empty where it has no known term."""
    wanted = frozenset(words_of(question))
    rarity = _rarity()
    total = sum(rarity.get(one, _UNKNOWN) for one in wanted)
    scored: list[tuple[float, int, str]] = []
    for entry in _entries():
        found = sum(rarity[one] * weight for one in wanted if (weight := entry.weights.get(one)) is not None)
        if found:
            score = found / total + _CLOSENESS * _closeness(entry, wanted, rarity)
            scored.append((-score * entry.usual, len(entry.name), entry.name))
    return [name for *_, name in sorted(scored)[:most]]


def _closeness(entry: Entry, wanted: frozenset[str], rarity: dict[str, float]) -> float:
    """How much of the name, or of a phrase, is what is wanted and no more: between 0 and 1."""

    def shared(words: frozenset[str]) -> float:
        both = sum(rarity.get(one, _UNKNOWN) for one in words & wanted)
        return both / sum(rarity.get(one, _UNKNOWN) for one in words | wanted) if both else 0.0

    return max((shared(words) for words in (entry.parts, *entry.phrases)), default=0.0)
