"""Sorting and merging of (score, index) records of eight bytes. Source: docs/reference/vectors.md, "Reductions and
rearrangement".
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..memory.spaces import Array, Pointer
from .memory import window

RECORD = 8
SORTED = 32
"""Records that one repeat of a sort orders."""

REPEAT_BITS, LIST_BITS, STOP_BIT = 0xFF, 8, 12


def bit_sort(destination: Pointer, source: Pointer, indices: Pointer, repeats: int) -> None:
    """Groups of 32 scores with their indices, descending and stable, as records."""
    size = source.item_bytes
    for repeat in range(repeats):
        scores = window(source, repeat * SORTED * size, SORTED * size).view(source.dtype)
        numbers = window(indices, repeat * SORTED * 4, SORTED * 4).view(np.uint32)
        order = _descending(scores)
        records = np.zeros((SORTED, RECORD), np.uint8)
        records[:, :size] = scores[order].view(np.uint8).reshape(SORTED, size)
        records[:, 4:] = numbers[order].view(np.uint8).reshape(SORTED, 4)
        window(destination, repeat * SORTED * RECORD, SORTED * RECORD)[...] = records.reshape(-1)


def _descending(scores: Array) -> Array:
    return np.argsort(-np.asarray(scores, np.float64), kind="stable")


def merge_sort(
    destination: Pointer, sources: tuple[Pointer, ...], count: int, config: int, state: dict[Any, Any]
) -> None:
    """Merges up to four descending lists; the numbers of records taken are kept for ``get_vms4_sr``."""
    lengths = [count >> (16 * number) & 0xFFFF for number in range(4)]
    taken = [0] * 4
    size = sources[0].item_bytes
    written = 0
    for repeat in range(max(config & REPEAT_BITS, 1)):
        lists = [
            window(sources[number], repeat * sum(lengths) * RECORD, lengths[number] * RECORD).reshape(-1, RECORD)
            if config >> (LIST_BITS + number) & 1
            else np.zeros((0, RECORD), np.uint8)
            for number in range(4)
        ]
        merged, taken = _merged(lists, size, sources[0].dtype, bool(config >> STOP_BIT & 1))
        window(destination, written * RECORD, len(merged) * RECORD)[...] = merged.reshape(-1)
        written += len(merged)
    state["vms4"] = tuple(taken)


def _merged(lists: list[Array], size: int, dtype: np.dtype[Any], stop: bool) -> tuple[Array, list[int]]:
    scores = [np.asarray(np.ascontiguousarray(part[:, :size]).view(dtype).reshape(-1), np.float64) for part in lists]
    places = [0] * len(lists)
    result: list[Array] = []
    used = [number for number, part in enumerate(lists) if len(part)]
    while True:
        left = [number for number in used if places[number] < len(lists[number])]
        if not left or (stop and len(left) < len(used)):
            break
        best = max(left, key=lambda number: (scores[number][places[number]], -number))
        result.append(lists[best][places[best]])
        places[best] += 1
    return (np.array(result) if result else np.zeros((0, RECORD), np.uint8)), places
