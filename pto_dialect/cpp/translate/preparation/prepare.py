"""Changes of the IR that make loops easier to read: one return, one value for what never changes, narrow counters."""

from __future__ import annotations

from ...entries import RUNTIME_ENTRIES
from ...llvm.model import BasicBlock, Constant, Function, Instruction, Operand, Value
from ...llvm.reader import Module
from ..arguments.task import split_arguments
from ..calls import PURE, call_name, is_interface, plain_name
from ..linear import width_of
from ..widths import legalize
from .clocks import leave_clock_loops
from .declarations import unroll_declarations
from .integers import load_numbers
from .local_pointers import name_constant_pointers
from .mixed_pointers import split_mixed_pointers
from .overflows import split_overflows
from .structures import split_structures

RETURN = "pto.return"
"""The block with the only return of a function; it has no other instructions than a phi."""


def prepare(function: Function, module: Module, has_local: bool = False) -> None:
    """Changes a function in place; what it computes stays the same. ``has_local`` says whether constant
    addresses may be those of a local memory."""
    if function.name in RUNTIME_ENTRIES:
        _replace(function, split_arguments(function, module))
    leave_clock_loops(function)
    split_structures(function, module)
    _replace(function, split_overflows(function))
    _replace(function, load_numbers(function))
    _replace(function, unroll_declarations(function))
    if has_local:
        name_constant_pointers(function)
    split_mixed_pointers(function, module)
    _join_returns(function)
    legalize(function)
    _share_constants(function, module)
    _narrow_phis(function)


def _instructions(function: Function) -> list[Instruction]:
    return [instruction for block in function.blocks.values() for instruction in block.instructions]


def _replace(function: Function, replaced: dict[Value, Operand]) -> None:
    """Replaces values everywhere."""

    def final(operand: Operand) -> Operand:
        while isinstance(operand, Value) and operand in replaced:
            operand = replaced[operand]
        return operand

    if replaced:
        for instruction in _instructions(function):
            if any(isinstance(operand, Value) and operand in replaced for operand in instruction.operands):
                instruction.operands = tuple(final(operand) for operand in instruction.operands)


def _join_returns(function: Function) -> None:
    """Makes all returns of a function branches to a block of its own."""
    ends = [block for block in function.blocks.values() if block.terminator.opcode == "ret"]
    if not ends:
        return
    last = Instruction("ret", "", "void")
    last.debug = ends[-1].terminator.debug
    instructions = [last]
    if ends[0].terminator.operands:
        operands = tuple(block.terminator.operands[0] for block in ends)
        phi = Instruction("phi", "returned", operands[0].type, operands, labels=tuple(block.name for block in ends))
        last.operands = (phi,)
        instructions = [phi, last]
    for block in ends:
        jump = Instruction("br", "", "void", labels=(RETURN,))
        jump.debug = block.terminator.debug
        block.instructions[-1] = jump
    function.blocks[RETURN] = BasicBlock(RETURN, instructions)


def _share_constants(function: Function, module: Module) -> None:
    """Makes calls whose result never changes one call each, at the begin."""
    first: dict[tuple[str, str], Instruction] = {}
    replaced: dict[Value, Operand] = {}
    for block in function.blocks.values():
        kept: list[Instruction] = []
        for instruction in block.instructions:
            is_constant = is_interface(instruction) and plain_name(instruction.word) in PURE
            if not is_constant or len(instruction.operands) != 1:
                kept.append(instruction)
                continue
            known = first.setdefault((call_name(instruction, module), instruction.type), instruction)
            if known is not instruction:
                replaced[instruction] = known
        block.instructions = kept
    entry = next(iter(function.blocks.values()))
    entry.instructions[:0] = first.values()
    _replace(function, replaced)


def _narrow_phis(function: Function) -> None:
    """Makes phis of which only the low bits are used phis of these bits.

    ``int i = get_block_idx()`` gives a 64-bit phi of which the low half is used, beside a 32-bit phi that equals it.
    """
    users: dict[Value, list[Instruction]] = {}
    truncations: dict[tuple[Value, str], Instruction] = {}
    blocks: dict[Value, BasicBlock] = {}
    for block in function.blocks.values():
        for instruction in block.instructions:
            blocks[instruction] = block
            for operand in instruction.operands:
                if isinstance(operand, Value):
                    users.setdefault(operand, []).append(instruction)
            if instruction.opcode == "trunc" and isinstance(instruction.operands[0], Value):
                truncations.setdefault((instruction.operands[0], instruction.type), instruction)
    replaced: dict[Value, Operand] = {}
    for phi in list(blocks):
        if not isinstance(phi, Instruction) or phi.opcode != "phi" or phi.type != "i64":
            continue
        widths = {_used_width(phi, user, users) for user in users.get(phi, ())}
        width = next(iter(widths)) if len(widths) == 1 else None
        if width is not None:
            _narrow(phi, f"i{width}", blocks, users, truncations, replaced)
    _replace(function, replaced)


def _used_width(phi: Instruction, user: Instruction, users: dict[Value, list[Instruction]]) -> int | None:
    """Returns how many low bits of a phi a user needs, ``None`` for all."""
    if user.opcode == "trunc":
        return width_of(user.type)
    amount = user.operands[1] if user.opcode == "shl" else None
    if not isinstance(amount, Constant) or not isinstance(amount.value, int) or user.operands[0] is not phi:
        return None
    is_extension = all(u.opcode == "ashr" and u.operands == (user, amount) for u in users.get(user, ()))
    return 64 - amount.value if is_extension else None


def _narrow(
    phi: Instruction,
    type: str,
    blocks: dict[Value, BasicBlock],
    users: dict[Value, list[Instruction]],
    truncations: dict[tuple[Value, str], Instruction],
    replaced: dict[Value, Operand],
) -> None:
    operands: list[Operand] = []
    for operand in phi.operands:
        if isinstance(operand, Constant) and isinstance(operand.value, int):
            number = operand.value & ((1 << int(type[1:])) - 1)
            operands.append(Constant(type, number - (1 << int(type[1:])) if number >> (int(type[1:]) - 1) else number))
            continue
        known = truncations.get((operand, type)) if isinstance(operand, Value) else None
        if known is None:
            return
        operands.append(known)
    block = blocks[phi]
    narrow = next((other for other in block.instructions if _is_same_phi(other, phi, type, operands)), None)
    if narrow is None:
        narrow = Instruction("phi", phi.name, type, tuple(operands), labels=phi.labels)
        block.instructions.insert(0, narrow)
    for user in users.get(phi, ()):
        if user.opcode == "trunc":
            replaced[user] = narrow
            continue
        for extension in users.get(user, ()):
            extension.opcode, extension.operands, extension.flags = "sext", (narrow,), ""


def _is_same_phi(other: Instruction, phi: Instruction, type: str, operands: list[Operand]) -> bool:
    if other.opcode != "phi" or other.type != type or set(other.labels) != set(phi.labels):
        return False
    mine = dict(zip(phi.labels, operands, strict=True))
    return all(mine[label] == operand for label, operand in zip(other.labels, other.operands, strict=True))
