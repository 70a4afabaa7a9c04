"""Branches between blocks: their order, and where none goes back, under which conditions each block runs, and what it
receives.

Source: docs/reference/order-proof.md, "Model".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from xdsl.ir import Block, Region, SSAValue

from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core_dialects.branches import branch_edges, flag_of

from .expressions import TRUE, All, Condition, Expr, both, choose, either, equal, negated
from .places import MEMORY, Place, Places
from .values import Numbers


def blocks_in_order(region: Region) -> tuple[list[Block], bool]:
    """Returns the blocks that the first one reaches, each after those before it, and whether a branch goes back."""
    done: list[Block] = []
    seen, active = {region.blocks[0]}, {region.blocks[0]}
    goes_back = False
    stack: list[tuple[Block, Iterator[Block]]] = [(region.blocks[0], _successors(region.blocks[0]))]
    while stack:
        block, rest = stack[-1]
        following = next(rest, None)
        if following is None:
            stack.pop()
            active.discard(block)
            done.append(block)
        elif following in active:
            goes_back = True
        elif following not in seen:
            seen.add(following)
            active.add(following)
            stack.append((following, _successors(following)))
    return done[::-1], goes_back


def numbers_of_successors(block: Block, order: Sequence[Block]) -> tuple[int, ...]:
    """Returns the positions in ``order`` of the blocks that may follow one."""
    return tuple(dict.fromkeys(map(order.index, _successors(block))))


def _successors(block: Block) -> Iterator[Block]:
    last = block.last_op
    return iter(last.successors if last is not None else ())


class Entry(NamedTuple):
    """One way into a block: its condition (``None`` for one that nobody knows), and the values that it brings."""

    condition: Condition | None
    values: Sequence[SSAValue]


class Entries:
    """The ways into the blocks of a region, collected block by block."""

    def __init__(self, numbers: Numbers, places: Places) -> None:
        self.numbers = numbers
        self.places = places
        self._found: dict[Block, list[Entry]] = {}

    def condition(self, block: Block) -> Condition | None:
        """Returns the condition under which a block runs."""
        result: Condition | None = None
        for entry in self._found.get(block, ()):
            if entry.condition is None:
                return None
            result = entry.condition if result is None else _either(result, entry.condition)
        return TRUE if result is None else result

    def bind(self, block: Block) -> None:
        """States what the arguments of a block are."""
        entries = self._found.get(block, [])
        for index, argument in enumerate(block.args if entries else ()):
            values = [(entry.condition, entry.values[index]) for entry in entries]
            if isinstance(argument.type, MEMORY):
                self.places.bind(argument, tuple(self._places(values)))
            else:
                self.numbers.bind(argument, self._number(values))

    def _places(self, values: list[tuple[Condition | None, SSAValue]]) -> Iterator[Place]:
        for condition, value in values:
            for place in self.places.of(value):
                if condition is None:
                    yield replace(place, certain=False)
                else:
                    yield replace(place, condition=both(condition, place.condition))

    def _number(self, values: list[tuple[Condition | None, SSAValue]]) -> Expr | None:
        result: Expr | None = None
        for position, (condition, value) in enumerate(values):
            number = self.numbers.number(value)
            if number is None or (condition is None and len(values) > 1):
                return None
            result = number if not position or result is None else choose(condition or TRUE, number, result)
        return result

    def leave(self, block: Block) -> None:
        """Collects the ways out of a block."""
        last = block.last_op
        if last is None or not has_role(last, Role.BRANCH):
            return
        here, flag = self.condition(block), flag_of(last)
        rest: Condition | None = TRUE
        for edge in branch_edges(last):
            taken: Condition | None = rest
            if edge.case is not None and flag is not None:
                chosen = self._case(flag, edge.case)
                taken = None if rest is None or chosen is None else both(rest, chosen)
                rest = None if rest is None or chosen is None else both(rest, negated(chosen))
            condition = None if here is None or taken is None else both(here, taken)
            self._found.setdefault(edge.block, []).append(Entry(condition, edge.values))

    def _case(self, flag: SSAValue, case: int | bool) -> Condition | None:
        if case is True:
            return self.numbers.condition(flag)
        number = self.numbers.number(flag)
        return None if number is None else equal(number, int(case))


def _either(one: Condition, other: Condition) -> Condition:
    """Returns one of two conditions; what both have in common remains, if the rest is a choice."""
    if isinstance(one, All) and isinstance(other, All) and len(one.parts) == len(other.parts) == 2:
        (same, first), (common, second) = one.parts, other.parts
        if same == common and negated(first) == second:
            return same
    return TRUE if negated(one) == other else either(one, other)
