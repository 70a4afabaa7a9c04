"""Exchange between the lanes of a group: votes, shuffles and reductions over the lanes that run.

Source: docs/reference/work-items.md, "Operations".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pto_dialect.targets.work_items import GROUP_ITEMS

from ..memory.spaces import Array
from .items import Mask, WorkItems


def vote_all(items: WorkItems, mask: Mask, pred: Array) -> Array:
    """Returns whether ``pred`` holds in all running lanes of the group."""
    return items.each(np.logical_and.reduce(items.grouped(pred) | ~items.active(mask), axis=1))


def vote_any(items: WorkItems, mask: Mask, pred: Array) -> Array:
    """Returns whether ``pred`` holds in some running lane of the group."""
    return items.each(np.logical_or.reduce(items.grouped(pred) & items.active(mask), axis=1))


def vote_uni(items: WorkItems, mask: Mask, pred: Array) -> Array:
    """Returns whether all running lanes of the group agree."""
    return vote_all(items, mask, pred) | ~vote_any(items, mask, pred)


def vote_ballot(items: WorkItems, mask: Mask, pred: Array) -> Array:
    """Returns a number whose bit i is set where lane i of the group runs and ``pred`` holds in it."""
    bits = (items.grouped(pred) & items.active(mask)).astype(np.uint32) << np.arange(GROUP_ITEMS, dtype=np.uint32)
    return items.each(np.bitwise_or.reduce(bits, axis=1).view(np.int32))


# ------------------------------------------------------------ shuffles


def by_index(lane: Array, operand: Array) -> Array:
    """Returns the lane that the operand names."""
    return operand + 0 * lane


def up(lane: Array, operand: Array) -> Array:
    """Returns the lane at this distance below."""
    return lane - operand


def down(lane: Array, operand: Array) -> Array:
    """Returns the lane at this distance above."""
    return lane + operand


def butterfly(lane: Array, operand: Array) -> Array:
    """Returns the lane whose index differs in these bits."""
    return lane ^ operand


SOURCES: dict[str, Callable[[Array, Array], Array]] = {"idx": by_index, "up": up, "down": down, "bfly": butterfly}
"""Source lane of each kind of shuffle, from the own lane and the operand."""


class Shuffle:
    """Values of other lanes in the own group of ``width`` lanes; for a lane that is outside of the group, or does not
    run, the own value."""

    def __init__(self, kind: str, width: int) -> None:
        self.source = SOURCES[kind]
        self.width = width
        self.label = f"shuffle_{kind}"

    def __call__(self, items: WorkItems, mask: Mask, value: Array, operand: Array) -> Array:
        """Returns the value of the source lane of each work-item."""
        numbers = items.geometry.numbers.astype(np.int64)
        lane = numbers % self.width
        source_lanes = self.source(lane, items.spread(operand).astype(np.int64))
        source = numbers - lane + source_lanes
        valid = (source_lanes >= 0) & (source_lanes < self.width) & (source < items.count)
        source = np.where(valid, source, numbers)
        if mask is not None:
            source = np.where(mask[source], source, numbers)
        return items.spread(value)[source]


# ------------------------------------------------------------ reductions


def _in_order(values: Array, active: Array, combine: Callable[[Array, Array], Any]) -> Array:
    """Returns ``combine`` over the active lanes of each row from the lowest on; 0 where there are none."""
    result = np.zeros(values.shape[0], values.dtype)
    started = np.zeros(values.shape[0], np.bool_)
    for lane in range(GROUP_ITEMS):
        value, runs = values[:, lane], active[:, lane]
        result = np.where(runs, np.where(started, combine(result, value), value), result)
        started = started | runs
    return result


class Reduction:
    """A reduction over the lanes of the group that run; ``unsigned`` compares the bits of integers."""

    def __init__(self, kind: str, unsigned: bool) -> None:
        self.combine = {"add": np.add, "max": np.fmax, "min": np.fmin}[kind]
        self.unsigned = unsigned and kind != "add"
        self.label = f"redux_{kind}"

    def __call__(self, items: WorkItems, mask: Mask, value: Array) -> Array:
        """Returns the result for each work-item; floats are added in increasing order of lanes."""
        values = items.grouped(value)
        if self.unsigned:
            values = values.view(f"u{values.dtype.itemsize}")
        return items.each(_in_order(values, items.active(mask), self.combine).view(value.dtype))
