"""LLVM IR as objects: modules, functions, blocks, instructions, values."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias


class Value:
    """A value of a function: an argument or the result of an instruction. Types are the text of the IR."""

    __slots__ = ("name", "type")

    def __init__(self, name: str, type: str) -> None:
        self.name = name
        self.type = type

    def __repr__(self) -> str:
        return f"%{self.name}"


@dataclass(frozen=True, slots=True)
class Constant:
    """A constant: a signed integer, a float, ``None`` for null, undef, poison and zeroinitializer."""

    type: str
    value: int | float | None


@dataclass(frozen=True, slots=True)
class Global:
    """The address of a global symbol plus a number of bytes."""

    name: str
    offset: int = 0
    type: str = "ptr"


@dataclass(frozen=True, slots=True)
class Unread:
    """An operand outside the subset: a constant expression, metadata, inline assembly."""

    type: str
    text: str


Operand: TypeAlias = Value | Constant | Global | Unread


class Instruction(Value):
    """An instruction, which is its own result.

    ``word`` is what else the opcode needs: the predicate of a comparison, the type that an address computation or an
    allocation refers to, the name of a called function. ``flags`` are nuw, nsw, nneg, volatile and others as written.
    ``labels`` are the successors of a terminator, or the predecessors of a phi.
    """

    __slots__ = ("cases", "debug", "flags", "labels", "opcode", "operands", "word")

    def __init__(
        self,
        opcode: str,
        name: str,
        type: str,
        operands: tuple[Operand, ...] = (),
        word: str = "",
        flags: str = "",
        labels: tuple[str, ...] = (),
        cases: tuple[int, ...] = (),
    ) -> None:
        super().__init__(name, type)
        self.opcode = opcode
        self.operands = operands
        self.word = word
        self.flags = flags
        self.labels = labels
        self.cases = cases
        self.debug = ""

    def __repr__(self) -> str:
        return f"%{self.name} = {self.opcode}"


@dataclass(slots=True)
class BasicBlock:
    """Instructions; phis come first, a terminator last."""

    name: str
    instructions: list[Instruction] = field(default_factory=list)

    @property
    def terminator(self) -> Instruction:
        """The instruction that ends the block."""
        return self.instructions[-1]


@dataclass(slots=True)
class Function:
    """A function with a body; the first block is the entry. ``structures`` names arguments that point to what is no
    tensor."""

    name: str
    arguments: list[Value]
    result: str
    debug: str = ""
    blocks: dict[str, BasicBlock] = field(default_factory=dict)
    structures: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class GlobalVariable:
    """A global variable: the text of its initial value, "" if another module has it."""

    name: str
    type: str
    initial: str
    is_constant: bool
