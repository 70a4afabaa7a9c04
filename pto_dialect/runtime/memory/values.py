"""Run-time values of SSA values: tiles, tile values and global-memory views.

Integers and ``index`` are Python ints, floats are Python floats rounded to their type, pointers are ``spaces.Pointer``.
Source: docs/reference/execution.md, "Pointers, tiles and views".
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import mul
from typing import Any, NoReturn

import numpy as np

from pto_dialect.targets.tile_layouts import PACKED_OPERANDS

from ..faults import Fault
from ..numerics.formats import Format
from .gm_view import GmView, even_geometry
from .layout import TileLayout, TileView
from .packed_view import PackedView
from .spaces import Arena, Array, Pointer


class Unusable:
    """Placeholder for memory that a handle does not have yet or no longer has: every use is a ``Fault``."""

    def __init__(self, rule: str, message: str) -> None:
        object.__setattr__(self, "fault", (rule, message))

    def __getattr__(self, name: str) -> NoReturn:
        raise Fault(*object.__getattribute__(self, "fault"))

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise Fault(*object.__getattribute__(self, "fault"))


FREED: Any = Unusable("pipe-slot", "the popped entry was freed")
UNBOUND: Any = Unusable("pipe-slot", "no entry was popped or allocated for this handle")


class Tile:
    """Handle of a tile buffer: the address of its bytes, its layout, and its valid region.

    ``rows`` x ``cols`` is the physical shape in elements, ``valid_rows`` x ``valid_cols`` the part that operations use.
    A subview shares the layout of its parent and starts at (``row0``, ``col0``) of it.
    """

    __slots__ = (
        *("col0", "cols", "fmt", "layout", "loc", "pad", "pointer", "row0", "rows"),
        *("valid_cols", "valid_rows", "view"),
    )

    def __init__(
        self,
        pointer: Pointer,
        layout: TileLayout,
        fmt: Format,
        loc: str,
        rows: int,
        cols: int,
        valid_rows: int,
        valid_cols: int,
        row0: int = 0,
        col0: int = 0,
        pad: int = 0,
    ) -> None:
        self.pointer = pointer
        self.layout = layout
        self.fmt = fmt
        self.loc = loc
        self.rows = rows
        self.cols = cols
        self.valid_rows = valid_rows
        self.valid_cols = valid_cols
        self.row0 = row0
        self.col0 = col0
        self.pad = pad
        packed = fmt.bits == 4 and loc in PACKED_OPERANDS
        self.view = (PackedView if packed else TileView)(layout, pointer, rows, cols, row0, col0)
        if not (0 <= valid_rows <= rows and 0 <= valid_cols <= cols):
            raise Fault("tile-valid-le-shape", f"valid region {valid_rows}x{valid_cols} exceeds tile {rows}x{cols}")
        pointer.check(layout.nbytes, f"{loc} tile {layout.rows}x{layout.cols}")

    def with_valid(self, rows: int, cols: int) -> Tile:
        """Returns another handle of the same tile, with a valid region of its own. Raises ``Fault``
        (``tile-valid-le-shape``)."""
        if not (0 <= rows <= self.rows and 0 <= cols <= self.cols):
            raise Fault("tile-valid-le-shape", f"valid region {rows}x{cols} exceeds tile {self.rows}x{self.cols}")
        tile = Tile.__new__(Tile)
        tile.pointer, tile.view, tile.layout = self.pointer, self.view, self.layout
        tile.fmt, tile.loc, tile.pad = self.fmt, self.loc, self.pad
        tile.rows, tile.cols, tile.row0, tile.col0 = self.rows, self.cols, self.row0, self.col0
        tile.valid_rows, tile.valid_cols = rows, cols
        return tile

    @property
    def array(self) -> Array:
        """Returns the valid region as an array of the storage dtype: the memory itself without boxes,
        otherwise a copy."""
        return self.view.read(self.valid_rows, self.valid_cols)

    def read(self) -> Array:
        """Returns the same as ``array``."""
        return self.view.read(self.valid_rows, self.valid_cols)

    def read_into(self, out: Array) -> None:
        """Fills ``out`` with its shape's prefix of the tile, widened to its dtype."""
        self.view.read_into(out)

    def write(self, values: Array) -> None:
        """Stores ``values`` (storage dtype) into the valid region's prefix of their shape."""
        self.view.write(values)

    def set_valid(self, rows: int, cols: int) -> None:
        """Changes the valid region."""
        if not (0 <= rows <= self.rows and 0 <= cols <= self.cols):
            raise Fault("setvalid-dynamic", f"valid region {rows}x{cols} exceeds tile {self.rows}x{self.cols}")
        self.valid_rows = rows
        self.valid_cols = cols

    def window(self, row: int, col: int, rows: int, cols: int, valid_rows: int, valid_cols: int) -> Tile:
        """Returns the subview at (row, col), whose valid part is inside this tile.

        Where rows x cols reach beyond the tile, the handle ends with it. Raises ``Fault`` (``subview-bounds``).
        """
        height, width = self.rows - row, self.cols - col
        if row < 0 or col < 0 or valid_rows > height or valid_cols > width:
            raise Fault(
                "subview-bounds",
                f"valid part {valid_rows}x{valid_cols} of the subview at ({row}, {col}) leaves the tile "
                f"{self.rows}x{self.cols}",
            )
        rows, cols = min(rows, max(height, 0)), min(cols, max(width, 0))
        return Tile(
            self.pointer, self.layout, self.fmt, self.loc, rows, cols, valid_rows, valid_cols,
            self.row0 + row, self.col0 + col, self.pad,
        )  # fmt: skip

    def moved(self, arena: Arena, offset: int) -> Tile:
        """Returns the same tile at byte address ``offset`` of a memory."""
        pointer = Pointer(arena, offset, self.pointer.dtype, self.pointer.item_bytes)
        return Tile(
            pointer, self.layout, self.fmt, self.loc, self.rows, self.cols, self.valid_rows, self.valid_cols,
            self.row0, self.col0, self.pad,
        )  # fmt: skip

    def retire(self) -> None:
        """Removes the memory from the handle: its slot was returned to the producer."""
        self.view = self.pointer = FREED


