"""Writes the flags and barriers of a solved function into it."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Operation
from xdsl.rewriter import InsertPoint, Rewriter

from pto_dialect.ir.core.attributes import EnumAttr
from pto_dialect.ir.core.base import Pipe
from pto_dialect.ir.core.location import set_location, span_of
from pto_dialect.ir.sync.flags import BarrierOp, SetFlagOp, WaitFlagOp
from pto_dialect.passes.accesses.items import PIPES, Choice, Flag, Item, Loop, Sequence


def write(sequence: Sequence) -> None:
    """Puts the operations for the flags and barriers of ``sequence``, and of all in it, in their places."""
    for index, item in enumerate(sequence.items):
        op = item.op
        if index in sequence.full:
            _put(_barrier(Pipe.ALL), InsertPoint.before(op), op)
        for flag in sequence.waits.get(index, ()):
            _put(_flag(WaitFlagOp, flag), InsertPoint.before(op), op)
        for pipe in sorted(sequence.barriers.get(index, ())):
            _put(_barrier(PIPES[pipe]), InsertPoint.before(op), op)
        carried = item.carried if isinstance(item, Loop) else []
        for flag in carried:
            _put(_flag(SetFlagOp, flag), InsertPoint.before(op), op)
        point = InsertPoint.after(op)
        for flag in carried:
            _put(_flag(WaitFlagOp, flag), point, op)
        for flag in sequence.sets.get(index, ()):
            _put(_flag(SetFlagOp, flag), point, op)
        for inner in _inner(item):
            write(inner)


def _inner(item: Item) -> Iterator[Sequence]:
    if isinstance(item, Loop):
        yield item.body
    elif isinstance(item, Choice):
        yield from item.branches


def _put(op: Operation, point: InsertPoint, near: Operation) -> None:
    Rewriter.insert_op(op, point)
    span = span_of(near)
    if span is not None:
        set_location(op, span)


def _pipe(pipe: Pipe) -> EnumAttr:
    return EnumAttr(("pipe", pipe.value))


def _flag(cls: type[SetFlagOp] | type[WaitFlagOp], flag: Flag) -> Operation:
    attributes = {
        "src_pipe": _pipe(PIPES[flag.source]),
        "dst_pipe": _pipe(PIPES[flag.target]),
        "event_id": EnumAttr(("event", f"EVENT_ID{flag.event}")),
    }
    return cls.create(attributes=attributes)


def _barrier(pipe: Pipe) -> Operation:
    return BarrierOp.create(attributes={"pipe": _pipe(pipe)})
