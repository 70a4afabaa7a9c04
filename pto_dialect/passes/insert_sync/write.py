"""Writes the flags and barriers of a solved function into it."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.arith import AddiOp, ConstantOp
from xdsl.dialects.builtin import IndexType, IntegerAttr
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from pto_dialect.ir.core.attributes import EnumAttr
from pto_dialect.ir.core.base import Pipe
from pto_dialect.ir.core.location import set_location, span_of
from pto_dialect.ir.sync.flags import BarrierOp, SetFlagDynOp, SetFlagOp, WaitFlagDynOp, WaitFlagOp
from pto_dialect.passes.accesses.items import PIPES, Choice, Flag, Item, Loop, Sequence

_Numbers = dict[tuple[SSAValue, int], SSAValue]
"""Numbers of flags for slots that were computed in a block, by index and first number."""


def write(sequence: Sequence) -> None:
    """Puts the operations for the flags and barriers of ``sequence``, and of all in it, in their places."""
    numbers: _Numbers = {}
    for index, item in enumerate(sequence.items):
        op = item.op
        if index in sequence.full:
            _put(_barrier(Pipe.ALL), InsertPoint.before(op), op)
        for flag in sequence.waits.get(index, ()):
            _put(_here(False, flag, numbers, op), InsertPoint.before(op), op)
        for pipe in sorted(sequence.barriers.get(index, ())):
            _put(_barrier(PIPES[pipe]), InsertPoint.before(op), op)
        carried = item.carried if isinstance(item, Loop) else []
        for flag in carried:
            for number in flag.numbers:
                _put(_flag(SetFlagOp, flag, number), InsertPoint.before(op), op)
        point = InsertPoint.after(op)
        for flag in carried:
            for number in flag.numbers:
                _put(_flag(WaitFlagOp, flag, number), point, op)
        for flag in sequence.sets.get(index, ()):
            _put(_here(True, flag, numbers, op), point, op)
        for inner in _inner(item):
            write(inner)


def _here(sets: bool, flag: Flag, numbers: _Numbers, near: Operation) -> Operation:
    """A set of ``flag``, or a wait for it, where it stands; the number of a slot is computed in front of ``near``."""
    if flag.slot is None:
        return _flag(SetFlagOp if sets else WaitFlagOp, flag, flag.event)
    key = (flag.slot, flag.event)
    if key not in numbers:
        numbers[key] = _number(flag.slot, flag.event, near)
    ends = {"src_pipe": _pipe(PIPES[flag.source]), "dst_pipe": _pipe(PIPES[flag.target])}
    return (SetFlagDynOp if sets else WaitFlagDynOp).create(operands=[numbers[key]], attributes=ends)


def _number(slot: SSAValue, first: int, near: Operation) -> SSAValue:
    if not first:
        return slot
    constant = ConstantOp(IntegerAttr(first, IndexType()))
    constant.result.name_hint = f"c{first}"
    total = AddiOp(slot, constant.result, IndexType())
    total.result.name_hint = "event"
    _put(constant, InsertPoint.before(near), near)
    _put(total, InsertPoint.before(near), near)
    return total.result


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


def _flag(cls: type[SetFlagOp] | type[WaitFlagOp], flag: Flag, number: int) -> Operation:
    attributes = {
        "src_pipe": _pipe(PIPES[flag.source]),
        "dst_pipe": _pipe(PIPES[flag.target]),
        "event_id": EnumAttr(("event", f"EVENT_ID{number}")),
    }
    return cls.create(attributes=attributes)


def _barrier(pipe: Pipe) -> Operation:
    return BarrierOp.create(attributes={"pipe": _pipe(pipe)})
