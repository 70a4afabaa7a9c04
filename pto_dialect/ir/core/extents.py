"""Size of a tile in its memory: the bytes that its layout touches.

Source: docs/reference/layouts.md, "Tile layouts"; docs/reference/memory-planning.md, "Sizes".
"""

from __future__ import annotations

from functools import lru_cache

from xdsl.ir import Attribute

from pto_dialect.targets.element_types import FP4
from pto_dialect.targets.tile_layouts import (
    C0_BYTES,
    LAYOUT_NAME,
    PACKED_OPERANDS,
    TileShape,
    extent_bytes,
    native_shape,
)

from .types import MultiTileBufType, TileBufType, byte_width, element_name

_FRACTALS = {32, 512, 1024}


def round_up(value: int, multiple: int) -> int:
    """Returns the smallest multiple of ``multiple`` that is not below ``value``."""
    return -(-value // multiple) * multiple


@lru_cache(maxsize=4096)
def tile_extent(tile: TileBufType, arch: str) -> int:
    """Returns the bytes from the first to the last one that a tile touches on a chip; 0 when its elements have no size,
    those of its elements where its layout is not meaningful."""
    size = byte_width(tile.element)
    if size is None:
        return 0
    boxed = tile.slayout != "none_box"
    unknown = (tile.blayout, tile.slayout) not in LAYOUT_NAME or tile.fractal not in _FRACTALS or C0_BYTES % size
    if boxed and unknown:
        return tile.rows * tile.cols * size
    packed = tile.loc in PACKED_OPERANDS and element_name(tile.element) in FP4
    stated = TileShape(tile.rows, tile.cols, tile.blayout, tile.slayout, tile.fractal)
    return extent_bytes(native_shape(tile.loc, arch, stated, size, packed), size)


def slot_pitch(tile: TileBufType, arch: str) -> int:
    """Returns the bytes from one slot of a multi-buffer to the next."""
    return round_up(tile_extent(tile, arch), C0_BYTES)


def buffer_extent(kind: Attribute, arch: str) -> int:
    """Returns the bytes of an allocation of a type: a tile, or all slots of a multi-buffer; 0 for other types."""
    if isinstance(kind, MultiTileBufType):
        return slot_pitch(kind.slot, arch) * kind.count
    return tile_extent(kind, arch) if isinstance(kind, TileBufType) else 0
