"""Parts of tiles, and who uses a tile through them. Source: docs/reference/layouts.md, "Valid region"."""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from pto_dialect.ir.buffers.views import SubviewOp


def parts_of(tile: SSAValue) -> list[SubviewOp]:
    """Returns the parts of a tile and their parts, each after that which it is a part of."""
    found = [use.operation for use in tile.uses if isinstance(use.operation, SubviewOp)]
    return [part for one in found for part in (one, *parts_of(one.result))]


def users_of(tile: SSAValue) -> list[Operation]:
    """Returns the users of a tile and of its parts, which are handles only."""
    handles = [tile, *(part.result for part in parts_of(tile))]
    users = [use.operation for handle in handles for use in handle.uses]
    return [op for op in users if not isinstance(op, SubviewOp)]
