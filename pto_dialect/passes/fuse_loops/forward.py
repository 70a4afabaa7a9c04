"""Loads of what the same iteration has stored, and stores that nobody reads.

Source: docs/reference/synchronisation.md, "Dependences".
"""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects.scf import ForOp
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint

from pto_dialect.analysis.alias import is_passed_on
from pto_dialect.analysis.constants import constant_of
from pto_dialect.ir.buffers.views import AllocTileOp, MakeTensorViewOp, PartitionViewOp
from pto_dialect.ir.core.base import PtoOp, operand_groups, segment_sizes, signature
from pto_dialect.ir.core.facts.operation_form import form_of
from pto_dialect.ir.core.types import DYNAMIC, PartitionViewType, TileBufType
from pto_dialect.ir.tile.memory import TLoadOp, TStoreOp
from pto_dialect.ir.tile.move import TMovOp
from pto_dialect.passes.accesses.items import Leaf
from pto_dialect.passes.accesses.locations import GLOBAL, MemoryLocation
from pto_dialect.passes.accesses.overlap import may_overlap
from pto_dialect.passes.loops.arrays import Apart
from pto_dialect.passes.loops.buffers import is_written_first, touches_memory
from pto_dialect.passes.loops.copies import erase_with_handles, put
from pto_dialect.targets.profile import Profile

from .bodies import Body, note_apart

_COPY = segment_sizes(tuple(int(slot.name in ("src", "dst")) for slot in signature(TMovOp).operands))


def keep_on_chip(loop: ForOp, function: Operation, profile: Profile) -> Apart:
    """Replaces loads in the body of ``loop`` by the tiles that were stored there, and leaves out stores that are
    overwritten unread. Returns the arguments that have to be different memory for that."""
    apart: Apart = {}
    while True:
        body = Body(loop, function, profile)
        transfers = [
            (number, leaf.op)
            for number, leaf in enumerate(body.leaves)
            if leaf.op.parent is loop.body.block and _is_plain_transfer(leaf.op)
        ]
        if not (_forward(loop, body, transfers, profile.arch, apart) or _drop(body, transfers, apart)):
            return apart


def _forward(loop: ForOp, body: Body, transfers: list[tuple[int, Operation]], arch: str, apart: Apart) -> bool:
    """Replaces one load; whether there was one."""
    for number, load in transfers:
        if not isinstance(load, TLoadOp):
            continue
        part, tile = load.src, load.dst
        assert tile is not None
        place = _exactly(part, body)
        for earlier, store in reversed(transfers):
            if earlier >= number or not isinstance(store, TStoreOp) or place is None:
                continue
            source = store.src
            if _exactly(store.dst, body) != place or source.type != tile.type:
                continue
            between = body.leaves[earlier + 1 : number]
            if _touched((place, *body.locations.of(source)), between, body, reads=False):
                break
            _note(place, between, body, apart, reads=False)
            _replace(load, source, tile, loop, body, number, arch)
            return True
    return False


def _drop(body: Body, transfers: list[tuple[int, Operation]], apart: Apart) -> bool:
    """Removes one store whose view is stored to again before anything reads it; whether there was one."""
    for number, store in transfers:
        place = _exactly(store.dst, body) if isinstance(store, TStoreOp) else None
        for later, other in transfers if place is not None else ():
            if later <= number or not isinstance(other, TStoreOp) or _exactly(other.dst, body) != place:
                continue
            assert place is not None
            between = body.leaves[number + 1 : later]
            if not _touched((place,), between, body, reads=True):
                _note(place, between, body, apart, reads=True)
                erase_with_handles([store])
                return True
            break
    return False


def _is_plain_transfer(op: Operation) -> bool:
    """Returns whether an operation moves all of a tile from or to a part of a view, without conversion."""
    if not isinstance(op, (TLoadOp, TStoreOp)) or len(op.operands) != 2 or op.results:
        return False
    if {*op.attributes, *op.properties} - {"operandSegmentSizes", "resultSegmentSizes"}:
        return False
    groups = operand_groups(op)
    (tile,), (part,) = (groups["dst"], groups["src"]) if isinstance(op, TLoadOp) else (groups["src"], groups["dst"])
    kind, view = tile.type, part.type
    if not isinstance(tile.owner, AllocTileOp) or not isinstance(kind, TileBufType) or kind.loc != "vec":
        return False
    if not isinstance(view, PartitionViewType) or view.element != kind.element or not _is_one_to_one(part, kind):
        return False
    return not kind.pad and DYNAMIC not in (kind.valid_rows, kind.valid_cols)


