"""MX scales lie at a sixteenth of the address of their operand: whose addresses depend on each other.

A group has the operands of one address and their scales; all of them are needed as long as one of them is. Source:
docs/reference/memory-planning.md, "Packing"; docs/reference/layouts.md, "MX scales".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations

from xdsl.ir import Operation, SSAValue

from pto_dialect.ir.core.operands import find
from pto_dialect.ir.core.walk import walk
from pto_dialect.ir.cube.matmul import (
    AccumulatingScaledProductOp,
    BiasedScaledProductOp,
    ScaledProductOp,
    TGetScaleAddrOp,
)
from pto_dialect.passes.accesses.items import UnsupportedError
from pto_dialect.passes.accesses.locations import HandleLocations, MemoryLocation
from pto_dialect.targets.memory import BASE_ALIGNMENT, MX_SCALE_ADDRESS_DIVISOR

from .live_ranges import Buffer
from .pack import Share, pack

_OPERANDS = {"scale_left": "l0a", "scale_right": "l0b"}
"""The memory of the operands whose scales lie in a memory."""


@dataclass(eq=False)
class Group:
    """Buffers whose addresses follow from one; ``base`` is that of the operands where the author has fixed it. ``op``
    binds them."""

    op: Operation
    operands: set[Buffer] = field(default_factory=set)
    scales: set[Buffer] = field(default_factory=set)
    base: int | None = None


def bonds(function: Operation) -> Iterator[tuple[Operation, SSAValue, SSAValue]]:
    """Yields the operations that find scales by the address of an operand, with that operand and the scales."""
    for op in walk(function):
        names: tuple[tuple[str, str], ...] = ()
        if isinstance(op, TGetScaleAddrOp):
            names = (("src", "dst"),)
        elif isinstance(op, (ScaledProductOp, AccumulatingScaledProductOp, BiasedScaledProductOp)):
            names = (("a", "a_scale"), ("b", "b_scale"))
        for operand, scales in names:
            one, other = find(op, operand), find(op, scales)
            if one is not None and other is not None:
                yield op, one, other


def groups_of(function: Operation, locations: HandleLocations, buffers: dict[SSAValue, Buffer]) -> list[Group]:
    """Returns the groups with a buffer that needs an address. Raises :class:`UnsupportedError` where no address
    fits."""
    member: dict[Buffer, Group] = {}
    for op, one, other in bonds(function):
        pairs = [(a, b) for a in locations.of(one) for b in locations.of(other) if _OPERANDS.get(b.space) == a.space]
        for operand, scales in pairs:
            pair = [_buffer(location, buffers) for location in (operand, scales)]
            if pair == [None, None] or _unknown(operand, pair[0]) or _unknown(scales, pair[1]):
                continue
            if len(pairs) > 1 or operand.sides or scales.sides:
                raise UnsupportedError(op, "scales lie beside their operand, and only a run knows where that is")
            _join(op, member, (operand, pair[0]), (scales, pair[1]))
    return list(dict.fromkeys(member.values()))


def _buffer(location: MemoryLocation, buffers: dict[SSAValue, Buffer]) -> Buffer | None:
    """Returns the buffer without an address that a location belongs to."""
    buffer = buffers.get(location.root) if isinstance(location.root, SSAValue) else None
    return buffer if buffer is not None and buffer.address is None else None


def _unknown(location: MemoryLocation, buffer: Buffer | None) -> bool:
    """Returns whether a location neither gets an address nor has a static one: an argument."""
    return buffer is None and location.root != "bytes"


def _join(
    op: Operation,
    member: dict[Buffer, Group],
    operand: tuple[MemoryLocation, Buffer | None],
    scales: tuple[MemoryLocation, Buffer | None],
) -> None:
    """One group for an operand and its scales, and for those that either is in a group with already."""
    group = Group(op)
    for buffer, kind in ((operand[1], "operands"), (scales[1], "scales")):
        if buffer is not None:
            getattr(group, kind).add(buffer)
    if operand[1] is None:
        group.base = operand[0].start
    elif scales[1] is None:
        group.base = scales[0].start * MX_SCALE_ADDRESS_DIVISOR
    for known in {member[buffer]: None for buffer in (operand[1], scales[1]) if buffer in member}:
        if None not in (known.base, group.base) and known.base != group.base:
            raise UnsupportedError(op, "its scales are beside an operand at another address already")
        group.base = known.base if group.base is None else group.base
        group.operands |= known.operands
        group.scales |= known.scales
    step = BASE_ALIGNMENT["l0a"].warning if group.operands else MX_SCALE_ADDRESS_DIVISOR**2
    if group.base is not None and group.base % step:
        raise UnsupportedError(op, f"scales lie beside operands at multiples of {step}, not at {group.base}")
    member.update(dict.fromkeys((*group.operands, *group.scales), group))


def settle(groups: list[Group], share: Share) -> None:
    """Makes the members of each group needed at the same time, when only one of several at one address was. Raises
    :class:`UnsupportedError`."""
    for group in groups:
        for kind, what in ((group.operands, "operands that have the same scales"), (group.scales, "scales")):
            for one, other in combinations(kind, 2):
                if one.overlaps(other) or not share(one, other):
                    raise UnsupportedError(group.op, f"two {what} cannot lie at one address: their uses overlap")
        members = [*group.operands, *group.scales]
        needed = [buffer for buffer in members if buffer.last >= 0]
        room = max((buffer.size * MX_SCALE_ADDRESS_DIVISOR for buffer in group.scales), default=0)
        for buffer in members if needed else ():
            buffer.first = min(known.first for known in needed)
            buffer.last = max(known.last for known in needed)
        for buffer in group.operands:
            buffer.room = max(room, *(known.size for known in group.operands))


def place_groups(groups: list[Group], by_space: dict[str, list[Buffer]], share: Share) -> dict[str, dict[Buffer, int]]:
    """Returns the addresses of all buffers by their memory: operands first, and scales beside them."""
    fixed: dict[Buffer, int] = {}
    for group in groups:
        if group.base is not None:
            fixed |= _addresses(group, group.base)
    stated = {
        buffer: buffer.address for members in by_space.values() for buffer in members if buffer.address is not None
    }
    for buffer, at in fixed.items():
        _alone(buffer, at, {**stated, **fixed}, groups)
    addresses: dict[str, dict[Buffer, int]] = {}
    for space in sorted(by_space, key=lambda space: space in _OPERANDS):
        members = by_space[space]
        leaders = {min(group.operands, key=members.index): group for group in groups if group.operands & {*members}}
        led = {buffer for group in leaders.values() for buffer in group.operands} - {*leaders}
        over = _over(space, {**stated, **fixed}) if leaders else {}
        known = {**over, **{buffer: fixed[buffer] for buffer in members if buffer in fixed}}
        packed = pack([buffer for buffer in members if buffer not in led], _shared(share, leaders), known)
        for leader, group in leaders.items():
            fixed |= _addresses(group, packed[leader])
        addresses[space] = {buffer: fixed.get(buffer, packed.get(buffer, 0)) for buffer in members}
    return {space: addresses[space] for space in by_space}


def _addresses(group: Group, base: int) -> dict[Buffer, int]:
    """Returns the addresses of a group whose operands lie at ``base``."""
    beside = base // MX_SCALE_ADDRESS_DIVISOR
    return {**dict.fromkeys(group.operands, base), **dict.fromkeys(group.scales, beside)}


def _over(space: str, fixed: dict[Buffer, int]) -> dict[Buffer, int]:
    """Returns where in a memory of operands none may lie whose scales have to keep clear of those at fixed
    addresses."""
    return {
        Buffer(
            buffer.op,
            space,
            buffer.size * MX_SCALE_ADDRESS_DIVISOR,
            buffer.align,
            first=buffer.first,
            last=buffer.last,
        ): at * MX_SCALE_ADDRESS_DIVISOR
        for buffer, at in fixed.items()
        if _OPERANDS.get(buffer.space) == space
    }


def _shared(share: Share, leaders: dict[Buffer, Group]) -> Share:
    """Returns whether two operands may share bytes, and all that lies where they lie."""
    if not leaders:
        return share

    def both(one: Buffer, other: Buffer) -> bool:
        if one not in leaders and other not in leaders:
            return share(one, other)
        mine, its = ([*g.operands, *g.scales] if (g := leaders.get(x)) else [x] for x in (one, other))
        return all(share(a, b) for a in mine for b in its if a.space == b.space)

    return both


def _alone(buffer: Buffer, at: int, fixed: dict[Buffer, int], groups: list[Group]) -> None:
    """Refuses an address that follows from another one if other buffers lie there."""
    group = next(group for group in groups if buffer in group.operands or buffer in group.scales)
    for other, start in fixed.items():
        if other.space != buffer.space or other in group.operands or other in group.scales:
            continue
        if buffer.overlaps(other) and at < start + other.size and start < at + buffer.size:
            raise UnsupportedError(group.op, "scales lie beside their operand, and other tiles have these bytes")
