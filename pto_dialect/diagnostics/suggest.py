"""Near names for a misspelt one."""

from collections.abc import Iterable, Sequence
from functools import lru_cache

# Costs are counted in halves of an edit: a wrong separator or letter case is half a mistake.
_EDIT = 2
_HALF = 1
_MAX_COST = 4 * _EDIT
_MAX_LENGTH = 100
_SEPARATORS = "._-"
MOST_NAMED = 3
"""Names that a suggestion has."""


def did_you_mean(word: str, candidates: Iterable[str], n: int = 1) -> list[str]:
    """Returns at most ``n`` of ``candidates`` that ``word`` was probably meant to be, the most likely first.

    Counts as near: few insertions, deletions, replacements or transpositions (about one in three letters,
    a shared ``dialect.`` prefix not counted), wrong case or separator, a missing or superfluous dialect, the
    beginning or the end of a longer name, an additional suffix, and the same parts in another order.  The
    result does not depend on the order of ``candidates``.
    """
    return [candidate for *_, candidate in _scored(word, candidates)[: max(n, 0)]]


def nearest_or(word: str, candidates: Iterable[str], otherwise: str, n: int = 1) -> str:
    """``did you mean A or B?`` with at most ``n`` names as :func:`did_you_mean` selects them, or ``otherwise``."""
    near = did_you_mean(word, candidates, n)
    return f"did you mean {' or '.join(near)}?" if near else otherwise


def nearest(word: str, candidates: Iterable[str]) -> str:
    """Returns ``; did you mean A?`` to append to a message, or nothing."""
    hint = nearest_or(word, candidates, "")
    return f"; {hint}" if hint else ""


def did_you_mean_hint(word: str, candidates: Iterable[str], usual: Sequence[str] = ()) -> str | None:
    """``did you mean A or B?`` with all of ``candidates`` that are equally near, ``None`` when none is near.

    Candidates with a shorter common prefix are dropped; the ones in ``usual`` are named first and in its order, even if
    they are half a mistake farther; at most three are named.
    """
    return near_hint(equally_near(word, candidates, usual)[:MOST_NAMED])


def near_hint(names: Sequence[str]) -> str | None:
    """``did you mean A or B?`` with all ``names``; ``None`` where there are none."""
    return f"did you mean {alternatives(names)}?" if names else None


def inline_hint(word: str, candidates: Sequence[str]) -> str:
    """Returns ``; did you mean A or B?`` to append to a message, those named first in ``candidates`` first; or
    nothing."""
    hint = word_hint(word, candidates)
    return f"; {hint}" if hint else ""


def equally_near(word: str, candidates: Iterable[str], usual: Sequence[str] = ()) -> list[str]:
    """Returns those of ``candidates`` that ``word`` was most probably meant to be: see ``did_you_mean_hint``."""
    scored = _scored(word, candidates)
    if not scored:
        return []
    least, prefix, *_ = scored[0]
    if least == 0:
        return [scored[0][3]]
    rank = {name: place for place, name in enumerate(usual)}
    near = [
        name
        for cost, begin, _, name in scored
        if (cost, begin) == (least, prefix) or (cost <= least + _HALF and name in rank)
    ]
    return sorted(near, key=lambda name: rank.get(name, len(rank)))


def word_hint(word: str, allowed: Sequence[str]) -> str | None:
    """``did you mean A or B?`` for one of few words, in their order; ``None`` when none is near, or too many are."""
    return near_hint(near_terms(word, allowed))


def near_terms(word: str, allowed: Sequence[str]) -> list[str]:
    """Returns those of a few words that ``word`` was probably meant to be, in their order; none where too many are
    near."""
    close = equally_near(word, allowed, allowed)
    return close if len(close) <= MOST_NAMED else []


def alternatives(names: Sequence[str]) -> str:
    """Returns ``a``, ``a or b``, ``a, b or c``."""
    *first, last = names
    return f"{', '.join(first)} or {last}" if first else last