class WithArray:
    """Reads a matrix that ``array`` returns as a whole, in its storage dtype."""

    __slots__ = ()

    array: Array

    def read(self) -> Array:
        """Returns the matrix."""
        return self.array

    def read_into(self, out: Array) -> None:
        """Fills ``out`` with its shape's prefix of the matrix, widened to its dtype."""
        rows, cols = out.shape
        np.copyto(out, self.array[:rows, :cols], casting="same_kind")


class ValueTile(WithArray):
    """Tile value of the SSA forms: a matrix of its own, in row-major order."""

    __slots__ = ("array", "cols", "fmt", "loc", "rows", "valid_cols", "valid_rows")

    pad = 0

    def __init__(self, rows: int, cols: int, fmt: Format, array: Array | None = None) -> None:
        self.rows = self.valid_rows = rows
        self.cols = self.valid_cols = cols
        self.fmt = fmt
        self.loc = "value"
        self.array = np.zeros((rows, cols), fmt.storage) if array is None else array

    def write(self, values: Array) -> None:
        """Stores ``values`` into the prefix of their shape."""
        self.array[: values.shape[0], : values.shape[1]] = values


def copy_value(source: ValueTile, target: ValueTile) -> None:
    """Copies the content of ``source`` into ``target``, which has its shape."""
    np.copyto(target.array, source.array)


