"""Which operations usually come next: counts over programs, and over the program that is written.

`benchmarks/lsp_typing.py --count FOLDER...` counts programs and writes the table.
"""

from __future__ import annotations

import csv
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from pathlib import Path

from xdsl.ir import Attribute

from pto_dialect.driver.reference.operations import pipe
from pto_dialect.families import level_of
from pto_dialect.ir.core.base import signature
from pto_dialect.ir.core.index import OPS
from pto_dialect.ir.core.kinds import Kind
from pto_dialect.ir.core.registry import op_class
from pto_dialect.ir.core_dialects.core_ops import CORE_SHAPES

from .history import BEGIN, CONDITION, FUNCTION, History, statements_of

TABLE = Path(__file__).with_name("usual.csv")
Context = tuple[str, tuple[str, ...]]

ELSEWHERE = {"all": 0.1, "last": 0.7, "region": 0.5, "unused types": 0.6}
"""How much the programs of the table count, by the kind of context."""
HERE = {"last": 1.0, "region": 1.0, "unused types": 0.5, "all": 1.0}
"""How much the program itself counts, by the kind of context."""
_USE = 0.5
"""How much it counts what usually is the first to use a value that nothing has used."""
_SEPARATING = {"pto.set_flag": 0.08, "pto.barrier": 0.06}
"""How much what separates pipes counts after an operation of one."""
_WAIT, _WAITED = "pto.wait_flag", 0.2
"""How much a wait counts while a flag is set for which nothing has waited."""
_TILES = ("tile_", "gemv", "matmul")
"""How families of operations on tiles begin."""
_OTHER_LEVEL = 0.3
"""How much less operations on tiles count in a program of instructions, and the reverse."""
_FOLLOWING, _NEXT = 0.1, 6
"""How much the next operations of a family count that the program goes through, and how many of them."""
_WAITING = 0.3
"""How much the operations of a pipe count that has just waited for another one."""
_ENDING = 0.1
"""How much what must end a region counts."""
_TAKING = 0.4
"""How much the operations count that take an unused value of a type that few operations take."""
_TAKERS = 16
"""How many operations are few."""
_LONG = 6
"""Letters of a part of a name that may be the end of the name of an operation."""
_RELATED = 2.0
"""How much operations of the families count that the program uses."""
_NAMED = 0.3
"""How much an operation counts that the function is named after."""
_CLOSING = {"func.return": FUNCTION, "scf.yield": "scf.", "pto.yield": "pto."}
"""Operations that end regions, and how the operations of these regions begin."""
_PARTS = re.compile(r"[a-z]+")


@cache
def _table() -> dict[Context, Counter[str]]:
    found: dict[Context, Counter[str]] = {}
    with open(TABLE, encoding="utf-8", newline="") as stream:
        for kind, context, counts in csv.reader(stream):
            numbers = (one.rpartition(" ") for one in counts.split("|"))
            found[kind, tuple(context.split("|"))] = Counter({_long(name): int(number) for name, _, number in numbers})
    return found


def _long(name: str) -> str:
    """The name of an operation that the table has without ``pto.``."""
    return name if name in CORE_SHAPES else f"pto.{name}"


@cache
def _families() -> dict[str, dict[str, float]]:
    """The operations of the same module as one, with their shares of all uses."""
    overall = _table().get(("all", ("",)), Counter())
    places: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for name in OPS:
        places[op_class(name).__module__][name] = overall[name] + 1.5
    shares = {place: sum(numbers.values()) for place, numbers in places.items()}
    return {
        name: {other: number / shares[place] for other, number in numbers.items()}
        for place, numbers in places.items()
        for name in numbers
    }


@cache
def _asynchronous() -> frozenset[str]:
    """The operations of pipes other than the scalar one."""
    return frozenset(name for name in OPS if pipe(op_class(name)).startswith(("MTE", "V", "M", "FIX")))


