"""Calls of ``__pto_`` functions: names, modes and groups of their arguments."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from ..llvm.model import Instruction, Operand
from ..llvm.reader import Module

_PART = re.compile(r"(\d{1,3})(\w+)")
_LOCAL = re.compile(r"(?=E(\d{1,3})([A-Za-z_]\w*)\Z)")
"""The end of the name of a static variable in a function."""
_NAMED = frozenset(("__pto_op", "__pto_call", "__pto_query", "__pto_constant", "__pto_alias"))
PURE = frozenset(("__pto_constant",))
"""Functions whose result depends on their arguments alone."""


_WITHOUT_EFFECT = re.compile(r'asm (?:sideeffect )?"(?:\s*nop\s*|MOV \$\{?0\}?, (?:SYS_CNT|PC)\\0A)?"', re.IGNORECASE)
"""Assembly that does nothing, or reads the clock or the position in the program."""
_CLOCK = "SYS_CNT"


@dataclass(frozen=True, slots=True)
class RawGroup:
    """A descriptor and the operands after it."""

    descriptor: str
    operands: tuple[Operand, ...]

    @property
    def kind(self) -> str:
        """The token before the colon."""
        return self.descriptor.partition(":")[0]

    @property
    def fields(self) -> tuple[str, ...]:
        """What follows the colon, at commas."""
        text = self.descriptor.partition(":")[2]
        return tuple(text.split(",")) if text else ()


@lru_cache(4096)
def plain_name(symbol: str) -> str:
    """Returns the name of a function, with its namespaces, without its mangled types."""
    if symbol.startswith(("_ZZ", "_ZGVZ")):
        for local in _LOCAL.finditer(symbol):
            if int(local[1]) == len(local[2]):
                return local[2]
    nested = symbol.startswith("_ZN")
    rest = symbol[3 if nested else 2 :] if symbol.startswith("_Z") else ""
    parts: list[str] = []
    while (match := _PART.match(rest)) and (nested or not parts):
        length = int(match[1])
        parts.append(match[2][:length])
        rest = match[2][length:]
    return "::".join(parts) or symbol


def is_interface(instruction: Instruction) -> bool:
    """Returns whether an instruction calls a function of the interface."""
    return instruction.opcode == "call" and plain_name(instruction.word).startswith("__pto_")


def is_idle(instruction: Instruction) -> bool:
    """Returns whether an instruction is assembly that changes nothing: it matters only where its result is used."""
    return instruction.opcode == "asm" and _WITHOUT_EFFECT.search(instruction.word) is not None


def is_clock(instruction: Instruction) -> bool:
    """Returns whether an instruction is assembly that reads the clock, which does not advance in a run."""
    return is_idle(instruction) and _CLOCK in instruction.word


def call_name(instruction: Instruction, module: Module) -> str:
    """Returns the first argument of a function that takes a name, otherwise that of the function."""
    function = plain_name(instruction.word)
    first = module.string(instruction.operands[0]) if instruction.operands else None
    return first if first is not None and function in _NAMED else function


def arguments_of(instruction: Instruction) -> tuple[Operand, ...]:
    """Returns the arguments of a call without the name."""
    return instruction.operands[plain_name(instruction.word) in _NAMED :]


def groups_of(instruction: Instruction, module: Module) -> list[RawGroup]:
    """Returns the groups of arguments of a call of the interface."""
    if not is_interface(instruction):
        return []
    groups: list[tuple[str, list[Operand]]] = []
    for operand in arguments_of(instruction):
        text = module.string(operand)
        if text is not None and ":" in text:
            groups.append((text, []))
        elif groups:
            groups[-1][1].append(operand)
    return [RawGroup(descriptor, tuple(operands)) for descriptor, operands in groups]
