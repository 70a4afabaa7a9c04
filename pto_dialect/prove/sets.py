"""Models as sets and relations of integers: the text of the library for them.

Only comparisons are negated, so that a number of which nothing is known makes a set larger, never smaller.
Source: docs/reference/order-proof.md, "Sets".
"""

from __future__ import annotations

from collections.abc import Sequence

from .expressions import (
    TRUE,
    All,
    AtLeastZero,
    Choice,
    Condition,
    Expr,
    Not,
    Ordinal,
    Quotient,
    Symbol,
    Varying,
    symbol,
)
from .model import Access, Interval, Loop, Model, Rectangle, Statement, UndecidedError, common_loops
from .overlap import interval_of
from .substitute import substituted


class SetText:
    """The text of expressions and conditions; ``exact`` refuses those that would be widened."""

    def __init__(self, names: dict[Symbol, str], exact: bool) -> None:
        self.names = names
        self.exact = exact
        self._count = 0

    def condition(self, condition: Condition, holds: bool = True) -> str:
        """Returns a condition, or its opposite."""
        if isinstance(condition, Not):
            return self.condition(condition.condition, not holds)
        if isinstance(condition, AtLeastZero):
            expr = condition.expr if holds else condition.expr.times(-1).plus(-1)
            return self.comparison(expr)
        parts = [self.condition(part, holds) for part in condition.parts]
        every = isinstance(condition, All) == holds
        if not parts:
            return "true" if every else "false"
        return "(" + (" and " if every else " or ").join(parts) + ")"

    def comparison(self, expr: Expr) -> str:
        """Returns ``expr >= 0``."""
        chosen: list[str] = []
        fresh: list[str] = []
        text = self._sum(expr, fresh, chosen)
        return _scoped(fresh, [*chosen, f"{text} >= 0"])

    def equal(self, one: Expr, other: Expr) -> str:
        """Returns ``one = other``."""
        chosen: list[str] = []
        fresh: list[str] = []
        text = self._sum(one.minus(other), fresh, chosen)
        return _scoped(fresh, [*chosen, f"{text} = 0"])

    def _sum(self, expr: Expr, fresh: list[str], chosen: list[str]) -> str:
        parts = [str(expr.constant)]
        for atom, factor in expr.terms:
            parts.append(f"{factor}*{self._atom(atom, fresh, chosen)}")
        return " + ".join(parts)

    def _atom(self, atom: object, fresh: list[str], chosen: list[str]) -> str:
        if isinstance(atom, Quotient):
            return f"floor(({self._sum(atom.dividend, fresh, chosen)})/{atom.divisor})"
        if isinstance(atom, Choice):
            name = self._fresh(fresh)
            yes = self._definition(name, atom.condition, True, atom.yes)
            no = self._definition(name, atom.condition, False, atom.no)
            chosen.append(f"({yes} or {no})")
            return name
        if isinstance(atom, Varying):
            if self.exact:
                raise UndecidedError(None, f"%{atom.name} is computed in a way that is not followed")
            return self._fresh(fresh)
        assert isinstance(atom, Symbol)
        return self.names[atom]

    def _definition(self, name: str, condition: Condition, holds: bool, expr: Expr) -> str:
        fresh: list[str] = []
        chosen: list[str] = []
        text = self._sum(expr, fresh, chosen)
        return _scoped(fresh, [self.condition(condition, holds), *chosen, f"{name} = {text}"])

    def _fresh(self, fresh: list[str]) -> str:
        self._count += 1
        fresh.append(f"e{self._count}")
        return fresh[-1]


def _scoped(fresh: list[str], parts: list[str]) -> str:
    text = " and ".join(parts)
    return f"(exists ({', '.join(fresh)} : {text}))" if fresh else f"({text})"


