"""Results that the vector unit of a2a3 streams into the next operation, so that no barrier is needed.

That holds where the later operation reads exactly what the earlier one wrote: through the same handle, contiguous, and
at least 16 repeats of 256 bytes long; scratch tiles do not count, and no loop may lie between.
"""

from __future__ import annotations

from typing import Protocol

from xdsl.ir import Attribute, Operation, SSAValue

from pto_dialect.ir.core.base import PtoOp, op_spec, operand_groups
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.types import TileBufType, byte_width
from pto_dialect.targets.vector_unit import VL_BYTES

_MIN_REPEATS = 16


class Placed(Protocol):
    """An operation, and its number in the order of the text."""

    @property
    def op(self) -> Operation:
        """The operation."""
        ...

    @property
    def number(self) -> int:
        """Its number in the order of the text."""
        ...


def streams(first: Placed, second: Placed, kind: str) -> bool:
    """True when all that ``second`` shares with ``first`` in an access of this kind is streamed."""
    shared = _results(first.op) & _sources(second.op)
    if not shared or first.number >= second.number or _loop(first.op) is not _loop(second.op):
        return False
    if not all(_repeats(value.type) >= _MIN_REPEATS for value in shared):
        return False
    if kind == "raw":
        return True
    # A result in place of the source: the two are as far apart as the read and the write of one element.
    mine = _group(second.op, "writes")
    theirs = _group(first.op, "writes" if kind == "waw" else "reads")
    return (mine & theirs) <= shared and bool(mine & theirs)


def _group(op: Operation, role: str) -> frozenset[SSAValue]:
    if not isinstance(op, PtoOp):
        return frozenset()
    spec = op_spec(type(op))
    names = {"reads": spec.reads, "writes": (*spec.writes, *spec.outs), "outs": spec.outs}[role]
    groups = operand_groups(op)
    return frozenset(value for name in names for value in groups.get(name, ()))


def _results(op: Operation) -> frozenset[SSAValue]:
    return _group(op, "outs")


def _sources(op: Operation) -> frozenset[SSAValue]:
    """What an operation reads, scratch tiles aside: these it also writes without giving them back."""
    scratch = _group(op, "writes") - _group(op, "outs")
    return _group(op, "reads") - scratch


def _loop(op: Operation) -> Operation | None:
    place = op.parent_op()
    while place is not None and not has_role(place, Role.LOOP):
        place = place.parent_op()
    return place


def _repeats(type_: Attribute) -> int:
    """Repeats of a contiguous tile whose sizes are known, 0 for others."""
    if not isinstance(type_, TileBufType):
        return 0
    rows, cols = type_.valid_rows, type_.valid_cols
    if min(rows, cols) < 0:
        return 0
    whole, line = (cols == type_.cols, rows) if type_.blayout == "row_major" else (rows == type_.rows, cols)
    return -(-rows * cols * (byte_width(type_.element) or 0) // VL_BYTES) if whole or line == 1 else 0
