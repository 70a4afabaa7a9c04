"""From where to where in the text the content of each buffer of a function is needed.

Operations are numbered in the order of the text. Source: docs/reference/memory-planning.md, "Live ranges".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable
from dataclasses import dataclass, field
from functools import cached_property

from xdsl.ir import Block, Operation, SSAValue

from pto_dialect.analysis.alias import Must, Pointees, joined
from pto_dialect.ir.core.base import PtoOp, op_spec, operand_groups
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.types import MultiTileBufType, TileBufType, byte_width
from pto_dialect.ir.core.walk import ancestors
from pto_dialect.ir.sync.pipes import ReserveBufferOp
from pto_dialect.ir.tile.elementwise import TCvtOp
from pto_dialect.passes.accesses.filling import Filling
from pto_dialect.passes.accesses.items import Choice, Leaf, Loop, Sequence, UnsupportedError
from pto_dialect.passes.accesses.locations import HandleLocations, MemoryLocation
from pto_dialect.passes.accesses.program import MEMORY


@dataclass(eq=False)
class Buffer:
    """Memory that has to be kept: from which operation to which, in which space, how many bytes, and at which address
    if that is fixed; one that nothing uses is needed never. ``heirs`` may lie exactly where this one does although they
    begin where it ends; ``uses`` are the operations that use it, by number; ``carried`` are the first and last
    operations of the loops that need it from begin to end; ``room`` are the bytes that must be free for what lies
    beside it."""

    op: Operation
    space: str
    size: int
    align: int
    address: int | None = None
    first: int = 0
    last: int = -1
    heirs: set[Buffer] = field(default_factory=set)
    uses: dict[int, Operation] = field(default_factory=dict)
    carried: list[tuple[int, int]] = field(default_factory=list)
    room: int = 0

    @cached_property
    def reserved(self) -> bool:
        """Whether the program reserves it for queues."""
        return isinstance(self.op, ReserveBufferOp)

    @property
    def extent(self) -> int:
        """The bytes from its address on that others keep away from."""
        return max(self.size, self.room)

    def ends_at(self, time: int) -> bool:
        """Returns whether the buffer is dead after operation ``time``, also in later iterations."""
        return self.last == time and not any(begin <= time <= end for begin, end in self.carried)

    def begins_at(self, time: int) -> bool:
        """Returns whether nobody needs it before operation ``time``, in earlier iterations either."""
        return self.first == time and not any(begin <= time <= end for begin, end in self.carried)

    def overlaps(self, other: Buffer) -> bool:
        """Returns whether both are needed at the same time. What the program reserves belongs to queues: tiles that
        nothing uses keep away from it as well."""
        if self.reserved or other.reserved:
            return True
        return self.first <= other.last and other.first <= self.last

    def inherits(self, other: Buffer) -> bool:
        """Returns whether one of the two begins in the operation that the other ends in, element by element."""
        return self in other.heirs or other in self.heirs


@dataclass
class _Use:
    """A read or write by the operation ``time``, inside of the loops ``around``, outermost first. ``needs``: what was
    there means something to it."""

    time: int
    writes: bool
    needs: bool
    around: tuple[Loop, ...]


@dataclass
class _Flow:
    """What a part of the text does to buffers: it needs what was in those of ``exposed`` before it, and leaves nothing
    of it in those of ``killed``, whenever it runs."""

    exposed: set[SSAValue] = field(default_factory=set)
    killed: set[SSAValue] = field(default_factory=set)

    def then(self, other: _Flow) -> None:
        """Continues with ``other``."""
        self.exposed |= other.exposed - self.killed
        self.killed |= other.killed


class LiveRanges:
    """Computes the live range of each buffer in a sequence; ``places`` states which buffers its loops carry."""

    def __init__(self, locations: HandleLocations) -> None:
        self.places = locations
        self.filling = Filling()
        self.time = 0
        self.passed: dict[Loop, Pointees[Hashable]] = {}
        """The objects that loop-carried handles may refer to."""
        self.spans: dict[Loop, tuple[int, int]] = {}
        self.flows: dict[Loop, _Flow] = {}
        self.uses: dict[SSAValue, list[_Use]] = defaultdict(list)
        self.leaves: list[tuple[int, Leaf]] = []

    def follow(self, sequence: Sequence, loops: tuple[Loop, ...] = ()) -> _Flow:
        """Numbers the operations of a sequence and notes what they use."""
        flow = _Flow()
        for item in sequence.items:
            if isinstance(item, Leaf):
                flow.then(self._leaf(item, loops))
            elif isinstance(item, Loop):
                begin = self.time
                body = self.flows[item] = self.follow(item.body, (*loops, item))
                self.spans[item] = (begin, self.time - 1)
                self.passed[item] = _passed(item.op, self.places)
                flow.then(_Flow(body.exposed))
            elif isinstance(item, Choice):
                branches = [self.follow(branch, loops) for branch in item.branches]
                killed = set() if item.open else set.intersection(*(branch.killed for branch in branches))
                flow.then(_Flow(set[SSAValue]().union(*(branch.exposed for branch in branches)), killed))
        return flow

    def _leaf(self, leaf: Leaf, loops: tuple[Loop, ...]) -> _Flow:
        self.leaves.append((self.time, leaf))
        if not (leaf.shows or leaf.learns) and any(location.root is None for location in (*leaf.reads, *leaf.writes)):
            # Raise :class:`UnsupportedError` for a tile that may be any: no other tile could have bytes of its own.
            for value in leaf.op.operands:
                if isinstance(value.type, (TileBufType, MultiTileBufType)) and self.places.pointees(value).is_open:
                    raise UnsupportedError(leaf.op, "only a run knows which tile it uses")
        flow = _Flow()
        keeps = bool(op_spec(type(leaf.op)).in_place) if isinstance(leaf.op, PtoOp) else True
        for writes, needs, locations in ((False, True, leaf.reads), (True, keeps, leaf.writes)):
            for location in locations:
                if isinstance(location.root, SSAValue):
                    self.uses[location.root].append(_Use(self.time, writes, needs, loops))
                    if needs:
                        flow.exposed.add(location.root)
        kept = self._kept(leaf.op)
        for location in leaf.writes:
            written = location.must()
            if written is not None and location not in kept:
                _kill(written, flow)
        self.time += 1
        return flow

    def _kept(self, op: Operation) -> set[MemoryLocation]:
        """Returns the locations that an operation writes and that may hold something of before afterwards."""
        if not isinstance(op, PtoOp):
            return set()
        groups = operand_groups(op)
        results = [value for name in op_spec(type(op)).writes for value in groups.get(name, ())]
        kept = [value for value in results if isinstance(value.type, MEMORY) and not self.filling.replaces(op, value)]
        return {location for value in kept for location in self.places.of(value)}

    def settle(self, buffers: dict[SSAValue, Buffer]) -> None:
        """Assigns the live ranges of ``buffers``, which are keyed by their handles."""
        for value, buffer in buffers.items():
            uses = self.uses.get(value, [])
            if uses:
                buffer.first, buffer.last = uses[0].time, max(use.time for use in uses)
                buffer.uses = {use.time: self.leaves[use.time][1].op for use in uses}
                self._extend(value, buffer, uses)
        for time, leaf in self.leaves:
            self._inherit(time, leaf, buffers)

    def _extend(self, value: SSAValue, buffer: Buffer, uses: list[_Use]) -> None:
        """Extends the live ranges of loop-carried buffers to the whole loop. A buffer without a write has no
        contents."""
        if not any(use.writes for use in uses):
            return
        outside = set(ancestors(buffer.op))
        needed = max((use.time for use in uses if use.needs), default=-1)
        for loop in dict.fromkeys(loop for use in uses for loop in use.around):
            if loop.op in outside and not self.passed[loop].alias(value).is_possible:
                continue
            flow, (begin, end) = self.flows[loop], self.spans[loop]
            left = value not in flow.killed and needed > end
            if left or value in flow.exposed:
                buffer.carried.append((begin, end))
                buffer.first, buffer.last = min(buffer.first, begin), max(buffer.last, end)

    def _inherit(self, time: int, leaf: Leaf, buffers: dict[SSAValue, Buffer]) -> None:
        # In place only where the operation has no other source or result, in any run.
        if not _lanewise(leaf) or any(location.must() is None for location in (*leaf.reads, *leaf.writes)):
            return
        sources = _accessed(leaf.reads, buffers)
        for target in _accessed(leaf.writes, buffers):
            for source in sources if target not in sources else ():
                if source.ends_at(time) and target.begins_at(time) and _is_equal(source.op, target.op):
                    source.heirs.add(target)


def _lanewise(leaf: Leaf) -> bool:
    """Returns whether the result may lie where a source lies: in operations of that role, and in conversions that need
    no scratch."""
    return leaf.op.tmp is None if isinstance(leaf.op, TCvtOp) else has_role(leaf.op, Role.LANEWISE)


def _kill(written: Must[Hashable], flow: _Flow) -> None:
    """A write of all of a buffer, in every run, ends what it held."""
    root = written.object
    if isinstance(root, SSAValue) and root not in flow.exposed:
        flow.killed.add(root)


def _accessed(locations: tuple[MemoryLocation, ...], buffers: dict[SSAValue, Buffer]) -> list[Buffer]:
    """Returns the buffers that an operation touches as a whole in every run."""
    roots = [pointee.object for location in locations if (pointee := location.must()) is not None]
    return [buffers[root] for root in roots if isinstance(root, SSAValue) and root in buffers]


def _passed(op: Operation, locations: HandleLocations) -> Pointees[Hashable]:
    """Returns what the handles that a loop carries, or gives, may stand for."""
    blocks: list[Block] = [block for region in op.regions for block in region.blocks]
    values = [*op.results, *(argument for block in blocks for argument in block.args)]
    handles = [locations.pointees(value) for value in values if isinstance(value.type, MEMORY)]
    return joined(handles) if handles else Pointees()


def _is_equal(source: Operation, target: Operation) -> bool:
    """Returns whether each element of ``target`` lies where the element of ``source`` with the same index does, or
    before it, where that has been read already: rows of smaller elements without boxes."""
    one, other = source.results[0].type, target.results[0].type
    if not (isinstance(one, TileBufType) and isinstance(other, TileBufType)):
        return False
    shapes = [(tile.rows, tile.cols, tile.blayout, tile.slayout, tile.fractal) for tile in (one, other)]
    size, smaller = byte_width(one.element), byte_width(other.element)
    if size is None or smaller is None or shapes[0] != shapes[1]:
        return False
    return size == smaller or (smaller < size and one.slayout == "none_box")
