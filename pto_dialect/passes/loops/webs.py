"""Values of buffers in structured programs: which writes each read may see, and which values are needed at one time.

Source: docs/reference/language.md, "Level 1 and Level 2".
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import NamedTuple, TypeVar

from xdsl.dialects.scf import ForOp, IfOp
from xdsl.ir import Block, Operation, SSAValue

from pto_dialect.ir.core.base import PtoOp, op_spec, operand_groups
from pto_dialect.passes.instructions.rewrite import never_runs


class Write(NamedTuple):
    """A write of a whole buffer; without an operation what it holds when it is allocated."""

    op: Operation | None
    buffer: SSAValue


State = dict[SSAValue, frozenset[Write]]
"""The writes that each buffer may hold the value of."""


_Known = TypeVar("_Known")


class UnfollowedError(Exception):
    """The program has control flow that is not followed."""


class Webs:
    """The values of some buffers in a function. Writes that one read may see make one value.

    ``whole`` is the class of operations that write all of their destination. Raises :class:`UnfollowedError`.
    """

    def __init__(self, entry: Block, buffers: Collection[SSAValue], root: type[Operation]) -> None:
        self.buffers = frozenset(buffers)
        self.whole = root
        self.seen: dict[tuple[Operation, int], Write] = {}
        """For each operand that is a buffer a write that makes its value."""
        self._above: dict[Write, Write] = {}
        self._apart: dict[Write, set[Write]] = {}
        """Values that are needed while one is written; kept for the write that stands for a value."""
        start: State = {buffer: frozenset((Write(None, buffer),)) for buffer in buffers}
        self._forward(entry, start)
        self._backward(entry, frozenset())

    # ------------------------------------------------------------ values

    def value(self, write: Write) -> Write:
        """Returns the write that stands for the value of ``write``."""
        while (above := self._above.get(write)) is not None:
            write = above
        return write

    def join(self, one: Write, other: Write) -> Write:
        """Makes one value of two."""
        one, other = self.value(one), self.value(other)
        if one != other:
            self._above[other] = one
            self._apart.setdefault(one, set()).update(self._apart.pop(other, ()))
        return one

    def together(self, one: Write, other: Write) -> bool:
        """Returns whether two values are needed at one time."""
        one, other = self.value(one), self.value(other)
        return any(
            self.value(apart) == second
            for first, second in ((one, other), (other, one))
            for apart in self._apart.get(first, ())
        )

    def held_before(self) -> set[Write]:
        """Returns the values that a buffer may have had before all writes."""
        return {self.value(Write(None, buffer)) for buffer in self.buffers}

    # ------------------------------------------------------------ uses

    def _uses(self, op: Operation) -> Iterable[tuple[int, SSAValue, bool, bool]]:
        """Yields the operands that are buffers: number, buffer, whether it is read, whether it is written."""
        if self.buffers.isdisjoint(op.operands):
            return
        assert isinstance(op, PtoOp)
        spec, number = op_spec(type(op)), 0
        for name, values in operand_groups(op).items():
            for value in values:
                if value in self.buffers:
                    writes = name in spec.writes
                    yield number, value, name in spec.reads or not isinstance(op, self.whole), writes
                number += 1

    def _forward(self, block: Block, state: State) -> State:
        for op in block.ops:
            for number, buffer, reads, _ in self._uses(op):
                if reads:
                    first, *others = sorted(state[buffer], key=id)
                    for other in others:
                        self.join(first, other)
                    self.seen[op, number] = first
                else:
                    self.seen[op, number] = Write(op, buffer)
            for _, buffer, reads, _ in self._uses(op):
                if not reads:
                    state = {**state, buffer: frozenset((Write(op, buffer),))}
            state = transfer(op, state, self._forward, _merged)
        return state

    def _backward(self, block: Block, live: frozenset[Write]) -> frozenset[Write]:
        """Returns the live-in buffers of a block with ``live`` live-out."""
        for op in reversed(list(block.ops)):
            live = self._before(op, live)
            uses = list(self._uses(op))
            for number, _, reads, writes in uses:
                if writes:
                    value = self.value(self.seen[op, number])
                    self._apart.setdefault(value, set()).update(one for one in live if one != value)
                    if not reads:
                        live -= {value}
            live |= {self.value(self.seen[op, number]) for number, _, reads, _ in uses if reads}
        return live

    def _before(self, op: Operation, live: frozenset[Write]) -> frozenset[Write]:
        blocks = blocks_of(op)
        if isinstance(op, ForOp) and blocks:
            while True:
                before = live | self._backward(blocks[0], live)
                if before == live:
                    return live
                live = before
        if isinstance(op, IfOp):
            live_ins = [self._backward(block, live) for block in blocks]
            return frozenset[Write]().union(*live_ins, live if len(blocks) == 1 else frozenset())
        for block in reversed(blocks):
            live = self._backward(block, live)
        return live


def blocks_of(op: Operation) -> list[Block]:
    """Returns the blocks of an operation that runs each of them once, of a loop that runs or of a branch."""
    blocks = [block for region in op.regions for block in region.blocks]
    if isinstance(op, ForOp) and never_runs(op):
        return []
    known = isinstance(op, (ForOp, IfOp, PtoOp))
    if blocks and (not known or any(len(region.blocks) > 1 for region in op.regions)):
        raise UnfollowedError
    return blocks


def transfer(
    op: Operation, known: _Known, forward: Callable[[Block, _Known], _Known], merged: Callable[[_Known, _Known], _Known]
) -> _Known:
    """Returns the dataflow facts after ``op``, where ``known`` holds before it: ``forward`` is the transfer function of
    a block, and ``merged`` the meet of two paths. Loops are iterated to a fixpoint."""
    blocks = blocks_of(op)
    if isinstance(op, ForOp) and blocks:
        while True:
            after = merged(known, forward(blocks[0], known))
            if after == known:
                return known
            known = after
    if isinstance(op, IfOp):
        ends = [forward(block, known) for block in blocks]
        return merged(*ends) if len(ends) > 1 else merged(known, ends[0])
    for block in blocks:
        known = forward(block, known)
    return known


def _merged(one: State, other: State) -> State:
    return {buffer: writes | other[buffer] for buffer, writes in one.items()}
