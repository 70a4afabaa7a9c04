"""Addresses of work-items: one pointer type, as many addresses as work-items. Source: docs/reference/execution.md,
"Pointers, tiles and views".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..faults import Fault
from ..memory.spaces import Arena, Array, DType, Pointer
from ..run.machine import AddressMap, Core
from .items import Mask, WorkItems


@dataclass(slots=True, eq=False)
class Pointers:
    """One address for each work-item.

    ``offset`` holds byte offsets, int64 [count] or [1]; ``which`` the index of each work-item's memory in ``arenas``,
    ``None`` where all point into the only one.
    """

    arenas: tuple[Arena, ...]
    which: Array | None
    offset: Array
    dtype: DType
    item_bytes: int

    def advance(self, elements: Any) -> Pointers:
        """Returns the pointers ``elements`` elements further."""
        return Pointers(self.arenas, self.which, self.offset + elements * self.item_bytes, self.dtype, self.item_bytes)

    def with_dtype(self, dtype: npt.DTypeLike, item_bytes: int | None = None) -> Pointers:
        """Returns the same addresses seen as elements of another type."""
        dtype = np.dtype(dtype)
        return Pointers(self.arenas, self.which, self.offset, dtype, item_bytes or dtype.itemsize)


AnyPointer = Pointer | Pointers


def pointers(value: AnyPointer) -> Pointers:
    """Returns a pointer that all work-items share as one for each."""
    if isinstance(value, Pointers):
        return value
    return Pointers((value.arena,), None, np.array([value.offset]), value.dtype, value.item_bytes)


def advanced(pointer: AnyPointer, elements: Array) -> Pointers:
    """Returns the pointers ``elements`` (int64 [count] or [1]) elements further."""
    return pointers(pointer).advance(elements)


def choose_pointers(condition: Array, a: AnyPointer, b: AnyPointer) -> Pointers:
    """Returns ``a`` where ``condition`` holds, otherwise ``b``."""
    first, second = pointers(a), pointers(b)
    offset = np.where(condition, first.offset, second.offset)
    if first.which is None and second.which is None and first.arenas[0] is second.arenas[0]:
        return Pointers(first.arenas, None, offset, first.dtype, first.item_bytes)
    known = list(first.arenas)
    numbers: list[int] = []
    for arena in second.arenas:
        locations = [number for number, other in enumerate(known) if other is arena]
        numbers.append(locations[0] if locations else len(known))
        if not locations:
            known.append(arena)
    mine = np.zeros(1, np.intp) if first.which is None else first.which
    other = np.array(numbers)[np.zeros(1, np.intp) if second.which is None else second.which]
    which = np.where(condition, mine, other)
    return Pointers(tuple(known), which, offset, first.dtype, first.item_bytes)


# ------------------------------------------------------------ numbers


def addresses_of(core: Core, value: AnyPointer) -> Array:
    """Returns byte addresses, int64."""
    addresses = pointers(value)
    bases = np.array([core.address_of(Pointer(arena, 0, addresses.dtype)) for arena in addresses.arenas], np.int64)
    return addresses.offset + (bases[0] if addresses.which is None else bases[addresses.which])


@dataclass(eq=False)
class PointersAt:
    """Builds pointers of one type from byte addresses."""

    label = "pointers_at"

    space: str
    dtype: DType
    item_bytes: int

    def __call__(self, core: Core, items: WorkItems, mask: Mask, addresses: Array) -> Pointers:
        """Returns the pointers to byte ``addresses`` of the memory; those of inactive work-items are meaningless."""
        if mask is not None:
            addresses = items.spread(addresses)
            addresses = np.where(mask, addresses, addresses[int(np.argmax(mask))])
        ranges = (addresses + AddressMap.GAP // 2) // AddressMap.GAP
        numbers, which = np.unique(ranges, return_inverse=True)
        arenas: list[Arena] = []
        starts: list[int] = []
        for number in numbers:
            first = int(addresses[int(np.argmax(ranges == number))])
            arena, offset = core.locate(self.space, first)
            arenas.append(arena)
            starts.append(offset - first)
        offset = addresses + np.array(starts, np.int64)[which]
        return Pointers(tuple(arenas), which if len(arenas) > 1 else None, offset, self.dtype, self.item_bytes)


# ------------------------------------------------------------ addresses of elements


def locations(
    items: WorkItems, mask: Mask, pointer: AnyPointer, offset: Array | int, nbytes: int
) -> Iterator[tuple[Arena, Array | None, Array]]:
    """Yields the locations that the running work-items access, ``nbytes`` bytes each.

    ``offset`` counts elements. Yields for each memory: the memory, the ids of the work-items (``None`` for all of
    them), and their byte offsets.

    Raises: Fault: ``mem-oob`` for an access outside the memory.
    """
    if isinstance(pointer, Pointer):
        arenas, which = (pointer.arena,), None
    else:
        arenas, which = pointer.arenas, pointer.which
    low = pointer.offset + offset * pointer.item_bytes
    starts = np.broadcast_to(low, items.count) if not isinstance(low, np.ndarray) else items.spread(low)
    chosen = None if mask is None else np.flatnonzero(mask)
    if chosen is not None:
        starts = starts[chosen]
    if which is None:
        yield _checked(items, arenas[0], chosen, starts, nbytes)
        return
    which = items.spread(which)
    everyone = np.arange(items.count) if chosen is None else chosen
    which = which[everyone]
    for number, arena in enumerate(arenas):
        mine = which == number
        if mine.any():
            yield _checked(items, arena, everyone[mine], starts[mine], nbytes)


def _checked(
    items: WorkItems, arena: Arena, chosen: Array | None, starts: Array, nbytes: int
) -> tuple[Arena, Array | None, Array]:
    if starts.size and (starts.min() < 0 or starts.max() + nbytes > arena.capacity):
        if arena.reaches(int(starts.min()), int(starts.max()) + nbytes):
            return arena, chosen, starts
        wrong = int(np.flatnonzero((starts < 0) | (starts + nbytes > arena.capacity))[0])
        number = wrong if chosen is None else int(chosen[wrong])
        low = int(starts[wrong])
        raise Fault(
            "mem-oob",
            f"{items.name(number)} accesses bytes [{low}, {low + nbytes}) outside {arena.label}, which has "
            f"{arena.capacity} bytes",
        )
    return arena, chosen, starts


def pointer_after(core: Core, value: Any) -> AnyPointer:
    """Returns the pointer, or one for each work-item, of a pointer, view or memref."""
    pointer = getattr(value, "pointer", value)
    return pointer if isinstance(pointer, Pointers) else core.pointer_of(value)
