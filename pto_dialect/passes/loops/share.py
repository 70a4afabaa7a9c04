"""A loop over parts of rows that every block of a launch executes becomes one whose parts the blocks share.

Source: docs/reference/operations.md, "Queries of the launch".
"""

from __future__ import annotations

from typing import NamedTuple

from xdsl.dialects.arith import AddiOp, CeilDivSIOp, IndexCastOp, MaxSIOp, MuliOp, SubiOp
from xdsl.dialects.builtin import IndexType, i64
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint

from pto_dialect.ir.core.base import PtoOp
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.walk import walk
from pto_dialect.ir.scalar.query import CoreQueryOp, GetBlockIdxOp, GetBlockNumOp
from pto_dialect.ir.tile.memory import TLoadOp, TStoreOp
from pto_dialect.passes.instructions.writer import calls, is_handle

from .arrays import array_of, may_share, part_of
from .copies import put
from .stretches import NotTiledError, Stretch, works_row_by_row

_INDEX = IndexType()


def check_shared(stretch: Stretch) -> None:
    """Checks that blocks can share the rows: all blocks compute the same, and nothing but these rows is stored, each
    once. Raises :class:`NotTiledError`."""
    first = stretch.ops[0]
    function = first.parent_op()
    if function is None or not has_role(function, Role.FUNCTION):
        raise NotTiledError(first, "blocks share rows that are computed once, not in a loop or a branch")
    if calls(function):
        raise NotTiledError(first, "blocks share rows of programs without calls")
    if stretch.height % stretch.rows:
        raise NotTiledError(first, f"{stretch.height} rows are no multiple of {stretch.rows}, so blocks cannot share")
    stores = [op for op in stretch.ops if isinstance(op, TStoreOp)]
    stored = {array_of(part.result) for op in stores if (part := part_of(op)) is not None}
    for op in stores:
        if "atomicType" in {*op.attributes, *op.properties}:
            raise NotTiledError(op, "each block adds its result to what is there")
    for op in walk(function):
        if op not in stretch.ops and op is not function:
            _check_beside(op, stored)


def _check_beside(op: Operation, stored: set[SSAValue | None]) -> None:
    """Checks that blocks may execute an operation beside the loop that they share."""
    if isinstance(op, CoreQueryOp):
        raise NotTiledError(op, "it lets blocks compute different rows already")
    if is_handle(op) or isinstance(op, ReturnOp):
        return
    if not isinstance(op, PtoOp) or not (isinstance(op, TLoadOp) or works_row_by_row(op)):
        raise NotTiledError(op, "it may use what blocks that share rows do not compute")
    part = part_of(op)
    array = None if part is None else array_of(part.result)
    if isinstance(op, TLoadOp) and any(may_share(array, other) for other in stored):
        raise NotTiledError(op, "another block may have stored to its array already")


class Share(NamedTuple):
    """The parts of a block: that of its number, and each so many later as there are ``blocks``; ``parts`` of them."""

    block: SSAValue
    blocks: SSAValue
    parts: SSAValue

    def part(self, turn: SSAValue, point: InsertPoint, near: Operation) -> SSAValue:
        """Returns the number of the part that a block computes in iteration ``turn``."""
        before = put(MuliOp(turn, self.blocks), point, near).results[0]
        return put(AddiOp(before, self.block), point, near).results[0]


def share_of(total: SSAValue, zero: SSAValue, near: Operation) -> Share:
    """Returns the share of a block in ``total`` parts, computed before ``near``."""
    point = InsertPoint.before(near)

    def value(op: Operation, name: str = "") -> SSAValue:
        result = put(op, point, near).results[0]
        result.name_hint = name or None
        return result

    block, blocks = (
        value(IndexCastOp(value(cls.create(result_types=[i64])), _INDEX), name)
        for cls, name in ((GetBlockIdxOp, "block"), (GetBlockNumOp, "blocks"))
    )
    left = value(MaxSIOp(value(SubiOp(total, block)), zero))
    return Share(block, blocks, value(CeilDivSIOp(left, blocks), "parts"))
