"""Pointers to local memory that a phi or select chooses: the choice becomes a number."""

from __future__ import annotations

from ..llvm.model import Constant, Function, Instruction, Operand, Value
from ..llvm.reader import Module
from .addresses import Address, Choice, LocalAddress, address_of, local_addresses


def number_choices(function: Function, order: list[str], module: Module) -> dict[Value, Choice]:
    """Makes each phi and select of local addresses one of numbers, in place; returns what they choose."""
    addresses = local_addresses(function, order, module, {})
    joins = [
        instruction
        for name in order
        for instruction in function.blocks[name].instructions
        if instruction.opcode in ("phi", "select") and instruction.type == "ptr"
    ]
    chosen: set[Value] = set()
    changed = True
    while changed:
        changed = False
        for join in joins:
            if join not in chosen and any(o in chosen or _is_local(o, addresses, module) for o in _sources(join)):
                chosen.add(join)
                changed = True
    found: dict[Value, Choice] = {}
    for group in _connected([join for join in joins if join in chosen]):
        numbers = _candidates(group, chosen, addresses, module)
        if numbers is None:
            continue
        for join in group:
            _make_numbers(join, chosen, numbers, addresses, module)
            found[join] = Choice(join, tuple(numbers))
    return found


def _connected(joins: list[Instruction]) -> list[list[Instruction]]:
    """Returns the joins in groups: those that choose among each other's results are in one."""
    group_of: dict[Value, list[Instruction]] = {join: [join] for join in joins}
    for join in joins:
        for operand in _sources(join):
            other = group_of.get(operand) if isinstance(operand, Value) else None
            mine = group_of[join]
            if other is not None and other is not mine:
                mine.extend(other)
                for member in other:
                    group_of[member] = mine
    return list({id(group): group for group in group_of.values()}.values())


def _candidates(
    group: list[Instruction], chosen: set[Value], addresses: dict[Value, LocalAddress], module: Module
) -> dict[Address, int] | None:
    """Returns the addresses that a group chooses among, with numbers; ``None`` if one of them is not constant."""
    numbers: dict[Address, int] = {}
    for join in group:
        for operand in _sources(join):
            address = address_of(operand, addresses, module)
            if operand in chosen or (isinstance(operand, Constant) and operand.value is None):
                continue
            if not isinstance(address, Address) or address.terms:
                return None
            numbers.setdefault(address, len(numbers))
    return numbers


def _sources(join: Instruction) -> tuple[Operand, ...]:
    return join.operands if join.opcode == "phi" else join.operands[1:]


def _is_local(operand: Operand, addresses: dict[Value, LocalAddress], module: Module) -> bool:
    return address_of(operand, addresses, module) is not None


def _make_numbers(
    join: Instruction,
    chosen: set[Value],
    numbers: dict[Address, int],
    addresses: dict[Value, LocalAddress],
    module: Module,
) -> None:
    operands: list[Operand] = [] if join.opcode == "phi" else [join.operands[0]]
    for operand in _sources(join):
        if isinstance(operand, Value) and operand in chosen:
            operands.append(operand)
            continue
        address = address_of(operand, addresses, module)
        operands.append(Constant("i32", numbers[address] if isinstance(address, Address) else -1))
    join.type = "i32"
    join.operands = tuple(operands)
