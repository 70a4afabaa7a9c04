"""Addresses of local memory: which allocation or table a pointer refers to, and where in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..llvm.model import Constant, Function, Global, Instruction, Operand, Value
from ..llvm.reader import Module
from ..llvm.types import TypeReadError

Root = Value | str
"""An ``alloca``, or the name of a global table."""


@dataclass(frozen=True, slots=True)
class Address:
    """``constant`` bytes into ``root``, plus each value of ``terms`` times a number of bytes."""

    root: Root
    constant: int = 0
    terms: tuple[tuple[Value, int], ...] = ()

    def plus(self, constant: int, terms: tuple[tuple[Value, int], ...] = ()) -> Address:
        """Returns the address that many bytes further."""
        return Address(self.root, self.constant + constant, self.terms + terms)


def split_indices(module: Module, instruction: Instruction) -> tuple[int, tuple[tuple[Value, int], ...]]:
    """Returns the bytes that an address computation adds: a constant, and values with their factors.

    Raises ``TypeReadError``.
    """
    element = instruction.word
    constant = 0
    terms: list[tuple[Value, int]] = []
    for number, index in enumerate(instruction.operands[1:]):
        if number == 0:
            stride = module.types.size(element)
        else:
            inner = module.types.element(element)
            if inner is None:
                place = index.value if isinstance(index, Constant) else None
                if not isinstance(place, int):
                    raise TypeReadError("a field has no constant number")
                constant += module.types.field_offset(element, place)
                element = module.types.fields(element)[place]
                continue
            element = inner[1]
            stride = module.types.size(element)
        if isinstance(index, Constant):
            constant += int(index.value or 0) * stride
        elif isinstance(index, Value):
            terms.append((index, stride))
        else:
            raise TypeReadError("an index is no number")
    return constant, tuple(terms)


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several addresses: that with the number of ``selector``."""

    selector: Value
    candidates: tuple[Address, ...]

    def plus(self, constant: int, terms: tuple[tuple[Value, int], ...] = ()) -> Choice:
        """Returns the address that many bytes further."""
        return Choice(self.selector, tuple(candidate.plus(constant, terms) for candidate in self.candidates))


LocalAddress = Address | Choice


def alternatives(address: LocalAddress) -> tuple[Address, ...]:
    """Returns the addresses that may be meant."""
    return address.candidates if isinstance(address, Choice) else (address,)


def local_addresses(
    function: Function, order: list[str], module: Module, choices: Mapping[Value, LocalAddress]
) -> dict[Value, LocalAddress]:
    """Returns the addresses of all pointers of a function that are made from an ``alloca`` or a global variable.

    ``choices`` are the pointers that phis and selects choose.
    """
    found: dict[Value, LocalAddress] = dict(choices)
    for name in order:
        for instruction in function.blocks[name].instructions:
            if instruction.opcode == "alloca":
                found[instruction] = Address(instruction)
            elif instruction.opcode == "getelementptr":
                base = address_of(instruction.operands[0], found, module)
                if base is not None:
                    try:
                        found[instruction] = base.plus(*split_indices(module, instruction))
                    except TypeReadError:
                        continue
            elif instruction.opcode in ("freeze", "bitcast", "addrspacecast") and instruction.type == "ptr":
                base = address_of(instruction.operands[0], found, module)
                if base is not None:
                    found[instruction] = base
    return found


def address_of(operand: Operand, known: dict[Value, LocalAddress], module: Module) -> LocalAddress | None:
    """Returns the address of an operand, ``None`` if it is no pointer to local memory."""
    if isinstance(operand, Global):
        return Address(operand.name, operand.offset) if operand.name in module.globals else None
    return known.get(operand) if isinstance(operand, Value) else None
