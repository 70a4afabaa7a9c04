"""Expressions of C++ with the precedence that decides where parentheses stand."""

from __future__ import annotations

from typing import NamedTuple

ATOM, UNARY, PRODUCT, SUM, SHIFT, ORDER, LOOSE = 9, 8, 7, 6, 5, 4, 1
"""Precedences; operators of precedence ``LOOSE`` always get parentheses around their operands."""
_BINARY = {
    **dict.fromkeys(("*", "/", "%"), PRODUCT),
    **dict.fromkeys(("+", "-"), SUM),
    **dict.fromkeys(("<<", ">>"), SHIFT),
    **dict.fromkeys(("<", "<=", ">", ">=", "==", "!="), ORDER),
}


def quoted(text: str) -> str:
    """Returns a string literal; what a terminal would not show as it is, is escaped."""
    return '"' + "".join(_escaped(letter) for letter in text).replace("??", "?\\?") + '"'


def _escaped(letter: str) -> str:
    if letter in '"\\':
        return f"\\{letter}"
    if letter == "\n":
        return "\\n"
    if letter.isprintable():
        return letter
    return "".join(f"\\{byte:03o}" for byte in letter.encode("utf-8", "surrogatepass"))


class Expr(NamedTuple):
    """A text, its precedence, and its value if it is a constant integer."""

    text: str
    level: int = ATOM
    number: int | None = None
    without_sign: tuple[str, str, int] | None = None
    """The unsigned type in which an integer was computed, with the text and precedence in that type."""

    def at(self, level: int) -> str:
        """Returns the text as an operand of an operator of a precedence."""
        return self.text if self.level >= level else f"({self.text})"


def binary(operator: str, left: Expr, right: Expr) -> Expr:
    """Returns two operands with an operator between them."""
    level = _BINARY.get(operator, LOOSE)
    if level == ORDER:
        return Expr(f"{left.at(SHIFT)} {operator} {right.at(SHIFT)}", level)
    if level in (LOOSE, SHIFT):
        return Expr(f"{left.at(UNARY)} {operator} {right.at(UNARY)}", level)
    return Expr(f"{left.at(level)} {operator} {right.at(level + 1)}", level)


def cast(type_: str, operand: Expr) -> Expr:
    """Returns an operand as another type; casts of a cast to the same type are one."""
    if operand.without_sign is not None and operand.without_sign[0] == type_:
        return Expr(*operand.without_sign[1:])
    if operand.text.startswith(f"({type_})") and operand.level == UNARY:
        return operand
    return Expr(f"({type_}){operand.at(UNARY)}", UNARY)


def unary(operator: str, operand: Expr) -> Expr:
    """Returns an operator before an operand."""
    return Expr(f"{operator}{operand.at(ATOM)}", UNARY)


def call(function: str, *operands: Expr) -> Expr:
    """Returns a call."""
    return Expr(f"{function}({', '.join(one.text for one in operands)})")


def choice(condition: Expr, yes: Expr, no: Expr) -> Expr:
    """Returns ``condition ? yes : no``."""
    return Expr(f"{condition.at(ORDER)} ? {yes.at(SHIFT)} : {no.at(SHIFT)}", 0)


def integer(value: int, wide: bool = False) -> Expr:
    """Returns a constant; ``wide`` where it has 64 bits."""
    if value == -(1 << 63):
        return Expr("(-0x7fffffffffffffffLL - 1)", ATOM, value)
    text = str(value) if -(1 << 31) < value < 1 << 31 or not wide else f"{value}LL"
    return Expr(text if value != -(1 << 31) else "(-0x7fffffff - 1)", ATOM if value >= 0 else UNARY, value)


def add(left: Expr, right: Expr) -> Expr:
    """Returns a sum of indices, folded where both are known."""
    if left.number is not None and right.number is not None:
        return integer(left.number + right.number, True)
    if left.number == 0:
        return right
    return left if right.number == 0 else binary("+", left, right)


def multiply(left: Expr, right: Expr) -> Expr:
    """Returns a product of indices, folded where both are known."""
    if left.number is not None and right.number is not None:
        return integer(left.number * right.number, True)
    if 0 in (left.number, right.number):
        return integer(0)
    if left.number == 1:
        return right
    return left if right.number == 1 else binary("*", left, right)


__all__ = ["ATOM", "LOOSE", "ORDER", "PRODUCT", "SUM", "UNARY", "Expr", "add", "binary", "call", "cast", "choice",
           "integer", "multiply", "unary"]  # fmt: skip
