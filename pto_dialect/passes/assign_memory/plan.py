"""The plan of a function: where each of its buffers lies, and who is needed when.

Source: docs/reference/memory-planning.md, "Live ranges", "Packing".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from math import inf

from xdsl.ir import Operation, SSAValue

from pto_dialect.analysis.constants import constant_of
from pto_dialect.analysis.target import profile_of
from pto_dialect.analysis.type_facts import enumerator, integer_attribute
from pto_dialect.analysis.type_facts import space_of as space_of_type
from pto_dialect.diagnostics.origins import shown_line
from pto_dialect.ir.core.base import section_of
from pto_dialect.ir.core.extents import buffer_extent
from pto_dialect.ir.core.location import span_of
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.types import MultiTileBufType, TileBufType
from pto_dialect.ir.core.walk import walk
from pto_dialect.ir.sync.pipes import ReserveBufferOp
from pto_dialect.passes.accesses.items import UnsupportedError
from pto_dialect.passes.accesses.locations import HandleLocations
from pto_dialect.passes.accesses.program import Reader
from pto_dialect.targets.memory import BASE_ALIGNMENT, SPACE_ALIASES
from pto_dialect.targets.profile import Profile
from pto_dialect.verify.buffers.alloc import address_operand, is_view, space_of

from ..insert_sync.insert import ordered
from .live_ranges import Buffer, LiveRanges
from .order import FEW, Order
from .pack import Share, always, bound, needed, never, pack, top_of
from .scales import Group, groups_of, place_groups, settle
from .spread import cost_of, spread

LEAST = 32
"""Addresses that the planner gives are multiples of this, whatever the memory."""


@dataclass(frozen=True)
class Plan:
    """The buffers of one memory of a function with their addresses; ``capacity`` is what the memory has."""

    space: str
    addresses: dict[Buffer, int]
    capacity: int | None

    @cached_property
    def peak(self) -> int:
        """Bytes up to the highest end of a buffer."""
        return top_of(self.addresses)

    @cached_property
    def bound(self) -> int:
        """What no plan can do without."""
        return bound(list(self.addresses))

    @cached_property
    def worst(self) -> int:
        """The number of an operation at which most bytes are needed."""
        buffers = list(self.addresses)
        times = dict.fromkeys(buffer.first for buffer in buffers)
        return max(times, key=lambda time: needed(buffers, time), default=0)

    def alive(self, time: int) -> list[Buffer]:
        """Returns the buffers that are needed at an operation, large ones first."""
        buffers = [buffer for buffer in self.addresses if buffer.first <= time <= buffer.last]
        return sorted(buffers, key=lambda buffer: -buffer.size)

    def line(self, time: int) -> int | None:
        """Returns the line of the first operation from ``time`` on that uses a buffer."""
        uses = {at: op for buffer in self.addresses for at, op in buffer.uses.items() if at >= time}
        span = span_of(uses[min(uses)]) if uses else None
        return None if span is None else shown_line(span)


def lacking(function: Operation) -> Iterator[Operation]:
    """Yields the operations of a function that need an address."""
    for op in walk(function):
        tile = has_role(op, Role.TILE_ALLOCATION) and address_operand(op) is None and not is_view(op)
        if tile or (isinstance(op, ReserveBufferOp) and integer_attribute(op, "autoAlloc")):
            yield op


def memory_plans(function: Operation, target: str | None, reuse: str = "max") -> list[Plan]:
    """Returns the plans of a function, one for each memory; ``reuse`` says who may share bytes, as for the pass. Raises
    :class:`UnsupportedError`."""
    # The flags of the author know nothing of bytes that are shared; those of insert-sync do.
    fits = reuse == "auto" and not ordered(function)
    reuse = "safe" if reuse == "auto" else reuse
    profile = profile_of(function, target)
    pairs = ((op, _buffer(op, profile)) for op in walk(function))
    buffers: dict[SSAValue, Buffer] = {op.results[0]: buffer for op, buffer in pairs if buffer is not None}
    end = 0
    orders: list[Order] = []
    sections = {section_of(op) for op in walk(function)}
    for side in [name for name in ("cube", "vector") if name in sections] or [None]:
        locations = HandleLocations(profile)
        sequence = Reader(locations, side).function(function)
        lives = LiveRanges(locations)
        lives.follow(sequence)
        lives.settle({value: buffer for value, buffer in buffers.items() if buffer.address is None})
        end = max(end, lives.time)
        if reuse == "safe":
            orders.append(Order(sequence, profile.arch, FEW if fits else None))
    by_space: dict[str, list[Buffer]] = defaultdict(list)
    for buffer in buffers.values():
        if buffer.address is not None or isinstance(buffer.op, ReserveBufferOp):
            buffer.first, buffer.last = 0, end
        by_space[buffer.space].append(buffer)

    known = all(order.known for order in orders)

    @cache
    def safe(one: Buffer, other: Buffer) -> bool:
        return known and all(order.ordered(one.op.results[0], other.op.results[0]) for order in orders)

    share = {"max": always, "safe": safe, "none": never}[reuse]
    groups = groups_of(function, HandleLocations(profile), buffers)
    settle(groups, always if fits else share)
    pairs = _where_needed(groups, by_space, share, profile) if fits else place_groups(groups, by_space, share)
    return [Plan(space, locations, profile.capacity_of(space)) for space, locations in pairs.items()]


def _where_needed(
    groups: list[Group], by_space: dict[str, list[Buffer]], share: Share, profile: Profile
) -> dict[str, dict[Buffer, int]]:
    """Returns the addresses of all buffers, which share bytes where that costs nothing; in memories that are too small
    for this, where it costs least."""
    try:
        addresses = place_groups(groups, by_space, share)
        full = {space for space, by_buffer in addresses.items() if top_of(by_buffer) > _limit(space, profile)}
    except UnsupportedError:
        # Addresses that follow from each other leave no choice.
        addresses, full = {}, {*by_space}
    if not full:
        return addresses
    # Scales lie beside their operands: both memories are planned together.
    if groups:
        return place_groups(groups, by_space, always)
    cost = cost_of(share)
    return {
        space: (spread(buffers, cost, _limit(space, profile)) or pack(buffers)) if space in full else addresses[space]
        for space, buffers in by_space.items()
    }


def _limit(space: str, profile: Profile) -> float:
    """Returns the bytes of a memory that a planner may hand out."""
    capacity = profile.capacity_of(space)
    return profile.planner_limit.get(space, inf if capacity is None else capacity)


def _buffer(op: Operation, profile: Profile) -> Buffer | None:
    if isinstance(op, ReserveBufferOp):
        word = enumerator(op, "location")
        space = SPACE_ALIASES.get(word, word)
        base = None if integer_attribute(op, "autoAlloc") else integer_attribute(op, "base")
        return Buffer(op, space, integer_attribute(op, "size") or 0, BASE_ALIGNMENT[space].warning, base)
    if not has_role(op, Role.TILE_ALLOCATION) or is_view(op):
        return None
    kind = op.results[0].type
    tile = kind.slot if isinstance(kind, MultiTileBufType) else kind
    if not isinstance(tile, TileBufType):
        raise UnsupportedError(op, f"nobody knows where {space_of_type(kind) or 'it'} lies")
    space = space_of(tile, profile)
    size = buffer_extent(kind, profile.arch)
    operand = address_operand(op)
    address = None if operand is None else constant_of(operand)
    if operand is not None and not isinstance(address, int):
        raise UnsupportedError(op, "only a run knows its address")
    return Buffer(
        op, space, size, max(LEAST, BASE_ALIGNMENT[space].warning), address if isinstance(address, int) else None
    )