def _scored(word: str, candidates: Iterable[str]) -> list[tuple[int, int, int, str]]:
    """Candidates near ``word`` with their cost, the nearest first."""
    if not word or len(word) > _MAX_LENGTH:
        return []
    scored: list[tuple[int, int, int, str]] = []
    for candidate in set(candidates):
        cost = _name_cost(word, candidate)
        if cost is not None:
            near = -_common_prefix(word, candidate)
            scored.append((cost, near, abs(len(word) - len(candidate)), candidate))
    return sorted(scored)


def _name_cost(word: str, candidate: str) -> int | None:
    word_dialect, word_dot, word_rest = word.partition(".")
    dialect, dot, rest = candidate.partition(".")
    if word_dot and dot and word_dialect == dialect:
        return _cost(word_rest, rest)
    costs = [_cost(word, candidate)]
    if dot:
        costs.append(_plus(_cost(word, rest), _HALF))
    if word_dot:
        costs.append(_plus(_cost(word_rest, candidate), _HALF))
    return min((cost for cost in costs if cost is not None), default=None)


def _plus(cost: int | None, extra: int) -> int | None:
    return None if cost is None else cost + extra


def _cost(word: str, name: str) -> int | None:
    """Returns how far apart the two names are, ``None`` for unrelated."""
    word_key, word_letters, word_parts = _normal(word)
    name_key, name_letters, name_parts = _normal(name)
    if word_key == name_key:
        return 0 if word == name else _HALF
    costs: list[int] = []
    limit = min(len(word) // 3 * _EDIT, _MAX_COST)
    if limit and abs(len(word) - len(name)) <= limit:
        missing = max(len(word_letters - name_letters), len(name_letters - word_letters))
        if missing * _EDIT <= limit:
            distance = edit_distance(word, name, limit)
            if distance <= limit:
                costs.append(distance)
    if len(word) >= 3:
        if name_key.startswith(word_key):
            costs.append(_EDIT + (_HALF if name_key[len(word_key)] == "." else _EDIT))
        if name_key.endswith("." + word_key):
            costs.append(_EDIT + _HALF)
        if word_key.startswith(name_key + "."):
            costs.append(2 * _EDIT)
        if len(word_parts) > 1 and word_parts == name_parts:
            costs.append(_EDIT)
    return min(costs, default=None)


@lru_cache(maxsize=8192)
def _normal(name: str) -> tuple[str, frozenset[str], list[str]]:
    """Returns a name without case and with one separator, its letters, and its parts in order."""
    key = name.lower().replace("_", ".").replace("-", ".")
    return key, frozenset(key) - {"."}, sorted(key.split("."))


def _common_prefix(a: str, b: str) -> int:
    for index, (x, y) in enumerate(zip(a, b, strict=False)):
        if x != y:
            return index
    return min(len(a), len(b))


def edit_distance(a: str, b: str, limit: int) -> int:
    """Damerau-Levenshtein distance (adjacent transpositions) in half edits, exact up to ``limit``.

    Inserting, deleting, replacing or transposing costs 2; inserting or deleting one of ``._-``, replacing
    one of them by another, and changing the case of a letter cost 1.  Above ``limit``: some value above it.
    """
    far = limit + 1
    before: list[int] = []
    previous = [0]
    for char in b:
        previous.append(previous[-1] + _indel(char))
    for i, x in enumerate(a, 1):
        # An insertion costs at least 1, so cells further than limit off the diagonal cannot matter.
        low, high = max(1, i - limit), min(len(b), i + limit)
        current = [far] * (len(b) + 1)
        if low == 1:
            current[0] = previous[0] + _indel(x)
        for j in range(low, high + 1):
            y = b[j - 1]
            cost = min(previous[j] + _indel(x), current[j - 1] + _indel(y), previous[j - 1] + _replace_cost(x, y))
            if i > 1 and j > 1 and x == b[j - 2] and a[i - 2] == y:
                cost = min(cost, before[j - 2] + _EDIT)
            current[j] = cost
        if min(current) > limit and min(previous) > limit:
            return far
        before, previous = previous, current
    return previous[len(b)]


def _indel(char: str) -> int:
    return _HALF if char in _SEPARATORS else _EDIT


def _replace_cost(x: str, y: str) -> int:
    if x == y:
        return 0
    if (x in _SEPARATORS and y in _SEPARATORS) or x.lower() == y.lower():
        return _HALF
    return _EDIT
