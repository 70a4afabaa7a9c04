"""Loads and stores of registers and predicates. Source: docs/reference/vectors.md, "Loads and stores", "Predicates".

Loads return new arrays. Addresses are pointers with the byte offset of the access added.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pto_dialect.targets.vector_unit import VL_BYTES, VLANE_BYTES

from ..memory.spaces import Array, Pointer
from .register import lanes

BLOCKS = VL_BYTES // VLANE_BYTES


def _low(pointer: Pointer, start: int, size: int) -> int:
    """Returns the first byte of ``size`` bytes from ``start`` bytes after ``pointer``; raises a fault when they are not
    all in the memory."""
    low = pointer.offset + start
    if low < 0 or low + size > pointer.arena.capacity:
        pointer.arena.check(low, low + size, "vector access")
    return low


def window(pointer: Pointer, start: int, size: int) -> Array:
    """Returns ``size`` bytes from ``start`` bytes after ``pointer``; raises a fault when they are not all in the
    memory."""
    low = _low(pointer, start, size)
    return pointer.arena.bytes[low : low + size]


def _inside(pointer: Pointer, start: int, size: int) -> bool:
    low = pointer.offset + start
    return low >= 0 and low + size <= pointer.arena.capacity


# ------------------------------------------------------------ registers


def load(pointer: Pointer, start: int, dtype: Any) -> Array:
    """256 bytes in order."""
    element = np.dtype(dtype)
    item = element.itemsize
    return pointer.arena.array((VL_BYTES // item,), element, _low(pointer, start, VL_BYTES), (item,)).copy()


def load_broadcast(pointer: Pointer, start: int, dtype: Any, size: int) -> Array:
    """Returns one element, or block, of ``size`` bytes in every position."""
    content = window(pointer, start, size).tobytes()
    return np.frombuffer(bytearray(content * (VL_BYTES // size)), dtype)


def load_doubled(pointer: Pointer, start: int, dtype: Any, size: int) -> Array:
    """Returns every element of ``size`` bytes twice."""
    return np.repeat(window(pointer, start, VL_BYTES // 2).view(f"u{size}"), 2).view(dtype)


def load_every(pointer: Pointer, start: int, dtype: Any, size: int, step: int) -> Array:
    """Returns every ``step``-th element of ``size`` bytes; the missing ones at the end are 0."""
    result = np.zeros(VL_BYTES // size, f"u{size}")
    source = window(pointer, start, VL_BYTES).view(f"u{size}")
    result[: source.size // step] = source[::step]
    return result.view(dtype)


def load_downsampled(pointer: Pointer, start: int, dtype: Any, size: int) -> Array:
    """Returns every second element of 512 bytes."""
    return window(pointer, start, 2 * VL_BYTES).view(f"u{size}")[::2].copy().view(dtype)


def load_widened(pointer: Pointer, start: int, dtype: Any, size: int, factor: int) -> Array:
    """Returns the elements of ``size`` bytes, zero-extended to ``factor`` times as many."""
    return window(pointer, start, VL_BYTES // factor).view(f"u{size}").astype(f"u{size * factor}").view(dtype)


def load_by_block(pointer: Pointer, start: int, dtype: Any, size: int) -> Array:
    """Element j in all of block j."""
    return np.repeat(window(pointer, start, BLOCKS * size).view(f"u{size}"), VLANE_BYTES // size).view(dtype)


def load_pair(pointer: Pointer, start: int, dtype: Any, size: int) -> tuple[Array, Array]:
    """512 bytes: units of ``size`` bytes with even and with odd indices."""
    source = window(pointer, start, 2 * VL_BYTES).reshape(-1, size)
    low, high = (np.ascontiguousarray(source[part::2]).reshape(-1).view(dtype) for part in (0, 1))
    return low, high


def store_lanes(values: Array, pointer: Pointer, start: int, mask: Array, size: int) -> None:
    """The active lanes of ``size`` bytes in order, whatever the element type."""
    store_packed(values, pointer, start, mask, size, size)


def store_packed(values: Array, pointer: Pointer, start: int, mask: Array, wide: int, narrow: int) -> None:
    """The low ``narrow`` bytes of the active lanes of ``wide`` bytes, consecutively."""
    active = lanes(mask, wide)
    if active is not True and not active.any():
        return
    if active is True and narrow == wide:
        window(pointer, start, values.nbytes)[...] = values.view(np.uint8)
        return
    low = values.view(np.uint8).reshape(-1, wide)[:, :narrow]
    count = low.shape[0] if active is True else int(np.flatnonzero(active)[-1]) + 1
    target = window(pointer, start, count * narrow).reshape(count, narrow)
    if active is True:
        target[...] = low
    else:
        np.copyto(target, low[:count], where=active[:count, None])


def store_first(values: Array, pointer: Pointer, start: int, mask: Array, size: int) -> None:
    """Lane 0 alone, whatever the mask."""
    window(pointer, start, size)[...] = values.view(np.uint8)[:size]


def store_pair(low: Array, high: Array, pointer: Pointer, start: int, size: int) -> None:
    """Lanes of both registers alternating, whatever the mask."""
    target = window(pointer, start, 2 * VL_BYTES).reshape(-1, 2, size)
    target[:, 0] = low.view(np.uint8).reshape(-1, size)
    target[:, 1] = high.view(np.uint8).reshape(-1, size)


def load_blocks(pointer: Pointer, start: int, dtype: Any, stride: int, mask: Array) -> Array:
    """Returns the blocks of 32 bytes, ``stride`` blocks apart; those whose bit of a 32-bit lane is not set are 0."""
    result = np.zeros(VL_BYTES, np.uint8)
    blocks = np.flatnonzero(mask[::4][:BLOCKS]).tolist()
    size = len(blocks) * VLANE_BYTES
    if stride == 1 and blocks and blocks[-1] == len(blocks) - 1 and _inside(pointer, start, size):
        result[:size] = window(pointer, start, size)
        return result.view(dtype)
    for block in blocks:
        result[block * VLANE_BYTES : (block + 1) * VLANE_BYTES] = window(
            pointer, start + block * stride * VLANE_BYTES, VLANE_BYTES
        )
    return result.view(dtype)


def store_blocks(values: Array, pointer: Pointer, start: int, stride: int, mask: Array) -> None:
    """The active blocks of 32 bytes, ``stride`` blocks apart."""
    source = values.view(np.uint8)
    for block in np.flatnonzero(mask[::4][:BLOCKS]).tolist():
        lanes_of_block = slice(block * VLANE_BYTES, (block + 1) * VLANE_BYTES)
        window(pointer, start + block * stride * VLANE_BYTES, VLANE_BYTES)[...] = source[lanes_of_block]


# ------------------------------------------------------------ scattered addresses


def gather(pointer: Pointer, offsets: Array, mask: Array, dtype: np.dtype[Any]) -> Array:
    """lane i = element offsets[i]; elements narrower than the lanes are zero-extended."""
    size = dtype.itemsize
    count = VL_BYTES // size
    item = pointer.item_bytes if pointer.item_bytes < size else size
    result = np.zeros(count, f"u{size}")
    active = lanes(mask, size)
    unsigned = offsets.view(f"u{offsets.dtype.itemsize}")
    for lane in range(min(count, unsigned.size)) if active is True else np.flatnonzero(active).tolist():
        if lane < unsigned.size:
            result[lane] = window(pointer, int(unsigned[lane]) * item, item).view(f"u{item}")[0]
    return result.view(dtype)


def gather_blocks(pointer: Pointer, offsets: Array, mask: Array, dtype: np.dtype[Any]) -> Array:
    """block b = 32 bytes at byte offset offsets[b], where the bit of 32-bit lane b is set."""
    result = np.zeros(VL_BYTES, np.uint8)
    starts = offsets.view(np.uint32)
    for block in np.flatnonzero(mask[::4][:BLOCKS]).tolist():
        result[block * VLANE_BYTES : (block + 1) * VLANE_BYTES] = window(pointer, int(starts[block]), VLANE_BYTES)
    return result.view(dtype)


def scatter(values: Array, pointer: Pointer, offsets: Array, mask: Array) -> None:
    """element offsets[i] = lane i of the active lanes, the highest lane last; bytes take every second lane."""
    size = values.dtype.itemsize
    unsigned = offsets.view(f"u{offsets.dtype.itemsize}")
    step = 2 if size == 1 else 1
    active = np.broadcast_to(lanes(mask, size * step), (VL_BYTES // (size * step),))
    source = values.view(np.uint8).reshape(-1, size)
    for lane in np.flatnonzero(active).tolist():
        if lane < unsigned.size:
            window(pointer, int(unsigned[lane]) * size, size)[...] = source[lane * step]


# ------------------------------------------------------------ predicates


def load_mask(pointer: Pointer, start: int, dist: str) -> Array:
    """256 bits as they are (NORM), each of 128 twice (US), or every second of 512 (DS)."""
    size = {"NORM": 32, "US": 16, "DS": 64}[dist]
    bits = np.unpackbits(window(pointer, start, size), bitorder="little").view(np.bool_)
    if dist == "US":
        return np.repeat(bits, 2)
    return bits[::2].copy() if dist == "DS" else bits


def store_mask(mask: Array, pointer: Pointer, start: int, dist: str) -> None:
    """256 bits as they are (NORM), or every second one (PK)."""
    bits = mask[::2] if dist == "PK" else mask
    window(pointer, start, bits.size // 8)[...] = np.packbits(bits, bitorder="little")
