"""Writes the flags and barriers of a solved function into it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from xdsl.dialects.arith import AddiOp, ConstantOp
from xdsl.dialects.builtin import IndexType, IntegerAttr
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from pto_dialect.ir.core.attributes import EnumAttr
from pto_dialect.ir.core.base import Pipe
from pto_dialect.ir.core.location import set_location, span_of
from pto_dialect.ir.sync.flags import (
    BarrierOp,
    RecordEventOp,
    SetFlagDynOp,
    SetFlagOp,
    WaitEventOp,
    WaitFlagDynOp,
    WaitFlagOp,
)
from pto_dialect.passes.accesses.items import PIPES, SCALAR, Choice, Flag, Item, Loop, Sequence

Numbers = dict[tuple[SSAValue, int], SSAValue]
"""Numbers of flags for slots that were computed in a block, by index and first number."""

_CLASSES = {
    Pipe.MTE2: "TLOAD",
    Pipe.MTE3: "TSTORE_VEC",
    Pipe.FIX: "TSTORE_ACC",
    Pipe.MTE1: "TMOV_M2L",
    Pipe.M: "TMATMUL",
    Pipe.V: "TVEC",
}
"""A class of operations for each pipe that has one."""


def write(sequence: Sequence, style: str = "flags") -> list[Operation]:
    """Puts the operations for the flags and barriers of ``sequence``, and of all in it, in their places, as flags or as
    events of operations; those that have buffer numbers in ``style`` buf are left out. Returns the
    barriers of single pipes."""
    fences: list[Operation] = []
    numbers: Numbers = {}
    for index, item in enumerate(sequence.items):
        op = item.op
        if index in sequence.full:
            put(_barrier(Pipe.ALL), InsertPoint.before(op), op)
        for flag in _meant(sequence.waits.get(index, ()), style):
            put(_here(False, flag, numbers, op, style), InsertPoint.before(op), op)
        for pipe in sorted(sequence.barriers.get(index, ())):
            fences.append(_barrier(PIPES[pipe]))
            put(fences[-1], InsertPoint.before(op), op)
        carried = _meant(item.carried, style) if isinstance(item, Loop) else []
        for flag in carried:
            for number in flag.numbers:
                put(_flag(True, flag, number, style), InsertPoint.before(op), op)
        point = InsertPoint.after(op)
        for flag in carried:
            for number in flag.numbers:
                put(_flag(False, flag, number, style), point, op)
        for flag in _meant(sequence.sets.get(index, ()), style):
            put(_here(True, flag, numbers, op, style), point, op)
        for inner in _inner(item):
            fences += write(inner, style)
    return fences


def _meant(flags: Iterable[Flag], style: str) -> list[Flag]:
    return [flag for flag in flags if style != "buf" or SCALAR in (flag.source, flag.target)]


def _here(sets: bool, flag: Flag, numbers: Numbers, near: Operation, style: str) -> Operation:
    """A set of ``flag``, or a wait for it, where it stands; the number of a slot is computed in front of ``near``."""
    if flag.slot is None:
        return _flag(sets, flag, flag.event, style)
    number = number_of(flag.slot, flag.event, numbers, near)
    ends = {"src_pipe": pipe_word(PIPES[flag.source]), "dst_pipe": pipe_word(PIPES[flag.target])}
    return (SetFlagDynOp if sets else WaitFlagDynOp).create(operands=[number], attributes=ends)


def number_of(slot: SSAValue, first: int, numbers: Numbers, near: Operation) -> SSAValue:
    """The number ``first`` + ``slot``, computed in front of ``near`` if it is not among ``numbers``."""
    key = (slot, first)
    if key not in numbers:
        numbers[key] = _number(slot, first, near)
    return numbers[key]


def _number(slot: SSAValue, first: int, near: Operation) -> SSAValue:
    if not first:
        return slot
    constant = ConstantOp(IntegerAttr(first, IndexType()))
    constant.result.name_hint = f"c{first}"
    total = AddiOp(slot, constant.result, IndexType())
    total.result.name_hint = "event"
    put(constant, InsertPoint.before(near), near)
    put(total, InsertPoint.before(near), near)
    return total.result


def _inner(item: Item) -> Iterator[Sequence]:
    if isinstance(item, Loop):
        yield item.body
    elif isinstance(item, Choice):
        yield from item.branches


def put(op: Operation, point: InsertPoint, near: Operation) -> None:
    """Inserts an operation, with the location of ``near``."""
    Rewriter.insert_op(op, point)
    span = span_of(near)
    if span is not None:
        set_location(op, span)


def pipe_word(pipe: Pipe) -> EnumAttr:
    """A pipe as an attribute."""
    return EnumAttr(("pipe", pipe.value))


def _flag(sets: bool, flag: Flag, number: int, style: str) -> Operation:
    event = EnumAttr(("event", f"EVENT_ID{number}"))
    source, target = PIPES[flag.source], PIPES[flag.target]
    if style == "events" and source in _CLASSES and target in _CLASSES:
        words = {"src_op": _class(source), "dst_op": _class(target), "event_id": event}
        return (RecordEventOp if sets else WaitEventOp).create(attributes=words)
    words = {"src_pipe": pipe_word(source), "dst_pipe": pipe_word(target), "event_id": event}
    return (SetFlagOp if sets else WaitFlagOp).create(attributes=words)


def _class(pipe: Pipe) -> EnumAttr:
    return EnumAttr(("pipe_event_type", _CLASSES[pipe]))


def _barrier(pipe: Pipe) -> Operation:
    return BarrierOp.create(attributes={"pipe": pipe_word(pipe)})