@cache
def _pipes() -> dict[str, dict[str, float]]:
    """The operations of each pipe with their shares of its uses."""
    overall = _table().get(("all", ("",)), Counter())
    found: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for name in OPS:
        if overall[name]:
            found[pipe(op_class(name)).partition(",")[0]][name] = overall[name]
    return {one: {name: number / sum(uses.values()) for name, number in uses.items()} for one, uses in found.items()}


@cache
def _takers() -> dict[str, tuple[str, ...]]:
    """The operations that take a value of a type of this dialect, by the name of the type, where they are few."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for name, kinds in _needed().items():
        for kind in kinds:
            for word in _TYPE_NAME.findall(kind.label):
                found[word].add(name)
    return {word: tuple(sorted(names)) for word, names in found.items() if len(names) <= _TAKERS}


_TYPE_NAME = re.compile(r"!pto\.([a-z_.]+)")


@cache
def _meant(word: str) -> tuple[str, ...]:
    """The operations that a part of the name of a function may mean."""
    if word in _stems() or len(word) < _LONG:
        return _stems().get(word, ())
    return tuple(name for name in OPS if name.endswith(word))


@cache
def _stems() -> dict[str, tuple[str, ...]]:
    """The operations that a part of the name of a function may mean."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for name in CORE_SHAPES:
        if name.startswith(("arith.", "scf.", "math.")) and len(name.partition(".")[2]) > len("for"):
            found[name.partition(".")[2]].add(name)
    for name in OPS:
        for part in name.split(".")[1:]:
            for word in (part, part[1:], part[1:].removesuffix("s")) if part[0] in "tv" else (part,):
                if len(word) > 2:
                    found[word].add(name)
    return {word: tuple(sorted(names)) for word, names in found.items()}


def _key(kind: str, context: tuple[str, ...]) -> Context:
    return kind, context or ("",)


def _add(scores: dict[str, float], counts: Mapping[str, float] | None, weight: float) -> None:
    """Adds the shares of ``counts``; those of many different operations say little."""
    if counts:
        weight /= sum(counts.values()) + len(counts)
        for name, number in counts.items():
            scores[name] += weight * number


def ranking(text: str, aliases: Mapping[str, str] | None = None) -> dict[str, float]:
    """How usual each operation is after ``text``, a part of a program; operations that never follow are left out.
    ``aliases`` are the names of types in the program."""
    history = History(aliases or {})
    here: defaultdict[Context, Counter[str]] = defaultdict(Counter)
    for statement in statements_of(text):
        if not statement.is_frame:
            found = history.contexts()
            for kind in HERE:
                here[_key(kind, found[kind])][statement.name] += 1
        history.follow(statement)
    return _scores(history, here)


def _scores(history: History, here: Mapping[Context, Counter[str]]) -> dict[str, float]:
    scores: defaultdict[str, float] = defaultdict(float)
    contexts = {kind: _key(kind, context) for kind, context in history.contexts().items()}
    for kind, weight in ELSEWHERE.items():
        _add(scores, _table().get(contexts[kind]), weight)
    for kind, weight in HERE.items():
        _add(scores, here.get(contexts[kind]), weight)
    for number, made in enumerate(history.newest()):
        _add(scores, _table().get(("use", made)), _USE / (number + 1))
    used = here.get(contexts["all"], {})
    elsewhere = _other_level(history, used)
    for name, number in used.items():
        for other, share in _families().get(name, {}).items():
            scores[other] += _RELATED * share * number / (sum(used.values()) + len(used))
    for word in set(_PARTS.findall(history.name)):
        for name in _meant(word):
            scores[name] += _NAMED * (0.3 + min(1.0, 5 * scores.get(name, 0.0)))
    for name, number in _SEPARATING.items():
        scores[name] += number * (history.last in _asynchronous())
    scores[_WAIT] += _WAITED * (len(history.flags) > 0)
    for name, number in _pipes().get(history.waiting, {}).items():
        scores[name] += _WAITING * number
    for _, kind in history.newest():
        for name in _takers().get(kind, ()):
            scores[name] += _TAKING / len(_takers()[kind])
    end = history.ends[-1] if history.ends else ""
    if end and history.last != BEGIN:
        scores[end] += _ENDING
    for name in {CONDITION} - {end}:
        scores.pop(name, None)
    for name in _following(history, used):
        scores[name] += _FOLLOWING
    for name in _levels().get(elsewhere, ()):
        scores[name] *= _OTHER_LEVEL
    region = history.regions[-1] if history.regions else ""
    for name, begin in _CLOSING.items():
        if region and not region.startswith(begin):
            scores.pop(name, None)
    return dict(scores)


