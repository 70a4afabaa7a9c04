"""Results that the vector unit of a2a3 streams into the next operation, so that no barrier is needed.

The later operation must read exactly what the earlier one wrote: the same bytes as a tile of the same type, contiguous,
and at least 16 repeats of 256 bytes long. Scratch tiles do not count, and both operations are in the same loop body.
Two tiles of one type at one constant address are the same bytes. A partial overlap with a result is not streamed.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from xdsl.ir import Attribute, Operation, SSAValue

from pto_dialect.ir.core.base import PtoOp, op_spec, operand_groups
from pto_dialect.ir.core.facts.operation_form import form_of
from pto_dialect.ir.core.operands import first_of, shown
from pto_dialect.ir.core.roles import Role, enclosing, has_role
from pto_dialect.ir.core.types import MultiTileBufType, TileBufType, byte_width
from pto_dialect.ir.tile.expand import TRowExpandOp
from pto_dialect.targets.vector_unit import VL_BYTES, VLANE_BYTES

from .constants import constant_of

_MIN_REPEATS = 16
_DEPTH = 24


class PositionedOperation(Protocol):
    """An operation and its position in the order of the text."""

    @property
    def op(self) -> Operation:
        """The operation."""
        ...

    @property
    def number(self) -> int:
        """Its position in the order of the text."""
        ...


class _Tile(NamedTuple):
    """A tile operand: its type, its allocation or the constant address of that, the size of the allocation in bytes,
    and the handle where it is a view."""

    type: Attribute
    memory: SSAValue | int
    size: int
    view: SSAValue | None

    def may_overlap(self, other: _Tile) -> bool:
        """Returns whether two tiles are known to overlap; different views are compared at the operations that make
        them."""
        if self.view is not None and other.view is not None:
            return self.view is other.view
        if isinstance(self.memory, int) and isinstance(other.memory, int):
            return self.memory < other.memory + other.size and other.memory < self.memory + self.size
        return self.memory == other.memory


def is_streamed(first: PositionedOperation, second: PositionedOperation, kind: str) -> bool:
    """Returns whether all tiles that ``second`` shares with ``first`` in an access of this kind are streamed."""
    # The tiles an operation reads, except scratch tiles, which it writes without returning them.
    scratch = _tiles_of(second.op, "writes") - _tiles_of(second.op, "outs")
    shared = _tiles_of(first.op, "outs") & (_tiles_of(second.op, "reads") - scratch)
    loops = [enclosing(one.op, Role.LOOP) for one in (first, second)]
    if not shared or first.number >= second.number or loops[0] is not loops[1]:
        return False
    if not all(_contiguous_repeats(tile.type) >= _MIN_REPEATS for tile in shared):
        return False
    # In-place operations: read and write of one element are equally far apart in both operations.
    mine = _tiles_of(second.op, "reads" if kind == "raw" else "writes")
    theirs = _tiles_of(first.op, "reads" if kind == "war" else "writes")
    return bool(mine & theirs) and all(
        one == other and one in shared for one in mine for other in theirs if one.may_overlap(other)
    )


def waits_for_vector_unit(op: Operation) -> bool:
    """Returns whether ``op`` is complete only after all earlier work of the vector unit of a2a3, which needs no barrier
    then.

    The header reads each value of ``trowexpand`` with the scalar unit, after a flag from V, unless the result is one
    block of 32 bytes wide.
    """
    return isinstance(op, TRowExpandOp) and any(
        isinstance(tile.type, TileBufType) and tile.type.cols * (byte_width(tile.type.element) or 0) != VLANE_BYTES
        for tile in _tiles_of(op, "outs")
    )


def _tiles_of(op: Operation, role: str) -> frozenset[_Tile]:
    if not isinstance(op, PtoOp):
        return frozenset()
    form, outs = form_of(op, "a2a3"), op_spec(type(op)).outs
    results = tuple(name for name in form.writes if name in outs and name not in form.scratch)
    names = {"reads": form.reads, "writes": form.writes, "outs": results}[role]
    groups = operand_groups(op)
    return frozenset(_tile(value) for name in names for value in groups.get(name, ()))


def _tile(value: SSAValue) -> _Tile:
    """Returns the tile that ``value`` refers to, through views."""
    source, depth = value, 0
    while depth < _DEPTH and isinstance(op := source.owner, Operation) and has_role(op, Role.VIEW) and op.operands:
        source, depth = shown(op), depth + 1
    op, view = source.owner, None if source is value else value
    if not isinstance(op, PtoOp) or not has_role(op, Role.TILE_ALLOCATION):
        return _Tile(value.type, source, 0, view)
    address = first_of(op, "addr")
    number = None if address is None else constant_of(address)
    return _Tile(value.type, number if isinstance(number, int) else source, _bytes(source.type), view)


def _bytes(type_: Attribute) -> int:
    """Returns the size in bytes of a tile, or of all slots of a multi-buffer."""
    if isinstance(type_, MultiTileBufType):
        return type_.count * _bytes(type_.slot)
    return type_.rows * type_.cols * (byte_width(type_.element) or 0) if isinstance(type_, TileBufType) else 0


def _contiguous_repeats(type_: Attribute) -> int:
    """Returns the number of repeats of a contiguous tile with static sizes; 0 for others."""
    if not isinstance(type_, TileBufType):
        return 0
    rows, cols = type_.valid_rows, type_.valid_cols
    if min(rows, cols) < 0:
        return 0
    contiguous, line = (cols == type_.cols, rows) if type_.blayout == "row_major" else (rows == type_.rows, cols)
    return -(-rows * cols * (byte_width(type_.element) or 0) // VL_BYTES) if contiguous or line == 1 else 0
