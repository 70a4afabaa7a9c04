"""Handles and bytes as arrays. Source: docs/reference/recording.md, "Handles"."""

from __future__ import annotations

import numpy as np

from pto_dialect.runtime.memory.layout import TileLayout
from pto_dialect.runtime.memory.spaces import Arena, Array, Pointer, strided_view
from pto_dialect.runtime.memory.values import Tile
from pto_dialect.runtime.numerics.decode import decode
from pto_dialect.runtime.numerics.formats import Format, format_of

from .model import Handle, RecordingError


def _format(handle: Handle) -> Format:
    try:
        return format_of(handle.form.element)
    except (KeyError, ValueError):
        raise RecordingError(f"elements of {handle.form.element} cannot be shown") from None


def raw_tile(handle: Handle, content: Array, valid: bool) -> Array:
    """The storage units of a tile whose memory has these bytes, rows x columns."""
    form, fmt = handle.form, _format(handle)
    rows, cols, blayout, slayout, fractal = form.layout
    layout = TileLayout(rows, cols, form.item_bytes, blayout, slayout, fractal)
    arena = Arena.from_array(content, space=form.space, read_only=True)
    pointer = Pointer(arena, handle.address, fmt.storage, form.item_bytes)
    height, width = form.shape
    shown = form.valid if valid else (height, width)
    tile = Tile(pointer, layout, fmt, form.location, height, width, *shown, *form.corner)
    return np.array(tile.read())


def tile_of(handle: Handle, content: Array, valid: bool) -> Array:
    """The numbers of a tile whose memory has these bytes, rows x columns; of its valid region, or of all of it."""
    return decode(raw_tile(handle, content, valid), _format(handle))


def view_of(handle: Handle, content: Array) -> Array:
    """The numbers of a view whose memory has these bytes."""
    form, fmt = handle.form, _format(handle)
    arena = Arena.from_array(content, space=form.space, read_only=True)
    pointer = Pointer(arena, handle.address, fmt.storage, form.item_bytes)
    strides = [stride * form.item_bytes for stride in form.strides]
    return decode(np.array(strided_view(pointer, form.shape, strides)), fmt)
