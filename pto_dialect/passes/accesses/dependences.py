"""Which accesses have to wait for earlier ones, and what two operations have in common.

Source: docs/reference/synchronisation.md, "Dependences", "Order inside one pipe".
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

from xdsl.ir import Block, Operation, SSAValue

from pto_dialect.analysis.streaming import is_streamed
from pto_dialect.ir.core.base import Pipe
from pto_dialect.ir.core.facts.unit_flags import stated_check as unit_flag

from .items import NUMBER, SCALAR, Leaf, Loop, Sequence
from .locations import GLOBAL, REGISTERS, MemoryLocation
from .state import Access, State

V = NUMBER[Pipe.V]
_LOADS = (NUMBER[Pipe.MTE2],)
_STORES = (NUMBER[Pipe.MTE3], NUMBER[Pipe.FIX])


class _Position(NamedTuple):
    op: Operation
    number: int


def must_synchronize(
    access: Access, leaf: Leaf, location: MemoryLocation, writes: bool, state: State, arch: str
) -> bool:
    """Returns whether a pipe must be synchronized with an earlier access before ``leaf`` accesses ``location``
    (``writes``: as a write), if both access the same bytes. ``state`` is the one before ``leaf``."""
    pipe = leaf.pipe
    if access.leaf.pipe != pipe:
        if access.leaf.pipe == SCALAR:
            return access.asynchronous
        return not (unit_flag(access.leaf.op) and unit_flag(leaf.op))
    if access.location.space == REGISTERS:
        return False
    if pipe == V and arch == "a2a3":
        kind = "raw" if not writes else "waw" if access.writes else "war"
        before = _Position(access.leaf.op, access.number)
        return not (
            access.iteration == state.iteration and is_streamed(before, _Position(leaf.op, state.now + 1), kind)
        )
    if not (writes and access.writes):
        return False
    if access.location.space == GLOBAL:
        return pipe in _STORES
    return pipe in _LOADS and not _used(access, leaf, location, state)


def _used(access: Access, leaf: Leaf, location: MemoryLocation, state: State) -> bool:
    """Returns whether another pipe must have used bytes of an access and of ``location`` since: it waited for the
    access, and the writer of ``location`` waits for it."""
    return any(
        not one.writes
        and one.number > access.number
        and _must_overlap(one.location, access.location)
        and _must_overlap(one.location, location)
        and implied(one, access, leaf, state)
        for one in state.earlier(access.location)
    )


def _must_overlap(one: MemoryLocation, other: MemoryLocation) -> bool:
    """Returns whether two locations must overlap."""
    return one.holds(other) or other.holds(one)


def implied(one: Access, access: Access, leaf: Leaf, state: State) -> bool:
    """Returns whether ``one`` executes on every path from ``access`` to ``leaf``: no branch encloses it, and no loop
    that may run zero iterations encloses it alone."""
    around: set[Sequence] = set()
    if one.iteration == access.iteration:
        around.update(sequence for sequence, _ in access.leaf.path)
    if one.iteration == state.iteration:
        around.update(sequence for sequence, _ in leaf.path)
    for (outer, index), (inner, _) in pairwise(one.leaf.path):
        item = outer.items[index]
        if inner not in around and not (isinstance(item, Loop) and not item.open):
            return False
    return True


class Levels:
    """Where values come from, seen from a block."""

    def __init__(self, block: Block) -> None:
        self.block = block
        self._known: dict[SSAValue, int] = {}

    def of(self, value: SSAValue) -> int:
        """0 outside of the block, 1 in it, 2 or more in a block inside of it."""
        known = self._known.get(value)
        if known is None:
            block = value.owner if isinstance(value.owner, Block) else value.owner.parent
            known = 1
            while block is not None and block is not self.block:
                parent = block.parent_op()
                block = parent.parent if parent is not None else None
                known += 1
            known = self._known[value] = known if block is not None else 0
        return known

    def is_invariant_inside(self, value: SSAValue) -> bool:
        """Returns whether a value is invariant inside the block, once it is entered."""
        return self.of(value) < 2

    def is_invariant(self, value: SSAValue) -> bool:
        """Returns whether a value is the same each time the block is entered."""
        return self.of(value) == 0
