"""Loads, stores and atomic updates of work-items. Source: docs/reference/work-items.md, "Operations"."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from ..memory.spaces import Arena, Array, DType
from .addresses import AnyPointer, locations
from .items import Mask, WorkItems


class Combine(Protocol):
    """An atomic update: computes the new content of memory from the old one and the operands. ``label`` is its name."""

    label: str

    def __call__(self, old: Array, *operands: Array) -> Array:
        """Updates different locations, element by element."""
        ...

    def chain(self, start: Array, *operands: Array) -> tuple[Array, Array]:
        """Updates one location with the content ``start`` (shape [1, ...]), in order; returns what each reads, and the
        final content."""
        ...


class Element:
    """An element in memory: ``dtype`` of its parts and how many there are, ``parts`` 0 for a plain number."""

    __slots__ = ("dtype", "label", "nbytes", "parts")

    def __init__(self, dtype: DType, parts: int = 0) -> None:
        self.dtype = dtype
        self.parts = parts
        self.nbytes = dtype.itemsize * max(parts, 1)
        self.label = f"{parts}x{dtype.name}" if parts else dtype.name

    def shape(self, count: int) -> tuple[int, ...]:
        """Returns the shape of ``count`` elements."""
        return (count, self.parts) if self.parts else (count,)

    def read(self, arena: Arena, starts: Array) -> Array:
        """Elements at byte offsets."""
        return arena.take(starts, self.nbytes).view(self.dtype).reshape(self.shape(starts.size))

    def write(self, arena: Arena, starts: Array, values: Array) -> None:
        """Stores elements at byte offsets; of several at one location the last one wins."""
        raw = np.ascontiguousarray(values, self.dtype).reshape(starts.size, -1).view(np.uint8)
        arena.put(starts, raw)


def load(element: Element, items: WorkItems, mask: Mask, pointer: AnyPointer, offset: Any) -> Array:
    """Returns the element of each running work-item, zero for the others."""
    result: Array | None = None
    for arena, chosen, starts in locations(items, mask, pointer, offset, element.nbytes):
        values = element.read(arena, starts)
        if items.observer is not None:
            items.observer.access("reads", arena, chosen, starts, element.nbytes)
        if chosen is None:
            return values
        if result is None:
            result = np.zeros(element.shape(items.count), element.dtype)
        result[chosen] = values
    return np.zeros(element.shape(items.count), element.dtype) if result is None else result


def store(element: Element, items: WorkItems, mask: Mask, pointer: AnyPointer, offset: Any, value: Array) -> None:
    """Stores the value of each running work-item, in the order of their ids."""
    value = items.spread(value)
    for arena, chosen, starts in locations(items, mask, pointer, offset, element.nbytes):
        values = value if chosen is None else value[chosen]
        element.write(arena, starts, values)
        if items.observer is not None:
            items.observer.access("writes", arena, chosen, starts, element.nbytes, values)


def update(
    element: Element, combine: Combine, items: WorkItems, mask: Mask, pointer: AnyPointer, *operands: Array
) -> Array:
    """Performs atomic updates in the order of the work-items' ids.

    Returns the previous content for each running work-item, zero for the others.
    """
    spread = [items.spread(operand) for operand in operands]
    result = np.zeros(element.shape(items.count), element.dtype)
    for arena, chosen, starts in locations(items, mask, pointer, 0, element.nbytes):
        mine = spread if chosen is None else [operand[chosen] for operand in spread]
        before = arena.take(starts, element.nbytes)
        old = _updated(element, combine, arena, starts, mine)
        items.changes += not np.array_equal(before, arena.take(starts, element.nbytes))
        if items.observer is not None:
            items.observer.access(combine.label, arena, chosen, starts, element.nbytes)
        result[slice(None) if chosen is None else chosen] = old
    return result


def _updated(element: Element, combine: Combine, arena: Arena, starts: Array, operands: list[Array]) -> Array:
    """Updates at byte offsets, in order; returns the previous content for each."""
    old = np.empty(element.shape(starts.size), element.dtype)
    order = np.argsort(starts, kind="stable")
    distance = np.diff(starts[order])
    first = np.concatenate(([0], np.flatnonzero(distance) + 1))
    sizes = np.diff(np.concatenate((first, [starts.size])))
    if ((distance > 0) & (distance < element.nbytes)).any():
        rounds: list[Any] = [slice(number, number + 1) for number in range(starts.size)]
    elif sizes.max() == 1:
        rounds = [slice(None)]
    elif sizes.max() <= sizes.size:
        rounds = _rounds(order, first, sizes)
    else:
        for mine in np.split(order, first[1:]):
            location = starts[mine[:1]]
            old[mine], last = combine.chain(element.read(arena, location), *(operand[mine] for operand in operands))
            element.write(arena, location, last)
        return old
    for each in rounds:
        old[each] = element.read(arena, starts[each])
        element.write(arena, starts[each], combine(old[each], *(operand[each] for operand in operands)))
    return old


def _rounds(order: Array, first: Array, sizes: Array) -> list[Array]:
    """Splits accesses into rounds in which each location occurs once, so that accesses to one location keep their
    order.

    ``order`` sorts the accesses by location, ``first`` and ``sizes`` state the start and the number of the accesses of
    each location.
    """
    positions = np.empty(order.size, np.intp)
    positions[order] = np.arange(order.size) - np.repeat(first, sizes)
    return np.split(np.argsort(positions, kind="stable"), np.cumsum(np.bincount(positions))[:-1])
