"""``double-buffer``: tiles that each iteration of a loop fills become multi-buffers, so that one iteration may fill its
slot while another one still reads.

Source: docs/reference/synchronisation.md, "Multi-buffers".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.arith import DivUIOp, IndexCastOp, RemUIOp, SubiOp
from xdsl.dialects.builtin import IndexType, ModuleOp
from xdsl.dialects.scf import ForOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from pto_dialect.analysis.alias import is_passed_on
from pto_dialect.analysis.constants import constant_of
from pto_dialect.analysis.target import profile_of
from pto_dialect.diagnostics.engine import DiagnosticEngine
from pto_dialect.ir.buffers.views import AllocMultiTileOp, AllocTileOp, MultiTileGetOp, TReshapeOp
from pto_dialect.ir.core.base import Pipe, PtoOp, op_spec, operand_groups
from pto_dialect.ir.core.facts.operation_form import form_of
from pto_dialect.ir.core.location import label_of, span_of
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.types import MultiTileBufType, TileBufType
from pto_dialect.ir.core.walk import walk
from pto_dialect.passes.accesses.filling import Filling
from pto_dialect.passes.accesses.program import MEMORY
from pto_dialect.passes.base import PtoPass
from pto_dialect.verify.engine.rule import read_rules

from .copies import index_constant, put
from .fitting import slots_that_fit
from .parts import parts_of, users_of

_INDEX = IndexType()

_RULES = read_rules("passes")
ONE_SLOT = _RULES["double-buffer-one-slot"]
UNCHANGED = _RULES["double-buffer-unchanged"]


@dataclass(frozen=True)
class DoubleBufferPass(PtoPass):
    """Gives ``count`` slots to each tile without address that all uses of lie in one loop, that the iteration writes
    as a whole before it reads it, and that more than one pipe uses. Others stay as they are, and so do those that gain
    least where not all slots fit the memory."""

    count: str = "2"

    name: ClassVar[str] = "double-buffer"

    def run(self, module: ModuleOp, engine: DiagnosticEngine) -> None:
        """Changes ``module``; each tile of a loop that keeps one slot although several pipes use it gets a remark, and
        so does a module without tiles of loops."""
        some = False
        for function in [op for op in walk(module) if has_role(op, Role.FUNCTION) and op.regions[0].blocks]:
            profile = profile_of(function, self.target)
            for op in [op for op in walk(function) if isinstance(op, AllocTileOp)]:
                _split(op)
            found = {op: loop_of(op, profile.arch) for op in walk(function) if isinstance(op, AllocTileOp)}
            loops = {op: loop for op, loop in found.items() if isinstance(loop, ForOp)}
            names = {op: label_of(op.results[0], "a tile") for op in found}
            spans = {op: span_of(op) for op in found}
            reasons = {op: reason for op, reason in found.items() if isinstance(reason, str)}
            some |= bool(loops or reasons)
            wanted = int(self.count)
            counts = slots_that_fit(function, loops, wanted, self.target)
            slots: dict[tuple[ForOp, int], SSAValue] = {}
            for op, count in counts.items():
                if count < wanted:
                    reasons[op] = f"{wanted} slots of it do not fit beside those of tiles that gain more"
                if count == 1 < wanted:
                    continue
                if (loops[op], count) not in slots:
                    slots[loops[op], count] = _slot(loops[op], count)
                _multiply(op, slots[loops[op], count], count)
            for op, reason in reasons.items():
                kept = "one slot" if counts.get(op, 1) == 1 else f"{counts[op]} slots"
                message = f"{names[op]} gets {kept}: {reason}"
                engine.report(ONE_SLOT.at(spans[op], message))
        if not some:
            message = "double-buffer changes nothing: no loop writes a tile without address that several pipes use"
            engine.report(UNCHANGED.at(module, message))


def loop_of(tile: AllocTileOp, arch: str) -> ForOp | str | None:
    """Returns the loop whose iterations may have a tile each; else the reason why they may not. ``None`` for tiles with
    which nothing could overlap: they have an address, no loop writes them, or only one pipe uses them."""
    type_, users = tile.result.type, users_of(tile.result)
    assert isinstance(type_, TileBufType)
    pipes = {form_of(op, arch).pipe if isinstance(op, PtoOp) else Pipe.S for op in _through_shapes(users)}
    if tile.addr is not None or len(pipes) < 2 or not any(_loops(op, tile.parent) for op in users):
        return None
    if _sets_sizes(users):
        # A slot would keep the sizes of the iteration before last.
        return "the loop sets its sizes"
    # Another handle may mean the tile of an iteration before.
    if type_.compact or not all(touches_memory(op) for op in users):
        return "another handle may show it"
    loop = _innermost(tile, users)
    handles: set[SSAValue] = {tile.result, *(part.result for part in parts_of(tile.result))}
    if loop is None and not any(_writes(op, handles) for op in users if _loops(op, tile.parent)):
        return None
    if loop is None:
        return "it is used outside of its loop, or in several loops"
    if not is_written_first(tile.result, loop.body.block):
        return "the first operation of an iteration that uses it does not write all of it"
    return loop


def _through_shapes(users: list[Operation]) -> list[Operation]:
    """Returns the users of a tile and of its other shapes, which are handles only."""
    found: list[Operation] = []
    for op in users:
        shaped = isinstance(op, TReshapeOp)
        found += _through_shapes([use.operation for use in op.result.uses]) if shaped else [op]
    return found


def _writes(op: Operation, handles: set[SSAValue]) -> bool:
    """Returns whether an operation writes what one of ``handles`` shows, as far as anyone knows."""
    if not isinstance(op, PtoOp):
        return True
    spec, groups = op_spec(type(op)), operand_groups(op)
    return any(not handles.isdisjoint(groups.get(name, ())) for name in (*spec.writes, *spec.in_place))


def _split(tile: AllocTileOp) -> None:
    """Gives each loop a tile of its own, where every iteration of all loops that use a tile writes it first: nothing
    goes from one loop to another."""
    type_, users = tile.result.type, [use.operation for use in tile.result.uses]
    assert isinstance(type_, TileBufType)
    if tile.addr is not None or type_.compact or _sets_sizes(users) or is_passed_on(tile.result, touches_memory):
        return
    groups: dict[ForOp | None, list[Operation]] = {}
    for op in users:
        around = _loops(op, tile.parent)
        groups.setdefault(around[-1] if around else None, []).append(op)
    loops = [_innermost(tile, some) for outer, some in groups.items() if outer is not None]
    if len(loops) < 2 or None in groups:
        return
    if not all(loop is not None and is_written_first(tile.result, loop.body.block) for loop in loops):
        return
    for some in list(groups.values())[1:]:
        made = tile.clone()
        made.result.name_hint = tile.result.name_hint
        put(made, InsertPoint.after(tile), tile)
        for op in some:
            op.operands = [made.result if value is tile.result else value for value in op.operands]


def touches_memory(op: Operation) -> bool:
    """Returns whether an operation gives no handle for the tiles that it works on."""
    return isinstance(op, PtoOp) and not any(isinstance(result.type, MEMORY) for result in op.results)


def _sets_sizes(users: list[Operation]) -> bool:
    """Returns whether the valid sizes of a tile are those that some operation has set last."""
    return any(isinstance(op, PtoOp) and op_spec(type(op)).state_writes for op in users)


def _innermost(tile: AllocTileOp, users: list[Operation]) -> ForOp | None:
    """Returns the innermost loop, inside of the block of a tile, with all its uses."""
    around = [_loops(op, tile.parent) for op in users]
    common = [loop for loop in around[0] if all(loop in loops for loops in around)]
    return common[0] if common else None


def _loops(op: Operation, block: Block | None) -> list[ForOp]:
    """Returns the enclosing loops of ``op`` inside ``block``, or inside a block beside it, innermost first."""
    loops: list[ForOp] = []
    region = block.parent if block is not None else None
    inner = op
    while inner.parent is not None and inner.parent.parent is not region:
        outer = inner.parent_op()
        assert outer is not None
        if isinstance(outer, ForOp):
            loops.append(outer)
        inner = outer
    return loops


def is_written_first(tile: SSAValue, block: Block) -> bool:
    """Returns whether the first operation of a block that uses a tile, or a part of it, writes all of it and reads
    nothing of it."""
    users = {*users_of(tile)}
    for op in block.ops:
        if op in users:
            in_place = isinstance(op, PtoOp) and op_spec(type(op)).in_place
            return not in_place and Filling().only_replaces(op, tile)
        if any(inner in users for inner in walk(op)):
            return False
    return False


def _slot(loop: ForOp, count: int) -> SSAValue:
    """Returns the number of the iteration modulo ``count``, written at the beginning of the loop."""
    block = loop.body.block
    first = block.first_op
    assert first is not None

    def put_here(op: Operation) -> SSAValue:
        return put(op, InsertPoint.before(first), loop).results[0]

    def as_index(value: SSAValue, point: InsertPoint) -> SSAValue:
        return value if value.type == _INDEX else put(IndexCastOp(value, _INDEX), point, loop).results[0]

    index = as_index(block.args[0], InsertPoint.before(first))
    if constant_of(loop.lb) != 0:
        index = put_here(SubiOp(index, as_index(loop.lb, InsertPoint.before(loop))))
    if constant_of(loop.step) != 1:
        index = put_here(DivUIOp(index, as_index(loop.step, InsertPoint.before(loop))))
    slot = put_here(RemUIOp(index, index_constant(count, loop)))
    slot.name_hint = "slot"
    return slot


def _multiply(tile: AllocTileOp, slot: SSAValue, count: int) -> None:
    """Replaces a tile by slots; parts that were taken before the loop are taken of each slot."""
    type_, hint = tile.result.type, tile.result.name_hint
    assert isinstance(type_, TileBufType)
    made = AllocMultiTileOp.create(
        operands=list(tile.operands),
        result_types=[MultiTileBufType(type_, count)],
        attributes=dict(tile.attributes),
        properties=dict(tile.properties),
    )
    made.results[0].name_hint = f"{hint}_slots" if hint else None
    put(made, InsertPoint.before(tile), tile)
    assert isinstance(slot.owner, Operation)
    get = MultiTileGetOp.create(operands=[made.results[0], slot], result_types=[type_])
    get.results[0].name_hint = hint
    put(get, InsertPoint.after(slot.owner), tile)
    after: Operation = get
    for part in [part for part in parts_of(tile.result) if not _is_inside(part, get.parent)]:
        part.detach()
        Rewriter.insert_op(part, InsertPoint.after(after))
        after = part
    Rewriter.replace_op(tile, [], [get.results[0]])


def _is_inside(op: Operation, block: Block | None) -> bool:
    return block is not None and block.is_ancestor(op)
