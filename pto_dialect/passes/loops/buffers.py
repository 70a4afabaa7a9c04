"""``double-buffer``: tiles that each iteration of a loop fills become multi-buffers, so that one iteration may fill its
slot while another one still reads.

Source: docs/reference/synchronisation.md, "Multi-buffers".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.arith import ConstantOp, DivUIOp, RemUIOp, SubiOp
from xdsl.dialects.builtin import IndexType, IntegerAttr, ModuleOp
from xdsl.dialects.scf import ForOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from pto_dialect.analysis.alias import is_passed_on
from pto_dialect.analysis.constants import constant_of
from pto_dialect.analysis.target import profile_of
from pto_dialect.diagnostics.engine import DiagnosticEngine
from pto_dialect.ir.buffers.views import AllocMultiTileOp, AllocTileOp, MultiTileGetOp
from pto_dialect.ir.core.base import Pipe, PtoOp, op_spec, operand_groups
from pto_dialect.ir.core.facts.operation_form import form_of
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.types import DYNAMIC, MultiTileBufType, TileBufType
from pto_dialect.ir.core.walk import walk
from pto_dialect.passes.accesses.program import MEMORY
from pto_dialect.passes.base import PtoPass

from .copies import put

_INDEX = IndexType()


@dataclass(frozen=True)
class DoubleBufferPass(PtoPass):
    """Gives ``count`` slots to each tile without address that all uses of lie in one loop, that the iteration writes
    as a whole before it reads it, and that more than one pipe uses. Others stay as they are."""

    count: str = "2"

    name: ClassVar[str] = "double-buffer"

    def run(self, module: ModuleOp, engine: DiagnosticEngine) -> None:
        """Changes ``module``."""
        slots: dict[ForOp, SSAValue] = {}
        for op in list(walk(module)):
            if not isinstance(op, AllocTileOp) or op.addr is not None:
                continue
            loop = _loop_of(op, profile_of(op, self.target).arch)
            if loop is not None:
                if loop not in slots:
                    slots[loop] = _slot(loop, int(self.count))
                _multiply(op, slots[loop], int(self.count))


def _loop_of(tile: AllocTileOp, arch: str) -> ForOp | None:
    """The loop whose iterations may have a tile each."""
    type_, users = tile.result.type, [use.operation for use in tile.result.uses]
    assert isinstance(type_, TileBufType)
    if DYNAMIC in (type_.valid_rows, type_.valid_cols) or not users:
        return None
    # Another handle may mean the tile of an iteration before.
    if type_.compact or is_passed_on(tile.result, _touches_memory):
        return None
    pipes = {form_of(op, arch).pipe if isinstance(op, PtoOp) else Pipe.S for op in users}
    loop = _innermost(tile, users)
    if loop is None or len(pipes) < 2 or not _first_writes(tile.result, loop.body.block):
        return None
    return loop


def _touches_memory(op: Operation) -> bool:
    """Whether an operation gives no handle for the tiles that it works on."""
    return isinstance(op, PtoOp) and not any(isinstance(result.type, MEMORY) for result in op.results)


def _innermost(tile: AllocTileOp, users: list[Operation]) -> ForOp | None:
    """The innermost loop, inside of the block of a tile, with all its uses."""
    around = [_loops(op, tile.parent) for op in users]
    common = [loop for loop in around[0] if all(loop in loops for loops in around)]
    return common[0] if common else None


def _loops(op: Operation, block: Block | None) -> list[ForOp]:
    """The enclosing loops of ``op`` inside ``block``, innermost first."""
    loops: list[ForOp] = []
    inner = op
    while inner.parent is not block:
        outer = inner.parent_op()
        assert outer is not None
        if isinstance(outer, ForOp):
            loops.append(outer)
        inner = outer
    return loops


def _first_writes(tile: SSAValue, block: Block) -> bool:
    """Whether the first operation of a block that uses a tile writes all of it and reads nothing of it."""
    users = {use.operation for use in tile.uses}
    for op in block.ops:
        if op in users:
            if not isinstance(op, PtoOp) or has_role(op, Role.PARTIAL) or op_spec(type(op)).in_place:
                return False
            groups = operand_groups(op)
            return groups.get("dst") == (tile,) and list(op.operands).count(tile) == 1
        if any(inner in users for inner in walk(op)):
            return False
    return False


def _slot(loop: ForOp, count: int) -> SSAValue:
    """The number of the iteration modulo ``count``, written at the beginning of the loop."""
    block = loop.body.block
    first = block.first_op
    assert first is not None

    def put_here(op: Operation) -> SSAValue:
        return put(op, InsertPoint.before(first), loop).results[0]

    def constant(number: int) -> SSAValue:
        op = ConstantOp(IntegerAttr(number, _INDEX))
        op.result.name_hint = f"c{number}"
        return put(op, InsertPoint.before(loop), loop).results[0]

    index: SSAValue = block.args[0]
    if constant_of(loop.lb) != 0:
        index = put_here(SubiOp(index, loop.lb))
    if constant_of(loop.step) != 1:
        index = put_here(DivUIOp(index, loop.step))
    slot = put_here(RemUIOp(index, constant(count)))
    slot.name_hint = "slot"
    return slot


def _multiply(tile: AllocTileOp, slot: SSAValue, count: int) -> None:
    """Replaces a tile by slots."""
    type_, hint = tile.result.type, tile.result.name_hint
    assert isinstance(type_, TileBufType)
    made = AllocMultiTileOp.create(
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
    Rewriter.replace_op(tile, [], [get.results[0]])
