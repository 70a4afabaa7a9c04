"""Integer expressions over arguments and iterations: sums with constant factors, quotients by constants, choices.

Quotients round down. Expressions are exact integers: sums do not wrap around. Source: docs/reference/order-proof.md,
"Numbers".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

Values = Mapping["Symbol", int]
"""The numbers that stand for symbols."""


@dataclass(frozen=True, eq=False)
class Symbol:
    """A number that is not known: an argument of the function, or something else that does not change while it runs.

    ``low`` and ``high`` are its bounds, ``below`` a symbol that it is less than. ``given`` states that a caller may
    choose it; others are loaded, or computed from ``sources`` in a way that sets cannot express (``meaning``)."""

    name: str
    low: int | None = None
    high: int | None = None
    below: Symbol | None = None
    given: bool = True
    meaning: Callable[[Values], int | None] | None = None
    sources: tuple[Expr, ...] = ()


@dataclass(frozen=True, eq=False)
class Ordinal(Symbol):
    """The number of the iteration of a loop, from 0."""


@dataclass(frozen=True, eq=False)
class Varying(Symbol):
    """A number of which nothing is known but how to compute it, again in each iteration."""


@dataclass(frozen=True)
class Quotient:
    """``dividend`` divided by a positive constant, rounded down."""

    dividend: Expr
    divisor: int


@dataclass(frozen=True)
class Choice:
    """One of two expressions."""

    condition: Condition
    yes: Expr
    no: Expr


Atom = Symbol | Quotient | Choice


class Expr(NamedTuple):
    """``constant`` plus each atom times its factor, which is not 0."""

    constant: int
    terms: frozenset[tuple[Atom, int]] = frozenset()

    def plus(self, other: Expr | int, factor: int = 1) -> Expr:
        """This expression plus ``factor`` times ``other``."""
        if isinstance(other, int):
            return Expr(self.constant + factor * other, self.terms)
        if not other.terms or not factor:
            return Expr(self.constant + factor * other.constant, self.terms)
        factors = dict(self.terms)
        for atom, count in other.terms:
            factors[atom] = factors.get(atom, 0) + factor * count
        terms = frozenset((atom, count) for atom, count in factors.items() if count)
        return Expr(self.constant + factor * other.constant, terms)

    def minus(self, other: Expr | int) -> Expr:
        """This expression minus ``other``."""
        return self.plus(other, -1)

    def times(self, factor: int) -> Expr:
        """This expression times a constant."""
        if not factor:
            return Expr(0)
        return Expr(self.constant * factor, frozenset((atom, count * factor) for atom, count in self.terms))

    def over(self, divisor: int) -> Expr:
        """This expression divided by a positive constant, rounded down."""
        if divisor == 1:
            return self
        whole = Expr(self.constant // divisor, frozenset((a, f // divisor) for a, f in self.terms if not f % divisor))
        rest = Expr(self.constant % divisor, frozenset((a, f) for a, f in self.terms if f % divisor))
        return whole.plus(symbol(Quotient(rest, divisor))) if rest.terms else whole

    def modulo(self, divisor: int) -> Expr:
        """Returns the remainder of this expression, from 0 to ``divisor`` - 1."""
        return self.minus(self.over(divisor).times(divisor))

    @property
    def value(self) -> int | None:
        """The number, where nothing is open."""
        return None if self.terms else self.constant


ZERO = Expr(0)


def symbol(atom: Atom) -> Expr:
    """Returns an atom as an expression."""
    return Expr(0, frozenset({(atom, 1)}))


# ------------------------------------------------------------ conditions


@dataclass(frozen=True)
class AtLeastZero:
    """``expr >= 0``."""

    expr: Expr


@dataclass(frozen=True)
class Not:
    """The opposite of a condition."""

    condition: Condition


@dataclass(frozen=True)
class All:
    """All of some conditions; no conditions are true."""

    parts: tuple[Condition, ...]


@dataclass(frozen=True)
class Some:
    """At least one of some conditions; no conditions are false."""

    parts: tuple[Condition, ...]


Condition = AtLeastZero | Not | All | Some
TRUE = All(())
FALSE = Some(())


def at_least(one: Expr, other: Expr | int) -> Condition:
    """Returns ``one >= other``."""
    difference = one.minus(other)
    if difference.terms:
        return AtLeastZero(difference)
    return TRUE if difference.constant >= 0 else FALSE


def less(one: Expr, other: Expr) -> Condition:
    """Returns ``one < other``."""
    return at_least(other, one.plus(1))


def equal(one: Expr, other: Expr | int) -> Condition:
    """Returns ``one == other``."""
    difference = one.minus(other)
    if not difference.terms:
        return TRUE if not difference.constant else FALSE
    return All((AtLeastZero(difference), AtLeastZero(difference.times(-1))))


def negated(condition: Condition) -> Condition:
    """Returns the opposite of ``condition``."""
    if isinstance(condition, Not):
        return condition.condition
    if condition in (TRUE, FALSE):
        return FALSE if condition == TRUE else TRUE
    return Not(condition)


def both(one: Condition, other: Condition) -> Condition:
    """Returns both conditions."""
    if FALSE in (one, other):
        return FALSE
    return one if other == TRUE else other if one == TRUE else All((one, other))


def either(one: Condition, other: Condition) -> Condition:
    """Returns one of two conditions, or both."""
    if TRUE in (one, other):
        return TRUE
    return one if other == FALSE else other if one == FALSE else Some((one, other))


def choose(condition: Condition, yes: Expr, no: Expr) -> Expr:
    """Returns ``yes`` where ``condition`` holds, else ``no``."""
    if yes == no or condition == TRUE:
        return yes
    return no if condition == FALSE else symbol(Choice(condition, yes, no))


# ------------------------------------------------------------ evaluation


class UnknownValueError(Exception):
    """An expression has no value for these numbers."""


def evaluate(expr: Expr, values: Values) -> int:
    """Returns the number that an expression is. Raises :class:`UnknownValueError`."""
    total = expr.constant
    for atom, factor in expr.terms:
        total += factor * _value(atom, values)
    return total


def _value(atom: Atom, values: Values) -> int:
    if isinstance(atom, Quotient):
        return evaluate(atom.dividend, values) // atom.divisor
    if isinstance(atom, Choice):
        return evaluate(atom.yes if holds(atom.condition, values) else atom.no, values)
    known = values.get(atom)
    if known is None and atom.meaning is not None:
        known = atom.meaning(values)
    if known is None:
        raise UnknownValueError(atom.name)
    return known


def holds(condition: Condition, values: Values) -> bool:
    """Returns whether a condition holds. Raises :class:`UnknownValueError`."""
    if isinstance(condition, AtLeastZero):
        return evaluate(condition.expr, values) >= 0
    if isinstance(condition, Not):
        return not holds(condition.condition, values)
    if isinstance(condition, All):
        return all(holds(part, values) for part in condition.parts)
    return any(holds(part, values) for part in condition.parts)


# ------------------------------------------------------------ symbols


def symbols_of(part: Expr | Condition) -> Iterator[Symbol]:
    """Yields the symbols in an expression or a condition, some more than once."""
    if isinstance(part, Expr):
        for atom, _ in part.terms:
            if isinstance(atom, Quotient):
                yield from symbols_of(atom.dividend)
            elif isinstance(atom, Choice):
                for inner in (atom.condition, atom.yes, atom.no):
                    yield from symbols_of(inner)
            else:
                yield atom
    elif isinstance(part, AtLeastZero):
        yield from symbols_of(part.expr)
    elif isinstance(part, Not):
        yield from symbols_of(part.condition)
    else:
        for inner in part.parts:
            yield from symbols_of(inner)


def is_natural(expr: Expr) -> bool:
    """Returns whether an expression is at least 0 for all values of its symbols, by the signs of its parts alone."""
    return expr.constant >= 0 and all(factor > 0 and _is_natural_atom(atom) for atom, factor in expr.terms)


def _is_natural_atom(atom: Atom) -> bool:
    if isinstance(atom, Quotient):
        return is_natural(atom.dividend)
    if isinstance(atom, Choice):
        return is_natural(atom.yes) and is_natural(atom.no)
    return atom.low is not None and atom.low >= 0