@cache
def _levels() -> dict[str, frozenset[str]]:
    """The operations of tiles, and those of instructions."""
    levels = {name: "tile" if family.startswith(_TILES) else level_of(family) for name, (family, *_) in OPS.items()}
    return {
        "tile": frozenset(name for name, level in levels.items() if level == "tile"),
        "instruction": frozenset(name for name, level in levels.items() if level not in ("tile", None)),
    }


def _other_level(history: History, used: Mapping[str, float]) -> str:
    """The level at which the program, which is at one of them, is not; nothing where it is at both or none."""
    at = {level for level, names in _levels().items() if not names.isdisjoint(used)}
    at |= {"tile"} if any("tile" in kind or "view" in kind for kind in history.kinds.values()) else set()
    return next(iter(_levels().keys() - at)) if len(at) == 1 else ""


def _following(history: History, used: Mapping[str, float]) -> list[str]:
    """The next new operations of a family, by their names, where the last two ones compute, are different ones of it,
    and are new in the program: what goes through a family continues."""
    computes = any(history.last in names for names in _levels().values())
    siblings = _families().get(history.last, {}) if computes else {}
    if history.before not in siblings or used.get(history.last) != 1 or used.get(history.before) != 1:
        return []
    family = [name for name in siblings if name not in used or name == history.last]
    at = family.index(history.last)
    return [*family[at + 1 :], *family[:at]][:_NEXT]


def applicable(types: Iterable[Attribute]) -> frozenset[str] | None:
    """The operations of this dialect whose operands can all have one of ``types``; ``None`` without types."""
    given = frozenset(types)
    return _applicable(given) if given else None


@lru_cache(maxsize=256)
def _applicable(types: frozenset[Attribute]) -> frozenset[str]:
    fitting = {id(kind): any(kind.accepts(one) for one in types) for kinds in _needed().values() for kind in kinds}
    return frozenset(name for name, kinds in _needed().items() if all(fitting[id(kind)] for kind in kinds))


@cache
def _needed() -> dict[str, tuple[Kind, ...]]:
    """What the operands of an operation must be that are always present."""
    return {name: tuple(slot.kind for slot in signature(op_class(name)).operands if slot.arity == "1") for name in OPS}


def count(programs: Iterable[tuple[str, Mapping[str, str], int]], least: int) -> list[tuple[str, str, str]]:
    """The rows of a table of programs with the names of their types and the number of programs that each counts for: in
    how many programs an operation follows what, without what is in fewer than ``least``."""
    counts: defaultdict[Context, Counter[str]] = defaultdict(Counter)
    for text, aliases, weight in programs:
        history = History(aliases)
        seen: set[tuple[Context, str]] = set()
        for statement in statements_of(text):
            if not statement.is_frame:
                seen |= {(_key(*context), statement.name) for context in history.contexts().items()}
                seen |= {(("use", made), statement.name) for made in history.uses(statement)}
            history.follow(statement)
        for context, name in seen:
            counts[context][name] += weight
    rows: list[tuple[str, str, str]] = []
    for (kind, context), numbers in sorted(counts.items()):
        kept = sorted((name, number) for name, number in numbers.items() if number >= least)
        if kept:
            texts = [f"{name.removeprefix('pto.')} {number}" for name, number in kept]
            rows.append((kind, "|".join(context), "|".join(texts)))
    return rows
