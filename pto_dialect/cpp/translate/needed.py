"""Instructions that a function needs: those with effects, and what their operands are made of."""

from __future__ import annotations

from ..llvm.model import Function, Instruction
from .calls import PURE, is_idle, is_interface, plain_name
from .flow.cfg import ControlFlow
from .flow.tree import Counted

_EFFECTS = frozenset(("store", "ret", "asm", "indirect call", "invoke", "atomicrmw", "cmpxchg", "fence", "resume"))
_UNUSED = (
    "llvm.lifetime.",
    "llvm.dbg.",
    "llvm.assume",
    "llvm.invariant.",
    "llvm.experimental.noalias",
    "llvm.donothing",
)
_BLOCKS = ("llvm.memcpy.", "llvm.memmove.", "llvm.memset.")


def find_needed(function: Function, flow: ControlFlow, counted: dict[str, Counted]) -> set[Instruction]:
    """Returns the instructions that have effects or that others need; the counters of counted loops need nothing."""
    counters = {loop.counter for loop in counted.values()}
    latches = {loop.latch for loop in counted.values()}
    pending: list[object] = []
    for name in flow.order:
        for instruction in function.blocks[name].instructions:
            if instruction in latches:
                continue
            if _has_effect(instruction) or (instruction is function.blocks[name].terminator):
                pending.append(instruction)
    for loop in counted.values():
        pending.extend((loop.counter, loop.lower, loop.upper, loop.step))
    needed: set[Instruction] = set()
    while pending:
        instruction = pending.pop()
        if isinstance(instruction, Instruction) and instruction not in needed:
            needed.add(instruction)
            if instruction not in counters:
                pending.extend(instruction.operands)
    return needed


def _has_effect(instruction: Instruction) -> bool:
    if is_idle(instruction):
        return False
    if instruction.opcode != "call":
        return instruction.opcode in _EFFECTS or (instruction.opcode == "load" and "volatile" in instruction.flags)
    if is_interface(instruction):
        return plain_name(instruction.word) not in PURE
    if instruction.word.startswith("llvm."):
        return instruction.word.startswith(_BLOCKS)
    return not instruction.word.startswith(_UNUSED)
