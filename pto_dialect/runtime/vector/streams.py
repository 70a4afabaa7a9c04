"""Unaligned streams of vector stores and loads: their position, and their pending bytes.

A stream of stores collects bytes until a block of 32 is full; the rest of the last block is held in the state until a
flush at the position of the stream. A run stores it at once, unless its schedule holds it back as hardware does. A
stream of loads starts with the block around an address.

Source: docs/reference/vectors.md, "Loads and stores"; docs/reference/execution.md, "Scheduling".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pto_dialect.targets.vector_unit import MASK_BITS, VLANE_BYTES

from ..memory.spaces import Array, Pointer
from .memory import window
from .register import check_number

HOLDER = "holder"
"""Key of the chooser that decides whether a store that hardware may complete later is held back."""


class StoreStream:
    """The state of a stream of stores: ``base`` with the memory, the byte ``at`` where it continues, and the preceding
    bytes that are not in a full block yet. A stream without ``base`` has stored nothing.

    ``loose`` states that its position is unknown, ``held`` that a schedule holds these bytes back, ``site`` is for
    instrumented runs.
    """

    __slots__ = ("at", "base", "held", "loose", "site", "tail")

    def __init__(self, base: Pointer | None = None, at: int = 0, tail: Array | None = None) -> None:
        self.base = base
        self.at = at
        self.tail = tail
        self.loose = self.held = False
        self.site = 0

    @property
    def pending(self) -> int:
        """Number of the bytes that wait for the flush."""
        return 0 if self.tail is None else self.tail.size


class LoadStream:
    """The state of a stream of loads: the address ``primed`` whose block it holds; ``None`` after a load, when the
    block depends on how far the program advances."""

    __slots__ = ("primed",)

    def __init__(self, primed: int | None) -> None:
        self.primed = primed

    def fits(self, address: int) -> bool:
        """Returns whether a load from ``address`` may start in the block of the state."""
        return self.primed is None or _block(address) == _block(self.primed)


def _block(address: int) -> int:
    return address // VLANE_BYTES * VLANE_BYTES


# ------------------------------------------------------------ loads

BEGUN = LoadStream(None)


def prime(base: Pointer) -> LoadStream:
    """Returns the block around an address."""
    return LoadStream(base.offset)


# ------------------------------------------------------------ stores


def append(state: Any, content: Array, base: Pointer, start: int, control: Mapping[Any, Any]) -> StoreStream:
    """Stores the bytes of ``content`` from ``start`` bytes after ``base`` on; returns the state after them."""
    size, first = content.size, base.offset + start
    if not size:
        return state if isinstance(state, StoreStream) else StoreStream(base, first)
    at = first + size
    full = _block(at)
    known = isinstance(state, StoreStream) and state.base is not None and state.at == first
    before = state.tail if known and state.tail is not None else content[:0]
    holds = (known and state.held) or _holds(control)
    if holds:
        if first < 0 or at > base.arena.capacity:
            base.arena.check(first, at, "vector access")
        stored = np.concatenate([before, content])
        low = first - before.size
        if full > low:
            window(base, low - base.offset, full - low)[...] = stored[: full - low]
        tail = stored[max(full - low, 0) :]
    else:
        window(base, start, size)[...] = content
        tail = content[full - first :] if full > first else np.concatenate([before, content])
    following = StoreStream(base, at, tail.copy())
    following.held = holds and tail.size > 0
    return following


def append_lanes(state: Any, values: Array, base: Pointer, count: int, control: Mapping[Any, Any]) -> StoreStream:
    """Stores the first ``count`` elements of a register. Raises ``Fault`` if it does not have so many."""
    check_number("offset of pto.vstus", count, values.size)
    return append(state, values.view("u1")[: count * values.dtype.itemsize], base, 0, control)


def append_mask(state: Any, mask: Array, base: Pointer, step: int, control: Mapping[Any, Any]) -> StoreStream:
    """Stores one bit for each lane."""
    bits = np.packbits(mask[::step], bitorder="little")
    assert bits.size == MASK_BITS // step // 8
    return append(state, bits, base, 0, control)


def append_counted(state: Any, values: Array, base: Pointer, control: dict[Any, Any], advance: bool) -> StoreStream:
    """Stores the bytes counted by the last compaction at base + AR, and advances AR."""
    start, size = control.get("ar", 0), control.get("sqzn", 0)
    following = append(state, values.view("u1")[:size], base, start, control)
    if advance:
        control["ar"] = start + size
    elif following is not state:
        following.loose = True
    return following


def flush(state: Any, base: Pointer, offset: int) -> None:
    """Stores the bytes that a schedule has held back, before ``offset`` bytes after ``base``."""
    if isinstance(state, StoreStream) and state.held and state.tail is not None and state.base is not None:
        end = state.at - state.base.offset if state.loose else offset
        window(state.base if state.loose else base, end - state.tail.size, state.tail.size)[...] = state.tail


def _holds(control: Mapping[Any, Any]) -> bool:
    chooser = control.get(HOLDER)
    return chooser is not None and chooser.holds()
