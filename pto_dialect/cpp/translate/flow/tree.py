"""Structured control flow as a tree of statements, before values have names in the ``.pto`` text.

Values that several paths assign are variables here; ``emit.py`` turns them into results and loop arguments.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count
from typing import TypeAlias

from ...llvm.model import Instruction, Operand, Value


class Variable:
    """A variable: a phi, a cell of local memory, or a value that leaves its loop. Each has a number, in the order in
    which they are made."""

    __slots__ = ("hint", "number", "source", "type")
    _numbers = count()

    def __init__(self, hint: str, type: str, source: Value | None = None) -> None:
        self.hint = hint
        self.number = next(Variable._numbers)
        self.type = type
        self.source = source

    def __repr__(self) -> str:
        return f"var({self.hint})"


@dataclass(slots=True)
class Do:
    """Executes an instruction."""

    instruction: Instruction


@dataclass(slots=True)
class Bind:
    """Gives a value the present content of a variable."""

    value: Value
    variable: Variable


@dataclass(slots=True)
class Set:
    """Assigns operands, all read before, to variables."""

    pairs: list[tuple[Variable, Operand]]


@dataclass(frozen=True, slots=True)
class Is:
    """The condition that a variable or a value has one of the numbers."""

    subject: Variable | Operand
    numbers: tuple[int, ...]


Condition: TypeAlias = Operand | Is


@dataclass(slots=True)
class If:
    """Executes one of two lists."""

    condition: Condition
    then: list[Statement]
    otherwise: list[Statement]
    debug: str = ""


@dataclass(slots=True)
class Loop:
    """Executes the body, again while the variable ``again`` is 1 at its end."""

    body: list[Statement]
    again: Variable
    debug: str = ""


@dataclass(slots=True)
class Counted:
    """Bounds of a counted loop.

    The counter starts with ``lower`` and grows by ``step``. An iteration follows while the counter is below ``upper``
    plus ``addend`` plus ``shift`` times ``step``; above it, where the loop counts down. ``is_signed`` states how the
    numbers are extended to 64 bits, ``is_entered`` that the bounds give an iteration; a loop makes one even where they
    do not. ``guard`` is a condition on the way to the loop that states just that.
    """

    counter: Instruction
    lower: Operand
    upper: Operand
    step: Operand
    shift: int
    addend: int
    is_down: bool
    is_signed: bool
    latch: Instruction
    is_entered: bool = False
    guard: Instruction | None = None


@dataclass(slots=True)
class For:
    """A counted loop."""

    counted: Counted
    body: list[Statement]
    debug: str = ""
    may_be_empty: bool = False
    """Whether the bounds may give no iteration, as where no condition is around the loop any more."""


@dataclass(slots=True)
class Return:
    """Ends the function."""

    instruction: Instruction


Statement: TypeAlias = Do | Bind | Set | If | Loop | For | Return


@dataclass(slots=True)
class Tree:
    """The body of a function."""

    statements: list[Statement]
    variables: dict[Value, Variable] = field(default_factory=dict)
