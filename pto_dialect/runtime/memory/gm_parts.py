"""Parts of one size of a global-memory view, for programs that iterate over it (docs/reference/layouts.md, "Views of
global memory")."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .gm_view import even_geometry
from .spaces import Array
from .values import GmTensor


class GmParts:
    """All parts of ``view`` with the extents ``sizes``; their common geometry is computed once.

    A part is identified by the distance of its first element from that of the view, in elements.
    """

    __slots__ = (
        "_bytes",
        "_dtype",
        "_first",
        "_item",
        "_last",
        "_origin",
        "_shape",
        "_sizes",
        "_strides",
        "_view",
        "kept",
    )

    def __init__(self, view: GmTensor, sizes: Sequence[int]) -> None:
        pointer = view.pointer
        self._view = view
        self.kept: dict[Any, Array] | None = {} if pointer.arena.constant else None
        """Cached results for parts, where these never change."""
        self._sizes = tuple(sizes)
        self._dtype = pointer.dtype
        self._item = pointer.item_bytes
        self._origin = pointer.offset
        self._bytes = pointer.arena.bytes
        even = even_geometry(self._sizes, view.strides, view.layout, pointer.item_bytes)
        if even is None:
            self._shape = self._strides = (0, 0)
            self._first, self._last = 1, 0
        else:
            self._shape, self._strides, low, high = even
            self._first, self._last = -low, pointer.arena.capacity - high

    def elements(self, distance: int) -> Array | None:
        """Returns the part as ``GmTensor.elements`` does."""
        start = self._origin + distance * self._item
        if self._first <= start <= self._last:
            return np.ndarray(self._shape, self._dtype, self._bytes, start, self._strides)
        return None

    @property
    def layout(self) -> str:
        """Returns how the extents of a part become rows and columns."""
        return self._view.layout

    def part(self, distance: int) -> GmTensor:
        """Returns the part as a view."""
        view = self._view
        pointer = view.pointer.advance(distance)
        return GmTensor(pointer, self._sizes, view.strides, view.fmt, view.layout)
