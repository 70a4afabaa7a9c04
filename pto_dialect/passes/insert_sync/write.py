"""Writes the flags and barriers of a solved function into it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import inf

from xdsl.dialects.arith import AddiOp, ConstantOp, DivUIOp, IndexCastOp, MaxSIOp, MuliOp, RemUIOp, SubiOp
from xdsl.dialects.builtin import IndexType, IntegerAttr
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from pto_dialect.analysis.constants import constant_of
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
from pto_dialect.passes.accesses.items import PIPES, SCALAR, Choice, Flag, HandOver, Item, Loop, Ring, Sequence

from .rings import EVENTS

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
    """Writes the operations for the flags and barriers of ``sequence`` and of its nested sequences, as flags or as
    event operations; in ``style`` buf, flags with buffer ids are left out. Returns the barriers of single pipes."""
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
        point = InsertPoint.after(op)
        if isinstance(item, Loop):
            _write_around(item, point, style)
        for flag in _meant(sequence.sets.get(index, ()), style):
            put(_here(True, flag, numbers, op, style), point, op)
        for inner in _inner(item):
            fences += write(inner, style)
    return fences


def _write_around(loop: Loop, after: InsertPoint, style: str) -> None:
    """Writes what is set before a loop, waited for ``after`` it, and done at the end of each iteration."""
    op, end = loop.op, loop.body.block.last_op
    for flag in _meant(loop.carried, style):
        for number in _first_numbers(flag):
            put(_flag(True, flag, number, style), InsertPoint.before(op), op)
    for over in loop.handed:
        for flag, sets in _passes(over):
            put(_flag(sets, flag, flag.event, style), InsertPoint.before(op), op)
    for flag in [over.back for over in loop.handed]:
        put(_flag(False, flag, flag.event, style), after, op)
    for flag in _meant(loop.carried, style):
        for one in _last_waits(flag, loop, style):
            put(one, after, op)
    assert end is not None
    for flag in _meant(loop.body.waits.get(len(loop.body.items), ()), style):
        put(_flag(False, flag, flag.event, style), InsertPoint.before(end), op)
    for over in loop.handed:
        for flag, sets in ((over.back, False), *_passes(over)):
            put(_flag(sets, flag, flag.event, style), InsertPoint.before(end), op)


def _passes(over: HandOver) -> tuple[tuple[Flag, bool], ...]:
    """Returns the sets and waits of a hand-over, and whether they are sets."""
    return (over.there, True), (over.there, False), (over.back, True)


def _meant(flags: Iterable[Flag], style: str) -> list[Flag]:
    return [flag for flag in flags if style != "buf" or SCALAR in (flag.source, flag.target)]


def _here(sets: bool, flag: Flag, numbers: Numbers, near: Operation, style: str) -> Operation:
    """Returns a set of ``flag``, or a wait for it; the id of a slot is computed before ``near``."""
    if flag.slot is None:
        return _flag(sets, flag, flag.event, style)
    if flag.ring is not None:
        number = _ring_number(flag, flag.ring, sets, numbers, near)
    else:
        number = slot_id(flag.slot, flag.event, numbers, near)
    return _dynamic(sets, flag, number)


def _dynamic(sets: bool, flag: Flag, number: SSAValue) -> Operation:
    ends = {"src_pipe": pipe_attribute(PIPES[flag.source]), "dst_pipe": pipe_attribute(PIPES[flag.target])}
    return (SetFlagDynOp if sets else WaitFlagDynOp).create(operands=[number], attributes=ends)


def slot_id(slot: SSAValue, first: int, numbers: Numbers, near: Operation) -> SSAValue:
    """Returns the id ``first`` + ``slot``, computed before ``near`` if it is not among ``numbers``."""
    key = (slot, first)
    if key not in numbers:
        numbers[key] = _number(slot, first, near)
    return numbers[key]


def _first_numbers(flag: Flag) -> Iterable[int]:
    """Returns the numbers that are set before a loop: those that its first iterations wait for."""
    ring = flag.ring
    if ring is None:
        return flag.numbers
    return [flag.event + ring.number(iteration, flag.count) for iteration in range(ring.ahead)]


def _last_waits(flag: Flag, loop: Item, style: str) -> list[Operation]:
    """Waits after a loop for the ids without a wait in its iterations, and their computation."""
    ring = flag.ring
    if ring is None:
        return [_flag(False, flag, number, style) for number in flag.numbers]
    trips = loop.trips if isinstance(loop, Loop) else inf
    if trips != inf and trips == int(trips) and constant_of(ring.loop.ub) is not None:
        numbers = (ring.number(int(trips) + iteration, flag.count) for iteration in range(ring.ahead))
        return [_flag(False, flag, flag.event + number, style) for number in numbers]
    writer = _Writer()
    last = writer.last(ring)
    for iteration in range(ring.ahead):
        constant = ring.constant + ring.factor * ring.step * iteration
        number = writer.modulo(writer.scaled(last, ring.factor, constant), flag.count, flag.event)
        writer.found.append(_dynamic(False, flag, number))
    return writer.found


def _ring_number(flag: Flag, ring: Ring, sets: bool, numbers: Numbers, near: Operation) -> SSAValue:
    """Returns the number that an iteration waits for, or the one that it sets for a later iteration."""
    constant = (ring.constant + ring.factor * ring.step * ring.ahead * sets) % flag.count
    # Other slot ids are distinguished by their first one, which is not negative.
    key = (flag.slot or ring.counter, -1 - (constant * EVENTS + flag.event) * EVENTS - flag.count)
    if key not in numbers:
        writer = _Writer()
        numbers[key] = writer.modulo(writer.scaled(ring.counter, ring.factor, constant), flag.count, flag.event)
        for op in writer.found:
            put(op, InsertPoint.before(near), near)
    return numbers[key]


class _Writer:
    """Creates operations on indices, which are inserted later; ``found`` has them."""

    def __init__(self) -> None:
        self.found: list[Operation] = []

    def constant(self, value: int) -> SSAValue:
        """Returns a number."""
        op = ConstantOp(IntegerAttr(value, IndexType()))
        op.result.name_hint = f"c{value}"
        self.found.append(op)
        return op.result

    def binary(self, kind: type[Operation], one: SSAValue, other: SSAValue) -> SSAValue:
        """Returns the result of an operation on two indices."""
        op = kind.create(operands=[one, other], result_types=[IndexType()])
        self.found.append(op)
        return op.results[0]

    def index(self, value: SSAValue) -> SSAValue:
        """Returns ``value`` as an index; counters and bounds of loops may be integers."""
        if isinstance(value.type, IndexType):
            return value
        op = IndexCastOp(value, IndexType())
        self.found.append(op)
        return op.result

    def scaled(self, value: SSAValue, factor: int, constant: int) -> SSAValue:
        """Returns ``value`` times a number plus a number."""
        value = self.index(value)
        if factor != 1:
            value = self.binary(MuliOp, value, self.constant(factor))
        return self.binary(AddiOp, value, self.constant(constant)) if constant else value

    def modulo(self, value: SSAValue, count: int, first: int) -> SSAValue:
        """Returns what is left of ``value`` divided by a number, counted from ``first``."""
        value = self.binary(RemUIOp, value, self.constant(count))
        value = self.binary(AddiOp, value, self.constant(first)) if first else value
        value.name_hint = "event"
        return value

    def last(self, ring: Ring) -> SSAValue:
        """Returns the counter of the iteration that would follow the last one."""
        first, end = self.index(ring.loop.lb), self.index(ring.loop.ub)
        most = self.binary(MaxSIOp, end, first)
        if ring.step == 1:
            return most
        # Whole steps, one more for what is left of one.
        length = self.binary(AddiOp, self.binary(SubiOp, most, first), self.constant(ring.step - 1))
        rounds = self.binary(DivUIOp, length, self.constant(ring.step))
        return self.binary(AddiOp, self.binary(MuliOp, rounds, self.constant(ring.step)), first)


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


def pipe_attribute(pipe: Pipe) -> EnumAttr:
    """Returns a pipe as an attribute."""
    return EnumAttr(("pipe", pipe.value))


def _flag(sets: bool, flag: Flag, number: int, style: str) -> Operation:
    event = EnumAttr(("event", f"EVENT_ID{number}"))
    source, target = PIPES[flag.source], PIPES[flag.target]
    if style == "events" and source in _CLASSES and target in _CLASSES:
        attributes = {"src_op": _class(source), "dst_op": _class(target), "event_id": event}
        return (RecordEventOp if sets else WaitEventOp).create(attributes=attributes)
    attributes = {"src_pipe": pipe_attribute(source), "dst_pipe": pipe_attribute(target), "event_id": event}
    return (SetFlagOp if sets else WaitFlagOp).create(attributes=attributes)


def _class(pipe: Pipe) -> EnumAttr:
    return EnumAttr(("pipe_event_type", _CLASSES[pipe]))


def _barrier(pipe: Pipe) -> Operation:
    return BarrierOp.create(attributes={"pipe": pipe_attribute(pipe)})
