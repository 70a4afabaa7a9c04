"""Sums, differences and products that say whether they have left the range of their type.

``__builtin_add_overflow``, and checks that a compiler writes in this way, are calls whose result is a structure of a
number and a bit. They become the operation, and the comparison that says whether it left the range.
"""

from __future__ import annotations

import re

from ...llvm.model import BasicBlock, Constant, Function, Instruction, Operand, Value

_CALLED = re.compile(r"llvm\.(?P<sign>[su])(?P<operation>add|sub|mul)\.with\.overflow\.i(?P<width>\d+)\Z")
_LONG = 64
"""The width from which a product has no wider type."""


def split_overflows(function: Function) -> dict[Value, Operand]:
    """Puts operations and comparisons in place of such calls; returns what replaces the parts of their results."""
    parts: dict[Value, tuple[Instruction, Instruction]] = {}
    for block in function.blocks.values():
        _split_block(block, parts)
    replaced: dict[Value, Operand] = {}
    for block in function.blocks.values():
        for one in block.instructions:
            call = one.operands[0] if one.opcode == "extractvalue" else None
            if isinstance(call, Value) and call in parts:
                replaced[one] = parts[call][one.cases[0]]
        block.instructions = [one for one in block.instructions if one not in replaced]
    return replaced


def _split_block(block: BasicBlock, parts: dict[Value, tuple[Instruction, Instruction]]) -> None:
    instructions: list[Instruction] = []
    for one in block.instructions:
        called = _CALLED.match(one.word) if one.opcode == "call" else None
        if called is None:
            instructions.append(one)
            continue
        steps = _Steps(one, called["operation"], int(called["width"]))
        compared = _COMPARED[called["sign"] + called["operation"]](steps, *one.operands)
        parts[one] = steps.total, compared
        instructions += steps.instructions
    block.instructions = instructions


class _Steps:
    """Instructions instead of a call, the first of which is its number."""

    def __init__(self, call: Instruction, operation: str, width: int) -> None:
        self.call, self.width, self.type = call, width, f"i{width}"
        self.instructions: list[Instruction] = []
        self.total = self.add(operation, *call.operands)

    def add(self, opcode: str, *operands: Operand, type: str | None = None, word: str = "") -> Instruction:
        """Returns an instruction at the line of the call; comparisons have a predicate as ``word``."""
        result = type or ("i1" if opcode == "icmp" else operands[0].type)
        found = Instruction(opcode, self.call.name, result, operands, word)
        found.debug = self.call.debug
        self.instructions.append(found)
        return found

    def number(self, value: int, type: str | None = None) -> Constant:
        """Returns a constant of the type of the operands."""
        return Constant(type or self.type, value)


def _unsigned_sum(steps: _Steps, left: Operand, right: Operand) -> Instruction:
    return steps.add("icmp", steps.total, left, word="ult")


def _unsigned_difference(steps: _Steps, left: Operand, right: Operand) -> Instruction:
    return steps.add("icmp", left, right, word="ult")


def _signed_sum(steps: _Steps, left: Operand, right: Operand) -> Instruction:
    """A sum has left the range if its sign differs from those of both numbers."""
    both = steps.add("and", steps.add("xor", left, steps.total), steps.add("xor", right, steps.total))
    return steps.add("icmp", both, steps.number(0), word="slt")


def _signed_difference(steps: _Steps, left: Operand, right: Operand) -> Instruction:
    """A difference has left the range if its sign and that of the second number differ from that of the first one."""
    both = steps.add("and", steps.add("xor", left, right), steps.add("xor", left, steps.total))
    return steps.add("icmp", both, steps.number(0), word="slt")


def _unsigned_product(steps: _Steps, left: Operand, right: Operand) -> Instruction:
    if steps.width >= _LONG:
        return _long_product(steps, left, right, is_signed=False)
    wide = f"i{2 * steps.width}"
    product = steps.add("mul", *(steps.add("zext", one, type=wide) for one in (left, right)))
    high = steps.add("lshr", product, steps.number(steps.width, wide))
    return steps.add("icmp", high, steps.number(0, wide), word="ne")


def _signed_product(steps: _Steps, left: Operand, right: Operand) -> Instruction:
    if steps.width >= _LONG:
        return _long_product(steps, left, right, is_signed=True)
    wide = f"i{2 * steps.width}"
    product = steps.add("mul", *(steps.add("sext", one, type=wide) for one in (left, right)))
    return steps.add("icmp", product, steps.add("sext", steps.total, type=wide), word="ne")


def _long_product(steps: _Steps, left: Operand, right: Operand, is_signed: bool) -> Instruction:
    """A product without a wider type has left the range if the quotient by one number is not the other. 0 and -1, by
    which a quotient itself may fail, are divisors no more: nothing times 0 leaves the range, and only the smallest
    number does so times -1."""
    is_zero = steps.add("icmp", left, steps.number(0), word="eq")
    divisor = steps.add("select", is_zero, steps.number(1), left, type=steps.type)
    if not is_signed:
        differs = steps.add("icmp", steps.add("udiv", steps.total, divisor), right, word="ne")
        return steps.add("select", is_zero, steps.number(0, "i1"), differs, type="i1")
    is_minus = steps.add("icmp", left, steps.number(-1), word="eq")
    divisor = steps.add("select", is_minus, steps.number(1), divisor, type=steps.type)
    differs = steps.add("icmp", steps.add("sdiv", steps.total, divisor), right, word="ne")
    smallest = steps.add("icmp", right, steps.number(-(1 << steps.width - 1)), word="eq")
    differs = steps.add("select", is_minus, smallest, differs, type="i1")
    return steps.add("select", is_zero, steps.number(0, "i1"), differs, type="i1")


_COMPARED = {
    "uadd": _unsigned_sum,
    "usub": _unsigned_difference,
    "umul": _unsigned_product,
    "sadd": _signed_sum,
    "ssub": _signed_difference,
    "smul": _signed_product,
}
