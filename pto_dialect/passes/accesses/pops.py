"""Tiles that are taken out of queues between cores.

An entry that lies in global memory is loaded into one of the consumer's local slots by MTE2, which nothing but a flag
orders against the pipes that read it there, nor against the next load into that slot. Other entries lie where they are
read when the operation has waited for them. Source: docs/reference/synchronisation.md, "Dependences".
"""

from __future__ import annotations

from collections import Counter

from xdsl.ir import Block, Operation

from pto_dialect.analysis.alias import Alias
from pto_dialect.analysis.queues import (
    action_of,
    entry,
    is_freed_by_pop,
    queue_id,
    queue_of,
    slot_count,
    uses_global_memory,
)
from pto_dialect.analysis.type_facts import integer_attribute
from pto_dialect.ir.core.types import TileBufType
from pto_dialect.ir.core.walk import walk

from .locations import HandleLocations, MemoryLocation


class Pops:
    """The tiles that one function takes out of queues through global memory."""

    def __init__(self, function: Operation, locations: HandleLocations) -> None:
        self.places = locations
        self.arch = locations.profile.arch
        self._numbered: dict[tuple[str, int], Operation] = {}
        pops: list[Operation] = []
        for op in walk(function):
            action = action_of(op)
            if action is None:
                continue
            if action.role == "init" and action.core is not None:
                self._numbered[action.core, queue_id(op)] = op
            elif action.role == "pop":
                pops.append(op)
        self._count: Counter[Operation] = Counter()
        self._blocks: dict[Operation, set[Block | None]] = {}
        for op in pops:
            init = queue_of(op, self._numbered)
            if init is not None:
                self._count[init] += 1
                self._blocks.setdefault(init, set()).add(op.parent)

    def loaded(self, op: Operation) -> tuple[MemoryLocation, ...]:
        """Returns where MTE2 loads the tile that ``op`` takes out of a queue; nothing for all other operations."""
        action = action_of(op)
        if action is None or action.role != "pop":
            return ()
        init, tile = queue_of(op, self._numbered), entry(op)
        if init is None or tile is None or not isinstance(tile.type, TileBufType):
            return ()
        if not uses_global_memory(init, self.arch):
            return ()
        locations = self.places.of(tile)
        slots = integer_attribute(init, "local_slot_num") or slot_count(init)
        if self._count[init] > slots or len(self._blocks[init]) > 1:
            # Several of these tiles use one slot in turn: the statements pop more entries than there are slots, or some
            # statements run more often than others.
            locations = tuple(location._replace(root=init, alias=Alias.MAY) for location in locations)
            self.places.put(tile, locations)
        return locations


def popped_slots(function: Operation, arch: str) -> dict[Operation, tuple[Operation, int]]:
    """Returns the operations of ``function`` that load the tile that they take out of a queue into a local slot: the
    queue and direction, by the initialisation, and the number of its slots."""
    numbered: dict[tuple[str, int], Operation] = {}
    slots: dict[Operation, tuple[Operation, int]] = {}
    for op in walk(function):
        action = action_of(op)
        if action is None:
            continue
        if action.role == "init" and action.core is not None:
            numbered[action.core, queue_id(op)] = op
        elif action.role == "pop":
            init, tile = queue_of(op, numbered), entry(op)
            if (
                init is not None
                and tile is not None
                and isinstance(tile.type, TileBufType)
                and is_freed_by_pop(init, arch)
            ):
                slots[op] = init, integer_attribute(init, "local_slot_num") or slot_count(init)
    return slots
