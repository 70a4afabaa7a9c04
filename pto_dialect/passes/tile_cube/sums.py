"""Offsets as sums: a number plus values times numbers, so that the part of a loop can be taken out of them.

Source: docs/reference/core-dialects.md, "Numbers".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from xdsl.dialects.arith import AddiOp, IndexCastOp, MuliOp, SubiOp
from xdsl.ir import SSAValue

from pto_dialect.analysis.constants import constant_of

_DEEPEST = 16


@dataclass(frozen=True)
class Sum:
    """``number`` plus each value of ``factors`` times its factor; no factor is 0."""

    number: int = 0
    factors: Mapping[SSAValue, int] = field(default_factory=dict)

    def plus(self, other: Sum, times: int = 1) -> Sum:
        """This sum plus ``times`` another one."""
        factors = dict(self.factors)
        for value, factor in other.factors.items():
            factors[value] = factors.get(value, 0) + times * factor
        return Sum(self.number + times * other.number, {value: factor for value, factor in factors.items() if factor})

    def minus(self, other: Sum) -> Sum:
        """This sum minus another one."""
        return self.plus(other, -1)

    def factor(self, value: SSAValue) -> int:
        """How often ``value`` is in the sum."""
        return self.factors.get(value, 0)

    def at(self, value: SSAValue, number: int) -> Sum:
        """The sum for one number of ``value``."""
        rest = {other: factor for other, factor in self.factors.items() if other is not value}
        return Sum(self.number + number * self.factor(value), rest)


def sum_of(value: SSAValue, depth: int = _DEEPEST) -> Sum:
    """The sum that ``value`` is; what is computed otherwise counts as a value of its own."""
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
        if isinstance(op, IndexCastOp) and value.type == op.input.type:
            return sum_of(op.input, depth - 1)
    return Sum(0, {value: 1})
