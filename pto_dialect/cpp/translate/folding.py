"""Integer operations on constants."""

from __future__ import annotations

from collections.abc import Callable


def signed(number: int, width: int) -> int:
    """Returns the low ``width`` bits as a signed number; a single bit is 0 or 1."""
    number &= (1 << width) - 1
    return number - (1 << width) if width > 1 and number >> (width - 1) else number


def unsigned(number: int, width: int) -> int:
    """Returns the low ``width`` bits as a number that is not negative."""
    return number & ((1 << width) - 1)


_SAME: dict[str, Callable[[int, int], int]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
}
_COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}


def fold(opcode: str, a: int, b: int, width: int) -> int | None:
    """Returns the result of an operation on two constants, ``None`` if it is not folded."""
    if opcode in _SAME:
        return signed(_SAME[opcode](a, b), width)
    if opcode in ("shl", "lshr", "ashr") and 0 <= b < width:
        shifted = a << b if opcode == "shl" else (unsigned(a, width) if opcode == "lshr" else a) >> b
        return signed(shifted, width)
    return None


def compare(predicate: str, a: int, b: int, width: int) -> bool:
    """Returns the result of a comparison of two constants."""
    if predicate in ("eq", "ne"):
        return _COMPARISONS[predicate](a, b)
    if predicate[0] == "u":
        a, b = unsigned(a, width), unsigned(b, width)
    elif width == 1:
        a, b = -a, -b
    return _COMPARISONS[predicate[1:]](a, b)


def neutral(opcode: str, a: int | None, b: int | None) -> int | None:
    """Returns which operand, 0 or 1, is the result because the other one changes nothing."""
    if b == 0 and opcode in ("add", "sub", "or", "xor", "shl", "lshr", "ashr"):
        return 0
    if a == 0 and opcode in ("add", "or", "xor"):
        return 1
    if b == -1 and opcode == "and":
        return 0
    if b == 1 and opcode in ("mul", "udiv", "sdiv"):
        return 0
    return None
