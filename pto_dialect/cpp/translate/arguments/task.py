"""Kernels that a run time calls with one array of arguments: each element becomes a parameter of its own.

``kernel_entry(int64_t *args)`` reads ``args[i]``, which is a number, a pointer, or points to the descriptor of a
tensor. A tensor becomes a pointer to its elements, ``args_0``; what else the kernel reads of its descriptor becomes a
number, ``args_0_shape_1``. Tensors begin at their first element. The block index that it appends is that of the launch.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...llvm.model import BasicBlock, Constant, Function, Instruction, Operand, Value
from ...llvm.reader import Module
from .descriptors import (
    ADDRESS,
    START,
    Access,
    accesses_of,
    choices_of,
    choose_field,
    constant_call,
    field_name,
    is_field,
)

_WORD = 8
_OF_BLOCK = {(48, 0): "block_idx", (48, 4): "block_num", (49, 0): "subblock_idx"}
"""What the run time says about a block, by the number of the element and the offset in what it points to."""

_CONTEXTS = frozenset(number for number, _ in _OF_BLOCK)


def split_arguments(function: Function, module: Module) -> dict[Value, Operand]:
    """Gives a function the elements of its array as parameters; returns what stands for the values that it loads.

    Nothing is changed where the array is used in another way.
    """
    array = function.arguments[0] if len(function.arguments) == 1 else None
    if array is None or array.type != "ptr":
        return {}
    splitter = _Splitter(array.name, function, module)
    loads = accesses_of(array, splitter.uses, module)
    types = {(access.offset, access.load.type) for access in loads or ()}
    if not loads or any(access.offset < 0 or access.offset % _WORD or access.chosen is not None for access in loads):
        return {}
    if len(types) > len({offset for offset, _ in types}):
        return {}
    splitter.split(loads)
    function.arguments = list(splitter.parameters.values())
    function.structures = splitter.structures
    return splitter.replaced


class _Splitter:
    """Collects the parameters."""

    def __init__(self, name: str, function: Function, module: Module) -> None:
        self.parameters: dict[str, Value] = {}
        self.replaced: dict[Value, Operand] = {}
        self.structures: set[str] = set()
        self.uses: dict[Value, list[Instruction]] = {}
        self._blocks: dict[Value, BasicBlock] = {}
        self._name = name
        self._module = module
        for block in function.blocks.values():
            for instruction in block.instructions:
                self._blocks[instruction] = block
                for operand in instruction.operands:
                    if isinstance(operand, Value):
                        self.uses.setdefault(operand, []).append(instruction)

    def split(self, loads: Sequence[Access]) -> None:
        """Makes parameters of the elements of the array."""
        elements: dict[int, list[Instruction]] = {}
        for access in sorted(loads, key=lambda access: access.offset):
            elements.setdefault(access.offset // _WORD, []).append(access.load)
        for number, element in elements.items():
            self._split(number, element)

    def _split(self, number: int, loads: Sequence[Instruction]) -> None:
        """Makes parameters of one element, which ``loads`` read."""
        name = f"{self._name}_{number}"
        users = [user for load in loads for user in self.uses.get(load, ())]
        fields = self._fields(users) if loads[0].type == "i64" else None
        if not fields:
            for load in loads:
                self.replaced[load] = self._parameter(name, load.type)
        elif number in _CONTEXTS or all(map(is_field, fields)):
            for access in sorted(fields, key=lambda access: access.offset):
                self._split_field(number, access)
        else:
            self.structures.add(name)
            for user in users:
                self.replaced[user] = self._parameter(name, "ptr")

    def _fields(self, users: Sequence[Instruction]) -> list[Access] | None:
        """Returns what is accessed through an element as a pointer; ``None`` if it is not known."""
        found: list[Access] = []
        for user in users:
            accesses = accesses_of(user, self.uses, self._module) if user.opcode == "inttoptr" else None
            if accesses is None:
                return None
            found += accesses
        return found

    def _split_field(self, number: int, access: Access) -> None:
        name, field = f"{self._name}_{number}", access.load
        of_block = _OF_BLOCK.get((number, access.offset)) if field.type == "i32" and access.chosen is None else None
        if of_block is not None:
            constant_call(field, of_block, self._module)
        elif access.chosen is not None:
            fields = [self._parameter(f"{name}_{one}", field.type) for _, one in choices_of(access)]
            choose_field(access, fields, self._blocks[field], self._module)
        elif access.offset == START:
            self.replaced[field] = Constant(field.type, 0)
        elif access.offset == ADDRESS:
            self._point(field, self._parameter(name, "ptr"))
        else:
            self.replaced[field] = self._parameter(f"{name}_{field_name(access.offset)}", field.type)

    def _point(self, address: Instruction, pointer: Value) -> None:
        """Makes the loaded address of a buffer that of a parameter."""
        for user in self.uses.get(address, ()):
            if user.opcode == "inttoptr":
                self.replaced[user] = pointer
        address.opcode, address.operands, address.flags = "ptrtoint", (pointer,), ""

    def _parameter(self, name: str, type: str) -> Value:
        return self.parameters.setdefault(name, Value(name, type))


def unify_parameters(functions: Sequence[Function]) -> None:
    """Gives functions that start together, each made by ``split_arguments``, the same parameters."""
    names: dict[str, str] = {}
    for function in functions:
        names.update((argument.name, argument.type) for argument in function.arguments)
    for function in functions:
        own = {argument.name: argument for argument in function.arguments}
        function.arguments = [own.get(name) or Value(name, names[name]) for name in sorted(names, key=_order)]


def _order(name: str) -> tuple[list[int], str]:
    return [int(part) for part in name.split("_") if part.isdigit()], name
