"""Copies of small structures, which compilers make as one integer.

``q[i] = p[i]`` of two floats is a load and a store of 64 bits. Elements of a local array have one size, so such copies
become copies of the fields.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...llvm.model import Constant, Function, Instruction, Operand, Value
from ...llvm.reader import Module
from ...llvm.types import TypeReadError
from ..fields import scalars
from ..linear import width_of

Part = tuple[int, str]
"""A field of a structure: the byte where it begins, and its type."""


def split_structures(function: Function, module: Module) -> None:
    """Makes copies of whole structures from and to local memory, and constants stored to them, those of the fields."""
    users: dict[Value, list[Instruction]] = {}
    for instruction in _instructions(function):
        for operand in instruction.operands:
            if isinstance(operand, Value):
                users.setdefault(operand, []).append(instruction)
    copies: dict[Value, list[Part]] = {}
    for instruction in _instructions(function):
        parts = _copied(instruction, users.get(instruction, []), module)
        if parts:
            copies[instruction] = parts
    loaded: dict[Value, list[Instruction]] = {}
    for block in function.blocks.values():
        block.instructions = [
            one for each in block.instructions for one in _split(each, copies.get(each), loaded, module)
        ]
    for block in function.blocks.values():
        block.instructions = [one for each in block.instructions for one in _stored(each, copies, loaded)]


def _instructions(function: Function) -> Iterator[Instruction]:
    for block in function.blocks.values():
        yield from block.instructions


def _copied(load: Instruction, users: list[Instruction], module: Module) -> list[Part]:
    """Returns the fields of what a load copies, if it copies a structure from or to local memory."""
    if load.opcode != "load" or load.flags or not users:
        return []
    if any(user.opcode != "store" or user.flags or user.operands[0] is not load for user in users):
        return []
    places = (load.operands[0], *(user.operands[1] for user in users))
    return next((parts for place in places if (parts := _fields_at(place, load.type, module))), [])


def _fields_at(address: Operand, type: str, module: Module) -> list[Part]:
    """Returns the fields of a structure with the size of ``type`` in the allocation that an address is in."""
    width = width_of(type)
    while isinstance(address, Instruction) and address.opcode == "getelementptr":
        address = address.operands[0]
    if width is None or width % 8 or not isinstance(address, Instruction) or address.opcode != "alloca":
        return []
    try:
        return [] if address.operands else scalars(module.types, address.word, width // 8)
    except TypeReadError:
        return []


def _split(
    instruction: Instruction, copy: list[Part] | None, loaded: dict[Value, list[Instruction]], module: Module
) -> Iterator[Instruction]:
    """Yields the loads of fields, and the stores of those of a constant."""
    if copy is not None:
        loads: list[Instruction] = []
        for offset, type in copy:
            address = _address(instruction, instruction.operands[0], offset)
            loads.append(_like(instruction, "load", type, (address,)))
            yield from (address, loads[-1])
        loaded[instruction] = loads
        return
    value = instruction.operands[0] if instruction.opcode == "store" else None
    if not isinstance(value, Constant) or not isinstance(value.value, int) or instruction.flags:
        yield instruction
        return
    parts = _fields_at(instruction.operands[1], value.type, module)
    if not parts or not all(width_of(type) or value.value == 0 for _, type in parts):
        yield instruction
        return
    for offset, type in parts:
        width = width_of(type)
        bits = value.value >> 8 * offset & (1 << width) - 1 if width else 0
        number = (bits - (1 << width) if bits >> width - 1 else bits) if width else 0.0 if type != "ptr" else None
        address = _address(instruction, instruction.operands[1], offset)
        yield from (address, _like(instruction, "store", "void", (Constant(type, number), address)))


def _stored(
    instruction: Instruction, copies: dict[Value, list[Part]], loaded: dict[Value, list[Instruction]]
) -> Iterator[Instruction]:
    """Yields the stores of fields that were loaded."""
    value = instruction.operands[0] if instruction.opcode == "store" else None
    if not isinstance(value, Value) or value not in loaded:
        yield instruction
        return
    for (offset, _), load in zip(copies[value], loaded[value], strict=True):
        address = _address(instruction, instruction.operands[1], offset)
        yield from (address, _like(instruction, "store", "void", (load, address)))


def _address(instruction: Instruction, pointer: Operand, offset: int) -> Instruction:
    address = _like(instruction, "getelementptr", "ptr", (pointer, Constant("i64", offset)))
    address.word = "i8"
    return address


def _like(instruction: Instruction, opcode: str, type: str, operands: tuple[Operand, ...]) -> Instruction:
    """Returns an instruction at the same line of the kernel."""
    found = Instruction(opcode, instruction.name or "field", type, operands)
    found.debug = instruction.debug
    return found
