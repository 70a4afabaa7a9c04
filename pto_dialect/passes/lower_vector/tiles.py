"""Where tiles lie, as far as the text says it, and which of them have bytes in common.

Source: docs/reference/execution.md, "Pointers, tiles and views".
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import replace
from itertools import product
from typing import NamedTuple

from xdsl.ir import BlockArgument, Operation, SSAValue

from pto_dialect.analysis.constants import constant_of
from pto_dialect.analysis.symbols import Symbols
from pto_dialect.ir.buffers.views import AllocMultiTileOp, AllocTileOp, BitcastOp, MultiTileGetOp, TReshapeOp
from pto_dialect.ir.core.base import PtoOp, op_spec
from pto_dialect.ir.core.extents import buffer_extent
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.types import TileBufType
from pto_dialect.ir.core.walk import walk
from pto_dialect.ir.sync.pipes import DeclareTileOp
from pto_dialect.passes.accesses.locations import SLOTS, HandleLocations, MemoryLocation
from pto_dialect.passes.instructions.geometry import NotLoweredError, Tile
from pto_dialect.targets.choice import get_profile

CHIP = "a5"
"""The one that has vector functions."""
_ADDRESSES = "bytes"
"""What a :class:`Place` with known bytes belongs to."""


class Extent(NamedTuple):
    """Bytes from ``start`` to ``stop`` of the unified buffer."""

    start: int
    stop: int

    def meets(self, other: Extent) -> bool:
        """Returns whether some byte belongs to both."""
        return self.start < other.stop and other.start < self.stop


def may_overlap(one: Tile, other: Tile) -> bool:
    """Returns whether two tiles may have bytes in common; tiles whose addresses only a run knows may."""
    return _may_meet(one, other, _overlap_possible)


def refuse_overlap(op: Operation, sources: Iterable[Tile], dst: Tile, what: str) -> None:
    """Raises :class:`NotLoweredError` where ``dst`` may have bytes of one of ``sources``, which holds ``what``."""
    for source in sources:
        if must_overlap(source, dst):
            raise NotLoweredError(op, f"its destination overlaps {what}")
        if may_overlap(source, dst):
            reason = f"its destination may overlap {what}: the addresses of its tiles are known at run time only"
            raise NotLoweredError(op, reason, "constant addresses show that they are apart")


def must_overlap(one: Tile, other: Tile) -> bool:
    """Returns whether two tiles have bytes in common in every run: they are parts of one tile, or their addresses say
    so."""
    if one.base is other.base:
        return True
    first, second = _single(one), _single(other)
    return first is not None and second is not None and first.meets(second)


def must_be_disjoint(one: Tile, other: Tile) -> bool:
    """Returns whether two tiles have no byte in common, whatever a run says."""
    first, second = extent(one.base), extent(other.base)
    return first is not None and second is not None and not first.meets(second)


def has_same_start(one: Tile, other: Tile) -> bool:
    """Returns whether two tiles must start at one address."""
    if (one.row, one.col, other.row, other.col) != (0, 0, 0, 0):
        return False
    if one.base is other.base:
        return True
    first, second = _single(one), _single(other)
    return first is not None and second is not None and first.start == second.start


def is_same_location(one: Tile, other: Tile) -> bool:
    """Returns whether each element of one tile must be the same element of the other."""
    is_equal = (one.type.element, one.row, one.col, one.base_type.cols) == (
        *(other.type.element, other.row, other.col, other.base_type.cols),
    )
    return is_equal and has_same_start(replace(one, row=0, col=0), replace(other, row=0, col=0))


def torn(source: Tile, dst: Tile) -> bool:
    """Returns whether ``dst`` may have bytes of other elements of ``source``, which are read after they were
    written."""
    if is_same_location(source, dst) or _separate_windows(source, dst):
        return False
    # Whether two tiles that begin at one address have each element in the same bytes.
    parts = [
        (tile.type.element, tile.row, tile.col, tile.base_type.rows, tile.base_type.cols) for tile in (source, dst)
    ]
    return _may_meet(source, dst, _shift_possible if (parts[0] == parts[1]) else _overlap_possible)


def _may_meet(one: Tile, other: Tile, meet: Callable[[MemoryLocation, MemoryLocation], bool]) -> bool:
    """Returns whether ``meet`` holds for two of the memory locations that the handles of the tiles may point to."""
    if one.base is other.base:
        return True
    return any(meet(first, second) for first, second in product(_locations(one.base), _locations(other.base)))


def _locations(handle: SSAValue, callers: tuple[Operation, ...] = ()) -> list[MemoryLocation]:
    """Returns the memory locations that a handle may point to; those of an argument are what the calls of its function
    pass, and a location of its own where nobody calls it."""
    locations: list[MemoryLocation] = []
    for location in HandleLocations(get_profile(CHIP)).of(handle):
        passed = _passed(location.root, callers) if isinstance(location.root, BlockArgument) else []
        for call, value in passed:
            inner = _locations(value, (*callers, call))
            locations += [one.part if location.sides else one.unframed for one in inner]
        if not passed:
            locations.append(location)
    return locations


def _passed(argument: BlockArgument, callers: tuple[Operation, ...]) -> list[tuple[Operation, SSAValue]]:
    """Returns the calls that pass a value for an argument of a function, and the value."""
    function = argument.owner.parent_op()
    module = None if function is None else function.parent_op()
    if module is None:
        return []
    symbols = Symbols()
    calls = (op for op in walk(module) if has_role(op, Role.CALL) and op not in callers)
    return [(op, op.operands[argument.index]) for op in calls if symbols.callee(op) is function]


def _overlap_possible(one: MemoryLocation, other: MemoryLocation) -> bool:
    if one.root == other.root == _ADDRESSES and one.stop is not None and other.stop is not None:
        return one.start < other.stop and other.start < one.stop
    if one.root is None or other.root is None or one.root == other.root:
        return True
    # The rule overlap-reserve keeps the memory of queues apart from addresses; nobody calls the functions of arguments.
    return not any(_is_entry(location.root) or isinstance(location.root, BlockArgument) for location in (one, other))


def _shift_possible(one: MemoryLocation, other: MemoryLocation) -> bool:
    """Returns whether a byte may belong to different elements of two tiles of one form."""
    if isinstance(one.frame, tuple) and one.frame[0] == SLOTS and one.frame == other.frame:
        # The same slot of a multi-buffer, or two that share no byte.
        return False
    exact = one.root == other.root == _ADDRESSES and not one.sides and not other.sides
    return _overlap_possible(one, other) and not (exact and one.start == other.start)


def _is_entry(root: Hashable) -> bool:
    """Returns whether memory is an entry of a queue."""
    owner = root.owner if isinstance(root, SSAValue) else None
    return isinstance(owner, DeclareTileOp) or (isinstance(owner, PtoOp) and op_spec(type(owner)).queue is not None)


def _separate_windows(one: Tile, other: Tile) -> bool:
    """Returns whether two parts of a tile must be disjoint."""
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


def transposed(tile: Tile) -> Tile:
    """Returns a tile of columns as one of rows: the same elements in the same bytes."""
    type_ = TileBufType(tile.base_type.loc, tile.base_type.cols, tile.base_type.rows, tile.base_type.element)
    return replace(tile, base_type=type_, row=tile.col, col=tile.row, rows=tile.cols, cols=tile.rows)


def extent(value: SSAValue) -> Extent | None:
    """Returns the bytes of a tile and, if it is a slot, of all its slots; ``None`` where only a run knows them."""
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
    """Returns the bytes of a tile that is no slot."""
    value = tile.base
    while isinstance(value.owner, (TReshapeOp, BitcastOp)):
        value = value.owner.src
    return None if isinstance(value.owner, MultiTileGetOp) else extent(value)
