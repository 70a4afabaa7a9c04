"""Memory spaces as byte arenas, pointers into them, and bounds-checked strided views of their bytes.

Every access is checked against the arena it touches and against nothing else: a pointer may hold any byte offset, also
a negative one, until memory is accessed through it (docs/reference/execution.md, "Cores and memories", "Pointers, tiles
and views").
"""

from __future__ import annotations

import zlib
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from pto_dialect.targets.memory import BASE_ALIGNMENT, SPACE_ALIASES, SPACE_OWNER, SPACES

from ..faults import Fault, TooLarge

Array = npt.NDArray[Any]
ByteArray = npt.NDArray[np.uint8]
DType = np.dtype[Any]
Fill = Literal["zero", "poison", "random"]
CoreKind = Literal["aic", "aiv"]

POISON = 0xFF
"""Poison byte. Repeated, it is NaN in f16, bf16, f32, f64, e4m3, e5m2 and e8m0, and -1 in signed integers."""

HARD_ALIGNMENT = max(row.error for row in BASE_ALIGNMENT.values())
"""A base below this alignment is an error in every memory with fractals; the natural alignment is only recommended."""

LARGEST = 1 << 62
"""Bytes of the largest arena that numpy accepts for an array."""
CACHE_LINE = 64
"""Alignment of on-chip memory in host bytes, which makes long vectors twice as fast."""

CORE_SPACES: Mapping[CoreKind, tuple[str, ...]] = {
    "aic": tuple(space for space in SPACES if SPACE_OWNER[space] == "aic"),
    "aiv": tuple(space for space in SPACES if SPACE_OWNER[space] == "aiv"),
}
"""Memories owned by each kind of core (docs/reference/execution.md, "Cores and memories")."""


def natural_alignment(space: str) -> int:
    """Returns the natural alignment of objects in ``space`` in bytes; the host determines the address of
    global memory."""
    row = BASE_ALIGNMENT.get(space)
    return 1 if row is None or space == "gm" else row.warning


