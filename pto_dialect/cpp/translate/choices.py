"""Pointers to local memory that a phi or select chooses, or that loops move: they become numbers.

Joins (phis and selects) that choose among each other's results are a group. Where all of a group point into one
variable, they become offsets in it, otherwise numbers of candidates.
"""

from __future__ import annotations

from ..llvm.model import BasicBlock, Constant, Function, Instruction, Operand, Value
from ..llvm.reader import Module
from ..llvm.types import TypeReadError
from .addresses import Address, Choice, LocalAddress, address_of, local_addresses, split_indices


def number_choices(function: Function, order: list[str], module: Module) -> dict[Value, LocalAddress]:
    """Makes the phis and selects of local addresses numbers, in place; returns the addresses that they stand for."""
    return _Numbering(function, order, module).run()


def _sources(join: Instruction) -> tuple[Operand, ...]:
    return join.operands if join.opcode == "phi" else join.operands[1:]


class _Numbering:
    def __init__(self, function: Function, order: list[str], module: Module) -> None:
        self._module = module
        self._addresses = local_addresses(function, order, module, {})
        self._blocks: dict[Value, BasicBlock] = {}
        self._joins: list[Instruction] = []
        self._offsets: dict[Value, Operand] = {}
        self._added: set[Instruction] = set()
        self._compared: list[Instruction] = []
        self._moved: dict[Value, Operand] = {}
        """Address computations, and the pointers that they move."""
        for name in order:
            for instruction in function.blocks[name].instructions:
                self._blocks[instruction] = function.blocks[name]
                if instruction.opcode in ("phi", "select") and instruction.type == "ptr":
                    self._joins.append(instruction)
                elif instruction.opcode == "icmp":
                    self._compared.append(instruction)
                elif instruction.opcode == "getelementptr" and instruction not in self._addresses:
                    self._moved[instruction] = instruction.operands[0]

    def run(self) -> dict[Value, LocalAddress]:
        """Changes the joins; returns their addresses."""
        chosen = self._chosen()
        found: dict[Value, LocalAddress] = {}
        for group in self._connected([join for join in self._joins if join in chosen]):
            direct = [s for join in group for s in _sources(join) if self._base(s) not in chosen]
            addresses = [address_of(s, self._addresses, self._module) for s in direct if not _is_null(s)]
            roots = {address.root if isinstance(address, Address) else None for address in addresses}
            if None in roots or any(isinstance(a, Address) and a.terms for a in addresses):
                continue
            try:
                if len(roots) == 1:
                    found.update(self._make_offsets(group, next(iter(roots))))
                else:
                    found.update(self._make_numbers(group, chosen))
            except TypeReadError:
                continue
        return found

    def _base(self, operand: Operand) -> Operand:
        """Returns the pointer that address computations began with."""
        while isinstance(operand, Value) and operand in self._moved:
            operand = self._moved[operand]
        return operand

    def _chosen(self) -> set[Operand]:
        """Returns the joins of local addresses."""
        chosen: set[Operand] = set()
        changed = True
        while changed:
            changed = False
            for join in self._joins:
                is_local = any(
                    self._base(s) in chosen or address_of(s, self._addresses, self._module) is not None
                    for s in _sources(join)
                )
                if join not in chosen and is_local:
                    chosen.add(join)
                    changed = True
        return chosen

    def _connected(self, joins: list[Instruction]) -> list[list[Instruction]]:
        group_of: dict[Operand, list[Instruction]] = {join: [join] for join in joins}
        for join in joins:
            for source in _sources(join):
                other = group_of.get(self._base(source))
                mine = group_of[join]
                if other is not None and other is not mine:
                    mine.extend(other)
                    for member in other:
                        group_of[member] = mine
        return list({id(group): group for group in group_of.values()}.values())

    # ------------------------------------------------------------ offsets in one variable

    def _make_offsets(self, group: list[Instruction], root: object) -> dict[Value, LocalAddress]:
        """Makes a group byte offsets in ``root``. Raises ``TypeReadError``."""
        assert isinstance(root, Value | str)
        changed = [[self._offset(source) for source in _sources(join)] for join in group]
        for comparison in self._compared:
            if any(self._base(operand) in group for operand in comparison.operands):
                comparison.operands = tuple(self._offset(operand) for operand in comparison.operands)
        for join, operands in zip(group, changed, strict=True):
            head = () if join.opcode == "phi" else join.operands[:1]
            join.type = "i64"
            join.operands = (*head, *operands)
        return {join: Address(root, 0, ((join, 1),)) for join in group}

    def _offset(self, source: Operand) -> Operand:
        """Returns the offset of a pointer of a group; computes it after the address computation."""
        if _is_null(source):
            return Constant("i64", -1)
        address = address_of(source, self._addresses, self._module)
        if isinstance(address, Address):
            return Constant("i64", address.constant)
        if not isinstance(source, Instruction) or source not in self._moved:
            return source
        if source in self._offsets:
            return self._offsets[source]
        constant, terms = split_indices(self._module, source)
        total = self._add(source, "add", self._offset(self._moved[source]), Constant("i64", constant))
        for value, stride in terms:
            wide: Operand = value if value.type == "i64" else self._add(source, "sext", value)
            total = self._add(source, "add", total, self._add(source, "mul", wide, Constant("i64", stride)))
        self._offsets[source] = total
        return total

    def _add(self, model: Instruction, opcode: str, *operands: Operand) -> Instruction:
        added = Instruction(opcode, model.name, "i64", operands)
        added.debug = model.debug
        instructions = self._blocks[model].instructions
        position = instructions.index(model) + 1
        while instructions[position] in self._added:
            position += 1
        instructions.insert(position, added)
        self._added.add(added)
        return added

    # ------------------------------------------------------------ numbers of candidates

    def _make_numbers(self, group: list[Instruction], chosen: set[Operand]) -> dict[Value, LocalAddress]:
        """Makes a group numbers of the addresses that it chooses among. Raises ``TypeReadError``."""
        numbers: dict[Address, int] = {}
        changed: list[list[Operand]] = []
        for join in group:
            operands: list[Operand] = []
            for source in _sources(join):
                address = address_of(source, self._addresses, self._module)
                if isinstance(address, Address):
                    operands.append(Constant("i32", numbers.setdefault(address, len(numbers))))
                elif _is_null(source) or source in chosen:
                    operands.append(Constant("i32", -1) if _is_null(source) else source)
                else:
                    raise TypeReadError("pointers into several variables are moved")
            changed.append(operands)
        for join, operands in zip(group, changed, strict=True):
            head = () if join.opcode == "phi" else join.operands[:1]
            join.type = "i32"
            join.operands = (*head, *operands)
        return {join: Choice(join, tuple(numbers)) for join in group}


def _is_null(operand: Operand) -> bool:
    return isinstance(operand, Constant) and operand.value is None
