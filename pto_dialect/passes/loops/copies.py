"""Copies of operations with other operands, and removals. Source: docs/reference/core-dialects.md, "Control flow"."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import IndexType, IntegerAttr
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from pto_dialect.ir.buffers.views import AllocTileOp, PartitionViewOp, TReshapeOp
from pto_dialect.ir.core.location import share_location


def put(op: Operation, point: InsertPoint, like: Operation) -> Operation:
    """Inserts ``op`` with the location of another one."""
    Rewriter.insert_op(op, point)
    share_location(op, like)
    return op


def index_constant(number: int, like: Operation, point: InsertPoint | None = None) -> SSAValue:
    """Inserts an index constant with the location of an operation, before it where no other point is given."""
    op = ConstantOp(IntegerAttr(number, IndexType()))
    op.result.name_hint = f"c{number}"
    return put(op, point or InsertPoint.before(like), like).results[0]


def copy_body(block: Block, known: dict[SSAValue, SSAValue], point: InsertPoint) -> list[SSAValue]:
    """Copies all operations of a block but the last before ``point``; returns the operands of the last one."""
    *ops, last = block.ops
    for op in ops:
        made = op.clone(known)
        for one, other in zip(made.walk(), op.walk(), strict=True):
            share_location(one, other)
            for result, named in zip(one.results, other.results, strict=True):
                result.name_hint = named.name_hint
        Rewriter.insert_op(made, point)
    return [known.get(value, value) for value in last.operands]


def erase_with_handles(ops: Iterable[Operation]) -> None:
    """Removes operations, users before what they use, and the tiles and parts of arrays that only they used."""
    handles: list[Operation] = []
    for op in ops:
        handles += _handles(op)
        op.detach()
        op.erase()
    # What another form of a tile shows is removed after it.
    for handle in handles:
        if handle.parent is None or any(result.uses for result in handle.results):
            continue
        handles += _handles(handle)
        handle.detach()
        handle.erase()


def _handles(op: Operation) -> list[Operation]:
    return [value.owner for value in op.operands if isinstance(value.owner, (AllocTileOp, PartitionViewOp, TReshapeOp))]
