"""Run-time values of the order model: tiles, multi-buffers, pointers and views, and the bytes that they cover.

Source: docs/reference/execution.md, "Pointers, tiles and views"; docs/reference/layouts.md, "Views of global memory".
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product

BYTES = {"i1": 1, "i8": 1, "f16": 2, "bf16": 2, "i16": 2, "f32": 4, "i32": 4, "i64": 8}
_TILE = re.compile(r"tile_buf<(?:loc=)?(\w+), (?:dtype=)?([\dx]+)x(\w+)")
_ELEMENT = re.compile(r"([a-z]+\d+)[,>]")

Spans = tuple[tuple[int, int], ...]
"""Half-open byte ranges, ascending and disjoint."""


class Unmodelled(Exception):
    """The order model has no meaning for an operation or a value."""


class Inadmissible(Exception):
    """Arguments that a run refuses: a step that is not positive, a part outside of its view."""


@dataclass(frozen=True)
class Bytes:
    """Some bytes of one memory."""

    memory: str
    spans: Spans


@dataclass(frozen=True)
class Tile:
    """A row-major tile; ``pitch`` is the distance of rows in bytes."""

    memory: str
    base: int
    rows: int
    cols: int
    width: int
    pitch: int

    def bytes(self) -> Bytes:
        starts = (self.base + row * self.pitch for row in range(self.rows))
        return Bytes(self.memory, merged((start, start + self.cols * self.width) for start in starts))

    def element(self, index: int) -> Bytes:
        start = self.base + index // self.cols * self.pitch + index % self.cols * self.width
        return Bytes(self.memory, ((start, start + self.width),))

    def part(self, row: int, col: int, rows: int, cols: int) -> Tile:
        return replace(self, base=self.base + row * self.pitch + col * self.width, rows=rows, cols=cols)


@dataclass(frozen=True)
class Slots:
    """A multi-buffer of ``count`` equal tiles."""

    first: Tile
    count: int

    def slot(self, index: int) -> Tile:
        if not 0 <= index < self.count:
            raise Inadmissible(f"slot {index} of {self.count}")
        return replace(self.first, base=self.first.base + index * self.first.rows * self.first.pitch)


@dataclass(frozen=True)
class Pointer:
    """A byte address in a memory; ``width`` are the bytes of an element."""

    memory: str
    at: int
    width: int

    def ahead(self, elements: int) -> Pointer:
        return replace(self, at=self.at + elements * self.width)

    def burst(self, count: int, length: int, stride: int) -> Bytes:
        starts = (self.at + k * stride for k in range(max(count, 0)))
        return Bytes(self.memory, merged((start, start + length) for start in starts))


@dataclass(frozen=True)
class View:
    """A part of global memory: sizes and strides in elements."""

    start: Pointer
    sizes: tuple[int, ...]
    strides: tuple[int, ...]

    def bytes(self) -> Bytes:
        width, run = self.start.width, 1
        if self.strides and self.strides[-1] == 1:
            run = max(self.sizes[-1], 0)
            outer = list(zip(self.sizes[:-1], self.strides[:-1], strict=True))
        else:
            outer = list(zip(self.sizes, self.strides, strict=True))
        steps = product(*([k * stride for k in range(max(size, 0))] for size, stride in outer))
        starts = (self.start.at + sum(step) * width for step in steps)
        return Bytes(self.start.memory, merged((start, start + run * width) for start in starts))

    def part(self, offsets: tuple[int, ...], sizes: tuple[int, ...]) -> View:
        ahead = sum(offset * stride for offset, stride in zip(offsets, self.strides, strict=True))
        return View(replace(self.start, at=self.start.at + ahead * self.start.width), sizes, self.strides)


def merged(ranges: Iterable[tuple[int, int]]) -> Spans:
    """Byte ranges as ascending ranges that do not touch."""
    result: list[tuple[int, int]] = []
    for begin, end in sorted(ranges):
        if begin >= end:
            continue
        if result and begin <= result[-1][1]:
            result[-1] = (result[-1][0], max(end, result[-1][1]))
        else:
            result.append((begin, end))
    return tuple(result)


@lru_cache(1 << 16)
def common(one: Bytes, other: Bytes) -> tuple[int, int] | None:
    """The first range of bytes that both have."""
    if one.memory != other.memory:
        return None
    for begin, end in one.spans:
        for start, stop in other.spans:
            if begin < stop and start < end:
                return max(begin, start), min(end, stop)
    return None


@lru_cache(256)
def tile_shape(text: str) -> tuple[str, int, int, int]:
    """Memory, rows, columns and element width of a tile type."""
    match = _TILE.search(text)
    if match is None or match[3] not in BYTES:
        raise Unmodelled(f"type {text}")
    rows, cols = map(int, match[2].split("x"))
    return match[1], rows, cols, BYTES[match[3]]


@lru_cache(256)
def element_width(text: str) -> int:
    """Bytes of an element of a pointer or view type."""
    match = _ELEMENT.search(text.rpartition("x")[2] if "view" in text else text)
    if match is None:
        raise Unmodelled(f"type {text}")
    return BYTES[match[1]]


@lru_cache(256)
def number_list(text: str) -> tuple[int, ...]:
    """The numbers of an array attribute."""
    return tuple(int(number.split(":")[0]) for number in text.strip("[]").split(","))
