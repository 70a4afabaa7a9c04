"""Offsets as sums: a number plus values times numbers, so that the part of a loop can be taken out of them.

Source: docs/reference/core-dialects.md, "Numbers".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from xdsl.dialects.arith import AddiOp, DivSIOp, DivUIOp, IndexCastOp, MuliOp, SubiOp
from xdsl.dialects.scf import ForOp
from xdsl.ir import Block, SSAValue

from pto_dialect.analysis.constants import constant_of

_DEEPEST = 16

Factor = int | Fraction
"""A fraction where a loop index is divided by a number that divides it in every iteration."""


@dataclass(frozen=True)
class Sum:
    """``number`` plus each value of ``factors`` times its factor; no factor is 0."""

    number: Factor = 0
    factors: Mapping[SSAValue, Factor] = field(default_factory=dict)

    def plus(self, other: Sum, times: int = 1) -> Sum:
        """This sum plus ``times`` another one."""
        factors = dict(self.factors)
        for value, factor in other.factors.items():
            factors[value] = factors.get(value, 0) + times * factor
        return Sum(self.number + times * other.number, {value: factor for value, factor in factors.items() if factor})

    def minus(self, other: Sum) -> Sum:
        """This sum minus another one."""
        return self.plus(other, -1)

    def factor(self, value: SSAValue) -> Factor:
        """Returns how often ``value`` is in the sum."""
        return self.factors.get(value, 0)

    def at(self, value: SSAValue, number: int) -> Sum:
        """Returns the sum for one number of ``value``."""
        rest = {other: factor for other, factor in self.factors.items() if other is not value}
        return Sum(self.number + number * self.factor(value), rest)


def sum_of(value: SSAValue, depth: int = _DEEPEST) -> Sum:
    """Returns the sum that ``value`` is; what is computed otherwise counts as a value of its own."""
    number = constant_of(value)
    if isinstance(number, int):
        return Sum(number)
    op = value.owner
    if depth:
        if isinstance(op, AddiOp):
            return sum_of(op.lhs, depth - 1).plus(sum_of(op.rhs, depth - 1))
        if isinstance(op, SubiOp):
            return sum_of(op.lhs, depth - 1).minus(sum_of(op.rhs, depth - 1))
        if isinstance(op, MuliOp):
            for one, other in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
                times = constant_of(other)
                if isinstance(times, int):
                    return Sum().plus(sum_of(one, depth - 1), times)
        if isinstance(op, (DivSIOp, DivUIOp)):
            quotient = _quotient(sum_of(op.lhs, depth - 1), constant_of(op.rhs))
            if quotient is not None:
                return quotient
        if isinstance(op, IndexCastOp) and value.type == op.input.type:
            return sum_of(op.input, depth - 1)
    return Sum(0, {value: 1})


def _quotient(dividend: Sum, divisor: object) -> Sum | None:
    """Returns a sum divided by a number that divides it in every iteration of the loops whose indices it has; ``None``
    where it may leave a rest, or be negative."""
    if not isinstance(divisor, int) or divisor <= 0 or dividend.number < 0:
        return None
    total = dividend.number
    for value, factor in dividend.factors.items():
        loop = value.owner.parent_op() if isinstance(value.owner, Block) else None
        if not isinstance(loop, ForOp) or value is not loop.body.block.args[0] or factor < 0:
            return None
        low, step = constant_of(loop.lb), constant_of(loop.step)
        if not isinstance(low, int) or not isinstance(step, int) or low < 0 or step < 0 or factor * step % divisor:
            return None
        total += factor * low
    if total % divisor:
        return None
    factors = {value: Fraction(factor) / divisor for value, factor in dividend.factors.items()}
    return Sum(Fraction(dividend.number) / divisor, factors)
