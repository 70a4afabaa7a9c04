"""Handles of a run as rows: each address and shape once. Source: docs/reference/recording.md, "Handles"."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pto_dialect.runtime.memory.spaces import Arena, Pointer
from pto_dialect.runtime.memory.values import GmTensor, MultiTile, Tile

from .model import Form

_MOST = 1 << 16
"""Objects that are remembered; then all are forgotten."""


class Handles:
    """Numbers the handles of a run; ``memory_of`` numbers memories."""

    def __init__(self, memory_of: Callable[[Arena], int]) -> None:
        self.memory_of = memory_of
        self.rows: dict[tuple[int, int, int], int] = {}
        """Memory, address and form of each handle, with its number: its position."""
        self.forms: dict[Form, int] = {}
        """Forms, with their positions."""
        self._known: dict[int, tuple[Any, int, int, int]] = {}
        self._places: dict[tuple[Any, ...], int] = {}
        """Rows of pointers and views by all that they are."""
        self._shapes: dict[tuple[Any, ...], int] = {}
        """Ids of the forms of pointers and views: all properties but the address."""

    def number(self, value: Any) -> int:
        """Returns the row of a tile, a view or a pointer."""
        # Programs make new pointers and views in each round of a loop.
        if type(value) is Pointer:
            return self._placed(value, value, (value.dtype, value.item_bytes))
        if type(value) is GmTensor and isinstance(value.pointer, Pointer):
            start = value.pointer
            return self._placed(value, start, (start.item_bytes, value.fmt.name, value.shape, value.strides))
        known = self._known.get(id(value))
        # An object of the same number may be another one; a tile may have got another valid region.
        if known is not None and known[0] is value:
            _, rows, cols, found = known
            tile: Any = known[0]
            if rows < 0 or (rows == tile.valid_rows and cols == tile.valid_cols):
                return found
        found = self._row(value)
        if len(self._known) >= _MOST:
            self._known.clear()
        rows, cols = (value.valid_rows, value.valid_cols) if isinstance(value, Tile) else (-1, -1)
        self._known[id(value)] = (value, rows, cols, found)
        return found

    def _placed(self, value: Any, start: Pointer, shape: tuple[Any, ...]) -> int:
        """Returns the row of a pointer or view at ``start``; ``shape`` tells it from others in the same memory."""
        arena = start.arena
        place = (id(arena), start.offset, shape)
        row = self._places.get(place)
        if row is None:
            key = (arena.space, shape)
            form = self._shapes.get(key)
            if form is None:
                form = self._shapes[key] = self._form(_described(value)[1])
            row = self._places[place] = self._number((self.memory_of(arena), start.offset, form))
        return row

    def _row(self, value: Any) -> int:
        pointer, form = _described(value)
        memory, address = (-1, 0) if pointer is None else (self.memory_of(pointer.arena), pointer.offset)
        return self._number((memory, address, self._form(form)))

    def _form(self, form: Form) -> int:
        return self.forms.setdefault(form, len(self.forms))

    def _number(self, row: tuple[int, int, int]) -> int:
        return self.rows.setdefault(row, len(self.rows))


def _described(value: Any) -> tuple[Pointer | None, Form]:
    if isinstance(value, MultiTile):
        value = value.slots[0]
    if isinstance(value, Pointer):
        return value, Form("pointer", value.dtype.name, value.item_bytes, value.arena.space)
    if isinstance(value, Tile) and isinstance(value.pointer, Pointer):
        layout = value.layout
        form = Form(
            "tile",
            value.fmt.name,
            layout.item_bytes,
            value.pointer.arena.space,
            (value.rows, value.cols),
            valid=(value.valid_rows, value.valid_cols),
            layout=(layout.rows, layout.cols, layout.blayout, layout.slayout, layout.fractal),
            corner=(value.row0, value.col0),
            pad=int(value.pad or 0),
            location=value.loc,
        )
        return value.pointer, form
    if isinstance(value, GmTensor) and isinstance(value.pointer, Pointer):
        pointer = value.pointer
        shape, strides = tuple(map(int, value.shape)), tuple(map(int, value.strides))
        return pointer, Form("view", value.fmt.name, pointer.item_bytes, pointer.arena.space, shape, strides)
    return None, Form("other", "", 0, "")
