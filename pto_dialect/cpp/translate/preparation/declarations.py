"""Loops that construct the tiles of an array: an array of tiles without addresses has an alias for each of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ...llvm.model import BasicBlock, Constant, Function, Instruction, Operand, Value
from ..calls import is_interface, plain_name

MOST_TILES = 64
"""Tiles of an array that are declared one by one."""
_DECLARATION = "__pto_alias"


class _Counter(NamedTuple):
    """A block that repeats itself: what it counts with, the numbers of all rounds, and the block after it."""

    phi: Instruction
    step: Instruction
    numbers: range
    following: str


def unroll_declarations(function: Function) -> dict[Value, Operand]:
    """Makes the rounds of such loops follow one another, in place; returns what replaces their values after them."""
    replaced: dict[Value, Operand] = {}
    for block in function.blocks.values():
        counter = _counter(block) if any(map(_is_declaration, block.instructions)) else None
        if counter is not None:
            replaced.update(_unroll(block, counter))
    return replaced


def _is_declaration(instruction: Instruction) -> bool:
    return is_interface(instruction) and plain_name(instruction.word) == _DECLARATION


def _counter(block: BasicBlock) -> _Counter | None:
    """Returns what a block counts with that branches to itself a constant number of times."""
    end = block.terminator
    condition = end.operands[0] if end.opcode == "br" and len(end.labels) == 2 else None
    if not isinstance(condition, Instruction) or condition.opcode != "icmp" or block.name not in end.labels:
        return None
    step, last = condition.operands
    leaves_if = "eq" if end.labels[1] == block.name else "ne"
    if condition.word != leaves_if or not isinstance(step, Instruction) or step.opcode != "add":
        return None
    phi, distance = step.operands
    if not isinstance(phi, Instruction) or phi not in block.instructions or phi.opcode != "phi":
        return None
    first = next(value for value, label in zip(phi.operands, phi.labels, strict=True) if label != block.name)
    limits = [one.value for one in (first, last, distance) if isinstance(one, Constant)]
    match limits:
        case [int(low), int(high), int(by)] if by and (high - low) % by == 0 and 0 < (high - low) // by <= MOST_TILES:
            following = next(label for label in end.labels if label != block.name)
            return _Counter(phi, step, range(low, high, by), following)
        case _:
            return None


def _unroll(block: BasicBlock, counter: _Counter) -> dict[Value, Operand]:
    """Repeats the instructions of a block; returns the values of the last round."""
    phis = [one for one in block.instructions if one.opcode == "phi"]
    values: dict[Value, Operand] = {one: _incoming(one, block.name, is_first=True) for one in phis}
    made: list[Instruction] = []
    for number in counter.numbers:
        if made:
            again = {one: _incoming(one, block.name, is_first=False) for one in phis}
            values.update(
                {one: values.get(value, value) if isinstance(value, Value) else value for one, value in again.items()}
            )
        values[counter.phi] = Constant(counter.phi.type, number)
        values[counter.step] = Constant(counter.phi.type, number + counter.numbers.step)
        for one in _repeated(block, counter, values):
            made.append(one)
    jump = Instruction("br", "", "void", labels=(counter.following,))
    jump.debug = block.terminator.debug
    block.instructions = [*made, jump]
    return values


def _incoming(phi: Instruction, block: str, is_first: bool) -> Operand:
    return next(value for value, label in zip(phi.operands, phi.labels, strict=True) if (label != block) == is_first)


def _repeated(block: BasicBlock, counter: _Counter, values: dict[Value, Operand]) -> Iterator[Instruction]:
    """Yields the instructions of one round, and notes their values."""
    for one in block.instructions[:-1]:
        if one.opcode == "phi" or one is counter.step:
            continue
        operands = tuple(
            values.get(operand, operand) if isinstance(operand, Value) else operand for operand in one.operands
        )
        copy = Instruction(one.opcode, one.name, one.type, operands, one.word, one.flags, one.labels, one.cases)
        copy.debug = one.debug
        values[one] = copy
        yield copy


__all__ = ["unroll_declarations"]
