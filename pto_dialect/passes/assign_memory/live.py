"""From where to where in the text the content of each buffer of a function is needed.

Operations are numbered in the order of the text. Source: docs/reference/memory-planning.md, "Live ranges".
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from xdsl.ir import Operation, SSAValue

from pto_dialect.ir.core.base import PtoOp, op_spec
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.types import TileBufType, byte_width
from pto_dialect.passes.accesses.items import Choice, Leaf, Loop, Sequence
from pto_dialect.passes.accesses.places import Place


@dataclass(eq=False)
class Buffer:
    """Memory that has to be kept: from which operation to which, in which space, how many bytes, and at which address
    if that is fixed. ``heirs`` may lie exactly where this one does although they begin where it ends; ``uses`` are the
    operations that use it, by number."""

    op: Operation
    space: str
    size: int
    align: int
    address: int | None = None
    first: int = -1
    last: int = -1
    heirs: set[Buffer] = field(default_factory=set)
    uses: dict[int, Operation] = field(default_factory=dict)

    def meets(self, other: Buffer) -> bool:
        """Whether both are needed at the same time."""
        return self.first <= other.last and other.first <= self.last

    def inherits(self, other: Buffer) -> bool:
        """Whether one of the two begins in the operation that the other ends in, element by element."""
        return self in other.heirs or other in self.heirs


@dataclass
class _Use:
    """A read or write by the operation ``time``; ``kills``: it leaves nothing of what was there, whenever its block
    runs. ``around`` are the loops around it, outermost first."""

    time: int
    kills: bool
    around: tuple[Loop, ...]
    nested: bool
    """Whether it may be passed by in the innermost loop."""


class Lives:
    """Finds the range of each buffer in a sequence."""

    def __init__(self) -> None:
        self.time = 0
        self.spans: dict[Loop, tuple[int, int]] = {}
        self.uses: dict[SSAValue, list[_Use]] = defaultdict(list)
        self.leaves: list[tuple[int, Leaf]] = []

    def follow(self, sequence: Sequence, loops: tuple[Loop, ...] = (), nested: bool = False) -> None:
        """Numbers the operations of a sequence and notes what they use."""
        for item in sequence.items:
            if isinstance(item, Leaf):
                self._leaf(item, loops, nested)
            elif isinstance(item, Loop):
                begin = self.time
                self.follow(item.body, (*loops, item), False)
                self.spans[item] = (begin, self.time - 1)
            elif isinstance(item, Choice):
                for branch in item.branches:
                    self.follow(branch, loops, True)

    def _leaf(self, leaf: Leaf, loops: tuple[Loop, ...], nested: bool) -> None:
        self.leaves.append((self.time, leaf))
        for place in leaf.reads:
            self._use(place, False, loops, nested)
        keeps = bool(op_spec(type(leaf.op)).in_place) if isinstance(leaf.op, PtoOp) else True
        for place in leaf.writes:
            alone = len(leaf.writes) == len({one.root for one in leaf.writes})
            self._use(place, place.whole and not keeps and alone and place not in leaf.reads, loops, nested)
        self.time += 1

    def _use(self, place: Place, kills: bool, loops: tuple[Loop, ...], nested: bool) -> None:
        if isinstance(place.root, SSAValue):
            self.uses[place.root].append(_Use(self.time, kills, loops, nested))

    def settle(self, buffers: dict[SSAValue, Buffer]) -> None:
        """Fills in the ranges of ``buffers``, which stand by their handles."""
        for value, buffer in buffers.items():
            uses = self.uses.get(value, [])
            if uses:
                buffer.first, buffer.last = uses[0].time, max(use.time for use in uses)
                buffer.uses = {use.time: self.leaves[use.time][1].op for use in uses}
                self._extend(buffer, uses)
        for time, leaf in self.leaves:
            self._inherit(time, leaf, buffers)

    def _extend(self, buffer: Buffer, uses: list[_Use]) -> None:
        """What a loop carries is needed in the whole loop."""
        outside = _around(buffer.op)
        loops = dict.fromkeys(loop for use in uses for loop in use.around if loop.op not in outside)
        for loop in loops:
            first = next(use for use in uses if loop in use.around)
            if not (first.kills and not first.nested and first.around[-1] is loop):
                begin, end = self.spans[loop]
                buffer.first, buffer.last = min(buffer.first, begin), max(buffer.last, end)

    def _inherit(self, time: int, leaf: Leaf, buffers: dict[SSAValue, Buffer]) -> None:
        if not has_role(leaf.op, Role.LANEWISE) or not all(place.whole for place in (*leaf.reads, *leaf.writes)):
            return
        sources = _whole(leaf.reads, buffers)
        for target in _whole(leaf.writes, buffers):
            for source in sources if target not in sources else ():
                if source.last == time == target.first and _alike(source.op, target.op):
                    source.heirs.add(target)


def _whole(places: tuple[Place, ...], buffers: dict[SSAValue, Buffer]) -> list[Buffer]:
    roots = [place.root for place in places if place.whole]
    return [buffers[root] for root in roots if isinstance(root, SSAValue) and root in buffers]


def _alike(one: Operation, other: Operation) -> bool:
    """Whether elements of two tiles with the same index have the same distance from the begin."""
    shapes: list[object] = []
    for op in (one, other):
        tile = op.results[0].type
        if not isinstance(tile, TileBufType):
            return False
        shapes.append((tile.rows, tile.cols, tile.blayout, tile.slayout, tile.fractal, byte_width(tile.element)))
    return shapes[0] == shapes[1]


def _around(op: Operation) -> set[Operation]:
    found: set[Operation] = set()
    place = op.parent_op()
    while place is not None:
        found.add(place)
        place = place.parent_op()
    return found
