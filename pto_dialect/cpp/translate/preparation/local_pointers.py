"""Pointers to the memory of the vector core that a kernel makes of constants: ``(__ubuf__ int *)0x1000``.

LLVM IR has no memory qualifiers, and no address of global memory is constant.
"""

from __future__ import annotations

import re

from ...llvm.model import Constant, Function, Instruction, Operand, Unread

WORD = "__ubuf__"
"""What the text of a kernel has where a constant address may be that of a local memory."""
_ADDRESS = re.compile(r"(?:inttoptr )?\(i64 (\d+) to ptr\)")
_POINTER = {"load": 0, "store": 1, "getelementptr": 0}
"""The operand that is the pointer of an access."""


def name_constant_pointers(function: Function) -> None:
    """Makes constant addresses that are accessed values of their own, at the begin of the function."""
    found: dict[int, Instruction] = {}
    for block in function.blocks.values():
        for instruction in block.instructions:
            place = _POINTER.get(instruction.opcode)
            number = _constant_address(instruction.operands[place]) if place is not None else None
            if number is None:
                continue
            pointer = found.get(number)
            if pointer is None:
                pointer = found[number] = Instruction("inttoptr", "local", "ptr", (Constant("i64", number),))
                pointer.debug = instruction.debug
            instruction.operands = tuple(pointer if i == place else one for i, one in enumerate(instruction.operands))
    next(iter(function.blocks.values())).instructions[:0] = found.values()


def _constant_address(operand: Operand | None) -> int | None:
    if isinstance(operand, Constant) and operand.type == "ptr" and operand.value is None:
        return 0
    match = _ADDRESS.fullmatch(operand.text) if isinstance(operand, Unread) else None
    return int(match[1]) if match else None


def is_constant_pointer(instruction: Instruction) -> bool:
    """Returns whether an instruction makes a pointer of a constant."""
    return instruction.opcode == "inttoptr" and isinstance(instruction.operands[0], Constant)


__all__ = ["WORD", "is_constant_pointer", "name_constant_pointers"]
