"""What operations have in common: families, levels, classes of operands, and parts of names of functions."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt

from pto_dialect.driver.reference.operations import pipe, targets
from pto_dialect.families import level_of
from pto_dialect.ir.core.base import signature
from pto_dialect.ir.core.index import OPS
from pto_dialect.ir.core.kinds import Kind
from pto_dialect.ir.core.registry import op_class
from pto_dialect.ir.core_dialects.core_ops import CORE_SHAPES
from pto_dialect.syntax.errors.types import TypeSyntaxError
from pto_dialect.syntax.types.parser import parse_type

NAMES: Final[tuple[str, ...]] = tuple(sorted({*OPS, *CORE_SHAPES}))
INDEX: Final[dict[str, int]] = {name: number for number, name in enumerate(NAMES)}
_TILES = ("tile_", "gemv", "matmul")
"""How families of operations on tiles begin."""
_ONE_LEVEL = ("simt",)
"""How families begin that are a level of their own."""
_ORDERING = ("sync", "cross_core")
"""The families of operations that order pipes or cores."""
_SHORTEST = 4
"""Letters of a part of the name of a function that may mean an operation."""
_JOINED = 3
"""Parts of the name of a function that may belong together."""
_TAKERS = 16
"""How many operations are few."""
_FAMILIES_OF_CHIPS = {"a2": "a2a3", "a3": "a2a3"}
_LETTERS = re.compile(r"[a-z]+")
_WORD = re.compile(r"[A-Z]?[a-z]{2,}|[A-Z]{2,}")
_TYPE_NAME = re.compile(r"!pto\.([a-z_.]+)")


@cache
def pipe_of(name: str) -> str:
    """Returns the first pipe of an operation; the name itself of one of another dialect, or of a brace."""
    return pipe(op_class(name)).partition(",")[0] if name in OPS else name


def family_of_name(name: str) -> str:
    """Returns the family of an operation; for other dialects the name of the dialect."""
    return OPS[name][0] if name in OPS else name.partition(".")[0]


@cache
def orders(name: str) -> bool:
    """Returns whether an operation orders pipes or cores."""
    return family_of_name(name) in _ORDERING


@cache
def level_of_name(name: str) -> str:
    """Tiles, work-items, logical vectors or instructions; empty for operations of all levels."""
    if name not in OPS:
        return ""
    family = family_of_name(name)
    if family.startswith(_TILES):
        return "tile"
    return next((one for one in _ONE_LEVEL if family.startswith(one)), level_of(family) or "")


@cache
def members(family: str) -> tuple[str, ...]:
    """Returns the operations of a family in the order of their declarations."""
    return tuple(name for name in (*OPS, *CORE_SHAPES) if family_of_name(name) == family)


@cache
def targets_of(name: str) -> frozenset[str]:
    """Returns the targets that have an operation, ``a2a3`` or ``a5``; none where all have it."""
    return frozenset(filter(None, targets(op_class(name)).split(", "))) if name in OPS else frozenset()


@cache
def absent(target: str) -> npt.NDArray[np.float64]:
    """1 for each operation that a target does not have; an empty one, which is not known, has all."""
    target = _FAMILIES_OF_CHIPS.get(target, target)
    return np.array([float(bool(target and targets_of(name)) and target not in targets_of(name)) for name in NAMES])


@cache
def needed() -> dict[str, tuple[Kind, ...]]:
    """Returns what the operands of an operation must be that are always present."""
    return {name: tuple(slot.kind for slot in signature(op_class(name)).operands if slot.arity == "1") for name in OPS}


@cache
def operand_classes() -> tuple[int, ...]:
    """Returns a number for each operation, the same for those of one pipe and level with operands of the same kinds."""
    numbers: dict[object, int] = {}
    found: list[int] = []
    for name in NAMES:
        key: object = name
        if name in OPS:
            family, kinds = family_of_name(name).partition("_")[0], tuple(kind.label for kind in needed()[name])
            key = family, pipe_of(name), kinds, len(signature(op_class(name)).results)
        found.append(numbers.setdefault(key, len(numbers)))
    return tuple(found)


@cache
def takers() -> dict[str, tuple[str, ...]]:
    """Returns the operations that take a value of a type of this dialect, by the name of the type, where they are
    few."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for name, kinds in needed().items():
        for kind in kinds:
            for word in _TYPE_NAME.findall(kind.label):
                found[word].add(name)
    return {word: tuple(sorted(names)) for word, names in found.items() if len(names) <= _TAKERS}


def words_of(name: str) -> list[str]:
    """Returns the parts of a name that are letters, without single ones."""
    return [word.lower() for word in _WORD.findall(name)]


def parts_of(function: str) -> set[str]:
    """Returns the parts of the name of a function, and what some of them make together."""
    parts = _LETTERS.findall(function)
    return {"".join(parts[at : at + size]) for size in range(1, _JOINED + 1) for at in range(len(parts) - size + 1)}


@cache
def whole_names() -> dict[str, frozenset[str]]:
    """Returns the operations that have a text as their name, with or without what is before its last point."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for name in OPS:
        parts = name.split(".")[1:]
        for text in (parts[-1], "".join(parts)):
            found["".join(_LETTERS.findall(text))].add(name)
    return {word: frozenset(names) for word, names in found.items()}


@cache
def stems() -> dict[str, frozenset[str]]:
    """Returns the operations whose name has a text as a part: without its first letter, or between underscores."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for name in NAMES:
        for part in name.split(".")[1:]:
            words = {part, *part.split("_")} if name not in OPS else set(part.split("_"))
            if part[0] in "tv":
                words |= {part[1:], part[1:].rstrip("s")}
            for word in words:
                if len(word) >= _SHORTEST or (len(word) == _SHORTEST - 1 and word == part[1:]):
                    found[word].add(name)
    return {word: frozenset(names) for word, names in found.items()}


def meant_by(words: Iterable[str], table: Mapping[str, frozenset[str]]) -> dict[str, float]:
    """Returns the operations that parts of texts mean by a table, each with 1 divided by the number of those of its
    part."""
    found: dict[str, float] = {}
    for word in words:
        names = table.get("".join(_LETTERS.findall(word)), frozenset())
        for name in names:
            found[name] = max(found.get(name, 0.0), 1 / len(names))
    return found


@cache
def _kinds() -> tuple[list[Kind], npt.NDArray[np.float64]]:
    """Returns the different kinds of operands, and which of them each operation needs."""
    kinds = list({id(kind): kind for each in needed().values() for kind in each}.values())
    numbers = {id(kind): number for number, kind in enumerate(kinds)}
    table = np.zeros((len(NAMES), len(kinds)))
    for name, each in needed().items():
        for kind in each:
            table[INDEX[name], numbers[id(kind)]] = 1
    return kinds, table


@lru_cache(maxsize=1024)
def _accepting(text: str) -> npt.NDArray[np.float64]:
    """Returns which kinds accept the type with this spelling; all of them where it is not understood."""
    kinds, _ = _kinds()
    try:
        found = parse_type(text)
    except TypeSyntaxError:
        return np.ones(len(kinds))
    return np.array([float(kind.accepts(found)) for kind in kinds])


def possible(types: Iterable[str]) -> npt.NDArray[np.float64]:
    """1 for each operation whose operands can all have one of ``types``, given as texts, and for those of other
    dialects; 0 for the rest."""
    kinds, table = _kinds()
    accepted = np.max([np.zeros(len(kinds)), *map(_accepting, types)], axis=0)
    return (table @ (1 - accepted) == 0).astype(float)