def _is_one_to_one(part: SSAValue, kind: TileBufType) -> bool:
    """Returns whether a part of a view has an element of its own in memory for each element of a tile."""
    owner, view = part.owner, part.type
    if not isinstance(owner, PartitionViewOp) or not isinstance(owner.source.owner, MakeTensorViewOp):
        return False
    assert isinstance(view, PartitionViewType)
    if len(view.shape) < 2 or (*view.shape,) != (*(1,) * (len(view.shape) - 2), kind.valid_rows, kind.valid_cols):
        return False
    whole = owner.source.owner
    row, column = whole.strides[-2], whole.strides[-1]
    distance = constant_of(row)
    if constant_of(column) != 1:
        return False
    return row is whole.shape[-1] or (isinstance(distance, int) and distance >= kind.valid_cols)


def _exactly(part: SSAValue, body: Body) -> MemoryLocation | None:
    """Returns the one location of a part of a view, if all of it is known."""
    found = body.locations.of(part)
    if len(found) != 1:
        return None
    (place,) = found
    known = place.space == GLOBAL and place.alias.is_certain and place.frame is not None and place.sides
    return place if known and place.root is not None else None


def _touched(places: Iterable[MemoryLocation], leaves: Iterable[Leaf], body: Body, reads: bool) -> bool:
    """Returns whether an operation may write one of ``places``, or read it too, in the same iteration."""
    some = list(places)
    return any(
        may_overlap(place, location, body.same)
        for leaf in leaves
        for location in (*(leaf.reads if reads else ()), *leaf.writes)
        for place in some
    )


def _note(place: MemoryLocation, leaves: Iterable[Leaf], body: Body, apart: Apart, reads: bool) -> None:
    """Notes the arguments of which an operation would write, or read too, ``place`` if they were one array."""
    for leaf in leaves:
        for location in (*(leaf.reads if reads else ()), *leaf.writes):
            note_apart(place, location, body.same, apart)


def _replace(
    load: Operation, source: SSAValue, tile: SSAValue, loop: ForOp, body: Body, number: int, arch: str
) -> None:
    """Lets the users of ``tile`` read ``source`` where that has its content as long as they do; else copies it."""
    if source is not tile:
        if _stands_for(source, tile, load, loop, body, number, arch):
            for use in [use for use in tile.uses if use.operation is not load]:
                use.operation.operands[use.index] = source
        else:
            copy = TMovOp.create(operands=[source, tile], attributes={"operandSegmentSizes": _COPY})
            put(copy, InsertPoint.before(load), load)
    erase_with_handles([load])


def _stands_for(
    source: SSAValue, tile: SSAValue, load: Operation, loop: ForOp, body: Body, number: int, arch: str
) -> bool:
    """Returns whether the users of ``tile`` may use ``source``: ``load`` is the first one, and either nobody writes one
    of both after it, or nobody needs ``source`` after it."""
    if not _is_of_iteration(tile, loop) or is_passed_on(source, touches_memory):
        return False
    if any(_comes_before(use.operation, load) for use in tile.uses):
        return False
    places, after = body.locations.of(source), body.leaves[number + 1 :]
    if not any(_writes(use.operation, tile, arch) for use in tile.uses if use.operation is not load):
        return not _touched(places, after, body, reads=False)
    return _is_of_iteration(source, loop) and not _touched(places, after, body, reads=True)


def _is_of_iteration(tile: SSAValue, loop: ForOp) -> bool:
    """Returns whether each iteration of a loop needs nothing that was in a tile before, and nobody uses it
    elsewhere."""
    return (
        isinstance(tile.owner, AllocTileOp)
        and tile.owner.addr is None
        and not is_passed_on(tile, touches_memory)
        and all(loop.is_ancestor(use.operation) for use in tile.uses)
        and is_written_first(tile, loop.body.block)
    )


def _comes_before(op: Operation, other: Operation) -> bool:
    """Returns whether an operation precedes another one in the block of that one, or is in an operation that does."""
    while op.parent is not other.parent:
        outer = op.parent_op()
        assert outer is not None
        op = outer
    return op is not other and op.is_before_in_block(other)


def _writes(op: Operation, tile: SSAValue, arch: str) -> bool:
    """Returns whether an operation may change a tile."""
    if not isinstance(op, PtoOp):
        return True
    form, groups = form_of(op, arch), operand_groups(op)
    return any(tile in groups.get(name, ()) for name in (*form.writes, *form.clobbered))
