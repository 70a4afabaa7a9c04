"""Addresses for tiles, memrefs and queue buffers that the program leaves unplaced.

Buffers of a function are consecutive, after those of the functions that call it; when a memory is too small for that,
buffers of one function with disjoint live ranges share bytes. Source: docs/reference/execution.md, "Pointers, tiles and
views"; docs/reference/targets.md, "Memories".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Block, Operation, SSAValue

from pto_dialect.analysis.constants import constant_of
from pto_dialect.analysis.type_facts import enumerator, integer_attribute, space_of
from pto_dialect.ir.core import types as t
from pto_dialect.ir.core.base import PtoOp, operand_groups, operand_name
from pto_dialect.ir.core.extents import round_up
from pto_dialect.ir.core.facts.operation_form import form_of
from pto_dialect.ir.core.location import span_of
from pto_dialect.ir.core.roles import RUNS, Role, has_role
from pto_dialect.ir.core.walk import walk
from pto_dialect.targets.profile import Profile

from ..errors import ProgramError
from ..faults import Fault
from ..kernels.buffers.tile_maker import tile_maker
from .program import Program

ALIGNMENT = {"l0a": 512, "l0b": 512, "l0c": 1024}
_BUFFERS = Role.ALLOCATION | Role.RESERVATION
_PASSES_ON = RUNS | Role.VIEW
"""Operations that extend the live range of a buffer."""

Tops = dict[str, int]


@dataclass
class Buffer:
    """One allocation: size, fixed address if any, and live range in positions of the function's operations; ``idle``
    when nothing ever touches its bytes."""

    op: Operation
    space: str
    size: int
    first: int
    last: int
    address: int | None
    idle: bool = False


def place_program(program: Program, profile: Profile) -> dict[Operation, int]:
    """Returns the byte address of every allocation of the program without one.

    Raises ``ProgramError`` (``capacity-dynamic``) when a memory is too small.
    """
    placed: dict[Operation, int] = {}
    bases: dict[Operation, Tops] = {}
    for function in _callers_first(program):
        placement, tops = place(function, profile, bases.get(function, {}))
        placed |= placement
        for callee in program.callees(function):
            below = bases.setdefault(callee, {})
            for space, top in tops.items():
                below[space] = max(below.get(space, 0), top)
    return placed


def _callers_first(program: Program) -> list[Operation]:
    order: dict[Operation, None] = {}

    def visit(function: Operation) -> None:
        if function not in order:
            for callee in program.callees(function):
                visit(callee)
            order[function] = None

    for function in program.functions:
        visit(function)
    return list(reversed(order))


def place(function: Operation, profile: Profile, base: Mapping[str, int]) -> tuple[dict[Operation, int], Tops]:
    """Returns the addresses of the unplaced allocations of ``function`` above ``base``, and the first free byte of each
    memory."""
    positions: dict[Operation, int] = {}
    for op in walk(function):
        positions[op] = len(positions)
    free: dict[str, list[Buffer]] = {}
    tops: Tops = dict(base)
    for op in positions:
        buffer = _buffer(op, profile, positions) if has_role(op, _BUFFERS) else None
        if buffer is None:
            continue
        if buffer.address is None:
            free.setdefault(buffer.space, []).append(buffer)
        elif buffer.address >= 0:
            tops[buffer.space] = max(tops.get(buffer.space, 0), buffer.address + buffer.size)
    placed: dict[Operation, int] = {}
    for space, members in free.items():
        placed.update(_place_space(space, members, tops.get(space, 0), profile))
        ends = (placed[buffer.op] + buffer.size for buffer in members)
        tops[space] = max(tops.get(space, 0), *ends)
    return placed, tops


RUN_TIME = -1
"""Address of an allocation that is only known at run time."""


def _buffer(op: Operation, profile: Profile, positions: dict[Operation, int]) -> Buffer | None:
    """Returns the requirements of an allocation; ``None`` for one that no memory of the core holds."""
    if has_role(op, Role.RESERVATION):
        space = {"vec": "ub", "mat": "l1"}[enumerator(op, "location")]
        base = None if integer_attribute(op, "autoAlloc") else integer_attribute(op, "base")
        return Buffer(op, space, integer_attribute(op, "size") or 0, 0, len(positions), base)
    type_ = op.results[0].type
    if isinstance(op, PtoOp):
        slot = type_.slot if isinstance(type_, t.MultiTileBufType) else type_
        if not isinstance(slot, t.TileBufType):
            return None
        count = type_.count if isinstance(type_, t.MultiTileBufType) else 1
        try:
            maker = tile_maker(slot, profile)
        except Fault as fault:
            raise ProgramError(fault.rule, fault.message, span_of(op)) from None
        size = round_up(maker.nbytes, 32) * count
        idle = _is_idle(op, profile.arch)
        return Buffer(op, maker.space, size, *_life(op, positions), _address(op), idle)
    assert isinstance(type_, MemRefType)
    space = space_of(type_)
    if space in (None, "gm") or space not in profile.capacity:
        return None
    return Buffer(op, space, memref_bytes(type_, op), *_life(op, positions), None)


def memref_bytes(type_: MemRefType, op: Operation) -> int:
    """Returns the bytes that a memref of static shape spans.

    Raises ``ProgramError`` (``unmodelled``) for one that is allocated with a size known at run time only.
    """
    shape = t.shape_of(type_)
    strides = type_.get_strides()
    if t.DYNAMIC in shape or strides is None or None in strides:
        message = "on-chip memory of a size that is known at run time only cannot be allocated"
        raise ProgramError("unmodelled", message, span_of(op))
    known = [stride for stride in strides if stride is not None]
    last = sum((extent - 1) * stride for extent, stride in zip(shape, known, strict=True))
    return (last + 1) * (t.byte_width(type_.element_type) or 1) if 0 not in shape else 0


def _address(op: Operation) -> int | None:
    """Returns the constant address operand, ``RUN_TIME`` for a computed one, ``None`` without one."""
    assert isinstance(op, PtoOp)
    value = next(iter(operand_groups(op)["addr"]), None)
    if value is None:
        return None
    known = constant_of(value)
    return known if isinstance(known, int) else RUN_TIME


def _place_space(space: str, members: list[Buffer], start: int, profile: Profile) -> dict[Operation, int]:
    capacity = profile.capacity[space] or 0
    step = ALIGNMENT.get(space, 32)
    placed: dict[Operation, int] = {}
    top = round_up(start, step)
    for buffer in members:
        placed[buffer.op] = top
        top += round_up(buffer.size, step)
    if top <= capacity:
        return placed
    return _share(space, members, round_up(start, step), capacity, step)


def _share(space: str, members: list[Buffer], start: int, capacity: int, step: int) -> dict[Operation, int]:
    """Places buffers by first fit over their live ranges."""
    placed: dict[Operation, int] = {}
    done: list[tuple[Buffer, int]] = []
    for buffer in sorted(members, key=lambda b: b.first):
        taken = sorted(
            (address, address + other.size)
            for other, address in done
            # Every placed buffer starts no later than this one.
            if buffer.first <= other.last and not buffer.idle
        )
        address = start
        for low, high in taken:
            if address + buffer.size <= low:
                break
            address = max(address, round_up(high, step))
        if address + buffer.size > capacity:
            total = sum(b.size for b in members)
            raise ProgramError(
                "capacity-dynamic",
                f"the tiles in {space} do not fit: {total} bytes in {len(members)} tiles, {capacity} bytes available",
                span_of(buffer.op),
            )
        placed[buffer.op] = address
        if not buffer.idle:
            done.append((buffer, address))
    return placed


def _is_idle(op: Operation, arch: str) -> bool:
    """Returns whether every use of the tile is as scratch that the chip does not touch."""
    uses = list(op.results[0].uses)
    return bool(uses) and all(
        isinstance(use.operation, PtoOp)
        and operand_name(use.operation, use.index) in form_of(use.operation, arch).unused
        for use in uses
    )


def _life(op: Operation, positions: dict[Operation, int]) -> tuple[int, int]:
    """Returns the live range of a buffer: positions of the first and last operation that may touch it, aliases and
    enclosing loops included.

    The allocation itself touches nothing: memory is needed from the first use on.
    """
    home = op.parent_block()
    starts: list[int] = []
    last = positions[op]
    values = [op.results[0]]
    seen: set[SSAValue] = set()
    while values:
        value = values.pop()
        if value in seen:
            continue
        seen.add(value)
        for use in value.uses:
            user = use.operation
            outer = _in_block(user, home)
            starts.append(positions.get(outer, positions[op]))
            last = max(last, _end(outer, positions))
            if user.regions or has_role(user, _PASSES_ON):
                values.extend(user.results)
            parent = user.parent_op()
            if has_role(user, Role.YIELD) and parent is not None:
                values.extend(parent.results)
    return min(starts, default=positions[op]), last


def _in_block(op: Operation, block: Block | None) -> Operation:
    """Returns the operation of ``block`` that contains ``op``."""
    while op.parent_block() is not block:
        parent = op.parent_op()
        if parent is None:
            break
        op = parent
    return op


def _end(op: Operation, positions: dict[Operation, int]) -> int:
    """Returns the position of the last operation inside ``op``."""
    last = positions.get(op, 0)
    for region in op.regions:
        for block in region.blocks:
            if block.last_op is not None:
                last = max(last, _end(block.last_op, positions))
    return last
