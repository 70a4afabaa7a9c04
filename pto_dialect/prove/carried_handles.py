"""Handles that a loop carries: the same one, one that advances by a constant, several in turn, or any of some.

Source: docs/reference/order-proof.md, "Memory".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from xdsl.ir import Block, Operation, OpResult, SSAValue

from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.walk import ancestors
from pto_dialect.ir.core_dialects.branches import branch_edges
from pto_dialect.ir.core_dialects.structured import is_for, is_if, is_while

from .carried import LONGEST, Bounds
from .expressions import TRUE, Condition, Expr, Ordinal, Varying, both, equal, symbol, symbols_of
from .places import MEMORY, Place, Places


def bind_handles(places: Places, op: Operation, bounds: Bounds) -> None:
    """States where the handles point that a counted loop carries."""
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
            found = any_of(places, carried[index])
        places.bind(carried[index], found)


def bind_repeated(places: Places, op: Operation, ordinal: Ordinal) -> None:
    """States where the handles point that a loop with a condition carries, and those that it gives."""
    before, body = (region.block for region in op.regions)
    decides, last = before.last_op, body.last_op
    passed = [] if decides is None else list(decides.operands[1:])
    carried: list[SSAValue] = [*before.args]
    ends = [] if last is None else list(last.operands)
    handed: dict[SSAValue, SSAValue] = dict(zip(body.args, passed, strict=True))
    ends = [handed.get(end, end) for end in ends]
    for index, value in enumerate(carried):
        if isinstance(value.type, MEMORY):
            found = _turns(places, carried, list(op.operands), ends, index, symbol(ordinal))
            places.bind(value, any_of(places, value) if found is None else found)
    for value, given in handed.items():
        if isinstance(value.type, MEMORY):
            places.bind(value, places.of(given))
    for value in op.results:
        if isinstance(value.type, MEMORY):
            places.bind(value, any_of(places, value))


class LoopPlaces(Places):
    """The locations of the handles of a function body, those that its loops give at their end included."""

    def _after(self, op: Operation, value: OpResult) -> Sequence[Place]:
        if is_for(op):
            bounds = Bounds(self.numbers, op)
            last = op.regions[0].block.last_op
            if bounds.trips is not None and last is not None:
                carried: list[SSAValue] = [*op.regions[0].block.args[1:]]
                found = _turns(self, carried, list(op.operands[3:]), list(last.operands), value.index, bounds.trips)
                if found is not None:
                    return found
        return any_of(self, value)


def any_of(places: Places, value: SSAValue) -> tuple[Place, ...]:
    """Returns where a handle may point that a loop or blocks with branches carry or give: any of those that reach
    it."""
    owner = value.owner
    around = owner.parent_op() if isinstance(owner, Block) else owner
    trial = places.copy(places.numbers.copy())
    found: dict[Place, None] = {}
    pending, seen = [value], {value}
    while pending:
        one = pending.pop()
        sources = _sources(one)
        if sources is None or (one is not value and not _is_inside(one, around)):
            inside = _is_inside(one, around)
            found.update(dict.fromkeys(_at_any_time(place) if inside else place for place in trial.of(one)))
            continue
        for source in sources:
            if source not in seen:
                seen.add(source)
                pending.append(source)
    return tuple(replace(place, certain=False) for place in found)


def _at_any_time(place: Place) -> Place:
    """Returns a location of an earlier iteration: without all that iterations differ in."""
    place = replace(place, condition=TRUE)
    numbers = (place.offset, place.extent, *(each for side in place.sides for each in side))
    if any(isinstance(one, (Ordinal, Varying)) for part in numbers if part is not None for one in symbols_of(part)):
        return replace(place, offset=None, extent=None, sure=0, frame=None, sides=())
    return place


def _is_inside(value: SSAValue, around: Operation | None) -> bool:
    """Returns whether a value is defined in the regions of an operation."""
    inner = value.owner.parent_op()
    return inner is not None and any(one is around for one in (inner, *ancestors(inner)))


def _sources(value: SSAValue) -> list[SSAValue] | None:
    """Returns the handles that a carried or chosen one may be; ``None`` for others."""
    owner = value.owner
    if isinstance(owner, Block):
        return _sources_of_argument(owner, list(owner.args).index(value))  # pyright: ignore[reportArgumentType]
    if not isinstance(value, OpResult):
        return None
    if is_for(owner):
        return [owner.operands[3 + value.index], *_yielded(owner, 0, value.index)]
    if is_while(owner):
        return _yielded(owner, 0, 1 + value.index)
    if is_if(owner):
        return [*_yielded(owner, 0, value.index), *_yielded(owner, 1, value.index)]
    return list(owner.operands[1:3]) if has_role(owner, Role.SELECT) else None


def _sources_of_argument(block: Block, index: int) -> list[SSAValue] | None:
    op, region = block.parent_op(), block.parent
    if op is None or region is None:
        return None
    if is_for(op):
        return [op.operands[2 + index], *_yielded(op, 0, index - 1)] if index else None
    if is_while(op):
        if region is op.regions[0]:
            return [op.operands[index], *_yielded(op, 1, index)]
        return _yielded(op, 0, 1 + index)
    return list(_from_branches(block, index)) if block is not region.blocks[0] else None


def _yielded(op: Operation, region: int, index: int) -> list[SSAValue]:
    last = op.regions[region].blocks[-1].last_op if op.regions[region].blocks else None
    return [] if last is None else [last.operands[index]]


def _from_branches(block: Block, index: int) -> Iterator[SSAValue]:
    assert block.parent is not None
    for other in block.parent.blocks:
        last = other.last_op
        if last is not None and has_role(last, Role.BRANCH):
            yield from (edge.values[index] for edge in branch_edges(last) if edge.block is block)


def _turns(
    places: Places, carried: list[SSAValue], initial: list[SSAValue], ends: list[SSAValue], index: int, place: Expr
) -> tuple[Place, ...] | None:
    """Returns the handles that alternate where a loop permutes them, and those from outside that it takes up."""
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
    """Returns a pointer that grows by a constant in each iteration."""
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
