"""Handles and bytes as arrays. Source: docs/reference/recording.md, "Handles"."""

from __future__ import annotations

import numpy as np

from pto_dialect.runtime.memory.layout import TileLayout
from pto_dialect.runtime.memory.spaces import Arena, Array, Pointer, strided_view
from pto_dialect.runtime.memory.values import Tile
from pto_dialect.runtime.numerics.decode import decode
from pto_dialect.runtime.numerics.encode import encode
from pto_dialect.runtime.numerics.formats import Format, format_of

from .model import Handle, RecordingError


def _format(handle: Handle) -> Format:
    try:
        return format_of(handle.form.element)
    except (KeyError, ValueError):
        raise RecordingError(f"elements of {handle.form.element} cannot be shown") from None


def raw_tile(handle: Handle, content: Array, valid: bool) -> Array:
    """Returns the storage units of a tile whose memory has these bytes, rows x columns."""
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
    """Returns the numbers of a tile whose memory has these bytes, rows x columns; of its valid region, or of all of
    it."""
    return decode(raw_tile(handle, content, valid), _format(handle))


def view_of(handle: Handle, content: Array) -> Array:
    """Returns the numbers of a view whose memory has these bytes."""
    form, fmt = handle.form, _format(handle)
    arena = Arena.from_array(content, space=form.space, read_only=True)
    pointer = Pointer(arena, handle.address, fmt.storage, form.item_bytes)
    strides = [stride * form.item_bytes for stride in form.strides]
    return decode(np.array(strided_view(pointer, form.shape, strides)), fmt)


def numbers_of(content: Array, element: str) -> Array:
    """Returns the numbers that bytes hold as elements of a format. Raises ``RecordingError`` for a format that there is
    none of, ``ValueError`` for a number of bytes that is no multiple of its size."""
    try:
        fmt = format_of(element)
    except (KeyError, ValueError):
        raise RecordingError(f"there is no element format {element}") from None
    return decode(np.frombuffer(content.tobytes(), fmt.storage), fmt)


def bytes_of(values: Array | float, element: str) -> bytes:
    """Returns the bytes that hold numbers as elements of a format. Raises ``RecordingError``."""
    try:
        fmt = format_of(element)
    except (KeyError, ValueError):
        raise RecordingError(f"there is no element format {element}") from None
    return encode(np.atleast_1d(np.asarray(values)), fmt, saturate=False).tobytes()


def positions(handle: Handle, size: int) -> Array:
    """Returns the first byte of each element of a tile (its valid region) or view in a memory of ``size`` bytes, in the
    shape of its numbers. Raises ``RecordingError`` for packed elements, which have no bytes of their own."""
    if _format(handle).is_packed:
        raise RecordingError(f"elements of {handle.form.element} share bytes")
    form = handle.form
    if form.kind == "view":
        found = np.full((1,) * len(form.shape), handle.address, np.int64)
        for axis, (count, stride) in enumerate(zip(form.shape, form.strides, strict=True)):
            steps = np.arange(count) * stride * form.item_bytes
            found = found + steps.reshape(-1, *(1,) * (len(form.shape) - axis - 1))
        return found
    rows, cols, blayout, slayout, fractal = form.layout
    layout = TileLayout(rows, cols, form.item_bytes, blayout, slayout, fractal)
    if handle.address + layout.nbytes > size:
        raise RecordingError("the tile leaves its memory")
    row_axis, col_axis = layout.axes
    down = [row_axis.offset(form.corner[0] + index) for index in range(form.valid[0])]
    across = [col_axis.offset(form.corner[1] + index) for index in range(form.valid[1])]
    places = np.array(down, np.int64)[:, None] + np.array(across, np.int64)[None, :]
    return handle.address + places * form.item_bytes
