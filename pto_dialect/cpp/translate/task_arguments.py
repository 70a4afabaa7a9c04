"""Kernels that a run time calls with one array of arguments: each element becomes a parameter of its own.

``kernel_entry(int64_t *args)`` reads ``args[i]``, which is a number or points to the descriptor of a tensor. A tensor
becomes a pointer to its elements, ``args_0``; what else the kernel reads of its descriptor becomes a number,
``args_0_shape_1``. Tensors begin at their first element. The block index that it appends is that of the launch.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..llvm.model import Constant, Function, Global, GlobalVariable, Instruction, Operand, Value
from ..llvm.reader import Module
from ..llvm.types import TypeReadError
from .addresses import split_indices

_WORD = 8
_ADDRESS = 0
_START = 24
_FIELDS = {
    8: "size", 16: "owner", 32: "version", 36: "dimensions", 64: "extent",
    **{44 + 4 * n: f"shape_{n}" for n in range(5)},
    **{72 + 4 * n: f"stride_{n}" for n in range(5)},
}  # fmt: skip
"""Fields of the descriptor of a tensor by offset (``pto_dialect/cpp/include/fallback/tensor.h``)."""

_OF_BLOCK = {(48, 0): "block_idx", (48, 4): "block_num", (49, 0): "subblock_idx"}
"""What the run time says about a block, by the number of the element and the offset in what it points to."""

_Loads = list[tuple[int, Instruction]]


def split_arguments(function: Function, module: Module) -> dict[Value, Operand]:
    """Gives a function the elements of its array as parameters; returns what stands for the values that it loads.

    Nothing is changed where the array is used in another way.
    """
    array = function.arguments[0] if len(function.arguments) == 1 else None
    if array is None or array.type != "ptr":
        return {}
    uses = _uses(function)
    loads = _loads(array, uses, module)
    types = {(offset, load.type) for offset, load in loads or ()}
    if not loads or any(offset % _WORD for offset, _ in loads) or len(types) > len({offset for offset, _ in types}):
        return {}
    splitter = _Splitter(array.name, uses, module)
    for offset, load in sorted(loads, key=lambda item: item[0]):
        splitter.split(offset // _WORD, load)
    function.arguments = list(splitter.parameters.values())
    return splitter.replaced


def _uses(function: Function) -> dict[Value, list[Instruction]]:
    found: dict[Value, list[Instruction]] = {}
    for block in function.blocks.values():
        for instruction in block.instructions:
            for operand in instruction.operands:
                if isinstance(operand, Value):
                    found.setdefault(operand, []).append(instruction)
    return found


def _loads(pointer: Value, uses: dict[Value, list[Instruction]], module: Module) -> _Loads | None:
    """Returns the loads through a pointer with their offsets, ``None`` if it has other uses."""
    found: _Loads = []
    pending = [(pointer, 0)]
    while pending:
        value, offset = pending.pop()
        for user in uses.get(value, ()):
            if user.opcode == "load":
                found.append((offset, user))
            elif user.opcode == "getelementptr" and user.operands[0] is value:
                try:
                    constant, terms = split_indices(module, user)
                except TypeReadError:
                    return None
                if terms:
                    return None
                pending.append((user, offset + constant))
            else:
                return None
    return found


class _Splitter:
    """Collects the parameters."""

    def __init__(self, name: str, uses: dict[Value, list[Instruction]], module: Module) -> None:
        self.parameters: dict[str, Value] = {}
        self.replaced: dict[Value, Operand] = {}
        self._name = name
        self._uses = uses
        self._module = module

    def split(self, number: int, load: Instruction) -> None:
        """Makes parameters of one loaded element of the array."""
        if load.type != "i64":
            self.replaced[load] = self._parameter(f"{self._name}_{number}", load.type)
            return
        users = self._uses.get(load, [])
        descriptors = [user for user in users if user.opcode == "inttoptr"]
        fields = [_loads(user, self._uses, self._module) for user in descriptors]
        is_tensor = bool(descriptors) and len(descriptors) == len(users) and all(found is not None for found in fields)
        if not is_tensor:
            self.replaced[load] = self._parameter(f"{self._name}_{number}", "i64")
            return
        for offset, field in sorted((item for found in fields for item in found or ()), key=lambda item: item[0]):
            self._split_field(number, offset, field)

    def _split_field(self, number: int, offset: int, field: Instruction) -> None:
        name = f"{self._name}_{number}"
        of_block = _OF_BLOCK.get((number, offset)) if field.type == "i32" else None
        if of_block is not None:
            text = f"pto.{of_block}"
            self._module.globals[text] = GlobalVariable(text, "ptr", f'c"{of_block}\\00"', True)
            field.opcode, field.operands, field.word, field.flags = "call", (Global(text),), "__pto_constant", ""
        elif offset == _START:
            self.replaced[field] = Constant(field.type, 0)
        elif offset == _ADDRESS and field.type == "i64":
            parameter = self._parameter(name, "ptr")
            for user in self._uses.get(field, ()):
                if user.opcode == "inttoptr":
                    self.replaced[user] = parameter
            field.opcode, field.operands, field.flags = "ptrtoint", (parameter,), ""
        else:
            self.replaced[field] = self._parameter(f"{name}_{_FIELDS.get(offset, f'byte_{offset}')}", field.type)

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
