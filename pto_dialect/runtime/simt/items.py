"""The work-items of one launch, and the mask of running ones.

A value of a work-item is an array whose first axis counts the work-items by linear id; an axis of extent 1 is a value
that all of them share.  Source: docs/reference/work-items.md, "Launches", "Queries".
"""

from __future__ import annotations

from functools import cached_property, lru_cache

import numpy as np

from pto_dialect.targets.work_items import GROUP_ITEMS, MAX_WORK_ITEMS

from ..faults import Fault
from ..instrumentation import Observer
from ..memory.spaces import Array

Mask = Array | None
"""The mask of running work-items, one boolean each; ``None`` for all of them."""


class Geometry:
    """The facts that follow from the dimensions of a launch alone; callers must not modify the arrays."""

    def __init__(self, dims: tuple[int, int, int]) -> None:
        x, y, z = dims
        self.dims = dims
        self.count = x * y * z
        self.numbers = np.arange(self.count, dtype=np.int32)
        self.ids = (self.numbers % x, self.numbers // x % y, self.numbers // (x * y)) if self.count else ()
        self.lanes = self.numbers % GROUP_ITEMS
        self.groups = -(-self.count // GROUP_ITEMS)
        self.present = (np.arange(self.groups * GROUP_ITEMS) < self.count).reshape(self.groups, GROUP_ITEMS)
        self.everyone = np.ones(self.count, np.bool_)

    @cached_property
    def lane_masks(self) -> dict[str, Array]:
        """Returns for each work-item the bits of the lanes that are its own, lower, higher, and so on."""
        own = np.uint32(1) << self.lanes.astype(np.uint32)
        lower = own - np.uint32(1)
        masks = {"eq": own, "lt": lower, "le": lower | own, "gt": ~(lower | own), "ge": ~lower}
        return {kind: bits.view(np.int32) for kind, bits in masks.items()}


@lru_cache(64)
def geometry_of(dims: tuple[int, int, int]) -> Geometry:
    """Returns the geometry of a launch of ``dims``.

    Raises: Fault: ``simt-max-threads`` for a negative dimension or more work-items than a launch may have.
    """
    count = dims[0] * dims[1] * dims[2]
    if min(dims) < 0 or count > MAX_WORK_ITEMS:
        text = "x".join(map(str, dims))
        raise Fault("simt-max-threads", f"a launch of {text} work-items; at most {MAX_WORK_ITEMS} run at once")
    return Geometry(dims)


class WorkItems:
    """The work-items of one launch while they run.

    ``returned`` marks those whose body has ended, ``clock`` counts the samples of the clock, ``changes`` the atomic
    updates that may have changed memory; ``observer`` observes accesses and barriers.
    """

    __slots__ = ("changes", "clock", "count", "geometry", "observer", "returned")

    def __init__(self, geometry: Geometry) -> None:
        self.geometry = geometry
        self.observer: Observer | None = None
        self.count = geometry.count
        self.changes = 0
        self.clock = 0
        self.returned: Mask = None

    def name(self, number: int) -> str:
        """Returns the name of a work-item for messages."""
        x, y, z = (int(axis[number]) for axis in self.geometry.ids)
        return f"work-item ({x}, {y}, {z})"

    # ------------------------------------------------------------ values

    def spread(self, value: Array) -> Array:
        """Returns one value for each work-item, shape [count, ...]."""
        return value if value.shape[0] == self.count else np.broadcast_to(value, (self.count, *value.shape[1:]))

    def grouped(self, value: Array) -> Array:
        """Returns values by group and lane, shape [groups, 32, ...]; lanes after the last work-item hold zeros."""
        value = self.spread(value)
        missing = self.geometry.groups * GROUP_ITEMS - self.count
        if missing:
            value = np.concatenate((value, np.zeros((missing, *value.shape[1:]), value.dtype)))
        return value.reshape(self.geometry.groups, GROUP_ITEMS, *value.shape[1:])

    def each(self, by_group: Array) -> Array:
        """Returns the value of its group for each work-item."""
        return np.repeat(by_group, GROUP_ITEMS, axis=0)[: self.count]

    # ------------------------------------------------------------ masks

    def whole(self, mask: Mask) -> Array:
        """Returns the mask as an array."""
        return self.geometry.everyone if mask is None else mask

    def active(self, mask: Mask) -> Array:
        """Returns which lanes of each group run, shape [groups, 32]."""
        return self.geometry.present if mask is None else self.grouped(mask)

    def some(self, mask: Array) -> bool:
        """Returns whether at least one work-item runs."""
        return bool(mask.any())

    def both(self, mask: Mask, condition: Array) -> Array:
        """Returns the running work-items for which ``condition`` holds."""
        condition = self.spread(condition)
        return condition if mask is None else mask & condition

    def but(self, mask: Mask, condition: Array) -> Array:
        """Returns the running work-items for which ``condition`` does not hold."""
        other = ~self.spread(condition)
        return other if mask is None else mask & other


def barrier(items: WorkItems, mask: Mask) -> None:
    """Makes all work-items whose body has not ended wait for each other.

    Raises: Fault: ``sync-deadlock`` when some of them are elsewhere.
    """
    waiting = items.whole(mask)
    missing = ~waiting if items.returned is None else ~(waiting | items.returned)
    if missing.any():
        first = items.name(int(np.flatnonzero(missing)[0]))
        counts = f"{int(waiting.sum())} of {items.count} work-items"
        raise Fault("sync-deadlock", f"{counts} wait at a barrier that {first} does not reach")
    if items.observer is not None:
        items.observer.synchronise()


def clock(items: WorkItems) -> int:
    """Returns the number of samples of the clock so far: it advances by one with each."""
    items.clock += 1
    return items.clock
