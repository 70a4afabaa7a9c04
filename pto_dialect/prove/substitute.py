"""Expressions with symbols replaced by expressions."""

from __future__ import annotations

from collections.abc import Mapping

from .expressions import (
    All,
    AtLeastZero,
    Choice,
    Condition,
    Expr,
    Not,
    Quotient,
    Symbol,
    at_least,
    both,
    choose,
    either,
    negated,
    symbol,
)


def substituted(expr: Expr, new: Mapping[Symbol, Expr]) -> Expr:
    """Returns ``expr`` with the expressions of ``new`` for its symbols."""
    result = Expr(expr.constant)
    for atom, factor in expr.terms:
        if isinstance(atom, Quotient):
            part = substituted(atom.dividend, new).over(atom.divisor)
        elif isinstance(atom, Choice):
            condition = substituted_condition(atom.condition, new)
            part = choose(condition, substituted(atom.yes, new), substituted(atom.no, new))
        else:
            part = new[atom] if atom in new else symbol(atom)
        result = result.plus(part, factor)
    return result


def substituted_condition(condition: Condition, new: Mapping[Symbol, Expr]) -> Condition:
    """Returns the same for a condition."""
    if isinstance(condition, AtLeastZero):
        return at_least(substituted(condition.expr, new), 0)
    if isinstance(condition, Not):
        return negated(substituted_condition(condition.condition, new))
    result: Condition = type(condition)(())
    combine = both if isinstance(condition, All) else either
    for part in condition.parts:
        result = combine(result, substituted_condition(part, new))
    return result
