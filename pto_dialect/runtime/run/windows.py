"""Memory of ranks that their peers can reach: a window for each rank, of one layout, adjacent in one memory.

A program reaches the window of a peer from its own by adding a distance, or by an address from the communication
context. Source: docs/ranks.md, "How a program addresses the memory of a peer".
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from pto_dialect.ir.core.extents import round_up

from ..faults import Fault
from ..memory.spaces import Arena, Array, ByteArray, DType, Pointer
from ..memory.values import content_of
from .machine import AddressMap
from .per_core import PartedPointer

MOST_RANKS = 64
"""Maximum number of ranks in a context."""

_ALIGNMENT = 512
"""Alignment of the buffers of a window in bytes."""
_GUARD = 4096
"""Bytes between windows, which must not be accessed."""
_HEAD = 4
"""Numbers of a context before the addresses: workspace, its size, rank and number of ranks, size of a window."""
_MOST_BYTES = AddressMap.GAP // 2
"""Windows of all ranks have one range of addresses."""


class Extent(NamedTuple):
    """One buffer of the window of one rank: bytes [``low``, ``high``) of the memory of all windows."""

    name: str
    rank: int
    low: int
    high: int

    @property
    def label(self) -> str:
        """For messages."""
        return f"gm '{self.name}' of rank {self.rank}"


class Layout:
    """Offsets of the buffers of windows; ``sizes`` has the bytes of each in order, ``stride`` is the distance between
    the windows of two consecutive ranks."""

    def __init__(self, sizes: Mapping[str, int], ranks: int) -> None:
        self.ranks = ranks
        self.sizes = dict(sizes)
        self.starts: dict[str, int] = {}
        end = 0
        for name, size in self.sizes.items():
            self.starts[name] = end
            # The gap between two buffers must not be accessed, so that an overflow of one is detected.
            end = round_up(end + size, _ALIGNMENT) + _ALIGNMENT
        self.size = end
        self.stride = round_up(end, _GUARD) + _GUARD
        self._names = list(self.starts)
        self._lows = list(self.starts.values())

    @property
    def nbytes(self) -> int:
        """Bytes of all windows."""
        return self.stride * self.ranks

    def extent(self, name: str, rank: int) -> Extent:
        """Returns the buffer ``name`` of ``rank``."""
        low = rank * self.stride + self.starts[name]
        return Extent(name, rank, low, low + self.sizes[name])

    def around(self, offset: int) -> Extent | None:
        """Returns the buffer that contains or precedes byte ``offset``; ``None`` before and after all windows."""
        rank, inside = divmod(offset, self.stride)
        if not 0 <= rank < self.ranks or not self._names:
            return None
        return self.extent(self._names[bisect_right(self._lows, inside) - 1], rank)

    def check(self, low: int, high: int, what: str) -> None:
        """Requires the bytes [low, high) to lie in one buffer. Raises ``Fault`` (``mem-oob``)."""
        window = self.around(low)
        if window is None:
            raise Fault("mem-oob", f"{what}: bytes [{low}, {high}) are in the window of no rank")
        if high > window.high:
            range_text = f"bytes [{low - window.low}, {high - window.low})"
            raise Fault(
                "mem-oob",
                f"{what}: {range_text} are outside {window.label}, which has {window.high - window.low} bytes",
            )


class Bounded(Arena):
    """A memory of windows: every access is in one buffer of one rank."""

    __slots__ = ()

    layout: Layout

    def array(self, shape: Sequence[int], dtype: DType, offset: int, byte_strides: Sequence[int]) -> Array:
        """As in ``Arena``. Raises ``Fault`` (``mem-oob``)."""
        low = high = offset
        for extent, stride in zip(shape, byte_strides, strict=True):
            low, high = (low, high + (extent - 1) * stride) if stride > 0 else (low + (extent - 1) * stride, high)
        text = f"access to {'x'.join(map(str, shape)) or '1'} elements of {dtype}"
        self.layout.check(low, high + dtype.itemsize, text)
        return super().array(shape, dtype, offset, byte_strides)

    def take(self, offsets: Array, nbytes: int) -> ByteArray:
        """As in ``Arena``. Raises ``Fault`` (``mem-oob``)."""
        self._check_all(offsets, nbytes)
        return super().take(offsets, nbytes)

    def put(self, offsets: Array, values: ByteArray) -> None:
        """As in ``Arena``. Raises ``Fault`` (``mem-oob``)."""
        self._check_all(offsets, values.shape[1])
        super().put(offsets, values)

    def place(self, offset: int) -> tuple[str, int]:
        """Returns the buffer of the rank."""
        window = self.layout.around(offset)
        return super().place(offset) if window is None else (window.label, offset - window.low)

    def _check_all(self, offsets: Array, nbytes: int) -> None:
        if offsets.size:
            self.layout.check(int(offsets.min()), int(offsets.max()) + nbytes, f"access to {nbytes} bytes")


class WindowArena(Bounded):
    """The windows of all ranks."""

    __slots__ = ("layout",)

    def __init__(self, layout: Layout, content: ByteArray) -> None:
        super().__init__("gm", layout.nbytes, name="windows")
        self.layout = layout
        self.move_to(content)


class World:
    """Some ranks and the memory of their windows.

    ``sizes`` has the bytes of each buffer of a window, by name. Raises ``ValueError`` for more ranks than a context can
    hold, and for windows that exceed the address range.
    """

    def __init__(self, ranks: int, sizes: Mapping[str, int]) -> None:
        if not 1 <= ranks <= MOST_RANKS:
            raise ValueError(f"there are 1 to {MOST_RANKS} ranks, found {ranks}")
        self.ranks = ranks
        self.layout = Layout(sizes, ranks)
        if self.layout.nbytes > _MOST_BYTES:
            raise ValueError(f"the windows of {ranks} ranks take more than {_MOST_BYTES >> 30} GiB")
        self.content: ByteArray = np.zeros(self.layout.nbytes, np.uint8)

    def array(self, name: str, rank: int, shape: Sequence[int], dtype: DType) -> Array:
        """Returns the buffer ``name`` in the window of ``rank``, shared with the programs."""
        extent = self.layout.extent(name, rank)
        return self.content[extent.low : extent.high].view(dtype).reshape(shape)

    def context(self, rank: int) -> Array:
        """Returns the communication context of a program of ``rank``: 132 numbers of 64 bits."""
        numbers = np.zeros(_HEAD + 2 * MOST_RANKS, np.int64)
        numbers[2] = rank | self.ranks << 32
        numbers[3] = self.layout.size
        addresses = AddressMap.GAP + self.layout.stride * np.arange(self.ranks, dtype=np.int64)
        for start in (_HEAD, _HEAD + MOST_RANKS):
            numbers[start : start + self.ranks] = addresses
        return numbers

    def offset_of(self, content: Array) -> int | None:
        """Returns the byte offset of an array in the windows; ``None`` for other memory."""
        first = self.content.__array_interface__["data"][0]
        distance = content.__array_interface__["data"][0] - first
        return distance if 0 <= distance < self.content.size else None

    def holds(self, value: Any) -> bool:
        """Returns whether a bound argument is over memory of a window."""
        content = content_of(value)
        return content is not None and self.offset_of(content) is not None

    def relocated(self, value: Any, arena: Arena) -> Any:
        """Returns a bound argument; one over memory of a window as a part of ``arena``, which has all of them."""
        pointer = value if isinstance(value, Pointer) else getattr(value, "pointer", None)
        if not isinstance(pointer, Pointer):
            return value
        offset = self.offset_of(pointer.arena.bytes)
        if offset is None:
            return value
        moved = Pointer(arena, pointer.offset + offset, pointer.dtype, pointer.item_bytes)
        if isinstance(value, Pointer):
            return value.at(moved) if isinstance(value, PartedPointer) else moved
        value.pointer = moved
        return value
