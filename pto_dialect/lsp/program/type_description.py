"""Describes types: bytes, shape, layout, blocks of the layout."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from xdsl.ir import Attribute

from pto_dialect.analysis.type_facts import element_type, space_of
from pto_dialect.ir.core.types import DYNAMIC, MultiTileBufType, TileBufType, bit_width, dim_text, shape_of, type_text
from pto_dialect.targets.tile_layouts import LAYOUT_NAME, inner_block
from pto_dialect.verify.buffers.alloc import tile_bytes


def describe_type(kind: Attribute) -> list[str]:
    """Facts about a type besides its spelling, one sentence each."""
    if isinstance(kind, MultiTileBufType):
        total = kind.count * tile_bytes(kind.slot)
        return [f"{kind.count} slots, {total} bytes together", *_tile(kind.slot)]
    if isinstance(kind, TileBufType):
        return list(_tile(kind))
    shape, element, space = shape_of(kind), element_type(kind), space_of(kind)
    words: list[str] = []
    if shape and element is not None:
        bits = bit_width(element)
        known = bits is not None and DYNAMIC not in shape
        size = f", {prod(shape) * (bits or 0) // 8} bytes" if known else ""
        words.append(f"{' × '.join(dim_text(dim) for dim in shape)} of {type_text(element)}{size}")
    if space is not None and not shape:
        words.append(f"memory {space}" + (f", elements of {bits // 8} bytes" if (bits := _bits(element)) else ""))
    return words


def _bits(element: Attribute | None) -> int | None:
    return None if element is None else bit_width(element)


def size_of(kind: Attribute) -> int | None:
    """Returns the bytes of a tile; ``None`` for other types."""
    if isinstance(kind, MultiTileBufType):
        return kind.count * tile_bytes(kind.slot)
    return tile_bytes(kind) if isinstance(kind, TileBufType) else None


def _tile(tile: TileBufType) -> Iterator[str]:
    yield f"{tile.rows} × {tile.cols} of {type_text(tile.element)} in {tile.loc}, {tile_bytes(tile)} bytes"
    if (tile.valid_rows, tile.valid_cols) != (tile.rows, tile.cols):
        yield f"valid: {dim_text(tile.valid_rows)} × {dim_text(tile.valid_cols)}"
    name = LAYOUT_NAME.get((tile.blayout, tile.slayout), "")
    layout = f"layout {name} (blayout={tile.blayout}, slayout={tile.slayout})".replace("  ", " ")
    bits = bit_width(tile.element)
    if tile.slayout == "none_box" or bits is None:
        yield layout
        return
    try:
        rows, cols = inner_block(tile.fractal, tile.slayout, bits)
    except KeyError:
        yield layout
        return
    down, across = -(-tile.rows // rows), -(-tile.cols // cols)
    yield f"{layout}: {down * across} fractals of {rows} × {cols} ({down} down, {across} across)"
