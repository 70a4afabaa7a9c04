"""The numbers that an integer can be, so far as its instructions state them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ..llvm.model import Constant, Instruction, Operand, Value
from .linear import width_of

_MAX_DEPTH = 12
_SAME = frozenset(("sext", "zext", "trunc", "freeze"))


class Range(NamedTuple):
    """The smallest and the largest number, with sign."""

    low: int
    high: int


def range_of(operand: Operand, known: Mapping[Value, Range], depth: int = 0) -> Range | None:
    """Returns the range of an integer, ``None`` where it is not known; ``known`` has those of counters."""
    if isinstance(operand, Constant):
        return Range(operand.value, operand.value) if isinstance(operand.value, int) else None
    if isinstance(operand, Value) and operand in known:
        return known[operand]
    if not isinstance(operand, Instruction) or depth > _MAX_DEPTH:
        return None
    bits = _bits(operand, frozenset())
    found = Range(0, bits) if bits is not None else _computed(operand, known, depth + 1)
    width = width_of(operand.type) or 0
    fits = found is not None and -(1 << width >> 1) <= found.low and found.high < 1 << width >> 1
    return found if fits else None


def _computed(instruction: Instruction, known: Mapping[Value, Range], depth: int) -> Range | None:
    opcode = instruction.opcode
    if opcode in _SAME:
        inner = range_of(instruction.operands[0], known, depth)
        return inner if opcode != "zext" or (inner is not None and inner.low >= 0) else None
    if opcode not in ("add", "sub", "mul", "srem", "urem"):
        return None
    left, right = (range_of(operand, known, depth) for operand in instruction.operands)
    if opcode in ("srem", "urem"):
        if right is None or right.low != right.high or right.low <= 0:
            return None
        is_positive = opcode == "urem" or (left is not None and left.low >= 0)
        return Range(0 if is_positive else 1 - right.low, right.low - 1)
    if left is None or right is None:
        return None
    if opcode == "add":
        return Range(left.low + right.low, left.high + right.high)
    if opcode == "sub":
        return Range(left.low - right.high, left.high - right.low)
    corners = [a * b for a in left for b in right]
    return Range(min(corners), max(corners))


def _bits(operand: Operand, pending: frozenset[Value]) -> int | None:
    """Returns the bits that may be set in a number that is never negative, ``None`` where that is not known."""
    if isinstance(operand, Constant):
        return operand.value if isinstance(operand.value, int) and operand.value >= 0 else None
    if not isinstance(operand, Instruction) or len(pending) > _MAX_DEPTH:
        return None
    if operand in pending:
        return 0
    inside = pending | {operand}
    if operand.opcode == "zext" and operand.operands[0].type == "i1":
        return 1
    if operand.opcode == "and":
        known = [bits for bits in (_bits(one, inside) for one in operand.operands) if bits is not None]
        return min(known, default=None)
    if operand.opcode in ("or", "xor", "phi", "select", "zext", "sext", "freeze"):
        total = 0
        for one in operand.operands[operand.opcode == "select" :]:
            bits = _bits(one, inside)
            if bits is None:
                return None
            total |= bits
        return total
    return None
