"""Flags with a number for each slot of a multi-buffer.

Where all that one pipe does in an iteration, and another in a later one, is in slots of one multi-buffer that the same
index chooses, an iteration has to wait only for the last one that had its slot. Each slot has a token; whoever comes
takes that of its slot and gives it back, so the tokens are balanced whatever the index does.
Source: docs/reference/synchronisation.md, "Multi-buffers".
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from xdsl.ir import Block, Operation, SSAValue

from pto_dialect.passes.accesses.dependences import Levels
from pto_dialect.passes.accesses.items import Flag, Item, Loop, Sequence
from pto_dialect.passes.accesses.locations import SLOTS, Extent, HandleLocations, MemoryLocation
from pto_dialect.passes.accesses.program import Reader
from pto_dialect.passes.accesses.setting import Setting

from .follow import Channel, Need
from .reuse import set_too_early
from .rings import EVENTS, MORE_SLOTS, NOT_THE_COUNTER, SET_TOO_EARLY, assign_ring_ids, rotations, use_single_id

Chosen = tuple[tuple[object, ...], tuple[Extent, ...]]
"""A multi-buffer and the index of a slot in it."""


class Slot(NamedTuple):
    """The slots of a multi-buffer: ``which`` is the index of the one that is used, known where an item begins."""

    chosen: Chosen
    which: SSAValue
    slots: int


def chosen_by(location: MemoryLocation) -> Chosen | None:
    """Returns the multi-buffer and the index of a slot that only a run determines."""
    frame = location.frame
    if isinstance(frame, tuple) and frame[0] == SLOTS and location.sides and location.sides[0].start.terms:
        return frame, location.sides[:1]
    return None


def sharing_reason(needs: Iterable[Need], later: Setting) -> str:
    """Why one flag for all iterations of a loop orders what is about slots; empty where it is what the slots need."""
    needs = list(needs)
    chosen = [chosen_by(location) for need in needs for location in (need.access.location, need.location)]
    if not all(chosen):
        return ""
    reason = rotations(needs, later)
    if reason is not None and reason[0] < 2:
        return ""
    counts = [frame[-1] for frame, _ in filter(None, chosen)]
    most = max((count for count in counts if isinstance(count, int)), default=0)
    return MORE_SLOTS if most > EVENTS else NOT_THE_COUNTER


def common_slot(
    needs: Iterable[Need], item: Item, sequence: Sequence, locations: HandleLocations, setting: Setting
) -> Slot | None:
    """Returns the slots that all of ``needs`` are about, if they are those of one multi-buffer with one index."""
    selected = {chosen_by(location) for need in needs for location in (need.access.location, need.location)}
    chosen = selected.pop() if len(selected) == 1 else None
    if chosen is None or item.op.parent is not sequence.block:
        return None
    frame, (side,) = chosen
    count = frame[-1]
    sources = {value for term, _ in side.start.terms for value in setting.sums.sources(term)}
    if not isinstance(count, int) or count > EVENTS or all(setting.fixed(value) for value in sources):
        return None
    levels = Levels(sequence.block)
    index = next((value for value in locations.indices.get(side.start, ()) if _ready(value, item.op, levels)), None)
    return None if index is None else Slot(chosen, index, count)


def _ready(value: SSAValue, op: Operation, levels: Levels) -> bool:
    """Returns whether ``value`` is defined before ``op``, which is in the block of ``levels``."""
    level = levels.of(value)
    if level != 1 or isinstance(value.owner, Block):
        return level < 2
    later = value.owner.next_op
    while later is not None and later is not op:
        later = later.next_op
    return later is op


def assign_slot_ids(loop: Loop, reader: Reader, channels: list[Channel]) -> bool:
    """Gives the flags with which slots are handed on inside of an iteration numbers for each slot too: otherwise one
    may be set again by the next iteration before it was taken. Where no numbers prevent that, the loop gives up its
    slots; whether it keeps them."""
    assign_ring_ids(loop)
    rotating = [flag for flag in loop.carried if flag.slot is not None]
    plain = [flag for flag in rotating if flag.ring is None]
    for back in plain:
        for flag in loop.body.flags:
            if not flag.carried and flag.chosen == back.chosen and back.before <= flag.after < flag.before:
                flag.slot, flag.count = back.slot, back.count
    if not rotating:
        return True
    for flag in set_too_early(loop, reader, channels):
        before = flag.chosen, flag.slot, flag.count
        for back in plain:
            if flag.sequence is loop.body and not flag.carried and back.before <= flag.after:
                flag.chosen, flag.slot, flag.count = back.chosen, back.slot, back.count
                if flag not in set_too_early(loop, reader, channels):
                    break
        else:
            flag.chosen, flag.slot, flag.count = before
    early = set_too_early(loop, reader, channels)
    if not early or (len(plain) == len(rotating) and {*early} <= {*_without_slots(loop, reader)}):
        return True
    for flag in [*loop.carried, *(flag for flag in loop.body.flags if not flag.carried)]:
        use_single_id(flag, loop, SET_TOO_EARLY)
    return False


def _without_slots(loop: Loop, reader: Reader) -> list[Flag]:
    """Returns the flags that could be set too early if there were no numbers for slots."""
    numbered = [flag for flag in (*loop.carried, *loop.body.flags) if flag.slot is not None]
    slots = [(flag.slot, flag.count) for flag in numbered]
    for flag in numbered:
        flag.slot, flag.count = None, 1
    early = set_too_early(loop, reader, [])
    for flag, (slot, count) in zip(numbered, slots, strict=True):
        flag.slot, flag.count = slot, count
    return early
