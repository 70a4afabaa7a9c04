"""What speaks for an operation as the next one: numbers for each operation, in the columns of a matrix."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from functools import cache
from itertools import islice
from math import log, log1p

import numpy as np
import numpy.typing as npt

from .contexts import CONTEXTS, LATER, NAMED_VALUES, PARAMETER, REMARKED, VALUE, WORD, contents, terms_here
from .history import History, Written
from .names import (
    INDEX,
    NAMES,
    absent,
    family_of_name,
    level_of_name,
    meant_by,
    members,
    operand_classes,
    parts_of,
    possible,
    stems,
    takers,
    whole_names,
)
from .shares import Shares, Vector

HERE = ("last", "two", "work")
"""The contexts that are counted in the program itself as well."""
_CLASSES = ("region", "two", "newest types", "purpose", "work")
"""The contexts in which the operations of a class are counted together."""
_KNOWN = ("two", "work", "newest types")
"""The contexts of which it counts how often they were seen."""
_LIFTS = (WORD, PARAMETER, REMARKED, VALUE, LATER)
_USES = 2
"""Values that nothing has used, whose uses are looked up."""
_SHARPER = 50
"""How much a share of the program itself counts before its logarithm is taken."""
_LONGEST, _SHORTEST = 6, 3
"""Operations that are repeated."""
_RECENT, _HALF = 24, 6
"""How many of the last operations are recent, and how many make the count half."""
_FAMILIES = 3
"""The last operations, whose families may continue."""
_LATELY = 3
"""The operations that the program has begun to use lately."""
_NEXT = 6
"""How many of the next operations of a family may follow."""
FEATURES = (
    *CONTEXTS,
    *("mean", "first use", "second use", *(f"here: {name}" for name in HERE), "here: all", "here: class", "repeated"),
    *("recent", "new", "same", "family", "new of family", "next of family", "named", "partly named", "named before"),
    *(*(f"class: {name}" for name in _CLASSES), "level", "end", "taker", "possible", "absent"),
    *(*(f"{kind}: {one}" for kind in _LIFTS for one in ("most", "mean")), "lately: mean"),
    *("titled", "partly titled", "value named", "value partly named", "remarked", "partly remarked", "remarked before"),
    *(*(f"known: {name}" for name in _KNOWN), "operations", "depth"),
)
"""The rows of the matrix."""


class Here:
    """Which operations follow which in the program that is written."""

    def __init__(self) -> None:
        self.used: Counter[str] = Counter()
        self.classes: defaultdict[int, Counter[int]] = defaultdict(Counter)
        self.after: defaultdict[tuple[str, tuple[str, ...]], Counter[str]] = defaultdict(Counter)

    def follow(self, history: History, statement: Written) -> None:
        """Counts a statement, which comes next in a history."""
        if not statement.is_frame:
            self.used[statement.name] += 1
            self.classes[_class_of(history.done[-1:])][_class_of([statement.name])] += 1
            for one in contents(history, HERE).items():
                self.after[one][statement.name] += 1


def features(history: History, here: Here, shares: Shares, title: str = "") -> npt.NDArray[np.float64]:
    """Returns the matrix of all operations where the next statement begins, in a file with the name ``title``."""
    found = contents(history)
    each = [shares.context(name, found) for name in CONTEXTS]
    everywhere = np.log(each[0])
    uses = [np.log(shares.use(made)) - everywhere for made in history.newest()[:_USES]]
    uses += [np.zeros(len(NAMES))] * (_USES - len(uses))
    return np.array(
        [
            *(np.log(one) for one in each),
            np.log(np.mean(each, axis=0)),
            *uses,
            *(_sharpened(here.after.get((name, found[name]), {})) for name in HERE),
            _sharpened(here.used),
            _class_here(history, here),
            _repeated(history.done),
            _recent(history.done),
            *_program(history, here),
            *_names(history.name, here.used),
            *(_class_share(shares.context(name, found)) for name in _CLASSES),
            _levels(here.used),
            _ones(history.ends[-1:]),
            _takers(history),
            possible(history.types),
            absent(history.purpose[0]),
            *_terms(history, here, shares, title),
            *_names(title, here.used)[:2],
            *_names(" ".join(islice(reversed(history.unused), NAMED_VALUES)), here.used)[:2],
            *_remarks(history, here.used),
            *(np.full(len(NAMES), shares.known(name, found)) for name in _KNOWN),
            np.full(len(NAMES), log1p(len(history.done))),
            np.full(len(NAMES), len(history.regions)),
        ]
    )


def _vector(values: Mapping[str, float]) -> Vector:
    found = np.zeros(len(NAMES))
    for name, value in values.items():
        if name in INDEX:
            found[INDEX[name]] = value
    return found


def _ones(names: Iterable[str]) -> Vector:
    return _vector(dict.fromkeys(names, 1.0))


def _sharpened(counts: Mapping[str, int]) -> Vector:
    return _sharp_shares({INDEX[name]: number for name, number in counts.items() if name in INDEX}, len(NAMES))


def _sharp_shares(counts: Mapping[int, int], size: int) -> Vector:
    whole, found = sum(counts.values()) + 1, np.zeros(size)
    for at, number in counts.items():
        found[at] = log(1 + _SHARPER * number / whole)
    return found


def _repeated(done: list[str]) -> Vector:
    """Returns what has followed the last operations before: the longest sequence of them that the program has twice."""
    for size in range(_LONGEST, _SHORTEST - 1, -1):
        end = done[-size:]
        starts = range(len(done) - size)
        following = Counter(done[at + size] for at in starts if done[at] == end[0] and done[at : at + size] == end)
        if following:
            whole = following.total()
            return _vector({name: size / _SHORTEST * number / whole for name, number in following.items()})
    return np.zeros(len(NAMES))


def _recent(done: list[str]) -> Vector:
    last = list(reversed(done[-_RECENT:]))
    return _vector({name: 1 / (1 + number / _HALF) for number, name in reversed(list(enumerate(last)))})


def _program(history: History, here: Here) -> list[Vector]:
    """Returns the operations that are new in the program, the last one, those of the last families, and those that
    continue one."""
    new = 1 - _ones(here.used)
    families = {family_of_name(name) for name in history.done[-_FAMILIES:]}
    family = _ones(name for one in families for name in members(one))
    return [new, _ones([history.last]), family, family * new, _ones(_following(history.done, here.used))]


def _following(done: list[str], used: Mapping[str, int]) -> list[str]:
    """Returns the next new operations of a family, in the order of their declarations, where the last two operations
    compute, are different ones of it, and are new in the program: what goes through a family continues."""
    if len(done) < 2 or used[done[-1]] != 1 or used[done[-2]] != 1 or not level_of_name(done[-1]):
        return []
    family = members(family_of_name(done[-1]))
    if done[-2] not in family:
        return []
    new = [name for name in family if name not in used or name == done[-1]]
    at = new.index(done[-1])
    return [*new[at + 1 :], *new[:at]][:_NEXT]


def _names(name: str, used: Mapping[str, int]) -> list[Vector]:
    """Returns the operations that a function or file is named after, entirely or in part, as long as they are new; and
    those that are not."""
    parts = parts_of(name.lower())
    whole, part = _vector(meant_by(parts, whole_names())), _vector(meant_by(parts, stems()))
    new = 1 - _ones(used)
    return [whole * new, part * new, whole * (1 - new)]


def _remarks(history: History, used: Mapping[str, int]) -> list[Vector]:
    """Returns the operations that the comments above the statement name, entirely or in part; and new ones that
    comments before it name."""
    before = _vector(meant_by(history.remarked, whole_names())) * (1 - _ones(used))
    return [_vector(meant_by(history.above, table())) for table in (whole_names, stems)] + [before]


def _terms(history: History, here: Here, shares: Shares, title: str) -> list[Vector]:
    """Returns what terms speak for, by the kinds of their rows: the most that one of them does, and the mean; and the
    mean of the operations that the program has begun to use lately."""
    used = list(here.used)
    terms = terms_here(history, title, used)
    found = [one for kind in _LIFTS for one in _lifts(shares, kind, terms[kind])]
    return [*found, _lifts(shares, LATER, used[-_LATELY:])[1]]


def _lifts(shares: Shares, kind: str, terms: Iterable[str]) -> tuple[Vector, Vector]:
    found = [row for term in terms if (row := shares.lift(kind, term)) is not None]
    if not found:
        return np.zeros(len(NAMES)), np.zeros(len(NAMES))
    return np.max(found, axis=0), np.mean(found, axis=0)


@cache
def _classes() -> npt.NDArray[np.intp]:
    return np.array(operand_classes(), dtype=np.intp)


def _class_share(shares: Vector) -> Vector:
    """Returns the logarithm of what the operations of the same class have together."""
    return np.log(np.bincount(_classes(), shares)[_classes()])


def _class_of(names: list[str]) -> int:
    """Returns the class of the only one of ``names``; -1 without it."""
    return int(_classes()[INDEX[names[0]]]) if names and names[0] in INDEX else -1


def _class_here(history: History, here: Here) -> Vector:
    """Returns how often operations of the same class have followed one of the class of the last operation in the
    program."""
    counts = here.classes.get(_class_of(history.done[-1:]), {})
    return _sharp_shares(counts, int(_classes().max()) + 1)[_classes()]


def _levels(used: Mapping[str, int]) -> Vector:
    """Returns how much of the program is at the level of an operation."""
    levels: Counter[str] = Counter()
    for name, number in used.items():
        levels[level_of_name(name)] += number
    whole = max(1, levels.total())
    return np.array([levels[level] / whole if level else 0.0 for level in map(level_of_name, NAMES)])


def _takers(history: History) -> Vector:
    """Returns the operations that take a value of a type that few operations take, which nothing has used."""
    found: dict[str, float] = {}
    for _, kind in history.newest():
        names = takers().get(kind, ())
        found |= {name: 1 / len(names) for name in names}
    return _vector(found)
