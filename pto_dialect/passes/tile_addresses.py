"""The locations of the tiles of a function: its allocations with their bytes, and which of them overlap.

States that differ in what was written have the same locations, so what follows from locations alone is computed once.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple

from xdsl.ir import Operation

from pto_dialect.analysis.abstract_values import AbstractValue
from pto_dialect.ir.core.extents import buffer_extent
from pto_dialect.ir.core.types import MultiTileBufType, TileBufType
from pto_dialect.targets.profile import Profile
from pto_dialect.verify.buffers.alloc import address_operand, is_view, space_of


class Tile:
    """An allocation with a known place; ``made`` is the number of its operation."""

    __slots__ = ("made", "op", "space", "start", "stop")

    def __init__(self, op: Operation, space: str, start: int, stop: int) -> None:
        self.made = id(op)
        self.op = op
        self.space = space
        self.start = start
        self.stop = stop

    def shares(self, other: Tile) -> bool:
        """Returns whether some byte belongs to both."""
        return self.space == other.space and self.start < other.stop and other.start < self.stop

    def is_same_memory(self, other: Tile) -> bool:
        """Returns whether both have exactly the same bytes."""
        return (self.space, self.start, self.stop) == (other.space, other.start, other.stop)

    def contains(self, other: Tile) -> bool:
        """Returns whether all bytes of ``other`` belong to this one."""
        return self.space == other.space and self.start <= other.start and other.stop <= self.stop


class Allocator(NamedTuple):
    """What the text of an allocation says: the position of its address among the operands (-1: none), its memory and
    its size (0: nobody knows), whether it is a view of memory that others have."""

    address: int
    space: str
    size: int
    view: bool


def allocator(op: Operation, profile: Profile) -> Allocator:
    """Returns what the text of ``op``, an allocation, says."""
    kind = op.results[0].type
    tile = kind.slot if isinstance(kind, MultiTileBufType) else kind
    address = address_operand(op)
    position = -1 if address is None else list(op.operands).index(address)
    if not isinstance(tile, TileBufType):
        return Allocator(position, "", 0, is_view(op))
    size = buffer_extent(kind, profile.arch)
    return Allocator(position, space_of(tile, profile), size, is_view(op))


class TileAddresses:
    """Allocations by the number of their handle, and the tiles among them whose place is known.

    ``shared``: several states refer to it, so it must not change.
    """

    def __init__(self, made: dict[AbstractValue, Operation], tiles: dict[AbstractValue, Tile]) -> None:
        self.made = made
        self.tiles = tiles
        self.shared = False
        self._key: Hashable = None
        self._sharing: dict[Tile, frozenset[int]] = {}
        self._accessed: dict[tuple[int, tuple[AbstractValue, ...]], Accessed] = {}
        self._bases: dict[AbstractValue, AbstractValue | None] = {}

    def with_(self, number: AbstractValue, op: Operation, tile: Tile | None) -> TileAddresses:
        """These places and one more allocation."""
        same = number in self.made and (tile is None or self.tiles.get(number) is tile)
        if same:
            return self
        copy = TileAddresses(dict(self.made), dict(self.tiles)) if self.shared else self
        copy.made[number] = op
        if tile is not None:
            copy.tiles[number] = tile
        copy._key = None
        copy._sharing.clear()
        copy._accessed.clear()
        copy._bases.clear()
        return copy

    def key(self) -> Hashable:
        """Equal for equal places."""
        if self._key is None:
            # The number of a handle tells which allocation it comes from.
            self._key = (frozenset(self.made), frozenset(self.tiles.items()))
        return self._key

    def sharing(self, tile: Tile) -> frozenset[int]:
        """Returns the numbers of the allocations that have bytes in common with ``tile``."""
        known = self._sharing.get(tile)
        if known is None:
            others = frozenset(other.made for other in self.tiles.values() if other.shares(tile))
            known = self._sharing[tile] = others
        return known

    def owner(self, tile: Tile) -> Tile | None:
        """Returns the first tile that has all bytes of ``tile``."""
        return next((known for known in self.tiles.values() if known.contains(tile)), None)

    def accessed(self, op: Operation, positions: Positions, numbers: tuple[AbstractValue, ...]) -> Accessed:
        """Returns what an operation reads and writes whose operands have these numbers."""
        key = (id(op), numbers)
        known = self._accessed.get(key)
        if known is None:
            read, written, clobbered = (
                tuple(dict.fromkeys(base for i in group if (base := self._base(numbers[i])) is not None))
                for group in positions
            )
            tiles = [
                tuple(dict.fromkeys(self.tiles[base] for base in bases if base in self.tiles))
                for bases in (read, written, clobbered)
            ]
            made = [tuple(self.made[base] for base in bases) for bases in (read, written)]
            known = self._accessed[key] = Accessed(tiles[0], tiles[1], made[0], frozenset(map(id, made[1])), tiles[2])
        return known

    def _base(self, number: AbstractValue) -> AbstractValue | None:
        """Returns the allocation that a handle comes from, through views and slots."""
        if isinstance(number, int):
            return None
        if number in self.made:
            return number
        if number not in self._bases:
            parts = (self._base(part) for part in number if isinstance(part, tuple))
            self._bases[number] = next((base for base in parts if base is not None), None)
        return self._bases[number]


Positions = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]
"""The operands with tiles that an operation reads, those that it writes, and those among them whose contents are
undefined afterwards."""


class Accessed(NamedTuple):
    """The tiles with known locations that an operation reads and writes, and their allocations, those that it writes by
    their indices; ``clobbered`` are tiles whose contents are undefined afterwards."""

    reads: tuple[Tile, ...]
    writes: tuple[Tile, ...]
    read: tuple[Operation, ...]
    written: frozenset[int]
    clobbered: tuple[Tile, ...] = ()
