"""Neighbours that go into one vector function: their regions are equal, and no element that one writes is another
element for the other.

Source: docs/reference/vectors.md, "Loads and stores".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from xdsl.ir import Operation, SSAValue

from pto_dialect.ir.buffers.memref_bridge import PointerCastOp
from pto_dialect.ir.buffers.pointers import CastptrOp, InttoptrOp
from pto_dialect.ir.buffers.views import AllocMultiTileOp, AllocTileOp
from pto_dialect.ir.core.walk import walk
from pto_dialect.passes.accesses.filling import Filling
from pto_dialect.passes.instructions.geometry import Tile
from pto_dialect.passes.instructions.writer import Writer, calls, is_handle

from .elementwise import Step
from .table import row_of
from .tiles import Extent, extent, is_same_location, must_be_disjoint

LONGEST = 32
"""Operations of one vector function, whose values need registers."""


def consecutive_operations(ops: Sequence[Operation]) -> Iterator[list[Operation]]:
    """Runs of consecutive operations, between which only scalars and handles are computed; an operation without an
    elementwise formula is a run of its own."""
    stretch: list[Operation] = []
    for op in ops:
        if stretch and not _follows(stretch[-1], op):
            yield stretch
            stretch = []
        stretch.append(op)
        if row_of(op) is None or len(stretch) == LONGEST:
            yield stretch
            stretch = []
    if stretch:
        yield stretch


def _follows(one: Operation, other: Operation) -> bool:
    if one.parent is not other.parent or row_of(other) is None:
        return False
    following = one.next_op
    assert following is not None
    while is_handle(following):
        following = following.next_op
        assert following is not None
    return following is other


def runs(writer: Writer, steps: Sequence[Step]) -> Iterator[list[Step]]:
    """Yields the operations of a stretch, in groups that one vector function carries out."""
    run: list[Step] = []
    for step in steps:
        if run and not (all(_go_together(writer, one, step) for one in run) and _waits(step, run)):
            yield run
            run = []
        run.append(step)
    if run:
        yield run


def _go_together(writer: Writer, one: Step, other: Step) -> bool:
    """Returns whether registers of both may follow each other turn by turn."""
    if one.dst.bytes != other.dst.bytes:
        return False
    if not (writer.is_equal(one.dst.rows, other.dst.rows) and writer.is_equal(one.dst.cols, other.dst.cols)):
        return False
    return _may_follow(one, other) and _may_follow(other, one)


def _may_follow(one: Step, other: Step) -> bool:
    """Returns whether what ``one`` writes is for ``other`` the same elements or none."""
    for name, tile in {"": other.dst, **other.sources}.items():
        same = name not in other.alone and is_same_location(one.dst, tile)
        if not same and not must_be_disjoint(one.dst, tile):
            return False
    return True


def _waits(step: Step, run: Sequence[Step]) -> bool:
    """Returns whether the store of ``step`` is after the loads of its location: only value dependences order loads and
    stores of a vector function."""
    needed = _needs([*run, step])[-1]
    loads = [load for number in range(len(run)) for load in _loads(run, number)]
    return all(
        not is_same_location(load, step.dst) or any(is_same_location(load, one) for one in needed) for load in loads
    )


def _loads(run: Sequence[Step], number: int) -> list[Tile]:
    """Returns the sources of an operation that no operation before it has in a register."""
    step, before = run[number], run[:number]
    return [tile for tile in step.sources.values() if not any(is_same_location(tile, one.dst) for one in before)]


def _needs(run: Sequence[Step]) -> list[list[Tile]]:
    """For each operation the locations whose loads its value depends on."""
    needs: list[list[Tile]] = []
    for number, step in enumerate(run):
        needed = _loads(run, number)
        for tile in step.sources.values():
            writers = [index for index in range(number) if is_same_location(tile, run[index].dst)]
            needed = needed + (needs[writers[-1]] if writers else [])
        needs.append(needed)
    return needs


class Memory:
    """The allocations of a function, to determine whose bytes are dead."""

    def __init__(self, function: Operation) -> None:
        ops = list(walk(function))
        self._order = {op: number for number, op in enumerate(ops)}
        tiles = [op.results[0] for op in ops if isinstance(op, (AllocTileOp, AllocMultiTileOp))]
        self._extents: dict[SSAValue, Extent] = {
            tile: extent_ for tile in tiles if (extent_ := extent(tile)) is not None
        }
        known = len(self._extents) == len(tiles)
        self._whole = known and not any(map(_hides_accesses, ops)) and not calls(function)

    def needless(self, base: SSAValue, run: Sequence[Step]) -> bool:
        """Returns whether nobody reads what a run leaves in a tile: the run writes it before it reads it and nobody
        else uses it, and tiles that have bytes of it are written before they are read."""
        if not self._whole or not self._only_here(base, run):
            return False
        # What is no allocation has another use, the query of its address.
        extent_ = self._extents[base]
        others = [tile for tile, other in self._extents.items() if extent_.meets(other) and tile is not base]
        return all(self._is_rewritten_after(tile, run) for tile in others)

    def _only_here(self, base: SSAValue, run: Sequence[Step]) -> bool:
        """Returns whether only the run uses a tile, and writes it before it reads it."""
        ops = {step.op for step in run}
        if any(use.operation not in ops for use in base.uses):
            return False
        first = next(step for step in run if any(one.base is base for one in (step.dst, *step.sources.values())))
        return all(one.base is not base for one in first.sources.values())

    def _is_rewritten_after(self, tile: SSAValue, run: Sequence[Step]) -> bool:
        """Returns whether all uses of a tile are next to the run, and it is written first, both in the same block and
        after the run."""
        last = run[-1].op
        uses = {use.operation for use in tile.uses if use.operation in self._order}
        if any(op.parent is not last.parent for op in uses):
            return False
        ordered = sorted(uses, key=self._order.__getitem__)
        later = [op for op in ordered if self._order[op] > self._order[last]]
        filling = Filling()
        return all(filling.only_replaces(first, tile) for first in (ordered[:1] + later[:1]))


def _hides_accesses(op: Operation) -> bool:
    """Returns whether memory is reached through numbers."""
    return isinstance(op, (CastptrOp, InttoptrOp, PointerCastOp))


def stored(run: Sequence[Step], memory: Memory) -> list[Step]:
    """Returns the same operations; results that are written again, and those that nobody else reads, stay in
    registers."""
    if len(run) == 1:
        return list(run)
    needless = {base: memory.needless(base, run) for base in dict.fromkeys(step.dst.base for step in run)}
    steps: list[Step] = []
    for number, step in enumerate(run):
        again = any(is_same_location(step.dst, later.dst) for later in run[number + 1 :])
        steps.append(replace(step, is_stored=not again and not needless[step.dst.base]))
    return _needed(steps)


def _needed(run: Sequence[Step]) -> list[Step]:
    """Returns the operations whose results go to memory, and those whose results they need."""
    needed: list[Step] = []
    for step in reversed(run):
        reader = next((one for one in reversed(needed) if _accesses(one, step.dst)), None)
        read = reader is not None and any(is_same_location(tile, step.dst) for tile in reader.sources.values())
        if step.is_stored or read:
            needed.append(step)
    return needed[::-1]


def _accesses(step: Step, target: Tile) -> bool:
    """Returns whether an operation reads or writes a location."""
    return any(is_same_location(tile, target) for tile in (step.dst, *step.sources.values()))
