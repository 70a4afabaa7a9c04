"""Loops and branches of work-items at run time. Source: language page, section 2.4 (``scf``)."""

from __future__ import annotations

import numpy as np

from ..faults import Fault
from ..memory import Array
from .items import Mask, WorkItems


class Loop:
    """The iterations of a loop whose bounds differ between work-items; ``number`` counts those that are over."""

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
        """The work-items that run this iteration."""
        return items.both(mask, self.number < self.trips)


def branches(items: WorkItems, mask: Mask, blocks: int) -> Array:
    """The block that each work-item is at: the first, or behind the last for those that do not run."""
    return np.where(items.whole(mask), 0, blocks)


def finish(items: WorkItems, mask: Array) -> None:
    """The bodies of these work-items have ended."""
    items.returned = mask.copy() if items.returned is None else items.returned | mask
