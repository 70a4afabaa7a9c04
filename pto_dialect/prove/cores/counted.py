"""Signals between cores: the n-th wait takes the n-th signal. How many come before one, as an expression.

Source: docs/reference/order-proof.md, "Several cores".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..expressions import (
    All,
    AtLeastZero,
    Choice,
    Condition,
    Expr,
    Not,
    Ordinal,
    at_least,
    choose,
    symbol,
    symbols_of,
)
from ..model import Loop, Statement


def ordinals(statements: Sequence[Statement]) -> dict[Statement, Expr] | None:
    """Returns how many executions of all come before one of each, in terms of the iterations around it; ``None`` where
    no expression says it. ``statements`` are in the order of the text."""
    found: dict[Statement, Expr] = {}
    return found if _count(statements, 0, Expr(0), found) is not None else None


def _count(statements: Sequence[Statement], level: int, before: Expr, found: dict[Statement, Expr]) -> Expr | None:
    """Returns how often ``statements``, which are in one body at ``level``, run in one execution of it; those before
    each are noted in ``found``."""
    total = Expr(0)
    for loop, those in _groups(statements, level):
        if loop is None:
            one = those[0]
            found[one] = before.plus(total)
            number: Expr | None = choose(one.condition, Expr(1), Expr(0))
        else:
            inner = _count(those, level + 1, Expr(0), {})
            if inner is None or loop.trips is None:
                return None
            earlier, number = (
                _summed(inner, loop.ordinal, symbol(loop.ordinal)),
                _summed(inner, loop.ordinal, loop.trips),
            )
            if earlier is None:
                return None
            _count(those, level + 1, before.plus(total).plus(earlier), found)
        if number is None:
            return None
        total = total.plus(number)
    return total


def _groups(statements: Sequence[Statement], level: int) -> Iterator[tuple[Loop | None, list[Statement]]]:
    """Yields the statements of a body, those of each loop in it together."""
    groups: dict[Loop | Statement, list[Statement]] = {}
    for one in statements:
        groups.setdefault(one.loops[level] if len(one.loops) > level else one, []).append(one)
    for key, those in groups.items():
        yield (key if isinstance(key, Loop) else None), those


def _summed(number: Expr, ordinal: Ordinal, high: Expr) -> Expr | None:
    """Returns the sum of a number over the iterations from 0 to before ``high``."""
    result = _product(high, Expr(number.constant))
    for atom, factor in number.terms:
        part: Expr | None
        if ordinal not in symbols_of(symbol(atom)):
            part = _product(high, symbol(atom))
        elif isinstance(atom, Choice):
            part = _chosen(atom, ordinal, high)
        else:
            part = None
        if part is None or result is None:
            return None
        result = result.plus(part, factor)
    return result


def _chosen(atom: Choice, ordinal: Ordinal, high: Expr) -> Expr | None:
    """Returns the sum of one of two constants, by where the iteration is."""
    yes, no = atom.yes.value, atom.no.value
    limits = _limits(atom.condition, ordinal, True)
    if yes is None or no is None or limits is None:
        return None
    low, end = Expr(0), high
    for first, bound in limits:
        if first:
            low = choose(at_least(bound, low), bound, low)
        else:
            end = choose(at_least(end, bound), bound, end)
    count = choose(at_least(end, low), end.minus(low), Expr(0))
    return high.times(no).plus(count, yes - no)


def _limits(condition: Condition, ordinal: Ordinal, holds: bool) -> list[tuple[bool, Expr]] | None:
    """Returns the iterations in which a condition holds, as the first ones and those before which they end."""
    if isinstance(condition, Not):
        return _limits(condition.condition, ordinal, not holds)
    if isinstance(condition, AtLeastZero):
        expr = condition.expr if holds else condition.expr.times(-1).plus(-1)
        factor = dict(expr.terms).get(ordinal, 0)
        rest = expr.minus(symbol(ordinal).times(factor))
        if ordinal in symbols_of(rest) or factor not in (1, -1):
            return None
        return [(True, rest.times(-1))] if factor == 1 else [(False, rest.plus(1))]
    if not isinstance(condition, All) or not holds:
        return None
    found: list[tuple[bool, Expr]] = []
    for part in condition.parts:
        limits = _limits(part, ordinal, True)
        if limits is None:
            return None
        found += limits
    return found


def _product(one: Expr, other: Expr) -> Expr | None:
    """Returns the product of two expressions, one of which is a choice between constants."""
    if one.value is not None or other.value is not None:
        return other.times(one.value) if one.value is not None else one.times(other.value or 0)
    result = one.times(other.constant)
    for atom, factor in other.terms:
        if not isinstance(atom, Choice):
            return None
        yes, no = _product(one, atom.yes), _product(one, atom.no)
        if yes is None or no is None:
            return None
        result = result.plus(choose(atom.condition, yes, no), factor)
    return result


def are_alike(one: Sequence[Statement], other: Sequence[Statement]) -> bool:
    """Returns whether two sequences have as many statements, each pair in as many loops."""
    return len(one) == len(other) and all(len(a.loops) == len(b.loops) for a, b in zip(one, other, strict=True))
