"""Sorting and merging of (score, index) records of eight bytes. Source: docs/reference/vectors.md, "Reductions and
rearrangement".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..memory.spaces import Array, Pointer
from .memory import window
from .register import check_number

RECORD = 8
SORTED = 32
"""Records that one repeat of a sort orders."""

REPEAT_BITS, LIST_BITS, STOP_BIT = 0xFF, 8, 12


def bit_sort(destination: Pointer, source: Pointer, indices: Pointer, repeats: int) -> None:
    """Groups of 32 scores with their indices, descending and stable, as records. Raises ``Fault`` for fewer than 0."""
    check_number("repeat_times of pto.vbitsort", repeats)
    size = source.item_bytes
    for repeat in range(repeats):
        scores = window(source, repeat * SORTED * size, SORTED * size).view(source.dtype)
        numbers = window(indices, repeat * SORTED * 4, SORTED * 4).view(np.uint32)
        order = np.argsort(-np.asarray(scores, np.float64), kind="stable")
        records = np.zeros((SORTED, RECORD), np.uint8)
        records[:, :size] = scores[order].view(np.uint8).reshape(SORTED, size)
        records[:, 4:] = numbers[order].view(np.uint8).reshape(SORTED, 4)
        window(destination, repeat * SORTED * RECORD, SORTED * RECORD)[...] = records.reshape(-1)


def merge_sort(
    destination: Pointer, sources: tuple[Pointer, ...], count: int, config: int, state: dict[Any, Any]
) -> None:
    """Merges up to four descending lists; the numbers of records taken are stored for ``get_vms4_sr``."""
    lengths = [count >> (16 * number) & 0xFFFF for number in range(4)]
    taken: list[int] = []
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
    scores = [np.ascontiguousarray(part[:, :size]).view(dtype).reshape(-1) for part in lists]
    order, counts = merge_order(scores, stop)
    return np.concatenate(lists)[order], counts.tolist()


def merge_order(scores: Sequence[Array], stop: bool = False) -> tuple[Array, Array]:
    """Returns the order in which a merge takes the elements of lists, which are numbered consecutively through all of
    them, and how many it takes from each: the largest of the heads of the lists, of equal ones that of the first list.
    With ``stop`` it takes no more when a list that was not empty is exhausted."""
    keys = np.concatenate([falling(part) for part in scores])
    origin = np.repeat(np.arange(len(scores)), [part.size for part in scores])
    order = np.argsort(-keys, kind="stable")
    if stop:
        ends = [int(np.flatnonzero(origin[order] == number)[-1]) for number, part in enumerate(scores) if part.size]
        order = order[: min(ends, default=order.size - 1) + 1]
    return order, np.bincount(origin[order], minlength=len(scores))


def falling(scores: Array) -> Array:
    """Returns the running minimum by which a merge takes elements of lists, along the last axis: an element larger than
    its predecessors waits for them. NaN counts as smallest."""
    numbers = np.asarray(scores, np.float64)
    return np.minimum.accumulate(np.where(np.isnan(numbers), -np.inf, numbers), axis=-1)
