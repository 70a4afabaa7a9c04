"""Loops and branches of work-items at run time. Source: docs/reference/core-dialects.md, "Operations"."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..faults import Fault
from ..memory.spaces import Array
from .addresses import Pointers
from .items import Mask, WorkItems


class Loop:
    """The iterations of a loop whose bounds differ between work-items; ``number`` counts the finished ones."""

    __slots__ = ("lower", "number", "step", "trips")

    def __init__(self, items: WorkItems, mask: Mask, lower: Array, upper: Array, step: Array) -> None:
        wrong = items.both(mask, step <= 0)
        if wrong.any():
            at = int(np.argmax(wrong))
            value = int(items.spread(step)[at])
            raise Fault("scf-step", f"the step of a loop must be positive, found {value} in {items.name(at)}")
        span = upper.astype(np.int64) - lower
        self.lower = lower
        self.step = np.where(step > 0, step, np.ones((), step.dtype))
        self.trips = np.where(upper > lower, -(-span // self.step), 0)
        self.number = 0

    @property
    def index(self) -> Array:
        """The index of this iteration."""
        return self.lower + (self.number * self.step).astype(self.lower.dtype)

    def running(self, items: WorkItems, mask: Mask) -> Array:
        """Returns the work-items that run this iteration."""
        return items.both(mask, self.number < self.trips)


class UnsignedLoop(Loop):
    """A loop whose bounds are compared as unsigned numbers."""

    __slots__ = ()

    def __init__(self, items: WorkItems, mask: Mask, lower: Array, upper: Array, step: Array) -> None:
        # Without their first bit, signed numbers are in the order of the unsigned ones.
        half = _least(lower)
        super().__init__(items, mask, lower ^ half, upper ^ half, step)

    @property
    def index(self) -> Array:
        """The index of this iteration."""
        return super().index ^ _least(self.lower)


def _least(numbers: Array) -> Array:
    return np.array(np.iinfo(numbers.dtype).min, numbers.dtype)


class LivelockDetector:
    """Detects that a loop, in which memory changes by atomic updates alone, repeats a state: it does not terminate.
    Work-items that have left the loop continue after it when all others have left it as well."""

    __slots__ = ("changes", "mask", "values")

    def __init__(self) -> None:
        self.changes = -1
        self.mask = np.zeros(0, np.bool_)
        self.values: tuple[Any, ...] = ()

    def check(self, items: WorkItems, mask: Array, *values: Any) -> None:
        """Checks the state after an iteration of the work-items in ``mask``; ``values`` are passed to the next one.

        Raises: Fault: ``sync-deadlock``.
        """
        if self.changes == items.changes and np.array_equal(self.mask, mask):
            pairs = zip(values, self.values, strict=True)
            if all(_bits(items, mask, now) == _bits(items, mask, before) for now, before in pairs):
                who = f"{int(mask.sum())} of {items.count} work-items, {items.name(int(np.argmax(mask)))} among them,"
                raise Fault("sync-deadlock", f"{who} wait in a loop for what others would do after it")
        self.changes, self.mask, self.values = items.changes, mask, values


def _bits(items: WorkItems, mask: Array, value: Any) -> bytes:
    if isinstance(value, Pointers):
        return _bits(items, mask, value.offset) + (b"" if value.which is None else _bits(items, mask, value.which))
    return items.spread(value)[mask].tobytes() if isinstance(value, np.ndarray) else repr(value).encode()


def branches(items: WorkItems, mask: Mask, blocks: int) -> Array:
    """Returns the block of each work-item: the first, or one past the last for those that do not run."""
    return np.where(items.whole(mask), 0, blocks)


def next_block(blocks: Array) -> int:
    """Returns the block that runs next: the first that has a work-item."""
    return int(blocks.min())


def finish(items: WorkItems, mask: Array) -> None:
    """Marks the bodies of these work-items as ended."""
    items.returned = mask.copy() if items.returned is None else items.returned | mask
