"""Which tile values of a function of Level 1 are needed at the same time.

Values are numbered; a set of them is an integer with their bits.
Source: docs/reference/language.md, "Level 1 and Level 2".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from xdsl.ir import Block, Operation, SSAValue

from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core_dialects.structured import is_for, is_if

from .operands import accesses, accumulator, is_tile_operation, is_value
from .rebuild import RefusedError

if TYPE_CHECKING:
    from xdsl.dialects.scf import ForOp


class Liveness:
    """Liveness of the values of a function, backward from its end.

    ``conflicts`` has for each value those that are live while it is written, ``apart`` those over which the operation
    that defines it must not write, ``after`` the live values after each operation.
    """

    def __init__(self, arch: str) -> None:
        self.arch = arch
        self.numbers: dict[SSAValue, int] = {}
        self.values: list[SSAValue] = []
        self.conflicts: list[int] = []
        self.apart: list[int] = []
        self.after: dict[Operation, int] = {}

    def follow(self, function: Operation) -> None:
        """Everything about the tiles of a function. Raises :class:`RefusedError`."""
        block = function.regions[0].block
        arguments = self.bits(block.args)
        # What the caller gave is the caller's: it stays as it is until the end.
        self._define(arguments, self._block(block, arguments))

    def number(self, value: SSAValue) -> int:
        """Returns the number of a tile value."""
        known = self.numbers.get(value)
        if known is None:
            known = self.numbers[value] = len(self.values)
            self.values.append(value)
            self.conflicts.append(0)
            self.apart.append(0)
        return known

    def bits(self, values: Iterable[SSAValue]) -> int:
        """Returns the set of the tiles among ``values``."""
        set_bits = 0
        for value in values:
            if is_value(value):
                set_bits |= 1 << self.number(value)
        return set_bits

    def _used(self, values: Iterable[SSAValue]) -> int:
        """Returns those tiles among ``values`` that have content."""
        return self.bits(value for value in values if not is_empty(value))

    def conflict(self, ones: int, others: int) -> None:
        """The tiles of ``ones`` and those of ``others`` need different places, unless they are one tile."""
        for one in members(ones):
            self.conflicts[one] |= others & ~(1 << one)
        for other in members(others):
            self.conflicts[other] |= ones & ~(1 << other)

    # ------------------------------------------------------------ the walk

    def _define(self, defined: int, needed: int) -> None:
        self.conflict(defined, needed | defined)

    def _block(self, block: Block, needed: int) -> int:
        """Returns the values that are live-in at a block with ``needed`` live-out."""
        op = block.last_op
        while op is not None:
            needed = self._operation(op, needed)
            op = op.prev_op
        return needed

    def _operation(self, op: Operation, needed: int) -> int:
        self.after[op] = needed
        used, made = self._used(op.operands), self.bits(op.results)
        if is_for(op):
            return self._loop(op, needed, made)
        if is_if(op):
            self._define(made, needed)
            begins = [self._block(region.block, needed & ~made) for region in op.regions if region.blocks]
            before = 0 if len(begins) > 1 else needed & ~made
            for begin in begins:
                before |= begin
            return before | used
        if op.regions:
            if (used or made) and not has_role(op, Role.FUNCTION):
                raise RefusedError(op, f"{op.name} passes tiles on, which only scf.for and scf.if may")
            if any(len(region.blocks) > 1 for region in op.regions):
                raise RefusedError(op, "it goes from block to block; only structured control flow is followed")
            while True:
                before = needed
                for region in op.regions:
                    for block in region.blocks:
                        needed |= self._block(block, needed)
                if needed == before:
                    break
            return needed
        if has_role(op, Role.TILE_ALLOCATION):
            return needed
        if made or used:
            self._define(made, needed)
            sources = self._sources(op)
            for one in members(made):
                self.apart[one] |= sources
            for source in members(sources):
                self.apart[source] |= made
            self._lose(op, needed)
        return (needed & ~made) | used

    def _sources(self, op: Operation) -> int:
        """Returns the operands of ``op`` over which it cannot write its result."""
        if not is_tile_operation(op) or has_role(op, Role.LANEWISE):
            return 0
        uses = accesses(op, self.arch)
        over = accumulator(op, uses)
        return self.bits(use.value for use in (*uses.reads, *uses.scratch) if use != over)

    def _lose(self, op: Operation, needed: int) -> None:
        """A scratch tile has undefined contents after ``op``: it must not be the buffer of a value that is live then or
        read here."""
        if is_tile_operation(op):
            uses = accesses(op, self.arch)
            scratch = self.bits(use.value for use in uses.scratch)
            if scratch:
                for value in self.of(scratch & needed):
                    if not self._only_scratch(value):
                        raise RefusedError(op, "the content of its scratch tile is used again", value)
                self.conflict(scratch, needed | self._used(op.operands))

    def _only_scratch(self, value: SSAValue) -> bool:
        for use in value.uses:
            op = use.operation
            if not is_tile_operation(op):
                return False
            if all(scratch.value is not value for scratch in accesses(op, self.arch).scratch):
                return False
        return True

    def _loop(self, op: ForOp, needed: int, made: int) -> int:
        block = op.regions[0].block
        carried = self.bits(block.args)
        yielded = block.last_op
        self._define(made, needed)
        around = needed & ~made
        while True:
            begin = self._block(block, around)
            more = around | (begin & ~carried)
            if more == around:
                break
            around = more
        self._define(carried, begin | around)
        starts = self._used(op.operands)
        tiles = [(a, s) for a, s in zip(block.args[1:], op.iter_args, strict=True) if is_value(a)]
        for argument, start in tiles:
            # Places are filled one after the other.
            self.conflict(self.bits([argument]), starts & ~self.bits([start]))
        assert yielded is not None
        return around | (begin & ~carried) | starts

    def of(self, numbers: int) -> Iterator[SSAValue]:
        """Yields the values of a set."""
        for number in members(numbers):
            yield self.values[number]


def is_empty(value: SSAValue) -> bool:
    """Returns whether ``value`` is a tile that nobody has written."""
    return isinstance(value.owner, Operation) and has_role(value.owner, Role.TILE_ALLOCATION)


def members(numbers: int) -> Iterator[int]:
    """Yields the numbers in a set."""
    while numbers:
        lowest = numbers & -numbers
        yield lowest.bit_length() - 1
        numbers ^= lowest


def tile_pairs(block: Block, values: Sequence[SSAValue]) -> list[tuple[SSAValue, SSAValue]]:
    """Returns the tiles that the last operation of ``block`` passes on, each with that of ``values`` to which it
    goes."""
    last = block.last_op
    if last is None:
        return []
    return [(operand, value) for operand, value in zip(last.operands, values, strict=False) if is_value(value)]
