"""Sets of bytes that one access touches: runs at regular distances, or single elements.

Shadow memory has one cell for ``grain`` bytes, a power of two; a region is a multiple of its own ``grain`` everywhere,
so a shadow that is at least as fine describes it exactly.  Source: docs/reference/instrumentation.md, "Shadow memory".
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

Cells = npt.NDArray[Any]
Runs = list[tuple[int, int]]
"""Half-open ranges of bytes."""

MAX_GRAIN = 64
"""Bytes of the coarsest shadow cell."""


def grain_of(*numbers: int) -> int:
    """Returns the largest power of two, at most ``MAX_GRAIN``, that divides all numbers."""
    merged = MAX_GRAIN
    for number in numbers:
        merged |= number
    return merged & -merged


class ShadowRange:
    """A shadow range: cells with one record. ``readers`` has the last read by thread, and for a pipelined thread ``a``
    the previous one as that of ``~a``; event and tile numbers start at 1, 0 is none."""

    __slots__ = ("number", "owner", "readers", "size", "victim", "writer", "written")

    def __init__(self, number: int, size: int) -> None:
        self.number = number
        self.size = size
        self.writer = 0
        self.owner = 0
        self.victim = 0
        self.written = 0
        self.readers: dict[int, int] = {}

    def cut(self, number: int, size: int) -> ShadowRange:
        """Splits ``size`` cells off: they become the shadow range ``number``."""
        part = ShadowRange(number, size)
        part.writer, part.owner, part.victim, part.written = self.writer, self.owner, self.victim, self.written
        part.readers = self.readers.copy()
        self.size -= size
        return part


class Region:
    """``run`` bytes at ``offset`` + Σ i[d]·stride[d] for each index below the counts of ``dims``."""

    __slots__ = (
        "_content", "_placed", "_step", "dims", "grain", "offset", "places", "plain", "run", "size", "stop", "version",
    )  # fmt: skip

    def __init__(self, offset: int, run: int, dims: tuple[tuple[int, int], ...] = ()) -> None:
        self.offset = offset
        self.run = run
        self.dims = dims
        self._step = grain_of(run, *(stride for _, stride in dims))
        self.grain = grain_of(offset, self._step)
        self.stop = offset + run
        """The end of the bytes."""
        self.size = run
        """Number of bytes, those that occur twice counted twice."""
        self.plain = True
        """Whether no byte occurs twice."""
        for count, stride in dims:
            self.plain = self.plain and stride >= self.stop - offset
            self.stop += (count - 1) * stride
            self.size *= count
        self.places: list[ShadowRange] | None = None
        """The shadow ranges of the bytes, as of the shadow's ``version``."""
        self.version = -1
        self._content: Cells | None = None
        self._placed: dict[int, tuple[tuple[int, ...], int, tuple[int, ...]]] | None = None

    @staticmethod
    def of(offset: int, shape: Sequence[int], strides: Sequence[int], item: int) -> Region | None:
        """Returns the bytes of a strided array of elements of ``item`` bytes; ``None`` for no elements."""
        # Arrays of few shapes are accessed at many addresses.
        region = _at_zero(tuple(shape), tuple(strides), item)
        return None if region is None else region.moved(offset)

    def moved(self, offset: int) -> Region:
        """Returns the same bytes, ``offset`` further."""
        region = Region.__new__(Region)
        region.offset = start = self.offset + offset
        region.run = self.run
        region.dims = self.dims
        region._step = self._step
        merged = self._step | start
        region.grain = merged & -merged
        region.stop = self.stop + offset
        region.size = self.size
        region.plain = self.plain
        region.places = None
        region.version = -1
        region._content = None
        region._placed = None
        return region

    def cells(self, shadow: Cells, grain: int) -> Cells:
        """Returns the cells of the region in a shadow of that grain, as a view."""
        if not self.dims:
            return shadow[self.offset // grain : (self.offset + self.run) // grain]
        if self._placed is None:
            self._placed = {}
        placed = self._placed.get(grain)
        if placed is None:
            shape = (*(count for count, _ in self.dims), self.run // grain)
            strides = (*(stride // grain for _, stride in self.dims), 1)
            placed = self._placed[grain] = (shape, self.offset // grain, strides)
        shape, start, strides = placed
        item = shadow.itemsize
        return np.ndarray(shape, shadow.dtype, shadow, start * item, tuple([stride * item for stride in strides]))

    def content(self, memory: Cells) -> Cells:
        """Returns the bytes of the region as a view of its memory, always the same one."""
        cached = self._content
        if cached is None:
            cached = self._content = self.cells(memory, 1)
        return cached

    def set(self, shadow: Cells, grain: int, value: int | Cells) -> None:
        """Sets all cells of the region to one value, or each to its own in the order of ``cells``."""
        self.cells(shadow, grain)[...] = value

    def index(self, grain: int) -> Cells:
        """Returns the indices of the cells, each once."""
        return ascending(self.offsets()[::grain] // grain)

    def starts(self) -> Cells:
        """Returns the offsets of the first bytes of all runs."""
        total = np.array([self.offset])
        for count, stride in self.dims:
            total = ((np.arange(count) * stride)[:, None] + total).reshape(-1)
        return total

    def offsets(self) -> Cells:
        """Returns the offsets of all bytes, in the order of ``cells`` of grain 1."""
        total = np.arange(self.offset, self.offset + self.run)
        for count, stride in reversed(self.dims):
            total = (np.arange(count) * stride).reshape(-1, *(1,) * total.ndim) + total
        return total.reshape(-1)


@lru_cache(maxsize=4096)
def _at_zero(shape: tuple[int, ...], strides: tuple[int, ...], item: int) -> Region | None:
    """Returns the bytes of a strided array whose first element is at byte 0; they start before it where strides are
    negative."""
    offset = 0
    steps: list[tuple[int, int]] = []
    for count, stride in zip(shape, strides, strict=True):
        if count == 0:
            return None
        if count == 1 or stride == 0:
            continue
        if stride < 0:
            offset += (count - 1) * stride
            stride = -stride
        steps.append((stride, count))
    steps.sort()
    run = item
    dims: list[tuple[int, int]] = []
    for stride, count in steps:
        if not dims and stride <= run:
            run += (count - 1) * stride
        elif dims and dims[-1][0] * dims[-1][1] == stride:
            dims[-1] = (dims[-1][0] * count, dims[-1][1])
        else:
            dims.append((count, stride))
    return Region(offset, run, tuple(dims))


class Elements:
    """Single elements of ``item`` bytes at any offsets, as indexed accesses touch them."""

    __slots__ = ("grain", "item", "places", "starts", "version")

    plain = False

    def __init__(self, starts: Cells, item: int) -> None:
        self.starts = starts.reshape(-1)
        self.item = item
        merged = int(np.bitwise_or.reduce(self.starts)) if self.starts.size else 0
        self.grain = grain_of(merged, item)
        self.places: list[ShadowRange] | None = None
        self.version = -1

    @property
    def offset(self) -> int:
        """The first byte."""
        return int(self.starts.min())

    @property
    def stop(self) -> int:
        """The end of the bytes."""
        return int(self.starts.max()) + self.item

    @property
    def size(self) -> int:
        """Number of bytes, those that occur twice counted twice."""
        return self.starts.size * self.item

    def _index(self, grain: int) -> Cells:
        return (self.starts[:, None] // grain + np.arange(self.item // grain)).reshape(-1)

    def index(self, grain: int) -> Cells:
        """Returns the indices of the cells, each once."""
        return ascending(self._index(grain))

    def cells(self, shadow: Cells, grain: int) -> Cells:
        """Returns the cells of the elements, as a copy."""
        return shadow[self._index(grain)]

    def content(self, memory: Cells) -> Cells:
        """Returns the bytes of the elements, as a copy."""
        return self.cells(memory, 1)

    def set(self, shadow: Cells, grain: int, value: int | Cells) -> None:
        """As in ``Region``."""
        shadow[self._index(grain)] = value

    def offsets(self) -> Cells:
        """Returns the offsets of all bytes."""
        return self._index(1)


Bytes = Region | Elements


def have_common_bytes(one: Bytes, other: Bytes) -> bool:
    """Returns whether two sets of bytes of one memory have a byte in common."""
    if one.offset >= other.stop or other.offset >= one.stop:
        return False
    if isinstance(one, Region) and isinstance(other, Region):
        if not one.dims and not other.dims:
            return True
        low = min(one.offset, other.offset)
        return _regions_meet(one.run, one.dims, one.offset - low, other.run, other.dims, other.offset - low)
    return _runs_meet(*_sorted_runs(one), *_sorted_runs(other))


@lru_cache(maxsize=4096)
def _regions_meet(
    run: int, dims: tuple[tuple[int, int], ...], offset: int,
    other_run: int, other_dims: tuple[tuple[int, int], ...], other_offset: int,
) -> bool:  # fmt: skip
    # Programs repeat few patterns.
    one, other = Region(offset, run, dims), Region(other_offset, other_run, other_dims)
    return _runs_meet(*_sorted_runs(one), *_sorted_runs(other))


def _sorted_runs(one: Bytes) -> tuple[Cells, int]:
    """Returns the starts of its runs of bytes, ascending, and their lengths."""
    if isinstance(one, Elements):
        return np.sort(one.starts), one.item
    return np.sort(one.starts()), one.run


def _runs_meet(starts: Cells, run: int, others: Cells, other_run: int) -> bool:
    """Returns whether a run of the first kind overlaps one of the second."""
    # Of the first runs that start before the end of one of the others, the last one reaches the farthest.
    before = np.searchsorted(starts, others + other_run) - 1
    known = before >= 0
    return bool(np.any(starts[before[known]] + run > others[known]))


_SMALL = 1 << 14
"""Number of cells up to which comparing a copy of the bytes is faster than a search by numpy."""


def uniform(values: Cells) -> int | None:
    """Returns the value that all of ``values`` have; ``None`` where they differ."""
    if values.size <= _SMALL:
        raw = values.tobytes()
        same = raw == raw[: values.itemsize] * values.size
    else:
        same = np.minimum.reduce(values, None) == np.maximum.reduce(values, None)
    return int(values.item(0)) if same else None


def distinct(values: Cells) -> list[int]:
    """Returns the different values, ascending."""
    only = uniform(values)
    return [int(value) for value in ascending(values)] if only is None else [only]


def ascending(values: Cells) -> Cells:
    """Returns the different values in order; on short arrays faster than numpy's own search by hashing."""
    result = np.sort(values, axis=None)
    return result[np.concatenate(([True], result[1:] != result[:-1]))] if result.size else result


def byte_runs(offsets: Cells) -> Runs:
    """Returns offsets as half-open ranges [first, end), ascending."""
    ordered = ascending(offsets)
    if not ordered.size:
        return []
    cuts = np.flatnonzero(np.diff(ordered) != 1) + 1
    starts = np.concatenate(([0], cuts))
    stops = np.concatenate((cuts, [ordered.size]))
    return [(int(ordered[a]), int(ordered[b - 1]) + 1) for a, b in zip(starts, stops, strict=True)]
