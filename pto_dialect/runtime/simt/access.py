"""Loads, stores and atomic updates of work-items. Source: numerics page, section 11."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..memory import Arena, Array, DType
from .addresses import AnyPointer, places
from .items import Mask, WorkItems

Combine = Callable[..., Array]
"""New content of memory from the old one and the operands of an atomic update."""


class Element:
    """An element in memory: ``dtype`` of its parts and how many there are, ``parts`` 0 for a plain number."""

    __slots__ = ("dtype", "label", "nbytes", "parts")

    def __init__(self, dtype: DType, parts: int = 0) -> None:
        self.dtype = dtype
        self.parts = parts
        self.nbytes = dtype.itemsize * max(parts, 1)
        self.label = f"{parts}x{dtype.name}" if parts else dtype.name

    def shape(self, count: int) -> tuple[int, ...]:
        """Shape of ``count`` elements."""
        return (count, self.parts) if self.parts else (count,)

    def read(self, arena: Arena, starts: Array) -> Array:
        """Elements at byte offsets."""
        return arena.take(starts, self.nbytes).view(self.dtype).reshape(self.shape(starts.size))

    def write(self, arena: Arena, starts: Array, values: Array) -> None:
        """Stores elements at byte offsets; of several at one place the last one stays."""
        raw = np.ascontiguousarray(values, self.dtype).reshape(starts.size, -1).view(np.uint8)
        arena.put(starts, raw)


def load(element: Element, items: WorkItems, mask: Mask, pointer: AnyPointer, offset: Any) -> Array:
    """The element of each running work-item, zero for the others."""
    result: Array | None = None
    for arena, chosen, starts in places(items, mask, pointer, offset, element.nbytes):
        values = element.read(arena, starts)
        if chosen is None:
            return values
        if result is None:
            result = np.zeros(element.shape(items.count), element.dtype)
        result[chosen] = values
    return np.zeros(element.shape(items.count), element.dtype) if result is None else result


def store(element: Element, items: WorkItems, mask: Mask, pointer: AnyPointer, offset: Any, value: Array) -> None:
    """Stores the value of each running work-item, in the order of their numbers."""
    items.stores += 1
    value = items.spread(value)
    for arena, chosen, starts in places(items, mask, pointer, offset, element.nbytes):
        element.write(arena, starts, value if chosen is None else value[chosen])


def update(
    element: Element, combine: Combine, items: WorkItems, mask: Mask, pointer: AnyPointer, *operands: Array
) -> Array:
    """Atomic updates, one after the other in the order of the work-items' numbers.

    Returns what each running work-item found in memory, zero for the others.
    """
    items.stores += 1
    spread = [items.spread(operand) for operand in operands]
    result = np.zeros(element.shape(items.count), element.dtype)
    for arena, chosen, starts in places(items, mask, pointer, 0, element.nbytes):
        mine = spread if chosen is None else [operand[chosen] for operand in spread]
        old = np.empty(element.shape(starts.size), element.dtype)
        for turn in turns(starts, element.nbytes):
            old[turn] = element.read(arena, starts[turn])
            element.write(arena, starts[turn], combine(old[turn], *(operand[turn] for operand in mine)))
        result[slice(None) if chosen is None else chosen] = old
    return result


def turns(starts: Array, nbytes: int) -> list[Any]:
    """Splits accesses into rounds without two of the same bytes, so that those of one place keep their order."""
    order = np.argsort(starts, kind="stable")
    ordered = starts[order]
    distance = np.diff(ordered)
    if (distance >= nbytes).all():
        return [slice(None)]
    if ((distance > 0) & (distance < nbytes)).any():
        return [slice(number, number + 1) for number in range(starts.size)]
    first = np.concatenate(([0], np.flatnonzero(distance) + 1))
    sizes = np.diff(np.concatenate((first, [starts.size])))
    turn = np.empty(starts.size, np.intp)
    turn[order] = np.arange(starts.size) - np.repeat(first, sizes)
    by_turn = np.argsort(turn, kind="stable")
    return np.split(by_turn, np.cumsum(np.bincount(turn))[:-1])
