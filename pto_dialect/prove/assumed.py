"""Conditions on arguments that a user states: ``n % 16 == 0 and m < n``.

Source: docs/prove.md, "Assumptions".
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping, Sequence
from difflib import get_close_matches

from .expressions import (
    Condition,
    Expr,
    Symbol,
    at_least,
    both,
    either,
    equal,
    less,
    negated,
    symbol,
)


class AssumptionError(ValueError):
    """A condition that is not understood."""


def names_in(text: str) -> frozenset[str]:
    """Returns the names in a condition. Raises :class:`AssumptionError`."""
    return frozenset(node.id for node in ast.walk(_parsed(text)) if isinstance(node, ast.Name))


def unknown_names(assumptions: Sequence[str], known: Collection[str]) -> Iterator[str]:
    """Yields what to say about the names in conditions that no function has, which therefore say nothing."""
    for text in assumptions:
        for name in sorted(names_in(text).difference(known)):
            near = get_close_matches(name, known, 1)
            hint = f"; did you mean {near[0]}?" if near else ""
            yield f"no function has the argument '{name}' of the assumption '{text}'{hint}"


def _parsed(text: str) -> ast.expr:
    try:
        return ast.parse(text.replace("%%", "%").strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise AssumptionError(f"'{text}' is no condition such as n % 16 == 0") from None


def condition_of(text: str, symbols: Mapping[str, Symbol]) -> Condition | None:
    """Returns the condition that ``text`` states about ``symbols``; ``None`` where it names another one. Raises
    :class:`AssumptionError`."""
    tree, names = _parsed(text), names_in(text)
    reader = _Reader(text, {name: symbols[name] for name in names if name in symbols})
    if not names.issubset(symbols):
        # It is checked all the same.
        reader.symbols.update({name: Symbol(name) for name in names.difference(symbols)})
        reader.condition(tree)
        return None
    return reader.condition(tree)


class _Reader:
    def __init__(self, text: str, symbols: dict[str, Symbol]) -> None:
        self.text = text
        self.symbols = symbols

    def wrong(self) -> AssumptionError:
        return AssumptionError(
            f"'{self.text}' is not understood: comparisons of sums, products with constants, // and % by constants, "
            "joined by and, or, not"
        )

    def condition(self, node: ast.expr) -> Condition:
        if isinstance(node, ast.BoolOp):
            first, *others = (self.condition(value) for value in node.values)
            for other in others:
                first = both(first, other) if isinstance(node.op, ast.And) else either(first, other)
            return first
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return negated(self.condition(node.operand))
        if not isinstance(node, ast.Compare):
            raise self.wrong()
        values = [self.number(each) for each in (node.left, *node.comparators)]
        result: Condition | None = None
        for operator, one, other in zip(node.ops, values, values[1:], strict=False):
            compare = _COMPARISONS.get(type(operator))
            if compare is None:
                raise self.wrong()
            found = compare(one, other)
            result = found if result is None else both(result, found)
        assert result is not None
        return result

    def number(self, node: ast.expr) -> Expr:
        if isinstance(node, ast.Name):
            return symbol(self.symbols[node.id])
        if isinstance(node, ast.Constant) and type(node.value) is int:
            return Expr(node.value)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return self.number(node.operand).times(-1)
        if not isinstance(node, ast.BinOp):
            raise self.wrong()
        return self._combined(node.op, self.number(node.left), self.number(node.right))

    def _combined(self, operator: ast.operator, one: Expr, other: Expr) -> Expr:
        if isinstance(operator, ast.Add):
            return one.plus(other)
        if isinstance(operator, ast.Sub):
            return one.minus(other)
        by = other.value
        if isinstance(operator, ast.Mult):
            if by is not None:
                return one.times(by)
            if one.value is not None:
                return other.times(one.value)
        elif by is not None and by > 0 and isinstance(operator, (ast.Mod, ast.FloorDiv)):
            return one.modulo(by) if isinstance(operator, ast.Mod) else one.over(by)
        raise self.wrong()


_COMPARISONS = {
    ast.Eq: equal,
    ast.NotEq: lambda one, other: negated(equal(one, other)),
    ast.Lt: less,
    ast.LtE: lambda one, other: at_least(other, one),
    ast.Gt: lambda one, other: less(other, one),
    ast.GtE: at_least,
}
