"""Which values the valid sizes of a tile have where an operation uses it.

An allocation states the sizes, ``set_validshape`` changes them, by any handle to the tile. Source:
docs/reference/layouts.md, "Tile layouts".
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.traits import IsTerminator

from pto_dialect.ir.buffers.views import AllocTileOp, SetValidshapeOp
from pto_dialect.ir.core.base import PtoOp


def stated_size(tile: SSAValue, name: str, op: Operation) -> SSAValue | None:
    """Returns the value of the size ``valid_row`` or ``valid_col`` of a tile in ``op``: that of the last operation that
    states it. Returns ``None`` where the text leaves open which one is the last."""
    stating: list[AllocTileOp | SetValidshapeOp] = _changes(tile)
    owner = tile.owner
    if _may_change_elsewhere(tile):
        return None
    if isinstance(owner, AllocTileOp):
        if not stating:
            return getattr(owner, name)
        stating.append(owner)
    last = _last_before(op, stating)
    return None if last is None else getattr(last, name)


def _changes(tile: SSAValue) -> list[AllocTileOp | SetValidshapeOp]:
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


def _last_before(op: Operation, candidates: Collection[Operation]) -> Operation | None:
    """Returns the one of ``candidates`` after which no other runs before ``op``."""
    around = {outer for candidate in candidates for outer in _enclosing(candidate)}
    for at in (op, *_enclosing(op)):
        if at is not op and at in around:
            # It may run in another iteration or branch.
            return None
        block = at.parent
        if isinstance(at, FuncOp) or block is None or block.parent is None:
            return None
        before = at.prev_op
        while before is not None:
            if before in candidates:
                return before
            if before in around:
                return None
            before = before.prev_op
        if len(block.parent.blocks) != 1:
            return None
    return None


def _enclosing(op: Operation) -> list[Operation]:
    """Returns the operations around ``op``, the innermost first."""
    found: list[Operation] = []
    outer = op.parent_op()
    while outer is not None:
        found.append(outer)
        outer = outer.parent_op()
    return found