class Arena:
    """The bytes of one memory space of one core, or of one GM buffer.

    Args: space: memory name, one of ``SPACES``. capacity: size in bytes; 0 is legal and makes every access a fault.
    name: name in messages, e.g. ``aiv1.ub`` or a kernel argument; default the space. base_align: natural alignment of
    objects in it, in bytes; default ``natural_alignment``. fill: initial content of the bytes; ``random`` depends only
    on the name, so runs are repeatable.

    The bytes are created on first use, so an untouched arena costs nothing. ``handles`` caches objects for fixed
    addresses; ``reach`` is the end of the bytes that may have been written; ``constant`` states that nothing writes
    while a launch lasts.
    """

    __slots__ = ("_bytes", "base_align", "capacity", "constant", "fill", "handles", "name", "reach", "space")

    def __init__(
        self,
        space: str,
        capacity: int,
        *,
        name: str = "",
        base_align: int | None = None,
        fill: Fill = "zero",
    ) -> None:
        if capacity < 0:
            raise ValueError(f"capacity of {space} is negative: {capacity}")
        self.space = space
        self.capacity = capacity
        self.name = name or space
        self.base_align = natural_alignment(space) if base_align is None else base_align
        self.fill: Fill = fill
        self.handles: dict[Hashable, Any] = {}
        self.reach = 0
        self.constant = False
        self._bytes: ByteArray | None = None

    @property
    def is_null(self) -> bool:
        """Whether it has no bytes, so that its address is that of a null pointer."""
        return not self.capacity

    @classmethod
    def from_array(
        cls,
        array: Array,
        *,
        name: str = "",
        space: str = "gm",
        base_align: int | None = None,
        read_only: bool = False,
    ) -> Arena:
        """Returns an arena that shares memory with ``array``: a program's writes appear in the array.

        Raises: ValueError: the array is not C-contiguous, or not writable although it is not ``read_only``, so its
        bytes cannot be shared.
        """
        if not (array.flags.c_contiguous and (array.flags.writeable or read_only)):
            raise ValueError("an arena can only share a writable, C-contiguous array")
        arena = cls(space, array.nbytes, name=name, base_align=base_align)
        arena._bytes = array.reshape(-1).view(np.uint8)
        return arena

    @property
    def bytes(self) -> ByteArray:
        """The writable bytes, shape [capacity]; always the same array."""
        self.reach = self.capacity
        return self._content()

    def occupy(self) -> None:
        """Allocates the memory, which otherwise happens on first use; raises ``MemoryError``."""
        self._content()

    def _content(self) -> ByteArray:
        if self._bytes is None:
            self._bytes = self._create()
        return self._bytes

    def array(self, shape: Sequence[int], dtype: DType, offset: int, byte_strides: Sequence[int]) -> Array:
        """Returns elements from byte ``offset`` on as an array of the memory; the caller has checked the bounds and
        raised ``reach``."""
        content = self._bytes
        return np.ndarray(shape, dtype, self._content() if content is None else content, offset, byte_strides)

    def take(self, offsets: Array, nbytes: int) -> ByteArray:
        """Returns ``nbytes`` bytes from each of the ``offsets`` on, shape [n, nbytes]; the caller has checked the
        bounds."""
        return taken(self.bytes, offsets, nbytes)

    def put(self, offsets: Array, values: ByteArray) -> None:
        """Stores the rows of ``values`` at the byte ``offsets``, in order; the caller has checked the bounds."""
        put(self.bytes, offsets, values)

    def undefine(self, start: int, stop: int) -> None:
        """Overwrites bytes whose content is undefined from now on; the caller has checked the bounds."""
        self.reach = max(self.reach, stop)
        self._content()[start:stop] = POISON

    def move_to(self, content: ByteArray) -> None:
        """Uses ``content``, shape [capacity], as the bytes from now on; they are not copied."""
        if content.shape != (self.capacity,):
            raise ValueError(f"{self.label} has {self.capacity} bytes, not {content.shape}")
        self._bytes = content

    def copy(self) -> Arena:
        """Returns a memory of the same kind and content."""
        return Arena.from_array(self.bytes.copy(), name=self.name, space=self.space, base_align=self.base_align)

    def _create(self) -> ByteArray:
        if self.capacity > LARGEST:
            raise TooLarge(self.capacity)
        if self.fill == "zero":
            padded = np.zeros(self.capacity + CACHE_LINE, np.uint8)
            start = -padded.__array_interface__["data"][0] % CACHE_LINE
            return padded[start : start + self.capacity]
        if self.fill == "poison":
            return np.full(self.capacity, POISON, np.uint8)
        if self.fill == "random":
            generator = np.random.default_rng(zlib.crc32(self.name.encode()))
            return generator.integers(0, 256, self.capacity, np.uint8)
        raise ValueError(f"unknown fill mode {self.fill!r}")

    def clear(self) -> None:
        """Sets the bytes of a memory that starts with zeros to zero again, which is cheaper than fresh memory."""
        if self._bytes is not None:
            self._bytes[: self.reach].fill(0)

    @property
    def label(self) -> str:
        """Returns the name for messages: the space, and the arena's own name where it adds information."""
        return self.space if self.name == self.space else f"{self.space} {self.name!r}"

    def place(self, offset: int) -> tuple[str, int]:
        """Returns the name of the memory at byte ``offset`` for messages, and the offset in it."""
        return self.label, offset

    def pointer(self, offset: int, dtype: npt.DTypeLike, item_bytes: int | None = None) -> Pointer:
        """Returns a pointer to byte ``offset`` of this arena."""
        return Pointer(self, offset, np.dtype(dtype), item_bytes)

    def reaches(self, low: int, high: int) -> bool:
        """Returns whether the byte range [low, high) is inside the arena."""
        return low >= 0 and high <= self.capacity

    def check(self, low: int, high: int, what: str) -> None:
        """Require the byte range [low, high) to lie inside the arena.

        Raises:
            Fault: ``mem-oob``.
        """
        if low < 0 or high > self.capacity:
            raise Fault(
                "mem-oob",
                f"{what}: bytes [{low}, {high}) are outside {self.label}, which has {self.capacity} bytes",
                needed=(self.space, high),
            )

    def __repr__(self) -> str:
        return f"Arena({self.label}, {self.capacity} bytes)"


