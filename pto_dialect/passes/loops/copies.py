"""Copies of operations with other operands. Source: docs/reference/core-dialects.md, "Control flow"."""

from __future__ import annotations

from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from pto_dialect.ir.core.location import set_location, span_of


def put(op: Operation, point: InsertPoint, like: Operation) -> Operation:
    """Inserts ``op`` with the location of another one."""
    Rewriter.insert_op(op, point)
    span = span_of(like)
    if span is not None:
        for inner in op.walk():
            if span_of(inner) is None:
                set_location(inner, span)
    return op


def copy_body(block: Block, known: dict[SSAValue, SSAValue], point: InsertPoint) -> list[SSAValue]:
    """Copies all operations of a block but the last, in front of ``point``; returns what the last one yields."""
    *ops, last = block.ops
    for op in ops:
        made = op.clone(known)
        for one, other in zip(made.walk(), op.walk(), strict=True):
            span = span_of(other)
            if span is not None:
                set_location(one, span)
            for result, named in zip(one.results, other.results, strict=True):
                result.name_hint = named.name_hint
        Rewriter.insert_op(made, point)
    return [known.get(value, value) for value in last.operands]
