"""Integers of other widths than 8, 16, 32 and 64 bits, which optimizers make, as integers of these widths.

Such a number is held without its sign in the next wider type: its upper bits are 0. In memory it takes no more bytes
than it has: a structure of 6 bytes is loaded and stored as three integers of 2.
"""

from __future__ import annotations

from ..llvm.model import Constant, Function, Instruction, Operand
from .linear import width_of

_LEGAL = (1, 8, 16, 32, 64)
_SIGNED = frozenset(("ashr", "sdiv", "srem"))
_GROWING = frozenset(("add", "sub", "mul", "shl", "ashr", "sdiv", "srem"))


def legalize(function: Function) -> None:
    """Changes integers of other widths, in place. What is not known stays, and is refused later."""
    instructions = [instruction for block in function.blocks.values() for instruction in block.instructions]
    types: dict[Operand, str] = {i: i.type for i in instructions if _is_odd(i.type)}
    if types or any(_is_odd(operand.type) for i in instructions for operand in i.operands):
        for block in function.blocks.values():
            _Legalizer(block.instructions, types).run()


def _is_odd(type: str) -> bool:
    width = width_of(type)
    return width is not None and width not in _LEGAL and width < 64


def _held(type: str) -> str:
    """Returns the type that holds numbers of ``type``."""
    width = width_of(type)
    return f"i{next(w for w in _LEGAL if w >= width and w > 1)}" if width is not None and _is_odd(type) else type


class _Legalizer:
    """Changes the instructions of a block; ``types`` are the original types of values that are changed."""

    def __init__(self, instructions: list[Instruction], types: dict[Operand, str]) -> None:
        self._instructions = instructions
        self._types = types
        self._out: list[Instruction] = []

    def run(self) -> None:
        """Changes the instructions in place."""
        for instruction in self._instructions:
            self._change(instruction)
            self._out.append(instruction)
        self._instructions[:] = self._out

    def _change(self, instruction: Instruction) -> None:
        opcode = instruction.opcode
        own = self._types.get(instruction, instruction.type)
        sources = [self._types.get(operand, operand.type) for operand in instruction.operands]
        if not _is_odd(own) and not any(_is_odd(type) for type in sources):
            return
        operands = [self._operand(operand) for operand in instruction.operands]
        if opcode in ("load", "store"):
            self._access(instruction, operands, own if opcode == "load" else sources[0])
            return
        if opcode in ("trunc", "zext", "sext"):
            self._resize(instruction, operands[0], sources[0], own)
            return
        if opcode in _SIGNED or (opcode == "icmp" and instruction.word[0] == "s") or ".smax" in instruction.word:
            operands = [self._extended(o, type, _held(type)) for o, type in zip(operands, sources, strict=True)]
        instruction.operands = tuple(operands)
        if not _is_odd(own):
            return
        instruction.type = _held(own)
        if opcode in _GROWING:
            inner = self._add(opcode, instruction.type, tuple(operands), instruction)
            _become(instruction, "and", (inner, Constant(instruction.type, _mask(own))))

    def _resize(self, instruction: Instruction, operand: Operand, source: str, target: str) -> None:
        """Makes a truncation or extension one between types that hold the numbers."""
        held, wanted = _held(source), _held(target)
        if instruction.opcode == "sext":
            operand = self._extended(operand, source, held)
        width, goal = width_of(held) or 0, width_of(wanted) or 0
        opcode = "trunc" if width > goal else instruction.opcode if instruction.opcode != "trunc" else "zext"
        if width != goal:
            operand = self._add(opcode, wanted, (operand,), instruction)
        instruction.type = wanted
        mask = _mask(target) if _is_odd(target) else -1
        _become(instruction, "and", (operand, Constant(wanted, mask)))

    def _access(self, instruction: Instruction, operands: list[Operand], type: str) -> None:
        """Makes a load or store one of each part of the number; the last part is ``instruction`` itself."""
        held, is_load = _held(type), instruction.opcode == "load"
        instruction.operands = tuple(operands)
        if is_load:
            instruction.type = held
        parts = _parts(type)
        if len(parts) == 1:
            return
        pointer, total = operands[-1], None
        for offset, size in parts:
            part = f"i{8 * size}"
            place = self._add("getelementptr", "ptr", (pointer, Constant("i64", offset)), instruction)
            place.word = "i8"
            if is_load:
                loaded = self._add("load", part, (place,), instruction)
                wide = self._add("zext", held, (loaded,), instruction) if part != held else loaded
                shifted = self._add("shl", held, (wide, Constant(held, 8 * offset)), instruction)
                total = shifted if total is None else self._add("or", held, (total, shifted), instruction)
                continue
            shifted = self._add("lshr", held, (operands[0], Constant(held, 8 * offset)), instruction)
            value = self._add("trunc", part, (shifted,), instruction) if part != held else shifted
            if (offset, size) == parts[-1]:
                instruction.operands = (value, place)
            else:
                self._add("store", "void", (value, place), instruction)
        if total is not None:
            _become(instruction, "or", (total, Constant(held, 0)))

    def _operand(self, operand: Operand) -> Operand:
        if isinstance(operand, Constant) and _is_odd(operand.type):
            value = operand.value if isinstance(operand.value, int) else 0
            return Constant(_held(operand.type), value & _mask(operand.type))
        return operand

    def _extended(self, operand: Operand, type: str, held: str) -> Operand:
        """Returns a number with its sign in all bits of the type that holds it."""
        if not _is_odd(type):
            return operand
        amount = Constant(held, (width_of(held) or 0) - (width_of(type) or 0))
        shifted = self._add("shl", held, (operand, amount), None)
        return self._add("ashr", held, (shifted, amount), None)

    def _add(self, opcode: str, type: str, operands: tuple[Operand, ...], model: Instruction | None) -> Instruction:
        added = Instruction(opcode, model.name if model is not None else "v", type, operands)
        added.debug = model.debug if model is not None else ""
        self._out.append(added)
        return added


def _parts(type: str) -> list[tuple[int, int]]:
    """Returns offsets and sizes of what the bytes of an integer in memory consist of.

    No part is larger than the alignment that a structure of so many bytes may have.
    """
    count = -(-(width_of(type) or 0) // 8)
    size = count & -count
    return [(offset, size) for offset in range(0, count, size)]


def _mask(type: str) -> int:
    return (1 << (width_of(type) or 0)) - 1


def _become(instruction: Instruction, opcode: str, operands: tuple[Operand, ...]) -> None:
    instruction.opcode, instruction.operands, instruction.flags = opcode, operands, ""
