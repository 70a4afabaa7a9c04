"""Which operations of a function have ended when another begins, by what they compute, wherever their tiles lie.

Bodies of loops are looked at twice, so that the end of one iteration meets the begin of the next. Source:
docs/reference/memory-planning.md, "Packing".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable
from typing import NamedTuple

from xdsl.ir import SSAValue

from pto_dialect.ir.core.base import Pipe
from pto_dialect.passes.accesses.dependences import V
from pto_dialect.passes.accesses.items import NUMBER, Choice, Leaf, Loop, Sequence
from pto_dialect.passes.accesses.locations import GLOBAL, MemoryLocation

MOST = 20_000
"""Operations, those of loops counted twice, up to which order is looked for."""
FEW = 4_000
"""The same where sharing bytes is a matter of taste, because all tiles fit side by side or share wherever they can."""

_MTE2 = NUMBER[Pipe.MTE2]

_WHOLE, _SOME = "whole", "some"
"""Pieces of a buffer: all of it, and a part of which nothing is known."""


class _Step(NamedTuple):
    """An operation that runs: ``around`` are the loops and branches in which it does, ``before`` has the bits of
    the steps that have ended when it begins."""

    pipe: int
    around: frozenset[int]
    before: int


class _Use(NamedTuple):
    """An access of a step to a buffer; ``piece`` is what it accesses in every run, ``None`` where that is not known."""

    step: int
    writes: bool
    piece: Hashable


class Order:
    """The order in a sequence; ``ordered`` is False for what is not known. Accesses that may be to the same buffer do
    not order their steps: where they are not, nothing does."""

    def __init__(self, sequence: Sequence, arch: str, most: int | None = None) -> None:
        self.arch = arch
        self.known = _size(sequence) <= (MOST if most is None else most)
        self.steps: list[_Step] = []
        self.pipes: dict[int, list[int]] = defaultdict(list)
        self.users: dict[SSAValue, list[_Use]] = defaultdict(list)
        if self.known:
            self._follow(sequence, frozenset())

    def ordered(self, one: SSAValue, other: SSAValue) -> bool:
        """Returns whether sharing bytes adds no order between operations that may overlap: all uses of two buffers
        follow each other in any case."""
        return self.known and self._follows(one, other) and self._follows(other, one)

    def _follows(self, one: SSAValue, other: SSAValue) -> bool:
        """Returns whether all uses of ``other`` come after the earlier ones of ``one``."""
        for number, writes, _ in self.users[other]:
            for earlier, wrote, _ in self.users[one]:
                if earlier >= number:
                    break
                if (writes or wrote) and not self._done(earlier, number):
                    return False
        return True

    def _done(self, earlier: int, number: int) -> bool:
        """Returns whether a step has ended when a later one begins, which may be on the same pipe."""
        step = self.steps[number]
        if not step.before >> earlier & 1:
            return False
        if self.steps[earlier].pipe != step.pipe:
            return True
        overlaps = step.pipe == _MTE2 or (step.pipe == V and self.arch == "a2a3")
        return not overlaps or any(
            step.before >> between & 1
            and self.steps[between].pipe != step.pipe
            and self.steps[between].before >> earlier & 1
            and self.steps[between].around <= step.around
            for between in range(earlier + 1, number)
        )

    # ------------------------------------------------------------ steps

    def _follow(self, sequence: Sequence, around: frozenset[int]) -> None:
        for item in sequence.items:
            if isinstance(item, Leaf):
                self._step(item, around)
            elif isinstance(item, Loop):
                # A second iteration has seen the first.
                for _ in range(2):
                    self._follow(item.body, around | {id(item)})
            elif isinstance(item, Choice):
                for branch in item.branches:
                    self._follow(branch, around | {id(branch)})

    def _step(self, leaf: Leaf, around: frozenset[int]) -> None:
        number = len(self.steps)
        before = self._past(self.pipes[leaf.pipe], around, True)
        if leaf.joins:
            before |= (1 << number) - 1
        for root, writes, piece in _uses(leaf):
            known = self.users[root]
            met = [use.step for use in known if (writes or use.writes) and _meet(use.piece, piece)]
            before |= self._past(met, around)
            known.append(_Use(number, writes, piece))
        if not leaf.asynchronous:
            # A store of the scalar unit may be in flight when its next operation has ended.
            self.pipes[leaf.pipe].append(number)
        self.steps.append(_Step(leaf.pipe, around, before))

    def _past(self, numbers: list[int], around: frozenset[int], piped: bool = False) -> int:
        """Steps that a new one follows, and what these have followed, if they run whenever it does; those of one pipe
        follow each other."""
        past = 0
        for number in reversed(numbers):
            if past >> number & 1:
                continue
            past |= 1 << number
            if self.steps[number].around <= around:
                past |= self.steps[number].before
                if piped:
                    break
        return past


def _uses(leaf: Leaf) -> list[tuple[SSAValue, bool, Hashable]]:
    """Returns the buffers of an operation: whether it writes each, and the piece of it that it must access."""
    uses: dict[tuple[SSAValue, Hashable], bool] = {}
    for writes, locations in ((False, leaf.reads), (True, leaf.writes)):
        for location in locations:
            if isinstance(location.root, SSAValue):
                key = location.root, _piece(location)
                uses[key] = uses.get(key, False) or writes
    return [(root, writes, piece) for (root, piece), writes in uses.items()]


def _piece(location: MemoryLocation) -> Hashable:
    """Returns what an access touches in every run: all of a buffer, or a part at constant offsets. Of other parts, and
    of arrays in global memory as a whole, nobody knows which bytes they have in common."""
    if not location.alias.is_certain:
        return None
    if location.whole and location.space != GLOBAL:
        return _WHOLE
    known = [number.constant_value is not None for side in location.sides for number in side]
    return (location.frame, location.sides) if location.frame is not None and known and all(known) else _SOME


def _meet(one: Hashable, other: Hashable) -> bool:
    """Returns whether two pieces of one buffer have bytes in common."""
    if one is None or other is None:
        return False
    return _WHOLE in (one, other) or (one == other and one != _SOME)


def _size(sequence: Sequence) -> int:
    total = 0
    for item in sequence.items:
        if isinstance(item, Loop):
            total += 2 * _size(item.body)
        elif isinstance(item, Choice):
            total += sum(map(_size, item.branches))
        else:
            total += 1
    return total