class GmTensor:
    """View of global memory: address, extents and element strides.

    A part shares the pointer of its parent and stores the byte distance between both, because most parts are made for
    one access.
    """

    __slots__ = ("_distance", "_pointer", "fmt", "layout", "shape", "strides")

    def __init__(
        self, pointer: Pointer, shape: Sequence[int], strides: Sequence[int], fmt: Format, layout: str = "nd"
    ) -> None:
        self._pointer = pointer
        self._distance = 0
        self.shape = tuple(shape)
        self.strides = tuple(strides)
        self.fmt = fmt
        self.layout = layout

    @property
    def pointer(self) -> Pointer:
        """Address of the first element."""
        return self._pointer.shifted(self._distance) if self._distance else self._pointer

    @pointer.setter
    def pointer(self, pointer: Pointer) -> None:
        self._pointer = pointer
        self._distance = 0

    def part(self, offsets: Sequence[int], sizes: Sequence[int]) -> GmTensor:
        """Returns the rectangular part at ``offsets``; bounds are those of the buffer and are checked on access."""
        part = GmTensor.__new__(GmTensor)
        part._pointer = pointer = self._pointer
        part.strides = strides = self.strides
        part._distance = self._distance + sum(map(mul, offsets, strides)) * pointer.item_bytes
        part.shape = tuple(sizes)
        part.fmt = self.fmt
        part.layout = self.layout
        return part

    def pairs(self) -> GmTensor:
        """Returns the same bytes for a view whose sizes and strides count single numbers, two of which share a byte.

        Raises ``Fault`` (``tload-count``) where no direction has adjacent numbers, or pairs would be split.
        """
        dense = [
            i for i, (size, step) in enumerate(zip(self.shape, self.strides, strict=True)) if step == 1 and size > 1
        ]
        halves = [step for i, step in enumerate(self.strides) if i not in dense[-1:] and self.shape[i] > 1]
        distance, item = self._distance, self._pointer.item_bytes
        if not dense or self.shape[dense[-1]] % 2 or distance // item % 2 or any(step % 2 for step in halves):
            raise Fault("tload-count", f"a view of {self.shape} single numbers splits pairs")
        result = GmTensor(self._pointer.shifted(distance // 2), self.shape, self.strides, self.fmt, self.layout)
        result.shape = tuple(size // 2 if i == dense[-1] else size for i, size in enumerate(self.shape))
        result.strides = tuple(step if i == dense[-1] else step // 2 for i, step in enumerate(self.strides))
        return result

    def matrix(self) -> GmView:
        """Returns the elements in the order of tile rows and columns."""
        return GmView(self.pointer, self.shape, self.strides, self.layout)

    def elements(self) -> Array | None:
        """Returns the matrix of tile rows and columns as an array of the memory; ``None`` where it is not evenly
        spaced, is empty, or exceeds the buffer."""
        pointer = self._pointer
        even = even_geometry(self.shape, self.strides, self.layout, pointer.item_bytes)
        if even is None:
            return None
        shape, strides, low, high = even
        arena = pointer.arena
        start = pointer.offset + self._distance
        if start + low < 0 or start + high > arena.capacity:
            return None
        if start + high > arena.reach:
            arena.reach = start + high
        return arena.array(shape, pointer.dtype, start, strides)

    def retire(self) -> None:
        """Removes the memory from the handle: its slot was returned to the producer."""
        self.pointer = FREED


def fitted(values: Array, rows: int, cols: int, layout: str) -> Array:
    """Returns the view's elements where its shape is not that of the valid region: when the counts agree, in the order
    of the view (column by column in the layout dn), otherwise the part that both have."""
    if values.size == rows * cols:
        return values.T.reshape(cols, rows).T if layout == "dn" else values.reshape(rows, cols)
    return values[:rows, :cols]


class MultiTile:
    """Equal tile slots with one handle."""

    __slots__ = ("slots",)

    def __init__(self, slots: list[Tile]) -> None:
        self.slots = slots

    def get(self, index: int) -> Tile:
        """Slot ``index``."""
        if not 0 <= index < len(self.slots):
            raise Fault("mem-oob-tile", f"slot {index} of a multi-tile buffer with {len(self.slots)} slots")
        return self.slots[index]


def buffer_pointer(array: Array, fmt: Format, name: str, space: str = "gm", *, read_only: bool = False) -> Pointer:
    """Returns a pointer to a host array as a buffer in ``space``; nothing writes through one that is ``read_only``."""
    return Pointer(Arena.from_array(array, name=name, space=space, read_only=read_only), 0, fmt.storage, fmt.bytes)


def content_of(value: Any) -> Array | None:
    """Returns the memory of an argument: bytes of a buffer, elements of a tile value; ``None`` for numbers."""
    if isinstance(value, ValueTile):
        return value.array
    pointer = value.pointer if isinstance(value, (GmTensor, Tile)) else value
    return pointer.arena.bytes if isinstance(pointer, Pointer) else None


def move_content(value: Any, content: Array) -> None:
    """Makes an argument use other memory of the same shape and type."""
    if isinstance(value, ValueTile):
        value.array = content
    else:
        pointer = value.pointer if isinstance(value, (GmTensor, Tile)) else value
        pointer.arena.move_to(content)
