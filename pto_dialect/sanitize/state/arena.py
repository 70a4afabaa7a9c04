"""Instrumented memories: every access is reported before it happens.

Source: docs/reference/instrumentation.md, "Shadow memory".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from pto_dialect.runtime.memory.spaces import POISON, Arena, Array, DType, put, taken

from .regions import Bytes, Elements, Region
from .shadow import Shadow
from .window import Window

_REGIONS = 4096
"""Maximum number of cached regions; programs repeat few patterns."""


class Numbers(Protocol):
    """Checks the accessed elements."""

    def read(self, data: Array) -> None:
        """Checks elements that are about to be read."""
        ...

    def write(self, data: Array) -> None:
        """Checks elements that are about to be written."""
        ...


class Listener(Protocol):
    """Receives accesses; ``numbers`` those to elements of a view, where a check requires them."""

    @property
    def numbers(self) -> Numbers | None:
        """Returns the check of elements."""
        ...

    def read(self, arena: InstrumentedArena, region: Bytes) -> None:
        """Handles a read of the bytes of ``region`` before it happens."""
        ...

    def write(self, arena: InstrumentedArena, region: Bytes) -> None:
        """Handles a write of the bytes of ``region`` before it happens."""
        ...

    def undefined(self, arena: InstrumentedArena, region: Bytes) -> None:
        """Handles that the content of the bytes of ``region`` is undefined from the end of the operation on."""
        ...


class InstrumentedArena(Arena):
    """A memory whose accesses are reported to ``observer``. ``original`` gives size, name and content.

    ``public`` (always so in global memory) states that cores of several blocks, or the host, share it: all its bytes
    are initialized. ``accessed`` is the end of the accessed bytes.
    """

    __slots__ = ("_original", "_regions", "_start", "_window", "accessed", "memory", "observer", "public", "shadow")

    def __init__(self, original: Arena, observer: Listener, content: Array | None = None, public: bool = False) -> None:
        super().__init__(
            original.space,
            original.capacity,
            name=original.name,
            base_align=original.base_align,
            fill=original.fill,
        )
        self.public = public or original.space == "gm"
        self.accessed = 0
        self.observer = observer
        self._original = original
        if content is not None:
            self._keep(content)
        self._regions: dict[tuple[Any, ...], Region | None] = {}

    def __getattr__(self, name: str) -> Any:
        # Most memories are never accessed, so their bytes and shadows are made on demand.
        if name == "shadow":
            self.shadow = Shadow(self.capacity)
            return self.shadow
        if name not in ("memory", "_start", "_window"):
            raise AttributeError(name)
        self._keep(self._original.bytes)
        return getattr(self, name)

    def _keep(self, content: Array) -> None:
        self.memory: Array = content
        self._start: int = content.__array_interface__["data"][0]
        self._window = Window(self, content, 0)

    def copy(self) -> Arena:
        """Returns a copy as ``Arena`` does, with the same instrumentation."""
        copied = Arena(self.space, self.capacity, name=self.name, base_align=self.base_align)
        return type(self)(copied, self.observer, self.memory.copy(), self.public)

    @property
    def bytes(self) -> Any:
        """Returns the bytes as a window, shape [capacity]."""
        return self._window

    def array(self, shape: Sequence[int], dtype: DType, offset: int, byte_strides: Sequence[int]) -> Any:
        """Returns elements as a window."""
        return Window(self, np.ndarray(shape, dtype, self.memory, offset, byte_strides), offset)

    def take(self, offsets: Array, nbytes: int) -> Array:
        """As in ``Arena``, reported."""
        if offsets.size:
            self.on_read(Elements(offsets, nbytes))
        return taken(self.memory, offsets, nbytes)

    def put(self, offsets: Array, values: Array) -> None:
        """As in ``Arena``, reported."""
        if offsets.size:
            self.on_write(Elements(offsets, values.shape[1]))
        put(self.memory, offsets, values)

    def undefine(self, start: int, stop: int) -> None:
        """Reports as in ``Arena``: a write, after which the bytes are uninitialized."""
        region = self.region(self.memory[start:stop], start)
        if region is not None:
            self.on_write(region)
            self.memory[start:stop] = POISON
            self.observer.undefined(self, region)

    def offset_of(self, data: Array) -> int:
        """Returns the byte offset of the first element of part of the memory."""
        return data.__array_interface__["data"][0] - self._start

    def region(self, data: Array, offset: int | None = None) -> Region | None:
        """Returns the bytes of part of the memory, which starts at ``offset`` where that is known."""
        if offset is None:
            offset = self.offset_of(data)
        key = (offset, data.shape, data.strides, data.itemsize)
        try:
            return self._regions[key]
        except KeyError:
            if len(self._regions) >= _REGIONS:
                self._regions.clear()
            made = self._regions[key] = Region.of(*key)
            return made

    def on_read(self, region: Bytes, data: Array | None = None) -> None:
        """Reports a read of bytes before it happens, as the elements ``data`` where these are a view."""
        observer = self.observer
        if region.stop > self.accessed:
            self.accessed = region.stop
        observer.read(self, region)
        if observer.numbers is not None and data is not None:
            observer.numbers.read(data)

    def on_write(self, region: Bytes, data: Array | None = None) -> None:
        """Reports a write of bytes before it happens, as the elements ``data`` where these are a view."""
        observer = self.observer
        if region.stop > self.accessed:
            self.accessed = region.stop
        observer.write(self, region)
        if observer.numbers is not None and data is not None:
            observer.numbers.write(data)
