"""Values that work-items retain from one launch to the next. Source: docs/reference/work-items.md, "Operations".

A slot has 32 bits for each work-item; values of 64 bits take two.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pto_dialect.targets.work_items import MAX_WORK_ITEMS

from ..memory.spaces import POISON, Array, DType
from ..run.machine import Core
from .items import Mask, WorkItems

KEY = "simt_slots"
"""Key of the slots of a core: 32-bit words by slot id."""


def _content_of(core: Core, slot: int) -> Array:
    slots: dict[int, Array] = core.state.setdefault(KEY, {})
    content = slots.get(slot)
    if content is None:
        start = 0 if core.block.options.fill == "zero" else POISON * 0x01010101
        content = slots[slot] = np.full(MAX_WORK_ITEMS, start, np.uint32)
    return content


def keep(core: Core, items: WorkItems, mask: Mask, slot: int, value: Array) -> None:
    """Saves the value of each running work-item."""
    chosen: Any = slice(items.count) if mask is None else np.flatnonzero(mask)
    value = np.ascontiguousarray(items.spread(value))
    if value.dtype.itemsize == 8:
        halves = value.view(np.uint32).reshape(items.count, 2)
        words = {slot: halves[:, 0], slot + 1: halves[:, 1]}
    else:
        words = {slot: value.view(f"u{value.dtype.itemsize}").astype(np.uint32)}
    for number, bits in words.items():
        _content_of(core, number)[chosen] = bits if mask is None else bits[chosen]


def resume(core: Core, items: WorkItems, slot: int, dtype: DType) -> Array:
    """Returns the retained value of each work-item, low bits first."""
    low = _content_of(core, slot)[: items.count]
    if dtype.itemsize == 8:
        return np.stack((low, _content_of(core, slot + 1)[: items.count]), axis=1).reshape(-1).view(dtype)
    return low.astype(f"u{dtype.itemsize}").view(dtype)
