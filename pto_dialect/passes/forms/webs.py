"""Which tile values share a buffer.

Source: docs/reference/language.md, "Level 1 and Level 2".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from xdsl.ir import Operation, SSAValue

from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.types import TileBufType
from pto_dialect.ir.core.walk import walk
from pto_dialect.ir.core_dialects.structured import is_for, is_if

from .liveness import Liveness, tile_pairs
from .operands import accesses, accumulator, is_tile_operation, is_value


class Webs:
    """Sets of values with one buffer each; ``keys`` tells which values an author wants together, and apart from those
    with another key."""

    def __init__(
        self, lives: Liveness, type_of: Callable[[SSAValue], TileBufType], keys: Mapping[SSAValue, str]
    ) -> None:
        self.lives = lives
        self.keys = keys
        number = len(lives.values)
        self._leaders = list(range(number))
        self._members = [1 << n for n in range(number)]
        self._conflicts = list(lives.conflicts)
        self._apart = list(lives.apart)
        self._types = [type_of(value) for value in lives.values]
        self._wanted = [keys.get(value) for value in lives.values]

    def web_id(self, value: SSAValue) -> int:
        """Returns the number of the web of a value."""
        return self._find(self.lives.numbers[value])

    def type_of(self, web: int) -> TileBufType:
        """Returns the type of the buffer of a web."""
        return self._types[web]

    def key_of(self, web: int) -> str | None:
        """Returns the key of the values of a web."""
        return self._wanted[web]

    def members(self, web: int) -> list[SSAValue]:
        """Returns the values of a web, in the order of their numbers."""
        return list(self.lives.of(self._members[web]))

    def conflict(self, one: int, other: int) -> bool:
        """Returns whether values of both are needed at one time."""
        return bool(self._conflicts[one] & self._members[other])

    def same(self, one: SSAValue, other: SSAValue) -> bool:
        """Returns whether both lie in one buffer."""
        return self.web_id(one) == self.web_id(other)

    def _find(self, number: int) -> int:
        while self._leaders[number] != number:
            number = self._leaders[number]
        return number

    def join(self, one: SSAValue, other: SSAValue) -> bool:
        """Puts two values into one buffer if nothing speaks against it."""
        first, second = self.web_id(one), self.web_id(other)
        if first == second:
            return True
        if self._types[first] != self._types[second] or self._conflicts[first] & self._members[second]:
            return False
        buffers = {self._wanted[first], self._wanted[second]}
        is_fixed = len(buffers) == 1 and None not in buffers
        if not is_fixed and (self._apart[first] & self._members[second] or None not in buffers):
            return False
        buffers -= {None}
        first, second = min(first, second), max(first, second)
        self._leaders[second] = first
        self._members[first] |= self._members[second]
        self._conflicts[first] |= self._conflicts[second]
        self._apart[first] |= self._apart[second]
        self._wanted[first] = next(iter(buffers), None)
        return True

    def build(self, function: Operation) -> None:
        """Joins what must be together, then what an author wants together, then what may be."""
        operations = list(walk(function))
        by_key: dict[str, SSAValue] = {}
        for value, key in self.keys.items():
            self.join(by_key.setdefault(key, value), value)
        for pairs in (_carried, _chosen, _start_of_update, _accumulated, _overwritten):
            for op in operations:
                for one, other in pairs(op, self.lives.arch):
                    if is_value(other):
                        self.join(one, other)


_Pairs = Iterator[tuple[SSAValue, SSAValue]]


def _carried(op: Operation, arch: str) -> _Pairs:
    """Returns what goes around in a loop."""
    if is_for(op):
        block = op.body.block
        for result, argument in zip(op.results, block.args[1:], strict=True):
            if is_value(result):
                yield argument, result
        yield from tile_pairs(block, block.args[1:])
        for initial, argument in zip(op.iter_args, block.args[1:], strict=True):
            if is_value(initial):
                yield initial, argument


def _chosen(op: Operation, arch: str) -> _Pairs:
    """Returns the results of branches."""
    if is_if(op):
        for region in op.regions:
            for block in region.blocks:
                yield from tile_pairs(block, op.results)


def _start_of_update(op: Operation, arch: str) -> _Pairs:
    """Returns what a read-modify-write starts from."""
    if is_tile_operation(op):
        old = accesses(op, arch).old
        if old is not None:
            yield old.value, op.results[0]


def _accumulated(op: Operation, arch: str) -> _Pairs:
    """Returns the accumulator operand of an accumulating product."""
    if is_tile_operation(op) and op.results:
        over = accumulator(op, accesses(op, arch))
        if over is not None and is_value(over.value):
            yield over.value, op.results[0]


def _overwritten(op: Operation, arch: str) -> _Pairs:
    """Sources over which an operation may write its result."""
    if is_tile_operation(op) and has_role(op, Role.LANEWISE) and op.results:
        for use in accesses(op, arch).reads:
            if is_value(use.value):
                yield use.value, op.results[0]
