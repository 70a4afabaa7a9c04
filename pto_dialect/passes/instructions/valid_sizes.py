"""Which values the valid sizes of a tile have where an operation uses it.

An allocation states the sizes, ``set_validshape`` changes them, by any handle to the tile. Source:
docs/reference/layouts.md, "Tile layouts".
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from functools import cached_property

from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import IsTerminator

from pto_dialect.ir.buffers.views import AllocTileOp, SetValidshapeOp
from pto_dialect.ir.core.base import PtoOp
from pto_dialect.ir.core.walk import ancestors, walk


class ValidSizes:
    """The valid sizes of the tiles of one function. Each tile is looked at once: what states sizes stays as it is."""

    def __init__(self, function: Operation) -> None:
        self._function = function
        self._tiles: dict[SSAValue, _Statements | None] = {}

    @cached_property
    def _order(self) -> dict[Operation, int]:
        return {op: number for number, op in enumerate(walk(self._function))}

    def stated(self, tile: SSAValue, name: str, op: Operation) -> SSAValue | None:
        """Returns the value of the size ``valid_row`` or ``valid_col`` of a tile in ``op``: that of the last operation
        that states it. Returns ``None`` where the text does not determine which one is the last."""
        if tile not in self._tiles:
            self._tiles[tile] = None if _may_change_elsewhere(tile) else _Statements(tile, self._order)
        statements = self._tiles[tile]
        last = None if statements is None else statements.last_before(op)
        return None if last is None else getattr(last, name)


class _Statements:
    """The operations that state the sizes of one tile, and those around them, by block."""

    def __init__(self, tile: SSAValue, order: Mapping[Operation, int]) -> None:
        stating: list[Operation] = _changes(tile)
        if isinstance(tile.owner, AllocTileOp):
            stating.append(tile.owner)
        self._order = order
        self._only = tile.owner if [tile.owner] == stating else None
        self._stating = set(stating)
        self._around = {outer for op in stating for outer in ancestors(op)}
        self._by_block: dict[Block, list[Operation]] = {}
        for op in sorted(self._stating | self._around, key=lambda op: order.get(op, -1)):
            if op.parent is not None:
                self._by_block.setdefault(op.parent, []).append(op)

    def last_before(self, op: Operation) -> Operation | None:
        """Returns the one after which no other runs before ``op``."""
        if isinstance(self._only, Operation):
            return self._only
        for at in (op, *ancestors(op)):
            if at is not op and at in self._around:
                # It may run in another iteration or branch.
                return None
            block = at.parent
            if isinstance(at, FuncOp) or at not in self._order or block is None or block.parent is None:
                return None
            among = self._by_block.get(block, [])
            number = bisect_left(among, self._order[at], key=self._order.__getitem__)
            if number:
                before = among[number - 1]
                return before if before in self._stating else None
            if len(block.parent.blocks) != 1:
                return None
        return None


def _changes(tile: SSAValue) -> list[Operation]:
    return [use.operation for use in tile.uses if isinstance(use.operation, SetValidshapeOp)]


def _may_change_elsewhere(tile: SSAValue) -> bool:
    """Returns whether another handle to the tile, which control flow makes, may change its sizes."""
    handles, pending = {tile}, [tile]
    while pending:
        for use in pending.pop().uses:
            if isinstance(use.operation, PtoOp):
                continue
            if isinstance(use.operation, CallOp):
                return True
            for handle in _made_of(use.operation):
                if handle not in handles and handle.type == tile.type:
                    if _changes(handle):
                        return True
                    handles.add(handle)
                    pending.append(handle)
    return False


def _made_of(op: Operation) -> Iterator[SSAValue]:
    """Returns the values that an operation of control flow may give its operands to."""
    yield from op.results
    for block in (*(block for region in op.regions for block in region.blocks), *op.successors):
        yield from block.args
    outer = op.parent_op()
    if outer is not None and outer.regions and op.has_trait(IsTerminator):
        yield from outer.results
        for region in outer.regions:
            for block in region.blocks:
                yield from block.args
