"""Why instructions cannot be translated, and what to write instead."""

from __future__ import annotations

from ..llvm.model import Instruction
from .calls import plain_name


def describe(instruction: Instruction) -> tuple[str, str]:
    """Returns why an instruction cannot be translated, and what to write instead."""
    opcode = instruction.opcode
    if opcode == "call":
        name = plain_name(instruction.word)
        if name in _HEAP:
            return "memory of the heap cannot be translated", "use local variables of constant size, or tiles"
        if name.startswith("llvm."):
            return f"the compiler's function {name} cannot be translated", ""
        return f"the call of {name} cannot be translated: it is not defined, or it calls itself", (
            "define it in the file, without recursion"
        )
    known = _REASONS.get(opcode)
    return known or (f"the instruction {opcode} cannot be translated", "")


_HEAP = frozenset(("malloc", "calloc", "realloc", "free", "_Znwm", "_Znam", "_ZdlPv", "_ZdaPv", "_ZdlPvm", "_ZdaPvm"))
_REASONS = {
    "indirect call": ("a call through a pointer to a function cannot be translated", "call the function by its name"),
    "asm": ("inline assembly cannot be translated", "use the functions of the instruction set"),
    "invoke": ("exceptions cannot be translated", "remove throw, try and catch"),
    "landingpad": ("exceptions cannot be translated", "remove throw, try and catch"),
    "atomicrmw": ("atomic accesses of scalars cannot be translated", "use TSTORE with AtomicAdd"),
    "cmpxchg": ("atomic accesses of scalars cannot be translated", "use TSTORE with AtomicAdd"),
    "fence": ("a memory fence cannot be translated", "use pipe_barrier or dsb"),
}
