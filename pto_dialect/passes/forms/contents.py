"""Which buffers of a function of Level 2 have content that is needed later.

Buffers are numbered; a set of them is an integer with their bits.
Source: docs/reference/language.md, "Level 1 and Level 2".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from xdsl.ir import Block, Operation, SSAValue

from pto_dialect.ir.core.base import PtoOp, op_spec
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.types import TileBufType
from pto_dialect.ir.core_dialects.structured import is_for, is_if
from pto_dialect.targets.profile import Profile

from .liveness import members
from .operands import Accesses, accesses, is_tile_operation
from .rebuild import RefusedError


def is_buffer(value: SSAValue) -> bool:
    """Returns whether ``value`` is the handle of a tile."""
    return isinstance(value.type, TileBufType)


class Contents:
    """Backward liveness of contents in a function. ``after`` has the live contents after each operation, ``begin``
    those at the start of each loop body, ``changed`` what each operation with regions writes, ``filled`` what is
    written other than as scratch."""

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self.numbers: dict[SSAValue, int] = {}
        self.buffers: list[SSAValue] = []
        self.after: dict[Operation, int] = {}
        self.begin: dict[Operation, int] = {}
        self.changed: dict[Operation, int] = {}
        self.filled = 0
        self.filled = 0

    def bits(self, values: Iterable[SSAValue]) -> int:
        """Returns the set of the buffers among ``values``."""
        set_bits = 0
        for value in values:
            if is_buffer(value):
                if value not in self.numbers:
                    self.numbers[value] = len(self.buffers)
                    self.buffers.append(value)
                set_bits |= 1 << self.numbers[value]
        return set_bits

    def of(self, numbers: int) -> Iterator[SSAValue]:
        """Yields the buffers of a set, in the order of the text."""
        for number in members(numbers):
            yield self.buffers[number]

    def accesses(self, op: PtoOp) -> Accesses:
        """Returns what a tile operation does to its tiles."""
        return accesses(op, self.profile.arch)

    def follow(self, function: Operation, outputs: int) -> int:
        """Returns the live-in contents of ``function``, whose live-out ones are ``outputs``. Raises
        :class:`RefusedError`."""
        needed, self.changed[function] = self._block(function.regions[0].block, outputs)
        return needed

    def _block(self, block: Block, needed: int) -> tuple[int, int]:
        changed = 0
        op = block.last_op
        while op is not None:
            needed, more = self._operation(op, needed)
            changed |= more
            op = op.prev_op
        return needed, changed

    def _operation(self, op: Operation, needed: int) -> tuple[int, int]:
        self.after[op] = self.after.get(op, 0) | needed
        if is_tile_operation(op):
            return self._tile_operation(op, needed)
        if not op.regions:
            return needed, 0
        if any(len(region.blocks) > 1 for region in op.regions):
            raise RefusedError(op, "it goes from block to block; only structured control flow is followed")
        blocks = [block for region in op.regions for block in region.blocks]
        if is_if(op):
            states = [self._block(block, needed) for block in blocks]
            begin = needed if len(blocks) < 2 else 0
            for one, _ in states:
                begin |= one
            changed = 0
            for _, one in states:
                changed |= one
        else:
            begin, changed = self._again(op, blocks, needed)
        self.begin[op], self.changed[op] = begin, changed
        if changed & needed and not (is_for(op) or is_if(op)):
            value = next(self.of(changed & needed))
            raise RefusedError(
                op, f"{op.name} would have to give the tile on that it writes, and only scf.for and scf.if do", value
            )
        return begin if is_if(op) else begin | needed, changed

    def _again(self, op: Operation, blocks: list[Block], needed: int) -> tuple[int, int]:
        changed, around = 0, needed
        repeats = has_role(op, Role.LOOP)
        while True:
            begin = around
            for block in reversed(blocks):
                begin, more = self._block(block, begin)
                changed |= more
            if not repeats or begin | around == around:
                return begin, changed
            around |= begin

    def _tile_operation(self, op: PtoOp, needed: int) -> tuple[int, int]:
        accesses = self.accesses(op)
        written = self.bits(use.value for use in accesses.writes)
        lost = self.bits(use.value for use in accesses.scratch)
        read = self.bits(use.value for use in accesses.reads)
        self.filled |= written
        for use in accesses.writes:
            if use.name in op_spec(type(op)).in_place:
                read |= self.bits([use.value])
        return (needed & ~(written | lost)) | read, written | lost
