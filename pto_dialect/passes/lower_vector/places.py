"""Where tiles lie, as far as the text says it, and which of them have bytes in common.

Source: docs/reference/execution.md, "Pointers, tiles and views".
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from xdsl.ir import SSAValue

from pto_dialect.analysis.constants import constant_of
from pto_dialect.ir.buffers.views import AllocMultiTileOp, AllocTileOp, BitcastOp, MultiTileGetOp, TReshapeOp
from pto_dialect.ir.core.extents import buffer_extent
from pto_dialect.ir.core.types import TileBufType
from pto_dialect.passes.instructions.geometry import Tile

CHIP = "a5"
"""The one that has vector functions."""


class Extent(NamedTuple):
    """Bytes from ``start`` to ``stop`` of the unified buffer."""

    start: int
    stop: int

    def meets(self, other: Extent) -> bool:
        """Whether some byte belongs to both."""
        return self.start < other.stop and other.start < self.stop


def may_overlap(one: Tile, other: Tile) -> bool:
    """Whether two tiles may have bytes in common: they are parts of one tile, or their addresses say so. Tiles whose
    addresses only a run knows are taken for separate ones."""
    if one.base is other.base:
        return True
    first, second = _single(one), _single(other)
    return first is not None and second is not None and first.meets(second)


def certainly_apart(one: Tile, other: Tile) -> bool:
    """Whether two tiles have no byte in common, whatever a run says."""
    first, second = extent(one.base), extent(other.base)
    return first is not None and second is not None and not first.meets(second)


def same_start(one: Tile, other: Tile) -> bool:
    """Whether two tiles certainly begin at one address."""
    if (one.row, one.col, other.row, other.col) != (0, 0, 0, 0):
        return False
    if one.base is other.base:
        return True
    first, second = _single(one), _single(other)
    return first is not None and second is not None and first.start == second.start


def same_place(one: Tile, other: Tile) -> bool:
    """Whether each element of one tile certainly is the same element of the other."""
    alike = (one.type.element, one.row, one.col, one.whole.cols) == (
        *(other.type.element, other.row, other.col, other.whole.cols),
    )
    return alike and same_start(replace(one, row=0, col=0), replace(other, row=0, col=0))


def torn(source: Tile, dst: Tile) -> bool:
    """Whether ``dst`` may have bytes of other elements of ``source``, which are read after they were written."""
    return may_overlap(source, dst) and not same_place(source, dst) and not _separate_windows(source, dst)


def _separate_windows(one: Tile, other: Tile) -> bool:
    """Whether two parts of a tile certainly have no element in common."""
    if one.base is not other.base:
        return False
    for first, second in (
        ((one.row, one.rows), (other.row, other.rows)),
        ((one.col, one.cols), (other.col, other.cols)),
    ):
        numbers = (*first, *second)
        if not all(isinstance(number, int) for number in numbers):
            continue
        start, size, start_other, size_other = (number for number in numbers if isinstance(number, int))
        if start + size <= start_other or start_other + size_other <= start:
            return True
    return False


def turned(tile: Tile) -> Tile:
    """A tile of columns as one of rows: the same elements in the same bytes."""
    whole = TileBufType(tile.whole.loc, tile.whole.cols, tile.whole.rows, tile.whole.element)
    return replace(tile, whole=whole, row=tile.col, col=tile.row, rows=tile.cols, cols=tile.rows)


def extent(value: SSAValue) -> Extent | None:
    """The bytes of a tile and, if it is a slot, of all its slots; ``None`` where only a run knows them."""
    while isinstance(value.owner, (TReshapeOp, BitcastOp)):
        value = value.owner.src
    if isinstance(value.owner, MultiTileGetOp):
        value = value.owner.source
    owner, type_ = value.owner, value.type
    if not isinstance(owner, (AllocTileOp, AllocMultiTileOp)) or owner.addr is None:
        return None
    start = constant_of(owner.addr)
    if not isinstance(start, int):
        return None
    return Extent(start, start + buffer_extent(type_, CHIP))


def _single(tile: Tile) -> Extent | None:
    """The bytes of a tile that is no slot."""
    value = tile.base
    while isinstance(value.owner, (TReshapeOp, BitcastOp)):
        value = value.owner.src
    return None if isinstance(value.owner, MultiTileGetOp) else extent(value)