_SHIFT = {2: 1, 4: 2, 8: 3}
"""Logarithms of the sizes of words."""


def _words(content: ByteArray, offsets: Array, nbytes: int) -> Array | None:
    """Returns the memory as words of ``nbytes`` where all offsets are multiples of it, which is faster than single
    bytes."""
    if nbytes not in (2, 4, 8) or np.bitwise_or.reduce(offsets) & nbytes - 1:
        return None
    return content[: content.size // nbytes * nbytes].view(f"u{nbytes}")


def taken(content: ByteArray, offsets: Array, nbytes: int) -> ByteArray:
    """Returns ``Arena.take`` for memory with these bytes."""
    words = _words(content, offsets, nbytes)
    if words is not None:
        return words.take(offsets >> _SHIFT[nbytes]).view(np.uint8).reshape(offsets.size, nbytes)
    return content[offsets[:, None] + np.arange(nbytes)]


def put(content: ByteArray, offsets: Array, values: ByteArray) -> None:
    """Performs ``Arena.put`` on memory with these bytes."""
    nbytes = values.shape[1]
    words = _words(content, offsets, nbytes)
    if words is not None:
        words[offsets >> _SHIFT[nbytes]] = np.ascontiguousarray(values).view(words.dtype)[:, 0]
    else:
        content[offsets[:, None] + np.arange(nbytes)] = values


class Pointer:
    """A typed address: (arena, byte offset, storage dtype). Treat it as immutable.

    Args:
        arena: memory pointed into.
        offset: byte offset, any integer.
        dtype: numpy dtype that stores one element.
        item_bytes: bytes per element, default the dtype's; a packed pair of 4-bit elements counts 1.
    """

    __slots__ = ("arena", "dtype", "item_bytes", "offset")

    def __init__(self, arena: Arena, offset: int, dtype: DType, item_bytes: int | None = None) -> None:
        self.arena = arena
        self.offset = offset
        self.dtype = dtype
        self.item_bytes = dtype.itemsize if item_bytes is None else item_bytes

    def advance(self, elements: int) -> Pointer:
        """Returns the pointer ``elements`` elements further (backwards when negative)."""
        return Pointer(self.arena, self.offset + elements * self.item_bytes, self.dtype, self.item_bytes)

    def shifted(self, nbytes: int) -> Pointer:
        """Returns the pointer ``nbytes`` bytes further, with the same element type."""
        return Pointer(self.arena, self.offset + nbytes, self.dtype, self.item_bytes)

    def with_dtype(self, dtype: npt.DTypeLike, item_bytes: int | None = None) -> Pointer:
        """Returns the same address seen as elements of another type."""
        return Pointer(self.arena, self.offset, np.dtype(dtype), item_bytes)

    def check(self, nbytes: int, what: str) -> None:
        """Require ``nbytes`` bytes from here on to lie inside the arena.

        Raises:
            Fault: ``mem-oob``.
        """
        self.arena.check(self.offset, self.offset + nbytes, what)

    def check_aligned(self, alignment: int, what: str) -> None:
        """Require the byte offset to be a multiple of ``alignment``.

        Raises:
            Fault: ``mem-align``.
        """
        if self.offset % alignment:
            raise Fault(
                "mem-align",
                f"{what}: byte address {self.offset} in {self.arena.label} is not a multiple of {alignment}",
            )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Pointer):
            return NotImplemented
        return (self.arena is other.arena) and (self.offset, self.dtype, self.item_bytes) == (
            other.offset,
            other.dtype,
            other.item_bytes,
        )

    def __hash__(self) -> int:
        return hash((id(self.arena), self.offset, self.dtype, self.item_bytes))

    def __repr__(self) -> str:
        return f"Pointer({self.arena.label} + {self.offset}, {self.dtype})"


