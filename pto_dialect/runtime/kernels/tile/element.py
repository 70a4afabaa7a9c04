"""``tgetval`` and ``tsetval``: one element of a tile by its position in memory order.

Source: docs/reference/tiles.md, "Irregular operations".
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pto_dialect.ir.core.base import Pipe, PtoOp
from pto_dialect.runtime.compile.generator import Generator
from pto_dialect.runtime.faults import Fault
from pto_dialect.runtime.memory.spaces import Array
from pto_dialect.runtime.memory.values import Tile, ValueTile
from pto_dialect.runtime.numerics.decode import decode
from pto_dialect.runtime.numerics.encode import encode
from pto_dialect.runtime.numerics.formats import Format

from ..registry import kernel
from .operands import AnyTile, number, tile_format, tile_operand


def element(tile: AnyTile, offset: int) -> Array:
    """Returns one element as an array of its memory; raises ``Fault`` (``mem-oob``) outside the memory."""
    if isinstance(tile, ValueTile):
        if not 0 <= offset < tile.array.size:
            raise Fault("mem-oob", f"element {offset} of a {tile.rows}x{tile.cols} tile")
        row, col = divmod(offset, tile.cols)
        return tile.array[row, col : col + 1]
    first = tile.layout.offset(tile.row0, tile.col0) if isinstance(tile, Tile) else 0
    pointer = tile.pointer.advance(first + offset)
    pointer.check(pointer.item_bytes, f"element {offset} of a {tile.rows}x{tile.cols} tile")
    return pointer.arena.bytes[pointer.offset : pointer.offset + pointer.item_bytes].view(pointer.dtype)


class GetElement:
    """The element as a Python number."""

    label = "tgetval"

    def __init__(self, fmt: Format) -> None:
        self.fmt = fmt

    def __call__(self, tile: AnyTile, offset: int) -> Any:
        """Returns the element at position ``offset`` of ``tile``. Raises ``Fault`` (``mem-oob``) outside of its
        memory."""
        return decode(element(tile, offset), self.fmt)[0].item()


class SetElement:
    """Stores a Python number of the tile's element format."""

    label = "tsetval"

    def __init__(self, fmt: Format) -> None:
        self.fmt = fmt

    def __call__(self, tile: AnyTile, offset: int, value: Any) -> None:
        """Stores ``value`` at position ``offset`` of ``tile``. Raises ``Fault`` (``mem-oob``) outside of its memory."""
        kind = np.float64 if self.fmt.is_float else self.fmt.storage
        element(tile, offset)[0] = encode(np.array([value], kind), self.fmt, saturate=False)[0]


@kernel("pto.tgetval")
def tgetval(op: PtoOp, g: Generator) -> None:
    """The element at a position that counts elements in the order of the tile's memory."""
    src = tile_operand(op, g, "src")
    offset = g.operand(op, "offset")
    g.value_of_call(op.results[0], GetElement(_single(src, g)), src, offset)


@kernel("pto.tsetval")
def tsetval(op: PtoOp, g: Generator) -> None:
    """Stores a number at a position that counts elements in the order of the tile's memory."""
    dst = g.destination(op)
    fmt = _single(dst, g)
    offset, value = g.operand(op, "offset"), g.operand(op, "val")
    assert offset is not None and value is not None
    g.call(SetElement(fmt), dst, offset, number(g, value, fmt), pipe=Pipe.S)


def _single(tile: Any, g: Generator) -> Format:
    fmt = tile_format(tile, g)
    if fmt.is_packed:
        raise g.error("unmodelled", f"single elements of packed {fmt.name} tiles cannot be accessed")
    return fmt
