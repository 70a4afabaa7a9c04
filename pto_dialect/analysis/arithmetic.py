"""Constant folding of integer operations: one table for constants and abstract values.

Source: docs/reference/core-dialects.md, "Numbers".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

Fold = Callable[[int, int], int | None]
"""The exact result; ``None`` where the operation is undefined or depends on the bit width."""

WIDEST: Final = 64
"""Bits of the largest integers that an analysis represents where no type states a width."""


def _unless_negative(fold: Callable[[int, int], int]) -> Fold:
    """Folds unsigned operations of natural numbers only: the meaning of a negative operand depends on its bit width."""
    return lambda a, b: None if a < 0 or b < 0 else fold(a, b)


def _unless_zero_divisor(fold: Fold) -> Fold:
    return lambda a, b: None if b == 0 else fold(a, b)


FOLDS: Final[Mapping[str, Fold]] = MappingProxyType(
    {
        "arith.addi": lambda a, b: a + b,
        "arith.subi": lambda a, b: a - b,
        "arith.muli": lambda a, b: a * b,
        "arith.minsi": min,
        "arith.maxsi": max,
        "arith.minui": _unless_negative(min),
        "arith.maxui": _unless_negative(max),
        "arith.andi": lambda a, b: a & b,
        "arith.ori": lambda a, b: a | b,
        "arith.xori": lambda a, b: a ^ b,
        "arith.shli": lambda a, b: a << b if 0 <= b < 64 else None,
        "arith.divsi": _unless_zero_divisor(lambda a, b: abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)),
        "arith.remsi": _unless_zero_divisor(lambda a, b: abs(a) % abs(b) * (1 if a >= 0 else -1)),
        "arith.floordivsi": _unless_zero_divisor(lambda a, b: a // b),
        "arith.ceildivsi": _unless_zero_divisor(lambda a, b: -(-a // b)),
        "arith.divui": _unless_zero_divisor(_unless_negative(lambda a, b: a // b)),
        "arith.remui": _unless_zero_divisor(_unless_negative(lambda a, b: a % b)),
        "arith.ceildivui": _unless_zero_divisor(_unless_negative(lambda a, b: -(-a // b))),
    }
)
"""By name: operations of a core dialect are folded without loading its classes."""

CASTS: Final[Mapping[str, bool]] = MappingProxyType(
    {
        **dict.fromkeys(("arith.index_cast", "arith.extsi", "arith.trunci"), True),
        **dict.fromkeys(("arith.index_castui", "arith.extui"), False),
    }
)
"""Operations that convert the type of their operand, and whether they read it signed."""
