"""Loads and stores of logical vectors. Source: docs/reference/vectors.md, "Logical vectors".

Addresses are pointers with the byte offset of the access added; strides are in elements, those of blocks in blocks of
32 bytes. Only the bytes of active lanes are touched.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from pto_dialect.targets.vector_unit import VLANE_BYTES

from ..memory.spaces import Array, Pointer, strided_view
from .logical import chosen, reach
from .memory import window

DType = np.dtype[Any]


def _elements(pointer: Pointer, start: int, dtype: DType, count: int) -> Array:
    """Consecutive elements of the memory; a fault when they are not all in it."""
    size = dtype.itemsize
    low, arena = pointer.offset + start, pointer.arena
    if low < 0 or low + count * size > arena.capacity:
        arena.check(low, low + count * size, "vector access")
    return arena.array((count,), dtype, low, (size,))


# ------------------------------------------------------------ loads


def load(pointer: Pointer, start: int, dtype: DType, count: int) -> Array:
    """Consecutive elements."""
    return _elements(pointer, start, dtype, count).copy()


def load_widened(pointer: Pointer, start: int, dtype: DType, count: int, size: int) -> Array:
    """Consecutive elements of ``size`` bytes, zero-extended."""
    narrow = _elements(pointer, start, np.dtype(f"u{size}"), count)
    return narrow.astype(f"u{dtype.itemsize}").view(dtype)


def load_broadcast(pointer: Pointer, start: int, dtype: DType, count: int) -> Array:
    """Returns one element in every lane."""
    return np.repeat(load(pointer, start, dtype, 1), count)


def load_pair(pointer: Pointer, start: int, dtype: DType, count: int) -> tuple[Array, Array]:
    """Returns the elements with even and with odd indices."""
    both = load(pointer, start, dtype, 2 * count)
    return both[0::2].copy(), both[1::2].copy()


def load_groups(pointer: Pointer, start: int, dtype: DType, count: int, groups: int, stride: int) -> Array:
    """Group g = consecutive elements from element ``stride``·g on."""
    size = dtype.itemsize
    shape, strides = (groups, count // groups), (stride * size, size)
    return strided_view(pointer.shifted(start), shape, strides, dtype).copy().reshape(-1)


def load_group_values(pointer: Pointer, start: int, dtype: DType, count: int, groups: int, stride: int) -> Array:
    """Returns every lane of group g = the element ``stride``·g."""
    return np.repeat(load_groups(pointer, start, dtype, groups, groups, stride), count // groups)


def load_masked(pointer: Pointer, start: int, mask: Array, passthru: Array) -> Array:
    """Consecutive elements in the active lanes, ``passthru`` in the others."""
    if chosen(mask) is True:
        return load(pointer, start, passthru.dtype, mask.size)
    result = passthru.copy()
    addresses = np.flatnonzero(mask)
    if addresses.size:
        result[addresses] = _elements(pointer, start, passthru.dtype, int(addresses[-1]) + 1)[addresses]
    return result


def load_expanded(pointer: Pointer, start: int, mask: Array, passthru: Array) -> Array:
    """Returns the active lanes in order from consecutive elements, ``passthru`` in the others."""
    result = passthru.copy()
    count = int(np.count_nonzero(mask))
    if count:
        result[mask] = load(pointer, start, passthru.dtype, count)
    return result


def _blocks(pointer: Pointer, start: int, stride: int, size: int) -> Iterator[tuple[slice, Any]]:
    """Returns the blocks of ``size`` bytes of lanes, ``stride`` blocks apart: their bytes in the lanes, and
    in memory."""
    for number, low in enumerate(range(0, size, VLANE_BYTES)):
        high = min(low + VLANE_BYTES, size)
        yield slice(low, high), (pointer, start + number * stride * VLANE_BYTES, high - low)


def load_blocks(
    pointer: Pointer, start: int, dtype: DType, count: int, stride: int, mask: Array | None = None
) -> Array:
    """Returns the blocks of 32 bytes, ``stride`` blocks apart; lanes that are not active are 0."""
    result = np.zeros(count * dtype.itemsize, np.uint8)
    active = _active_bytes(mask, dtype.itemsize)
    for part, block_address in _blocks(pointer, start, stride, result.size):
        if active is True or active[part].all():
            result[part] = window(*block_address)
        elif active[part].any():
            addresses = np.flatnonzero(active[part])
            result[part][addresses] = window(*block_address)[addresses]
    return result.view(dtype)


# ------------------------------------------------------------ stores


def store(values: Array, pointer: Pointer, start: int, mask: Array | None = None) -> None:
    """Active lanes to consecutive elements."""
    active = True if mask is None else chosen(mask)
    if active is True:
        _elements(pointer, start, values.dtype, values.size)[...] = values
        return
    count = reach(active)
    if count:
        some = active[:count]
        target = _elements(pointer, start, values.dtype, count)
        if some.all():
            target[...] = values[:count]
        else:
            np.copyto(target, values[:count], where=some)


def store_pair(low: Array, high: Array, pointer: Pointer, start: int, mask: Array | None = None) -> None:
    """Lanes of both vectors alternating; a lane of the mask governs both."""
    both = np.empty(2 * low.size, low.dtype)
    both[0::2], both[1::2] = low, high
    active = True if mask is None else chosen(mask)
    store(both, pointer, start, None if active is True else np.repeat(active, 2))


def store_groups(values: Array, pointer: Pointer, start: int, groups: int, stride: int) -> None:
    """Group g to consecutive elements from element ``stride``·g on; where groups overlap, the last one wins."""
    size = values.dtype.itemsize
    rows = values.reshape(groups, -1)
    if abs(stride) < rows.shape[1]:
        for number, row in enumerate(rows):
            _elements(pointer, start + number * stride * size, row.dtype, row.size)[...] = row
    else:
        strided_view(pointer.shifted(start), rows.shape, (stride * size, size), values.dtype)[...] = rows


def store_low_bytes(values: Array, pointer: Pointer, start: int, groups: int, stride: int) -> None:
    """As ``store_groups``, of every lane only the lowest byte."""
    store_groups(values.view(np.uint8)[:: values.dtype.itemsize].copy(), pointer, start, groups, stride)


def store_compressed(values: Array, pointer: Pointer, start: int, mask: Array) -> None:
    """The active lanes to consecutive elements."""
    active_values = values[mask]
    if active_values.size:
        store(active_values, pointer, start)


def store_blocks(values: Array, pointer: Pointer, start: int, stride: int, mask: Array | None = None) -> None:
    """Active lanes to blocks of 32 bytes, ``stride`` blocks apart."""
    source = values.view(np.uint8)
    active = _active_bytes(mask, values.dtype.itemsize)
    for part, block_address in _blocks(pointer, start, stride, source.size):
        if active is True:
            window(*block_address)[...] = source[part]
        elif active[part].any():
            np.copyto(window(*block_address), source[part], where=active[part])


def _active_bytes(mask: Array | None, size: int) -> Any:
    active = True if mask is None else chosen(mask)
    return True if active is True else np.repeat(active, size)


# ------------------------------------------------------------ scattered addresses


def _active_addresses(offsets: Array, mask: Array) -> tuple[Array, Array]:
    """Returns the indices of the active lanes, and the addresses of their offsets; offsets have no sign."""
    active = np.flatnonzero(mask)
    return active, offsets.view(f"u{offsets.dtype.itemsize}")[active].astype(np.int64)


def gather(pointer: Pointer, offsets: Array, mask: Array, passthru: Array) -> Array:
    """lane i = element offsets[i] where active, else of ``passthru``; narrower elements are zero-extended."""
    result = passthru.copy()
    lanes, addresses = _active_addresses(offsets, mask)
    if lanes.size:
        size = min(pointer.item_bytes, passthru.dtype.itemsize)
        elements = _elements(pointer, 0, np.dtype(f"u{size}"), int(addresses.max()) + 1)
        result.view(f"u{result.dtype.itemsize}")[lanes] = elements[addresses]
    return result


def gather_bytes(pointer: Pointer, offsets: Array, mask: Array, passthru: Array) -> Array:
    """lane i = element at byte offset offsets[i] where active, else of ``passthru``."""
    result = passthru.copy()
    lanes, addresses = _active_addresses(offsets, mask)
    if lanes.size:
        size = passthru.dtype.itemsize
        memory = window(pointer, 0, int(addresses.max()) + size)
        rows = memory[addresses[:, None] + np.arange(size)]
        result[lanes] = np.ascontiguousarray(rows).view(passthru.dtype).reshape(-1)
    return result


def scatter(values: Array, pointer: Pointer, offsets: Array, mask: Array) -> None:
    """element offsets[i] = lane i of the active lanes, the highest lane last."""
    lanes, addresses = _active_addresses(offsets, mask)
    if lanes.size:
        _elements(pointer, 0, values.dtype, int(addresses.max()) + 1)[addresses] = values[lanes]
