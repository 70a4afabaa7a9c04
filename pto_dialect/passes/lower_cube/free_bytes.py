"""Bytes after a tile that no other tile has, so that a load of whole blocks may move them too.

Source: docs/reference/layouts.md, "Loads into L0".
"""

from __future__ import annotations

from xdsl.dialects.builtin import MemRefType
from xdsl.dialects.func import CallOp
from xdsl.ir import Attribute, Block, Operation

from pto_dialect.ir.buffers.views import AllocTileOp
from pto_dialect.ir.core.base import PtoOp
from pto_dialect.ir.core.extents import buffer_extent
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.types import MultiTileBufType, PtrType, TileBufType
from pto_dialect.ir.core.walk import walk
from pto_dialect.passes.instructions.geometry import Tile, constant_bits
from pto_dialect.passes.instructions.writer import Writer
from pto_dialect.targets.choice import get_profile
from pto_dialect.targets.memory import LOC_TO_SPACE

_PROFILE = get_profile("a5")
"""The target that has the instructions."""


def is_free_after(writer: Writer, tile: Tile, size: int) -> bool:
    """Returns whether the first ``size`` bytes from the address of a tile are its own or those of no other tile, as
    the text shows."""
    loc = tile.base_type.loc
    own = _extent(tile.base.owner)
    capacity = _PROFILE.capacity_of(LOC_TO_SPACE[loc])
    if own is None or capacity is None or own[0] + size > capacity:
        return False
    function = writer.function
    if any(_is_in(argument.type, loc) for argument in function.entry.args):
        return False
    ignored = {tile.base.owner, *function.made}
    others = (op for op in walk(function.op) if op not in ignored and _makes_memory(op, loc))
    return all(_is_outside(_extent(op), own[1], own[0] + size) for op in others)


def _is_outside(other: tuple[int, int] | None, start: int, stop: int) -> bool:
    return other is not None and (other[1] <= start or stop <= other[0])


def _extent(op: Operation | Block) -> tuple[int, int] | None:
    """Returns the first byte of an allocation and the one after its last; ``None`` where the text leaves it open."""
    if not isinstance(op, AllocTileOp) or op.addr is None:
        return None
    start = constant_bits(op.addr)
    return None if start is None else (start, start + buffer_extent(op.result.type, _PROFILE.arch))


def _makes_memory(op: Operation, loc: str) -> bool:
    """Returns whether an operation may have memory of ``loc`` that is no part of what others have. Operations of
    control flow hand on the tiles that others made."""
    if isinstance(op, CallOp) or has_role(op, Role.RESERVATION):
        return True
    if has_role(op, Role.VIEW) and not has_role(op, Role.UNIQUE):
        return False
    if not isinstance(op, PtoOp):
        return any(isinstance(value.type, MemRefType) for value in op.results)
    return any(_is_in(value.type, loc) for value in op.results)


def _is_in(kind: Attribute, loc: str) -> bool:
    if isinstance(kind, MultiTileBufType):
        kind = kind.slot
    if isinstance(kind, TileBufType):
        return kind.loc == loc
    return isinstance(kind, MemRefType) or (isinstance(kind, PtrType) and kind.space == LOC_TO_SPACE[loc])