def strided_view(
    pointer: Pointer,
    shape: Sequence[int],
    byte_strides: Sequence[int],
    dtype: DType | None = None,
    writable: bool = True,
) -> Array:
    """View of arena bytes as an array: element ``i`` lies at ``pointer.offset + Σ i[d]·byte_strides[d]``.

    No byte is copied and no alignment is required. Extents, strides and offsets are Python integers.

    Args:
        pointer: address of element (0, …, 0).
        shape: extents.
        byte_strides: one stride in bytes per extent; may be negative or 0.
        dtype: element type, default the pointer's.
        writable: False yields a read-only view.

    Raises:
        Fault: ``mem-oob`` when an element would lie outside the arena or an extent is negative.
    """
    # numpy's own check wraps around on huge strides and is skipped for empty buffers, hence the exact sum.
    if dtype is None:
        dtype = pointer.dtype
    arena = pointer.arena
    low = high = pointer.offset
    for extent, stride in zip(shape, byte_strides, strict=True):
        if extent <= 0:
            if min(shape) < 0:
                raise Fault("mem-oob", f"access to {arena.label} with a negative extent: {tuple(shape)}")
            return np.empty(shape, dtype)
        if stride > 0:
            high += (extent - 1) * stride
        else:
            low += (extent - 1) * stride
    high += dtype.itemsize
    if low < 0 or high > arena.capacity:
        arena.check(low, high, f"access to {'x'.join(map(str, shape)) or '1'} elements of {dtype}")
    if high > arena.reach:
        arena.reach = high
    view = arena.array(shape, dtype, pointer.offset, byte_strides)
    if not writable:
        view.flags.writeable = False
    return view


def may_self_overlap(shape: Sequence[int], strides: Sequence[int], item: int = 1) -> bool:
    """Returns False only if all elements of a strided pattern must occupy distinct storage.

    Args: shape: extents. strides: stride per extent, in the unit of ``item``. item: size of one element.
    """
    span = item
    if len(shape) == 1:
        return shape[0] > 1 and abs(strides[0]) < span
    for stride, extent in sorted((abs(stride), extent) for extent, stride in zip(shape, strides, strict=True)):
        if extent <= 1:
            continue
        if stride < span:
            return True
        span += (extent - 1) * stride
    return False


class CoreMemory:
    """The memories one core owns, as arenas of the sizes of a target profile.

    Args:
        kind: ``aic`` (l1, l0a, l0b, l0c, bt, fb, scale_left, scale_right) or ``aiv`` (ub).
        sizes: bytes per memory name (docs/reference/targets.md, "Memories"); a missing name means 0 bytes.
        name: prefix for messages, e.g. ``aiv1``; default the kind.
        fill: initial content of all arenas.
    """

    __slots__ = ("arenas", "kind", "name")

    def __init__(self, kind: CoreKind, sizes: Mapping[str, int], *, name: str = "", fill: Fill = "zero") -> None:
        self.kind: CoreKind = kind
        self.name = name or kind
        self.arenas: dict[str, Arena] = {
            space: Arena(space, sizes.get(space, 0), name=f"{self.name}.{space}", fill=fill)
            for space in CORE_SPACES[kind]
        }

    def __getitem__(self, space: str) -> Arena:
        """Arena of a memory, by its name or an alias such as ``vec``.

        Raises:
            Fault: ``unmodelled`` when this kind of core has no such memory.
        """
        arena = self.arenas.get(SPACE_ALIASES.get(space, space))
        if arena is None:
            raise Fault("unmodelled", f"core {self.name} has no memory {space!r}")
        return arena

    def __contains__(self, space: str) -> bool:
        return SPACE_ALIASES.get(space, space) in self.arenas

    def __iter__(self) -> Iterator[Arena]:
        return iter(self.arenas.values())
