"""Results that the vector unit of a2a3 streams into the next operation, so that no barrier is needed.

That holds where the later operation reads exactly what the earlier one wrote: the same bytes as a tile of the same
type, contiguous, and at least 16 repeats of 256 bytes long; scratch tiles do not count, and no loop may lie between.
Two tiles of one type at one constant address are the same bytes. What shares only some bytes with a result is not
streamed.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from xdsl.ir import Attribute, Operation, SSAValue

from pto_dialect.ir.core.base import PtoOp, op_spec, operand_groups
from pto_dialect.ir.core.facts.operation_form import form_of
from pto_dialect.ir.core.operands import first_of, shown
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.types import MultiTileBufType, TileBufType, byte_width
from pto_dialect.targets.vector_unit import VL_BYTES

from .constants import constant_of

_MIN_REPEATS = 16
_DEPTH = 24


class PositionedOperation(Protocol):
    """An operation, and its number in the order of the text."""

    @property
    def op(self) -> Operation:
        """The operation."""
        ...

    @property
    def number(self) -> int:
        """Its number in the order of the text."""
        ...


class _Tile(NamedTuple):
    """A tile that an operation names: its type, the allocation behind it or the address of that, the bytes of that, and
    the handle itself where it is a view."""

    type: Attribute
    memory: SSAValue | int
    size: int
    view: SSAValue | None

    def may_overlap(self, other: _Tile) -> bool:
        """Whether both are known to have bytes in common; different views are judged where they are made."""
        if self.view is not None and other.view is not None:
            return self.view is other.view
        if isinstance(self.memory, int) and isinstance(other.memory, int):
            return self.memory < other.memory + other.size and other.memory < self.memory + self.size
        return self.memory == other.memory


def is_streamed(first: PositionedOperation, second: PositionedOperation, kind: str) -> bool:
    """True when all that ``second`` shares with ``first`` in an access of this kind is streamed."""
    shared = _results(first.op) & _sources(second.op)
    if not shared or first.number >= second.number or _innermost_loop(first.op) is not _innermost_loop(second.op):
        return False
    if not all(_contiguous_repeats(tile.type) >= _MIN_REPEATS for tile in shared):
        return False
    # A result in place of the source: the two are as far apart as the read and the write of one element.
    mine = _tiles_of(second.op, "reads" if kind == "raw" else "writes")
    theirs = _tiles_of(first.op, "reads" if kind == "war" else "writes")
    return bool(mine & theirs) and all(
        one == other and one in shared for one in mine for other in theirs if one.may_overlap(other)
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
    """What ``value`` shows, through views."""
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
    """The bytes of a tile, or of all slots of a multi-buffer."""
    if isinstance(type_, MultiTileBufType):
        return type_.count * _bytes(type_.slot)
    return type_.rows * type_.cols * (byte_width(type_.element) or 0) if isinstance(type_, TileBufType) else 0


def _results(op: Operation) -> frozenset[_Tile]:
    return _tiles_of(op, "outs")


def _sources(op: Operation) -> frozenset[_Tile]:
    """What an operation reads, scratch tiles aside: these it also writes without giving them back."""
    scratch = _tiles_of(op, "writes") - _tiles_of(op, "outs")
    return _tiles_of(op, "reads") - scratch


def _innermost_loop(op: Operation) -> Operation | None:
    place = op.parent_op()
    while place is not None and not has_role(place, Role.LOOP):
        place = place.parent_op()
    return place


def _contiguous_repeats(type_: Attribute) -> int:
    """Repeats of a contiguous tile whose sizes are known, 0 for others."""
    if not isinstance(type_, TileBufType):
        return 0
    rows, cols = type_.valid_rows, type_.valid_cols
    if min(rows, cols) < 0:
        return 0
    whole, line = (cols == type_.cols, rows) if type_.blayout == "row_major" else (rows == type_.rows, cols)
    return -(-rows * cols * (byte_width(type_.element) or 0) // VL_BYTES) if whole or line == 1 else 0
