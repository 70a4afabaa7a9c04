"""Addresses of tiles that LLVM reads as pointers, although the kernel computes with their numbers.

``(uint64_t)tile.data()`` is a load of a pointer and a conversion. Where nothing but conversions uses the pointer, it is
a load of the number.
"""

from __future__ import annotations

from ...llvm.model import Function, Instruction, Operand, Value

_CHOSEN = ("phi", "select")


def load_numbers(function: Function) -> dict[Value, Operand]:
    """Makes loads from local memory of what is only used as numbers loads of numbers; returns what replaces values."""
    pointers = _numbers(function)
    replaced: dict[Value, Operand] = {}
    for block in function.blocks.values():
        for instruction in block.instructions:
            if instruction in pointers:
                instruction.type = "i64"
            elif instruction.opcode == "ptrtoint" and instruction.operands[0] in pointers:
                if instruction.type == "i64":
                    replaced[instruction] = instruction.operands[0]
                else:
                    instruction.opcode = "trunc"
    return replaced


def _numbers(function: Function) -> set[Value]:
    """Returns the pointers from local memory of which only the numbers are used."""
    users: dict[Value, list[Instruction]] = {}
    found: set[Value] = set()
    for block in function.blocks.values():
        for instruction in block.instructions:
            for operand in instruction.operands:
                if isinstance(operand, Value):
                    users.setdefault(operand, []).append(instruction)
            if instruction.type == "ptr" and (_is_local_load(instruction) or instruction.opcode in _CHOSEN):
                found.add(instruction)
    changed = True
    while changed:
        kept = {one for one in found if _is_number(one, found, users)}
        changed = kept != found
        found = kept
    return found


def _is_number(pointer: Value, numbers: set[Value], users: dict[Value, list[Instruction]]) -> bool:
    assert isinstance(pointer, Instruction)
    if pointer.opcode in _CHOSEN:
        chosen = pointer.operands[1:] if pointer.opcode == "select" else pointer.operands
        if any(operand not in numbers for operand in chosen):
            return False
    return all(user.opcode == "ptrtoint" or user in numbers for user in users.get(pointer, ()))


def _is_local_load(instruction: Instruction) -> bool:
    if instruction.opcode != "load":
        return False
    address = instruction.operands[0]
    while isinstance(address, Instruction) and address.opcode == "getelementptr":
        address = address.operands[0]
    return isinstance(address, Instruction) and address.opcode == "alloca"