class ModelText:
    """The text of the statements of one model. A statement is a point in time: places in the text and iterations in
    turn, from the outermost loop inwards, filled up with zeros."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.parameters = {one: f"p{index}" for index, one in enumerate(model.symbols)}
        self.depth = max((len(one.loops) for one in model.statements), default=0)
        self.prefix = f"[{', '.join(self.parameters.values())}] -> "
        self._domains: dict[tuple[int, str, bool], str] = {}

    def names(self, loops: Sequence[Loop], letter: str) -> dict[Symbol, str]:
        """Returns the names of parameters, and of the iterations of ``loops``."""
        return {**self.parameters, **{loop.ordinal: f"{letter}{loop.number}" for loop in loops}}

    def time(self, statement: Statement, letter: str) -> str:
        """Returns the point in time of a statement."""
        parts = [str(statement.position[0])]
        for loop, place in zip(statement.loops, statement.position[1:], strict=True):
            parts += [f"{letter}{loop.number}", str(place)]
        parts += ["0"] * (2 * self.depth + 1 - len(parts))
        return f"[{', '.join(parts)}]"

    def domain(self, statement: Statement, letter: str, exact: bool) -> str:
        """Returns the condition under which a statement runs, in terms of the iterations around it."""
        key = (statement.number, letter, exact)
        known = self._domains.get(key)
        if known is None:
            text = SetText(self.names(statement.loops, letter), exact)
            parts: list[str] = []
            for loop in statement.loops:
                parts.append(f"{letter}{loop.number} >= 0")
                if loop.goes_on is not None:
                    parts.append(text.condition(loop.goes_on))
            if statement.condition != TRUE:
                parts.append(text.condition(statement.condition))
            known = self._domains[key] = " and ".join(parts) or "true"
        return known

    def before(self, first: Statement, second: Statement) -> str | None:
        """That ``first`` (iterations ``a``) comes before ``second`` (iterations ``b``) in the text; ``None`` where it
        never does."""
        common = common_loops(first, second)
        same = [f"a{loop.number} = b{loop.number}" for loop in first.loops[:common]]
        ways = [
            " and ".join([*same[:level], f"a{loop.number} < b{loop.number}"])
            for level, loop in enumerate(first.loops[:common])
        ]
        if first.position[common] < second.position[common]:
            ways.append(" and ".join(same) or "true")
        return "(" + " or ".join(ways) + ")" if ways else None

    def at_level(self, first: Statement, second: Statement, level: int | None) -> str:
        """That both are in the same iteration of all common loops, or in two of the one of this number among them, and
        in the same one of those around it."""
        common = first.loops[: common_loops(first, second)]
        parts = [f"a{loop.number} = b{loop.number}" for loop in common[:level]]
        if level is not None:
            parts.append(f"a{common[level].number} < b{common[level].number}")
        return " and ".join(parts) or "true"

    def same_turn(self, first: Statement, second: Statement) -> str:
        """That both are in the same iteration of all loops around them."""
        return " and ".join(f"a{loop.number} = b{loop.number}" for loop in first.loops) or "true"

    def both(self, one: Statement, other: Statement, exact: bool = True) -> Both:
        """Comparisons of expressions of two statements."""
        return Both(self, one, other, exact)

    def meet(self, first: Access, one: Statement, second: Access, other: Statement) -> str:
        """That two accesses happen and may touch a common byte."""
        a, b = SetText(self.names(one.loops, "a"), False), SetText(self.names(other.loops, "b"), False)
        parts = [a.condition(first.condition), b.condition(second.condition)]
        if first.root is not None and first.root == second.root:
            parts += self._meeting(first, one, second, other)
        return " and ".join(part for part in parts if part != "true") or "true"

    def _meeting(self, first: Access, one: Statement, second: Access, other: Statement) -> list[str]:
        both = Both(self, one, other, False)
        x, y = first.part, second.part
        if isinstance(x, Rectangle) and isinstance(y, Rectangle) and x.frame == y.frame:
            parts: list[str] = []
            for (start, size), (begin, length) in zip(x.sides, y.sides, strict=False):
                parts += [both.less(start, begin, length), both.less(begin, start, size, swapped=True)]
            return parts
        p, q = interval_of(first), interval_of(second)
        return [] if p is None or q is None else both.intervals(p, q)


class Both:
    """Comparisons of expressions of two statements."""

    def __init__(self, text: ModelText, one: Statement, other: Statement, exact: bool) -> None:
        names = dict(text.parameters)
        self.first = _renaming(one, "a", names)
        self.second = _renaming(other, "b", names)
        self.text = SetText(names, exact)

    def equal(self, one: Expr, other: Expr) -> str:
        """That an expression of the first statement equals one of the second."""
        return self.text.equal(substituted(one, self.first), substituted(other, self.second))

    def less(self, low: Expr, start: Expr, size: Expr, swapped: bool = False) -> str:
        """Returns ``low < start + size``, ``low`` being of the first statement unless ``swapped``."""
        mine, theirs = (self.second, self.first) if swapped else (self.first, self.second)
        end = substituted(start.plus(size), theirs)
        return self.text.comparison(end.minus(substituted(low, mine)).plus(-1))

    def intervals(self, one: Interval, other: Interval) -> list[str]:
        """That two intervals meet."""
        parts: list[str] = []
        if other.high is not None:
            parts.append(self.less(one.low, other.high, Expr(0)))
        if one.high is not None:
            parts.append(self.less(other.low, one.high, Expr(0), swapped=True))
        return parts


def _renaming(statement: Statement, letter: str, names: dict[Symbol, str]) -> dict[Symbol, Expr]:
    """Iterations of one of two statements, whose names are added to ``names``."""
    made: dict[Symbol, Expr] = {}
    for loop in statement.loops:
        name = f"{letter}{loop.number}"
        ordinal = Ordinal(name, 0)
        names[ordinal] = name
        made[loop.ordinal] = symbol(ordinal)
    return made
