"""Affine expressions: a constant plus symbols times constant factors. Equal values have equal expressions wherever they
are computed, so that the difference of two offsets is often a constant.

Source: docs/reference/core-dialects.md, "Numbers".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum, auto
from math import gcd
from typing import NamedTuple

from xdsl.ir import Block, SSAValue

from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core_dialects.structured import is_for

from .arithmetic import CASTS, WIDEST
from .constants import constant_of

Term = tuple[object, ...]
"""A symbol: an unknown value, or a non-affine operation with its name and the expressions of its operands."""

_DEPTH = 32


class AffineExpr(NamedTuple):
    """``constant`` plus each term times its factor; factors are not 0."""

    constant: int
    terms: frozenset[tuple[Term, int]] = frozenset()

    def minus(self, other: AffineExpr) -> AffineExpr:
        """This expression minus ``other``."""
        return _combine(self, other, -1)

    def plus(self, other: AffineExpr) -> AffineExpr:
        """This expression plus ``other``."""
        return _combine(self, other, 1)

    def times(self, factor: int) -> AffineExpr:
        """This expression times a number."""
        return _scale(self, factor)

    @property
    def constant_value(self) -> int | None:
        """The integer, where the expression has no terms."""
        return None if self.terms else self.constant


def _combine(one: AffineExpr, other: AffineExpr, sign: int) -> AffineExpr:
    factors = dict(one.terms)
    for term, factor in other.terms:
        factors[term] = factors.get(term, 0) + sign * factor
    return AffineExpr(one.constant + sign * other.constant, frozenset((t, f) for t, f in factors.items() if f))


def _scale(one: AffineExpr, factor: int) -> AffineExpr:
    return AffineExpr(
        one.constant * factor, frozenset((t, f * factor) for t, f in one.terms) if factor else frozenset()
    )


def _multiply(parts: Sequence[AffineExpr]) -> AffineExpr | None:
    """Returns the product of an expression and a constant; ``None`` for other products, and for constants of more than
    ``WIDEST`` bits, which repeated squaring would produce."""
    one, other = parts if parts[1].constant_value is not None else reversed(parts)
    if other.constant_value is None:
        return None
    product = _scale(one, other.constant_value)
    return product if product.constant_value is None or product.constant_value.bit_length() <= WIDEST else None


_AFFINE_OPERATIONS: dict[str, Callable[[Sequence[AffineExpr]], AffineExpr | None]] = {
    "arith.addi": lambda parts: parts[0].plus(parts[1]),
    "arith.subi": lambda parts: parts[0].minus(parts[1]),
    "arith.muli": _multiply,
    **dict.fromkeys([name for name, signed in CASTS.items() if signed], lambda parts: parts[0]),
    "arith.trunci": lambda parts: None,
}
"""Operations that map affine expressions to an affine expression; a cast does unless it truncates or reads the value
unsigned."""


class _Division(Enum):
    REMAINDER = auto()
    QUOTIENT = auto()


_DIVISIONS: dict[object, _Division] = {
    **dict.fromkeys(("arith.remui", "arith.remsi"), _Division.REMAINDER),
    **dict.fromkeys(("arith.divui", "arith.divsi"), _Division.QUOTIENT),
}
"""Division and remainder of natural numbers, by name of the operation."""


class AffineAnalysis:
    """Affine expressions of the values of one function, each computed once."""

    def __init__(self) -> None:
        self._expressions: dict[SSAValue, AffineExpr] = {}
        self._sources: dict[Term, frozenset[SSAValue]] = {}
        self._terms: dict[Term, Term] = {}
        """Interned terms: comparing nested terms structurally takes exponential time."""

    def expression_of(self, value: SSAValue, depth: int = _DEPTH) -> AffineExpr:
        """Returns the affine expression of ``value``."""
        known = self._expressions.get(value)
        if known is None:
            known = self._expressions[value] = self._compute(value, depth)
        return known

    def sources(self, term: Term) -> frozenset[SSAValue]:
        """Returns the unknown values that a term depends on."""
        known = self._sources.get(term)
        if known is None:
            parts = [self.sources(inner) for part in term if isinstance(part, AffineExpr) for inner, _ in part.terms]
            own = frozenset(part for part in term if isinstance(part, SSAValue))
            known = self._sources[term] = own.union(*parts)
        return known

    def _compute(self, value: SSAValue, depth: int) -> AffineExpr:
        number = constant_of(value)
        if isinstance(number, int):
            return AffineExpr(number)
        op = value.owner
        alone = AffineExpr(0, frozenset({((value,), 1)}))
        if isinstance(op, Block) or not depth or not has_role(op, Role.SCALAR) or len(op.results) != 1:
            return alone
        parts = [self.expression_of(operand, depth - 1) for operand in op.operands]
        name = op.name
        combine = _AFFINE_OPERATIONS.get(name)
        result = combine(parts) if combine is not None else None
        if result is None and _DIVISIONS.get(name) is _Division.REMAINDER:
            result = self._remainder_of(parts)
        if result is not None:
            return result
        stated = tuple(sorted((key, attr) for key, attr in op.properties.items()))
        term: Term = (name, str(value.type), *stated, *parts)
        return AffineExpr(0, frozenset({(self._terms.setdefault(term, term), 1)}))

    def _remainder_of(self, parts: Sequence[AffineExpr]) -> AffineExpr | None:
        """Returns the remainder of a division by a constant, where all possible dividends have the same one."""
        divisor = parts[1].constant_value
        if divisor is None or divisor <= 0 or not self.is_non_negative(parts[0]):
            return None
        remainder = self.remainder(parts[0], divisor)
        return None if remainder is None else AffineExpr(remainder)

    # ------------------------------------------------------------ divisibility

    def remainder(self, one: AffineExpr, modulus: int, depth: int = _DEPTH) -> int | None:
        """Returns a natural number ``one`` modulo ``modulus``; ``None`` where it is not constant."""
        total = one.constant
        for term, factor in one.terms:
            common = modulus // gcd(factor, modulus)
            rest = 0 if common == 1 else self._term_remainder(term, common, depth)
            if rest is None:
                return None
            total += factor * rest
        return total % modulus

    def _term_remainder(self, term: Term, modulus: int, depth: int) -> int | None:
        counter = self.induction_variable(term)
        if counter is not None and depth:
            first, step = counter
            return self.remainder(first, modulus, depth - 1) if step % modulus == 0 else None
        parts = [part for part in term if isinstance(part, AffineExpr)]
        divisor = parts[1].constant_value if len(parts) == 2 else None
        if divisor is None or divisor <= 0 or not depth or not self.is_non_negative(parts[0], depth - 1):
            return None
        if _DIVISIONS.get(term[0]) is _Division.REMAINDER and divisor % modulus == 0:
            return self.remainder(parts[0], modulus, depth - 1)
        if _DIVISIONS.get(term[0]) is _Division.QUOTIENT and divisor.bit_length() <= WIDEST:
            remainder = self.remainder(parts[0], divisor * modulus, depth - 1)
            return None if remainder is None else remainder // divisor
        return None

    def as_remainder(self, one: AffineExpr) -> tuple[AffineExpr, int] | None:
        """Dividend and divisor of an expression that is the remainder of a natural number modulo a positive
        constant."""
        if one.constant or len(one.terms) != 1:
            return None
        ((term, factor),) = one.terms
        parts = [part for part in term if isinstance(part, AffineExpr)]
        is_remainder = _DIVISIONS.get(term[0]) is _Division.REMAINDER
        if factor != 1 or not is_remainder or len(parts) != 2 or not self.is_non_negative(parts[0]):
            return None
        divisor = parts[1].constant_value
        return None if divisor is None or divisor <= 0 else (parts[0], divisor)

    def is_non_negative(self, one: AffineExpr, depth: int = _DEPTH) -> bool:
        """Returns whether an expression must be at least 0; expressions do not wrap around."""
        return one.constant >= 0 and all(
            factor > 0 and depth > 0 and self._is_non_negative_term(term, depth - 1) for term, factor in one.terms
        )

    def _is_non_negative_term(self, term: Term, depth: int) -> bool:
        counter = self.induction_variable(term)
        if counter is not None:
            return self.is_non_negative(counter[0], depth)
        parts = [part for part in term if isinstance(part, AffineExpr)]
        return _DIVISIONS.get(term[0]) is not None and all(self.is_non_negative(part, depth) for part in parts)

    def induction_variable(self, term: Term) -> tuple[AffineExpr, int] | None:
        """Lower bound and positive constant step of a term that is the induction variable of a loop; ``None`` for
        others."""
        value = term[0] if len(term) == 1 else None
        block = value.owner if isinstance(value, SSAValue) else None
        if not isinstance(block, Block) or block.args[0] is not value:
            return None
        loop = block.parent_op()
        if loop is None or not is_for(loop):
            return None
        number = constant_of(loop.step)
        return (self.expression_of(loop.lb), number) if isinstance(number, int) and number > 0 else None
