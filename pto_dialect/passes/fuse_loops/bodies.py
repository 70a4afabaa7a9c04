"""What the bodies of two loops may contain, and which order of their iterations they need.

Source: docs/reference/synchronisation.md, "Dependences".
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from xdsl.dialects.scf import ForOp, IfOp, YieldOp
from xdsl.ir import Block, Operation, SSAValue

from pto_dialect.analysis.alias import is_passed_on
from pto_dialect.ir.buffers.views import AllocTileOp
from pto_dialect.ir.core.base import Effect, Pipe, PtoOp, op_spec, operand_groups, section_of
from pto_dialect.ir.core.facts.operation_form import form_of
from pto_dialect.ir.core.location import label_of
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.types import TileBufType
from pto_dialect.ir.core.walk import walk
from pto_dialect.passes.accesses.dependences import Levels
from pto_dialect.passes.accesses.items import Choice, Leaf, Loop, Sequence, innermost
from pto_dialect.passes.accesses.locations import HandleLocations, MemoryLocation
from pto_dialect.passes.accesses.overlap import as_one_array, may_overlap
from pto_dialect.passes.accesses.program import Reader
from pto_dialect.passes.accesses.setting import ANY, Setting
from pto_dialect.passes.base import ObstacleError
from pto_dialect.passes.instructions.writer import is_handle
from pto_dialect.passes.loops.arrays import Apart
from pto_dialect.passes.loops.buffers import is_written_first, touches_memory
from pto_dialect.targets.profile import Profile

_PIPES = (Pipe.MTE2, Pipe.V, Pipe.MTE3)
_OTHERS = Role.CORES | Role.BLOCKS | Role.PEERS | Role.SIGNAL | Role.PIPES | Role.LOCK | Role.JOINS


class NotFusedError(ObstacleError):
    """Why two loops stay apart."""


class Body:
    """A loop as a core runs it: its accesses, and how they are compared."""

    def __init__(self, loop: ForOp, function: Operation, profile: Profile) -> None:
        sides = {section_of(op) for op in walk(function)}
        found, self.locations, ranges = None, HandleLocations(profile), {}
        for side in [name for name in ("cube", "vector") if name in sides] or [None]:
            self.locations = HandleLocations(profile)
            reader = Reader(self.locations, side)
            found, ranges = _found(reader.function(function), loop), reader.ranges
            if found is not None:
                break
        if found is None:
            raise NotFusedError(loop, "nothing is known of its accesses")
        levels = Levels(loop.body.block)
        self.leaves = [leaf for leaf in innermost(found.body) if isinstance(leaf, Leaf)]
        self.later = Setting(
            levels.is_invariant, found.iteration, lambda value: ranges.get(value, ANY), self.locations.sums
        )
        """Where the later of two accesses is in a later iteration."""
        self.same = self.later._replace(fixed=levels.is_invariant_inside, iteration=None)
        """Where both are in one iteration."""


def _found(sequence: Sequence, op: Operation) -> Loop | None:
    """Returns the item of a loop."""
    for item in sequence.items:
        if item.op is op and isinstance(item, Loop):
            return item
        inner = item.branches if isinstance(item, Choice) else [item.body] if isinstance(item, Loop) else []
        for part in inner:
            found = _found(part, op)
            if found is not None:
                return found
    return None


def check_body(loop: ForOp, arch: str) -> None:
    """Raises :class:`NotFusedError` where an operation does more than move and compute tiles of a vector core."""
    for op in walk(loop):
        if op is not loop and not _is_plain(op, arch):
            raise NotFusedError(op, f"{op.name} may do more than move and compute tiles")


def _is_plain(op: Operation, arch: str) -> bool:
    if not isinstance(op, PtoOp):
        return is_handle(op) or isinstance(op, (ForOp, IfOp, YieldOp))
    spec = op_spec(type(op))
    if op.regions or spec.state_writes or spec.queue is not None or spec.pipes or has_role(op, _OTHERS):
        return False
    if spec.effect is not None:
        return spec.effect in (Effect.PURE, Effect.HANDLE, Effect.QUERY)
    form = form_of(op, arch)
    return form.pipe in _PIPES and not form.self_ordered


def private_tiles(first: ForOp, second: ForOp, arch: str) -> set[SSAValue]:
    """Returns the tiles that both loops use, and nothing else does, of which each iteration of both needs nothing that
    was there before."""
    tiles = {
        value for op in walk(first) for value in op.operands if isinstance(value.owner, AllocTileOp)
    }  # fmt: skip
    return {tile for tile in tiles if _is_private(tile, (first, second), arch)}


def _is_private(tile: SSAValue, loops: Collection[ForOp], arch: str) -> bool:
    owner, kind = tile.owner, tile.type
    assert isinstance(owner, AllocTileOp)
    assert isinstance(kind, TileBufType)
    if owner.addr is not None or kind.compact or is_passed_on(tile, touches_memory):
        return False
    if not all(any(loop.is_ancestor(use.operation) for loop in loops) for use in tile.uses):
        return False
    return all(
        is_written_first(tile, loop.body.block) or _is_scratch_first(tile, loop.body.block, arch) for loop in loops
    )


def _is_scratch_first(tile: SSAValue, block: Block, arch: str) -> bool:
    """Returns whether the first operation of a block that uses a tile leaves nothing known in it."""
    users = {use.operation for use in tile.uses}
    for op in block.ops:
        if op in users:
            if not isinstance(op, PtoOp):
                return False
            scratch = form_of(op, arch).scratch
            names = [name for name, values in operand_groups(op).items() if tile in values]
            return bool(names) and all(name in scratch for name in names)
        if any(inner in users for inner in walk(op)):
            return False
    return False


def check_order(
    loop: ForOp, moved: Collection[Operation], private: Collection[SSAValue], function: Operation, profile: Profile
) -> Apart:
    """Returns the arguments that have to be different memory for the order of ``loop``. Raises :class:`NotFusedError`
    if an iteration of it may access, with the operations that are not ``moved``, what a later iteration of those
    accesses: before, all of them ran first."""
    body = Body(loop, function, profile)
    apart: Apart = {}
    for later in body.leaves:
        if later.op not in moved:
            continue
        for earlier in body.leaves:
            if earlier.op in moved:
                continue
            for location, other in _pairs(earlier, later):
                if may_overlap(location, other, body.later) and location.root not in private:
                    raise NotFusedError(earlier.op, _reason(location))
                note_apart(location, other, body.later, apart)
    return apart


def note_apart(location: MemoryLocation, other: MemoryLocation, setting: Setting, apart: Apart) -> None:
    """Notes in ``apart`` the arguments of two accesses that would be in conflict if these were one array."""
    same = as_one_array(location, other)
    if same is not None and may_overlap(location, same, setting):
        apart[frozenset(root for root in (location.root, other.root) if isinstance(root, SSAValue))] = None


def _pairs(earlier: Leaf, later: Leaf) -> Iterator[tuple[MemoryLocation, MemoryLocation]]:
    """Yields the locations of two operations of which one is written."""
    for location in earlier.writes:
        for other in (*later.reads, *later.writes):
            yield location, other
    for location in earlier.reads:
        for other in later.writes:
            yield location, other


def _reason(location: MemoryLocation) -> str:
    root = location.root
    name = label_of(root, "it") if isinstance(root, SSAValue) else "it"
    if location.space == "gm":
        return f"an iteration of it may use bytes of {name} that a later iteration of the other one uses"
    if location.root == "bytes":
        return "their tiles share bytes; fuse loops before assign-memory"
    return f"{name} carries a value from iteration to iteration, or from one loop to the other"
