"""Handles that a loop carries: the same one, one that advances by a constant, or several in turn.

Source: docs/reference/order-proof.md, "Memory".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from xdsl.ir import Operation, SSAValue

from .carried import LONGEST, Bounds
from .expressions import Condition, Expr, both, equal, symbol
from .places import MEMORY, Place, Places


def bind_handles(places: Places, op: Operation, bounds: Bounds) -> None:
    """States where the handles point that a loop carries."""
    body = op.regions[0].block
    last = body.last_op
    carried: list[SSAValue] = [*body.args[1:]]
    initial = list(op.operands[3:])
    ends = [] if last is None else list(last.operands)
    handles = [index for index, value in enumerate(carried) if isinstance(value.type, MEMORY)]
    for index in handles:
        found = _turns(places, carried, initial, ends, index, symbol(bounds.ordinal))
        if found is None:
            found = _advancing(places, carried[index], initial[index], ends[index], bounds)
        if found is None:
            found = (places.anywhere(carried[index]),)
        places.bind(carried[index], found)


class LoopPlaces(Places):
    """The locations of the handles of a function body, those that its loops give at their end included."""

    def _after(self, op: Operation, index: int) -> Sequence[Place]:
        bounds = Bounds(self.numbers, op)
        last = op.regions[0].block.last_op
        if bounds.trips is not None and last is not None:
            carried: list[SSAValue] = [*op.regions[0].block.args[1:]]
            found = _turns(self, carried, list(op.operands[3:]), list(last.operands), index, bounds.trips)
            if found is not None:
                return found
        return super()._after(op, index)


def _turns(
    places: Places, carried: list[SSAValue], initial: list[SSAValue], ends: list[SSAValue], index: int, place: Expr
) -> tuple[Place, ...] | None:
    """The handles that alternate where a loop permutes them, and those from outside that it takes up."""
    order: list[int] = []
    while index not in order:
        order.append(index)
        end = ends[index]
        if end not in carried:
            return None
        index = carried.index(end)
    if index != order[0] or len(order) > LONGEST:
        return None
    found: list[Place] = []
    for turn, one in enumerate(order):
        when: Condition = equal(place.modulo(len(order)), turn) if len(order) > 1 else equal(Expr(0), 0)
        found += [replace(each, condition=both(when, each.condition)) for each in places.of(initial[one])]
    return tuple(found)


def _advancing(
    places: Places, carried: SSAValue, initial: SSAValue, end: SSAValue, bounds: Bounds
) -> tuple[Place, ...] | None:
    """A pointer that grows by a constant in each iteration."""
    trial = places.copy(places.numbers)
    mark = Place(places.space(carried), carried, Expr(0))
    trial.bind(carried, (mark,))
    reached = trial.of(end)
    if len(reached) != 1 or reached[0].root is not carried or reached[0].offset is None:
        return None
    step = reached[0].offset.value
    if step is None or reached[0].condition != mark.condition:
        return None
    grown = symbol(bounds.ordinal).times(step)
    return tuple(
        replace(
            place,
            offset=None if place.offset is None else place.offset.plus(grown),
            extent=None,
            sure=0,
            frame=None,
            sides=(),
        )
        for place in places.of(initial)
    )
