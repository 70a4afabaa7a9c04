"""Private memory of each work-item. Source: docs/reference/execution.md, "Pointers, tiles and views";
docs/reference/core-dialects.md, "Operations"."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from ..faults import Fault
from ..memory.memref import MemRef, dense_strides
from ..memory.spaces import Arena, Array
from ..run.machine import Core
from .access import Element
from .addresses import Pointers
from .items import Mask, WorkItems


class PrivateArray:
    """Elements in row-major order, one array for each work-item; ``pointer`` is the start of each one."""

    __slots__ = ("pointer", "shape", "strides")

    def __init__(self, pointer: Pointers, shape: Sequence[int]) -> None:
        self.pointer = pointer
        self.shape = tuple(shape)
        self.strides = dense_strides(shape)


class PrivateMemory:
    """Allocates arrays of one element type."""

    def __init__(self, element: Element) -> None:
        self.element = element
        self.label = "private"

    def __call__(self, core: Core, items: WorkItems, shape: Sequence[int]) -> PrivateArray:
        """Returns new arrays with the fill pattern of the run."""
        nbytes = prod(shape) * self.element.nbytes
        arena = Arena("stack", nbytes * items.count, fill=core.block.options.fill)
        starts = np.arange(items.count) * nbytes
        return PrivateArray(Pointers((arena,), None, starts, self.element.dtype, self.element.nbytes), shape)


def element_number(items: WorkItems, mask: Mask, array: PrivateArray | MemRef, indices: tuple[Array, ...]) -> Array:
    """Returns the distance of an element from the first, in elements, for each work-item.

    Raises: Fault: ``mem-oob`` when an index of a running work-item is outside the extents.
    """
    distance = np.zeros(1, np.int64)
    for index, extent, stride in zip(indices, array.shape, array.strides, strict=True):
        wrong = items.both(mask, (index < 0) | (index >= extent))
        if wrong.any():
            at = int(np.argmax(wrong))
            position = [int(items.spread(other)[at]) for other in indices]
            shape = "x".join(map(str, array.shape))
            raise Fault("mem-oob", f"{items.name(at)} accesses element {position} of an array of shape {shape}")
        distance = distance + index * stride
    return distance
