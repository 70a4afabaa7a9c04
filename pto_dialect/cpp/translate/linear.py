"""Sums: the low bits of a value as a sum of other values, modulo a power of two."""

from __future__ import annotations

from math import gcd

from ..llvm.model import Constant, Instruction, Operand, Value

_MAX_DEPTH = 12


def width_of(type: str) -> int | None:
    """Returns the bits of an integer type."""
    return int(type[1:]) if type[:1] == "i" and type[1:].isdigit() else None


class Linear:
    """A constant and values times factors, modulo 2 to the power of ``width``. Only the low bits of values count."""

    __slots__ = ("constant", "terms", "width")

    def __init__(self, width: int, constant: int = 0, terms: dict[Value, int] | None = None) -> None:
        mask = (1 << width) - 1
        self.width = width
        self.constant = constant & mask
        self.terms = {value: factor & mask for value, factor in (terms or {}).items() if factor & mask}

    @property
    def is_constant(self) -> bool:
        return not self.terms

    def plus(self, other: Linear, factor: int = 1) -> Linear:
        """Returns the sum with ``factor`` times ``other``."""
        terms = dict(self.terms)
        for value, amount in other.terms.items():
            terms[value] = terms.get(value, 0) + amount * factor
        return Linear(self.width, self.constant + other.constant * factor, terms)

    def __sub__(self, other: Linear) -> Linear:
        return self.plus(other, -1)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Linear) and (self.width, self.constant, self.terms) == (
            other.width,
            other.constant,
            other.terms,
        )

    __hash__ = None  # type: ignore[assignment]

    def replace(self, old: Value, new: Value) -> Linear:
        """Returns the sum with ``new`` in place of ``old``."""
        terms = dict(self.terms)
        factor = terms.pop(old, 0)
        terms[new] = terms.get(new, 0) + factor
        return Linear(self.width, self.constant, terms)


def low_bits(operand: Operand, width: int, depth: int = 0) -> Linear:
    """Returns the low ``width`` bits of an operand as a sum."""
    if isinstance(operand, Constant):
        return Linear(width, operand.value if isinstance(operand.value, int) else 0)
    if not isinstance(operand, Value):
        return Linear(width, 0, {})
    if isinstance(operand, Instruction) and depth < _MAX_DEPTH:
        found = _read(operand, width, depth + 1)
        if found is not None:
            return found
    return Linear(width, 0, {operand: 1})


def _read(instruction: Instruction, width: int, depth: int) -> Linear | None:
    opcode, operands = instruction.opcode, instruction.operands
    if opcode == "trunc":
        return low_bits(operands[0], width, depth)
    if opcode in ("sext", "zext"):
        source = width_of(operands[0].type)
        return low_bits(operands[0], width, depth) if source is not None and source >= width else None
    if opcode in ("add", "sub"):
        return low_bits(operands[0], width, depth).plus(
            low_bits(operands[1], width, depth), 1 if opcode == "add" else -1
        )
    amount = operands[1].value if len(operands) == 2 and isinstance(operands[1], Constant) else None
    if not isinstance(amount, int):
        return None
    if opcode in ("mul", "shl"):
        factor = amount if opcode == "mul" else 1 << amount
        return Linear(width).plus(low_bits(operands[0], width, depth), factor)
    if opcode == "ashr":
        inner = operands[0]
        total = width_of(instruction.type) or 0
        is_extension = isinstance(inner, Instruction) and inner.opcode == "shl" and inner.operands[1] == operands[1]
        if is_extension and isinstance(inner, Instruction) and total - amount >= width:
            return low_bits(inner.operands[0], width, depth)
    return None


def multiple_of(operand: Operand, pending: frozenset[Value] = frozenset()) -> int:
    """Returns a power of two that divides an integer in every execution; 0 if it is always 0."""
    if isinstance(operand, Constant):
        number = operand.value if isinstance(operand.value, int) else 0
        return number & -number
    if not isinstance(operand, Instruction) or len(pending) > _MAX_DEPTH:
        return 1
    if operand in pending:
        return 0
    return _multiple(operand, pending | {operand})


def _multiple(instruction: Instruction, pending: frozenset[Value]) -> int:
    opcode, operands = instruction.opcode, instruction.operands
    if opcode in ("sext", "zext", "trunc", "freeze"):
        return multiple_of(operands[0], pending)
    if opcode in ("add", "sub", "or", "phi", "select"):
        found = 0
        for operand in operands[opcode == "select" :]:
            found = gcd(found, multiple_of(operand, pending))
        return found
    amount = operands[1].value if len(operands) == 2 and isinstance(operands[1], Constant) else None
    if opcode in ("mul", "and") and len(operands) == 2:
        left, right = (multiple_of(operand, pending) for operand in operands)
        return left * right if opcode == "mul" else max(left, right)
    if opcode == "shl" and isinstance(amount, int) and 0 <= amount < 64:
        return multiple_of(operands[0], pending) << amount
    return 1


def first_number(value: Value) -> int:
    """Returns the constant that the counter of a loop begins with; 0 for other values."""
    if not isinstance(value, Instruction):
        return 0
    if value.opcode in ("sext", "zext", "trunc", "freeze"):
        inner = value.operands[0]
        return first_number(inner) if isinstance(inner, Value) else 0
    if value.opcode != "phi":
        return 0
    begins = [one for one in value.operands if isinstance(one, Constant)]
    steps = [one for one in value.operands if isinstance(one, Instruction) and value in one.operands]
    if len(begins) != 1 or len(steps) != len(value.operands) - 1 or not isinstance(begins[0].value, int):
        return 0
    return begins[0].value
