"""Leaves out of the steps of a launch what nobody reads: whole steps, and the ends of rows that only fill a tile."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pto_dialect.accel.replay.graph import span
from pto_dialect.accel.replay.steps import Between, Box, Step, Style
from pto_dialect.runtime.memory.spaces import Array

_MARK, _NO_MARK = b"\1", b"\0"


class _Marks:
    """Bytes of the memories of cores that a later step reads."""

    def __init__(self) -> None:
        self._pages: dict[int, bytearray] = {}

    SIZE = 1 << 16

    def parts(self, low: int, high: int, create: bool) -> list[tuple[int, bytearray, int, int]]:
        """Returns the marks of the bytes [low, high) in pieces: the first byte, and the page and the index of its
        marks."""
        found: list[tuple[int, bytearray, int, int]] = []
        while low < high:
            page, start = divmod(low, self.SIZE)
            stop = min(self.SIZE, start + high - low)
            marks = self._pages.get(page)
            if marks is None and create:
                marks = self._pages[page] = bytearray(self.SIZE)
            if marks is not None:
                found.append((low, marks, start, stop))
            low += stop - start
        return found

    def set(self, low: int, high: int, value: bool) -> None:
        """Marks bytes, or takes their marks."""
        for _, marks, start, stop in self.parts(low, high, value):
            marks[start:stop] = (_MARK if value else _NO_MARK) * (stop - start)

    def extent(self, low: int, high: int) -> tuple[int, int] | None:
        """Returns the first marked byte of [low, high) and the end of the last; ``None`` without any."""
        first = last = -1
        for begin, marks, start, stop in self.parts(low, high, False):
            place = marks.find(_MARK, start, stop)
            if place >= 0:
                first = begin + place - start if first < 0 else first
                last = begin + marks.rfind(_MARK, start, stop) - start + 1
        return None if first < 0 else (first, last)


def demanded(steps: Sequence[Step], buffers: Sequence[Array]) -> list[Step]:
    """Returns those of ``steps`` on which global memory, ``buffers``, depends in the end, cut to what is read of
    them."""
    marks, outer, found = _Marks(), [span(content) for content in buffers], list[Step]()
    wanted: set[int] = set()
    for step in reversed(steps):
        cut = _cut(step, marks, outer, wanted)
        if cut is None:
            continue
        found.append(cut)
        for place in cut.inputs:
            if isinstance(place, (np.ndarray, Box)):
                marks.set(*_bytes(place), True)
            elif isinstance(place, Between):
                wanted.add(place.number)
    found.reverse()
    return found


def _bytes(place: Array | Box) -> tuple[int, int]:
    return (place.start, place.start + place.layout.nbytes) if isinstance(place, Box) else span(place)


def _cut(step: Step, marks: _Marks, outer: Sequence[tuple[int, int]], wanted: set[int]) -> Step | None:
    """Returns what is needed of a step; its target is not needed before it."""
    target = step.target
    if not isinstance(target, (np.ndarray, Box)):
        return step if target.number in wanted else None
    low, high = _bytes(target)
    if any(start <= low and high <= end for start, end in outer):
        return step
    read = marks.extent(low, high)
    if read is None:
        return None
    if isinstance(target, Box):
        if (target.rows, target.cols) == (target.layout.rows, target.layout.cols):
            marks.set(low, high, False)
        return step
    item = target.itemsize
    if high - low != target.size * item:
        return step
    marks.set(low, high, False)
    if step.style is Style.EACH and max(target.shape) == target.size:
        first, last = (read[0] - low) // item, -(-(read[1] - low) // item)
        if (first, last) != (0, target.size) and all(_matches(x, target) for x in step.inputs):
            rows = slice(first, last) if target.shape[0] > 1 else slice(None)
            cols = slice(first, last) if target.shape[0] == 1 else slice(None)
            inputs = [x[rows, cols] if isinstance(x, np.ndarray) else x for x in step.inputs]
            return Step(step.style, step.function, inputs, target[rows, cols])
    return step


def _matches(value: Any, target: Array) -> bool:
    return isinstance(value, (int, float)) or (isinstance(value, np.ndarray) and value.shape == target.shape)
