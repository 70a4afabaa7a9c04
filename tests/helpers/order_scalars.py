"""Scalar operations of the order model, as MLIR's dialect ``arith`` defines them on integers of a width."""

from __future__ import annotations

from collections.abc import Callable

from order_values import Unmodelled

WIDTHS = {"index": 64, "i64": 64, "i32": 32, "i16": 16, "i8": 8, "i1": 1}


def signed(value: int, width: int) -> int:
    """The value of a bit pattern of ``width`` bits; booleans are 0 and 1."""
    value &= (1 << width) - 1
    return value if width == 1 or value < 1 << (width - 1) else value - (1 << width)


def unsigned(value: int, width: int) -> int:
    return value & ((1 << width) - 1)


def quotient(one: int, other: int) -> int:
    """Division that rounds towards zero."""
    if other == 0:
        raise Unmodelled("division by 0")
    result = abs(one) // abs(other)
    return result if (one < 0) == (other < 0) else -result


def floor(one: int, other: int) -> int:
    if other == 0:
        raise Unmodelled("division by 0")
    return one // other


SIGNED: dict[str, Callable[[int, int], int]] = {
    "addi": lambda a, b: a + b,
    "subi": lambda a, b: a - b,
    "muli": lambda a, b: a * b,
    "divsi": quotient,
    "remsi": lambda a, b: a - b * quotient(a, b),
    "floordivsi": floor,
    "ceildivsi": lambda a, b: -floor(-a, b),
    "minsi": min,
    "maxsi": max,
    "andi": lambda a, b: a & b,
    "ori": lambda a, b: a | b,
    "xori": lambda a, b: a ^ b,
    "shli": lambda a, b: a << b,
    "shrsi": lambda a, b: a >> b,
}
UNSIGNED: dict[str, Callable[[int, int], int]] = {
    "divui": floor,
    "remui": lambda a, b: a - b * floor(a, b),
    "ceildivui": lambda a, b: -floor(-a, b),
    "minui": min,
    "maxui": max,
    "shrui": lambda a, b: a >> b,
}
COMPARE: tuple[Callable[[int, int], bool], ...] = (
    lambda a, b: a == b,
    lambda a, b: a != b,
    lambda a, b: a < b,
    lambda a, b: a <= b,
    lambda a, b: a > b,
    lambda a, b: a >= b,
)
"""Predicates of ``cmpi`` by number; 6 to 9 are those of 2 to 5 on unsigned numbers."""


def binary(name: str, one: int, other: int, width: int) -> int | None:
    """The result of a binary operation, or None if there is none of that name."""
    if name in SIGNED:
        return signed(SIGNED[name](one, other), width)
    if name in UNSIGNED:
        return signed(UNSIGNED[name](unsigned(one, width), unsigned(other, width)), width)
    return None


def compare(predicate: int, one: int, other: int, width: int) -> int:
    if predicate >= 6:
        return int(COMPARE[predicate - 4](unsigned(one, width), unsigned(other, width)))
    return int(COMPARE[predicate](one, other))
