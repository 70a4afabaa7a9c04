"""Assumptions on arguments under which loops run zero iterations; a function is analysed once more under each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from xdsl.ir import SSAValue

from .abstract_values import AbstractValue, evaluate_comparison
from .arithmetic import FOLDS

_DEPTH = 32
MAX_ASSUMPTIONS = 4
"""Maximum number of assumptions about one loop each; a last one combines all of them."""

LoopBounds = tuple[AbstractValue, ...]
Assumption = dict[int, int]
"""Assumed values of arguments, by ``id``."""


def evaluate_under(number: AbstractValue, values: Mapping[int, int]) -> AbstractValue:
    """Returns the value under an assumption; ``number`` itself where the assumption does not determine it."""
    return _evaluate(number, values, _DEPTH, {}) if values else number


def _evaluate(
    number: AbstractValue, values: Mapping[int, int], depth: int, known: dict[int, AbstractValue]
) -> AbstractValue:
    """Memoizes shared operands by ``id``: without ``known`` the recursion takes exponential time."""
    if isinstance(number, int):
        return number
    if id(number) not in known:
        known[id(number)] = _evaluate_parts(number, values, depth, known)
    return known[id(number)]


def _evaluate_parts(
    number: AbstractValue, values: Mapping[int, int], depth: int, known: dict[int, AbstractValue]
) -> AbstractValue:
    match number:
        case (int(value),) | ("new", int(value), _):
            return values.get(value, number)
        case _ if not depth:
            return number
        case ("not", inner):
            result = _evaluate(inner, values, depth - 1, known)  # pyright: ignore[reportArgumentType]
            return 1 - result if isinstance(result, int) else number
        case (str(name), a, b):
            one, other = (
                _evaluate(part, values, depth - 1, known)  # pyright: ignore[reportArgumentType]
                for part in (a, b)
            )
            if isinstance(one, int) and isinstance(other, int):
                fold = FOLDS.get(name)
                result = evaluate_comparison(name, one, other) if fold is None else fold(one, other)
                return number if result is None else result
    return number


def zero_trip_assumptions(numbers: Iterable[SSAValue], opened: Iterable[LoopBounds]) -> Iterator[Assumption]:
    """Assumptions on the arguments ``numbers`` under which loops with these bounds run zero iterations: one for each
    loop, then all combined. Bounds that depend on other values yield none: the number of blocks, for example, is never
    zero."""
    known = {id(number) for number in numbers}
    assumptions: list[Assumption] = []
    for low, high, step in opened:
        # The values that ``high`` is computed from, by ``id``; empty where they are unknown.
        sources = _find_sources(high, _DEPTH, {})
        if isinstance(low, int) and isinstance(step, int) and step > 0 and sources and sources <= known:
            assumed = _zero_trip_assumption(low, high, sources)
            if assumed is not None and assumed not in assumptions:
                assumptions.append(assumed)
    yield from assumptions[:MAX_ASSUMPTIONS]
    if len(assumptions) > 1:
        yield {value: number for one in reversed(assumptions) for value, number in one.items()}


def _zero_trip_assumption(low: int, high: AbstractValue, sources: set[int]) -> Assumption | None:
    """Returns the largest of some small values with which a loop from ``low`` to ``high`` has no iteration."""
    for value in sorted({low + 1, low, 0}, reverse=True):
        assumed = dict.fromkeys(sources, value)
        end = evaluate_under(high, assumed)
        if isinstance(end, int) and end <= low and value >= 0:
            return assumed
    return None


def _find_sources(number: AbstractValue, depth: int, known: dict[int, set[int]]) -> set[int]:
    if id(number) in known:
        return known[id(number)]
    sources: set[int] = set()
    match number:
        case (int(value),) | ("new", int(value), _):
            sources = {value}
        case (str(name), a, b) if name in FOLDS and depth:
            parts = [
                _find_sources(part, depth - 1, known)  # pyright: ignore[reportArgumentType]
                for part in (a, b)
                if not isinstance(part, int)
            ]
            sources = set().union(*parts) if all(parts) else set()
    known[id(number)] = sources
    return sources
