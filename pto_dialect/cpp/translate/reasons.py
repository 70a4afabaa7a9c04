"""Why instructions cannot be translated, and what to write instead."""

from __future__ import annotations

from collections.abc import Collection

from ..llvm.model import Instruction
from .calls import plain_name


def describe(instruction: Instruction, defined: Collection[str] = ()) -> tuple[str, str]:
    """Returns why an instruction cannot be translated, and what to write instead; ``defined`` are the functions that
    have a body."""
    opcode = instruction.opcode
    if opcode == "call":
        name = "a lambda" if "$_" in instruction.word else plain_name(instruction.word)
        if name in _HEAP:
            return "memory of the heap cannot be translated", "use local variables of constant size, or tiles"
        if name.startswith("llvm.threadlocal"):
            return "variables of threads cannot be translated", "use a local variable"
        if name.startswith("llvm."):
            return f"the compiler's function {name} cannot be translated", ""
        if instruction.word in defined:
            return f"the call of {name} cannot be inlined", "write a loop, or constant arguments, and no noinline"
        return f"the kernel calls {name}, which has no body here", "define it in the file or in what it includes"
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
    **dict.fromkeys(
        ("extractelement", "insertelement", "shufflevector"),
        ("vectors of the compiler cannot be translated", "use an array, or tiles"),
    ),
    "indirectbr": ("a jump to a computed label cannot be translated", "use branches and loops"),
    "fence": ("a memory fence cannot be translated", "use pipe_barrier or dsb"),
}
