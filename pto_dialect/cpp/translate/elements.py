"""Element types of pointers to global memory, which LLVM IR does not state: from what is done with them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from ..llvm.model import Function, Instruction, Operand, Value
from .calls import groups_of
from .flow.tree import Variable
from .memory import LocalMemory
from .preparation.local_pointers import is_constant_pointer

SCALARS = {"half": "f16", "bfloat": "bf16", "float": "f32", "double": "f64", "ptr": "i64"}
_ACCESSED = frozenset(("i8", "i16", "i32", "i64", *SCALARS))
_TILE_SPACES = {"Vec": "ub", "Mat": "l1"}
_WEIGHT = 1000
"""A descriptor counts more than accesses of scalars."""


def scalar_type(type: str) -> str:
    """Returns the ``.pto`` type of a scalar."""
    return SCALARS.get(type, type)


class Elements:
    """The element type of each pointer; those that flow into each other have the same."""

    def __init__(self, function: Function, order: list[str], memory: LocalMemory) -> None:
        self._parents: dict[object, object] = {}
        self._votes: dict[object, Counter[str]] = {}
        self._spaces: dict[object, str] = {}
        """The memory of what is not global."""
        self._memory = memory
        for name in order:
            for instruction in function.blocks[name].instructions:
                self._note(instruction)
        for argument in function.arguments:
            if argument.name in function.structures and _are_members(self.votes(argument)):
                self.replace_votes(argument, Counter({"i64": 1}))

    def votes(self, pointer: Value) -> Counter[str]:
        """Returns how often a pointer is used with each element type."""
        return self._votes.get(self._root(pointer), Counter())

    def of(self, pointer: Value | Variable) -> str:
        """Returns the element type of a pointer."""
        root = self._root(pointer)
        votes = self._votes.get(root)
        element = votes.most_common(1)[0][0] if votes else "i8"
        return f"{element}, {self._spaces[root]}" if root in self._spaces else element

    def replace_votes(self, pointer: Value, votes: Counter[str]) -> None:
        """Makes ``votes`` those of a pointer."""
        if pointer.type == "ptr" and votes:
            self._votes[self._root(pointer)] = Counter(votes)

    def _root(self, key: object) -> object:
        path = []
        while key in self._parents:
            path.append(key)
            key = self._parents[key]
        for item in path:
            self._parents[item] = key
        return key

    def _join(self, a: object, b: object) -> None:
        a, b = self._root(a), self._root(b)
        if a is b:
            return
        self._parents[b] = a
        votes = self._votes.pop(b, None)
        if votes:
            self._votes.setdefault(a, Counter()).update(votes)
        if b in self._spaces:
            self._spaces[a] = self._spaces.pop(b)

    def _vote(self, pointer: object, element: str, weight: int = 1) -> None:
        self._votes.setdefault(self._root(pointer), Counter())[element] += weight

    def _note(self, instruction: Instruction) -> None:
        opcode, operands = instruction.opcode, instruction.operands
        if opcode in ("load", "store"):
            self._note_access(instruction, operands[-1])
        elif opcode == "call":
            for group in groups_of(instruction, self._memory.module):
                pointer = group.operands[0] if group.operands and group.kind in ("global", "ptr") else None
                if not isinstance(pointer, Value) or not group.fields:
                    continue
                if group.fields[0] != "void":
                    self._vote(pointer, _spelled(group.fields[0]), _WEIGHT)
                if group.kind == "ptr" and group.fields[1:2] not in ((), ("gm",)):
                    self._spaces[self._root(pointer)] = group.fields[1]
        elif opcode == "inttoptr":
            space = "ub" if is_constant_pointer(instruction) else self._tile_space(operands[0])
            if space is not None:
                self._spaces.setdefault(self._root(instruction), space)
        elif instruction.type == "ptr" and opcode in ("getelementptr", "phi", "select", "freeze", "addrspacecast"):
            joined = operands[:1] if opcode == "getelementptr" else operands
            for operand in joined:
                if isinstance(operand, Value) and operand.type == "ptr" and self._memory.address(operand) is None:
                    self._join(instruction, operand)

    def _tile_space(self, address: Operand) -> str | None:
        """Returns the memory of the tile whose address a number is, if it is one that kernels access by pointers."""
        pending, seen = [address], set[Value]()
        while pending:
            value = pending.pop()
            if not isinstance(value, Instruction) or value in seen:
                continue
            seen.add(value)
            if value.opcode in ("phi", "select", "freeze"):
                pending += value.operands
            for group in groups_of(value, self._memory.module):
                if group.kind == "tile":
                    return _TILE_SPACES.get(group.fields[0])
        return None

    def _note_access(self, instruction: Instruction, pointer: Operand) -> None:
        value = instruction if instruction.opcode == "load" else instruction.operands[0]
        if self._memory.address(pointer) is None:
            if isinstance(pointer, Value) and value.type in _ACCESSED:
                self._vote(pointer, scalar_type(value.type))
        elif isinstance(value, Value) and value.type == "ptr":
            for variable in self._cells(instruction):
                self._join(value, variable)

    def _cells(self, instruction: Instruction) -> Iterator[Variable]:
        reads, assigned, _ = self._memory.effects(instruction)
        yield from sorted(reads | assigned, key=lambda variable: variable.number)


def _are_members(votes: Counter[str]) -> bool:
    """Returns whether a pointer is used for integers of several sizes, the members of a structure."""
    return "i64" in votes and len(votes) > 1 and all(type.startswith("i") for type in votes)


def _spelled(element: str) -> str:
    """Returns an element of a descriptor as the types of pointers spell it."""
    is_private = element.startswith(("hif8", "f4", "f8E8M0")) or element == "bf16x2"
    return f"!pto.{element}" if is_private else element


def share_elements(functions: Sequence[tuple[Function, Elements]]) -> None:
    """Gives the parameters of functions that start together the same element types."""
    for parameters in zip(*(function.arguments for function, _ in functions), strict=False):
        total: Counter[str] = Counter()
        for parameter, (_, elements) in zip(parameters, functions, strict=True):
            total.update(elements.votes(parameter))
        for parameter, (_, elements) in zip(parameters, functions, strict=True):
            elements.replace_votes(parameter, total)
