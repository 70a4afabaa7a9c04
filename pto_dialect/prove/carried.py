"""Loops as iterations from 0 on, and what they carry from one iteration to the next.

A carried number that grows by a constant, or that returns to an earlier value after some iterations, is an expression
of the iteration. Source: docs/reference/order-proof.md, "Numbers".
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue

from pto_dialect.analysis.arithmetic import FOLDS
from pto_dialect.analysis.constants import constant_of
from pto_dialect.ir.core_dialects.structured import is_unsigned

from .expressions import (
    AtLeastZero,
    Condition,
    Expr,
    Not,
    Ordinal,
    Symbol,
    UnknownValueError,
    Values,
    Varying,
    at_least,
    choose,
    either,
    equal,
    evaluate,
    is_natural,
    less,
    symbol,
    symbols_of,
)
from .substitute import substituted
from .values import Numbers, width_of

LONGEST = 24
"""The most iterations after which a carried value is looked for again."""


class Bounds:
    """The iterations of a counted loop. ``goes_on`` is ``None`` where nothing is known."""

    def __init__(self, numbers: Numbers, op: Operation) -> None:
        low, high, step = (numbers.number(value) for value in op.operands[:3])
        name = op.regions[0].block.args[0].name_hint or "i"
        self.ordinal = Ordinal(name, 0)
        self.goes_on: Condition | None = None
        self.counter: Expr | None = None
        self.trips: Expr | None = None
        if low is None or high is None or step is None:
            return
        if is_unsigned(op) and not (is_natural(low) and is_natural(high)):
            return
        place = symbol(self.ordinal)
        if step.value is not None:
            self.counter = low.plus(place, step.value)
            if step.value > 0:
                self.goes_on = less(self.counter, high)
                length = high.minus(low)
                self.trips = choose(at_least(length, 1), length.plus(step.value - 1).over(step.value), Expr(0))
            return
        self._by_steps(numbers, low, high, step)

    def _by_steps(self, numbers: Numbers, low: Expr, high: Expr, step: Expr) -> None:
        """A step that is not a constant."""
        place = symbol(self.ordinal)
        if any(isinstance(one, (Ordinal, Varying)) for part in (low, high, step) for one in symbols_of(part)):
            return

        def counter(values: Values) -> int | None:
            try:
                return evaluate(low, values) + values[self.ordinal] * evaluate(step, values)
            except UnknownValueError:
                return None

        def trips(values: Values) -> int | None:
            try:
                by = evaluate(step, values)
                return FOLDS["arith.ceildivsi"](max(0, evaluate(high, values) - evaluate(low, values)), by)
            except UnknownValueError:
                return None

        self.counter = symbol(Varying(self.ordinal.name, given=False, meaning=counter, sources=(low, step)))
        self.trips = symbol(numbers.launch.derived(("trips", low, high, step), "trips", trips, (low, high, step)))
        self.goes_on = less(place, self.trips)


def bind_carried(numbers: Numbers, op: Operation, bounds: Bounds) -> None:
    """States the counter of a loop, the number of the iteration, and the numbers that it carries."""
    body = op.regions[0].block
    numbers.bind(body.args[0], bounds.counter)
    for one in body.ops:
        if _counts_iterations(one, op):
            numbers.bind(one.results[0], symbol(bounds.ordinal))
    carried, initial, ends = body.args[1:], op.operands[3:], _ends(op)
    wanted = [index for index, value in enumerate(carried) if width_of(value.type)]
    if not wanted or len(ends) < len(carried):
        return
    trial = numbers.copy()
    holders = {index: Symbol("carried", given=False) for index in wanted}
    for index, holder in holders.items():
        trial.bind(carried[index], symbol(holder))
    steps = {index: trial.number(ends[index]) for index in wanted}
    starts = {index: numbers.number(initial[index]) for index in wanted}
    for index in wanted:
        numbers.bind(carried[index], _closed(index, holders, starts, steps, bounds.ordinal))


def _counts_iterations(op: Operation, loop: Operation) -> bool:
    """Returns whether an operation divides what the counter of a loop has grown by the step, as ``double-buffer``
    does."""
    counter, (low, _, step) = loop.regions[0].block.args[0], loop.operands[:3]
    if op.name != "arith.divui" or op.operands[1] is not step:
        return False
    grown = op.operands[0]
    if grown is counter:
        return constant_of(low) == 0
    since = grown.owner
    return isinstance(since, Operation) and since.name == "arith.subi" and [*since.operands] == [counter, low]


class Repetition:
    """The iterations of a loop with a condition that fails once for all: a number that it compares falls by a constant
    in each. ``goes_on`` is ``None`` for other conditions. Binds what the loop carries and gives."""

    def __init__(self, numbers: Numbers, op: Operation) -> None:
        before, body = (region.block for region in op.regions)
        ends = before.last_op, body.last_op
        assert ends[0] is not None and ends[1] is not None
        passed = ends[0].operands[1:]
        self.ordinal = Ordinal("i", 0)
        self.goes_on: Condition | None = None
        self.decides: Condition | None = None
        """The condition under which the iteration at least decides whether it continues."""
        self.trips: Expr | None = None
        wanted = [index for index, value in enumerate(before.args) if width_of(value.type)]
        trial = numbers.copy()
        holders = {index: Symbol("carried", given=False) for index in wanted}
        for index, value in enumerate(before.args):
            trial.bind(value, symbol(holders[index]) if index in holders else None)
        for value, given in zip(body.args, passed, strict=True):
            trial.bind(value, trial.number(given) if width_of(value.type) else None)
        steps = {index: trial.number(ends[1].operands[index]) for index in wanted}
        starts = {index: numbers.number(op.operands[index]) for index in wanted}
        for index in wanted:
            numbers.bind(before.args[index], _closed(index, holders, starts, steps, self.ordinal))
        for value, given in zip(body.args, passed, strict=True):
            if width_of(value.type):
                numbers.bind(value, numbers.number(given))
        self._bound(numbers.condition(ends[0].operands[0]))
        for value, given in zip(op.results, passed, strict=True):
            last = numbers.number(given) if width_of(value.type) else None
            if last is not None and self.trips is not None:
                numbers.bind(value, substituted(last, {self.ordinal: self.trips}))

    def _bound(self, condition: Condition | None) -> None:
        positive = not isinstance(condition, Not)
        inner = condition.condition if isinstance(condition, Not) else condition
        if not isinstance(inner, AtLeastZero):
            return
        expr = inner.expr if positive else inner.expr.times(-1).plus(-1)
        fall = -dict(expr.terms).get(self.ordinal, 0)
        first = expr.plus(symbol(self.ordinal), fall)
        if fall > 0 and self.ordinal not in symbols_of(first):
            self.goes_on = condition
            place = symbol(self.ordinal)
            self.decides = either(at_least(Expr(0), place), at_least(first.plus(fall), place.times(fall)))
            self.trips = choose(at_least(first, 0), first.over(fall).plus(1), Expr(0))


def _ends(op: Operation) -> Sequence[SSAValue]:
    last = op.regions[0].block.last_op
    return () if last is None else last.operands


def _closed(
    index: int,
    holders: dict[int, Symbol],
    starts: dict[int, Expr | None],
    steps: dict[int, Expr | None],
    ordinal: Ordinal,
) -> Expr | None:
    """Returns a carried number as an expression of the iteration."""
    start, step, holder = starts[index], steps[index], holders[index]
    if start is None or step is None:
        return None
    growth = step.minus(symbol(holder))
    if growth.value is not None:
        return start.plus(symbol(ordinal), growth.value)
    if not any(one in holders.values() for one in symbols_of(step)):
        if any(isinstance(one, Varying) for one in symbols_of(step)):
            return None
        if ordinal not in symbols_of(step):
            return choose(equal(symbol(ordinal), 0), start, step)
        return choose(equal(symbol(ordinal), 0), start, _shifted(step, ordinal))
    found = _sequence(index, holders, starts, steps)
    return None if found is None else alternating_slots([Expr(one) for one in found[0]], found[1], ordinal)


def _shifted(step: Expr, ordinal: Ordinal) -> Expr:
    """Returns what an expression was one iteration ago."""
    return substituted(step, {ordinal: symbol(ordinal).plus(-1)})


def _sequence(
    index: int, holders: dict[int, Symbol], starts: dict[int, Expr | None], steps: dict[int, Expr | None]
) -> tuple[list[int], int] | None:
    """Returns the values of a carried number until it comes back to an earlier one, and which one that is."""
    used = _needed(index, holders, steps)
    values: dict[Symbol, int] = {}
    for one in used:
        start, step = starts[one], steps[one]
        if start is None or start.value is None or step is None:
            return None
        values[holders[one]] = start.value
    seen: dict[tuple[int, ...], int] = {}
    found: list[int] = []
    while len(found) <= LONGEST:
        key = tuple(values[holders[one]] for one in used)
        if key in seen:
            return found, seen[key]
        seen[key] = len(found)
        found.append(values[holders[index]])
        try:
            values = {holders[one]: evaluate(steps[one], values) for one in used}  # pyright: ignore[reportArgumentType]
        except (UnknownValueError, KeyError):
            return None
    return None


def _needed(index: int, holders: dict[int, Symbol], steps: dict[int, Expr | None]) -> list[int]:
    """Returns the carried numbers on which one depends."""
    by_symbol = {holder: one for one, holder in holders.items()}
    needed, pending = {index}, [index]
    while pending:
        step = steps[pending.pop()]
        for one in symbols_of(step) if step is not None else ():
            other = by_symbol.get(one)
            if other is not None and other not in needed:
                needed.add(other)
                pending.append(other)
    return sorted(needed)


def alternating_slots(values: Sequence[Expr], back: int, ordinal: Ordinal) -> Expr:
    """Returns the value of an iteration: ``values`` in turn, and again from the one at ``back`` on."""
    place = symbol(ordinal)
    turn = place.plus(-back).modulo(len(values) - back)
    result = values[back]
    for offset in range(1, len(values) - back):
        result = choose(equal(turn, offset), values[back + offset], result)
    for first in range(back):
        result = choose(equal(place, first), values[first], result)
    return result


class LoopNumbers(Numbers):
    """The numbers of a function body, what its loops give at their end included."""

    def _after(self, op: Operation, index: int) -> Expr | None:
        return after_loop(self, op, index) or super()._after(op, index)


def after_loop(numbers: Numbers, op: Operation, index: int) -> Expr | None:
    """Returns what a loop gives at its end: the carried number after its last iteration."""
    # What its body computed is about other iterations.
    trial = numbers.outside(op)
    bounds = Bounds(trial, op)
    bind_carried(trial, op, bounds)
    carried = trial.number(op.regions[0].block.args[index + 1])
    if carried is None or bounds.trips is None:
        return None
    return substituted(carried, {bounds.ordinal: bounds.trips})
