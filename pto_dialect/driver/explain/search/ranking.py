"""Pages found by plain words: "row maximum", "cast", "my kernel hangs", "tl.dot"."""

from __future__ import annotations

import math
import re
from collections import Counter
from functools import cache
from typing import NamedTuple

from .documents import Document, documents
from .words import DIRECTIONS, PHRASES, STOP, concepts

_WORD = re.compile(r"[a-z][a-z0-9^]*|[0-9]+", re.IGNORECASE)
_CAMEL = re.compile(r"([a-z])([A-Z])")
_NAME, _PHRASE, _SENTENCE, _FAMILY, _BODY = 1.2, 0.9, 0.7, 0.4, 0.35
"""Weight of a match in the name, in a phrase of its purpose, in its sentence, in the title of its family, in
the text of a page."""
_CLOSENESS = 2.0
"""What a name or phrase counts for that says what is wanted and no more."""
_EXACT, _SAID, _MENTIONED, _PREFIX = 10.0, 1.5, 1.0, 2.5
"""What the name alone counts for, a whole phrase, the name among other terms, and the beginning of a name."""
_CITED = 1.2
"""What counts for an identifier among other words, of another language or a term: ``tl.program_id(0)``, ``v_row``."""
_IDENTIFIER = re.compile(r"[a-z_]\w*(?:[.:]+\w+)*", re.IGNORECASE)
_NEAR = 0.3
"""The part of the best score that others need to be shown."""
_UNKNOWN = 4.0
"""Weight of a term that no document has."""


class Entry(NamedTuple):
    """What the search knows of a document: concepts of its name and of each phrase, weights of all concepts, and the
    phrases in lower case."""

    document: Document
    name: frozenset[str]
    weights: dict[str, float]
    phrases: tuple[frozenset[str], ...]
    said: frozenset[str]


def words_of(text: str) -> list[str]:
    """Returns the concepts of a text, without words that say nothing."""
    text = _CAMEL.sub(r"\1 \2", text)
    for pattern, meant in PHRASES:
        text = pattern.sub(meant, text)
    found: list[str] = []
    direction = ""
    for word in _WORD.findall(text):
        if word.lower() in DIRECTIONS:
            direction = DIRECTIONS[word.lower()]
        if word.lower() in STOP or (len(word) == 1 and not word.isdigit()):
            continue
        meant = concepts(word)
        found += meant
        if direction:
            found += [direction + one for one in meant]
        direction = ""
    return found


@cache
def entries() -> tuple[Entry, ...]:
    """Returns all documents with their concepts."""
    return tuple(map(_entry, documents()))


def _entry(document: Document) -> Entry:
    name = frozenset(one for part in document.name for one in concepts(part))
    phrases = tuple(frozenset(words_of(phrase)) for phrase in document.phrases)
    weights: dict[str, float] = {}
    fields = (
        (name, _NAME),
        (words_of(document.summary), _SENTENCE),
        (words_of(document.family), _FAMILY),
        ((one for phrase in phrases for one in phrase), _PHRASE),
        (words_of(document.body), _BODY),
    )
    for found, weight in fields:
        for one in set(found):
            weights[one] = max(weights.get(one, 0.0), weight)
    return Entry(document, name, weights, phrases, frozenset(map(str.lower, document.phrases)))


@cache
def rarity() -> dict[str, float]:
    """Weight of a concept: rare ones weigh more."""
    known = Counter(one for entry in entries() for one in entry.weights)
    return {one: math.log(1 + len(entries()) / number) for one, number in known.items()}


def known(question: str) -> bool:
    """Returns whether some document has each term of ``question``."""
    words = words_of(question)
    return bool(words) and all(word in rarity() for word in words)


def search(question: str, most: int = 8) -> list[Document]:
    """Documents that match ``question``, the best first; empty where no term of it is known."""
    wanted = frozenset(words_of(question))
    typed = question.strip().lower().removeprefix("pto.")
    cited = frozenset(one.lower() for one in _IDENTIFIER.findall(question) if _is_foreign(one)) - {typed}
    weight = rarity()
    total = sum(weight.get(one, _UNKNOWN) for one in wanted) or 1.0
    scored: list[tuple[float, int, str, Document]] = []
    for entry in entries():
        found = sum(weight[one] * entry.weights[one] for one in wanted if one in entry.weights)
        score = found / total + _CLOSENESS * _closeness(entry, wanted) if found else 0.0
        score = score * entry.document.usual + _named(entry.document, entry.said, typed, total)
        if entry.document.key in cited or not cited.isdisjoint(entry.said):
            score += _CITED * entry.document.usual
        if score:
            scored.append((-round(score, 9), len(entry.document.key), entry.document.key, entry.document))
    scored.sort()
    return [document for score, *_, document in scored[:most] if score <= scored[0][0] * _NEAR]


def _is_foreign(name: str) -> bool:
    """Returns whether a name has what plain English has not: ``_``, points, or capitals inside."""
    return "_" in name or "." in name or ":" in name or _CAMEL.search(name) is not None


def _named(document: Document, said: frozenset[str], typed: str, total: float) -> float:
    """Returns what counts for a name that is typed in full, or begun."""
    name = document.key.removeprefix("pto.").removeprefix("docs/").removesuffix(".md")
    if name == typed:
        return _EXACT
    if typed in said:
        return _SAID * document.usual
    if name in typed.split() and len(name) > 2:
        return _MENTIONED * sum(rarity().get(one, _UNKNOWN) for one in set(words_of(name))) / total
    return _PREFIX * document.usual * len(typed) / len(name) if len(typed) > 1 and name.startswith(typed) else 0.0


def _closeness(entry: Entry, wanted: frozenset[str]) -> float:
    """Returns how much of the name, or of a phrase, is what is wanted and no more: between 0 and 1."""
    weight = rarity()

    def shared(words: frozenset[str]) -> float:
        both = sum(weight.get(one, _UNKNOWN) for one in words & wanted)
        return both / sum(weight.get(one, _UNKNOWN) for one in words | wanted) if both else 0.0

    return max((shared(words) for words in (entry.name, *entry.phrases)), default=0.0)
