"""Loops that wait until the clock shows some time, and do nothing else.

The clock of a run does not advance, and nothing happens while such a loop waits: it ends at once. Other loops that read
the clock, such as those that give up after some time, stay as they are.
"""

from __future__ import annotations

from ...llvm.model import BasicBlock, Function, Instruction
from ..calls import is_clock, is_idle

_WITH_EFFECT = frozenset(("call", "asm", "store", "load", "atomicrmw", "cmpxchg", "fence", "indirect call", "invoke"))
_NUMBERS = ("llvm.smax.", "llvm.smin.", "llvm.umax.", "llvm.umin.", "llvm.usub.sat.", "llvm.abs.")


def leave_clock_loops(function: Function) -> None:
    """Makes the branches back of such loops branches out of them."""
    for block in function.blocks.values():
        end = block.terminator
        if end.opcode != "br" or block.name not in end.labels or len(set(end.labels)) != 2:
            continue
        if any(map(is_clock, block.instructions)) and all(map(_has_no_effect, block.instructions)):
            _leave(block)


def _has_no_effect(instruction: Instruction) -> bool:
    if instruction.opcode not in _WITH_EFFECT:
        return True
    if instruction.opcode == "call":
        return instruction.word.startswith(_NUMBERS)
    return instruction.opcode == "asm" and is_idle(instruction)


def _leave(block: BasicBlock) -> None:
    end = block.terminator
    out = next(label for label in end.labels if label != block.name)
    jump = Instruction("br", "", "void", labels=(out,))
    jump.debug = end.debug
    block.instructions[-1] = jump
    for phi in block.instructions:
        if phi.opcode == "phi":
            kept = [pair for pair in zip(phi.operands, phi.labels, strict=True) if pair[1] != block.name]
            phi.operands, phi.labels = tuple(one for one, _ in kept), tuple(label for _, label in kept)
