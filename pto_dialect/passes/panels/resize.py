"""``resize-panels``: loops over panels of rows or columns take larger or smaller ones, on both kinds of cores.

Source: docs/reference/tiles.md, "Elementwise", "Broadcasts and reductions"; docs/reference/execution.md, "Queues
between cores".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from xdsl.dialects.arith import CeilDivSIOp, ConstantOp, MuliOp
from xdsl.dialects.builtin import ArrayAttr, IndexType, IntegerAttr, ModuleOp, i64
from xdsl.dialects.scf import ForOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import InsertPoint

from pto_dialect.analysis.queues import queue_id
from pto_dialect.diagnostics.engine import DiagnosticEngine
from pto_dialect.ir.buffers.views import PartitionViewOp, SubviewOp
from pto_dialect.ir.core.location import label_of
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.types import PartitionViewType, TileBufType
from pto_dialect.ir.core.walk import walk
from pto_dialect.passes.base import PtoPass
from pto_dialect.passes.insert_sync.insert import ordered
from pto_dialect.passes.instructions.geometry import ROW_BYTES, bytes_of
from pto_dialect.passes.loops.copies import index_constant, put
from pto_dialect.passes.loops.stretches import flat
from pto_dialect.verify.engine.rule import read_rules

from .carried import check_arrays, check_tiles, tile_of
from .entries import Slots, array_of_slots, scale, slots_of
from .links import Links
from .loops import COLUMNS, ROWS, BlockNumbers, NotResizedError, Panels, check_scalars, check_size, panels_of

KEEP = "keep"
AXES = {"rows": ROWS, "columns": COLUMNS}
_INDEX = IndexType()
_BLOCK = 16
"""Rows, and at least columns, of the blocks of a tile of the cube core."""
_RULES = read_rules("passes")
UNCHANGED = _RULES["resize-panels-unchanged"]
SLOTS = _RULES["resize-panels-slots"]


class _Plan(NamedTuple):
    """What changes: loops, tiles and queues, from panels of ``old`` rows or columns to those of ``new``."""

    loops: list[Panels]
    links: Links
    slots: Slots
    old: int
    new: int


@dataclass(frozen=True)
class ResizePanelsPass(PtoPass):
    """Gives loops over panels of rows or of columns panels of ``rows`` or ``columns``: tiles, parts of arrays and
    entries of queues get that size, on all cores. What is the same for all panels is computed once for each."""

    columns: str = KEEP
    rows: str = KEEP

    name: ClassVar[str] = "resize-panels"

    def run(self, module: ModuleOp, engine: DiagnosticEngine) -> None:
        """Changes ``module``; panels that keep their size get a remark."""
        for name, size in (("rows", self.rows), ("columns", self.columns)):
            if size != KEEP:
                try:
                    _resize(_plan(module, AXES[name], int(size)), engine)
                except NotResizedError as error:
                    message = f"panels keep their {name}: {error.reason}"
                    engine.report(UNCHANGED.at(error.op, message))


def _name(axis: int) -> str:
    return "rows" if axis == ROWS else "columns"


def is_resizable(module: ModuleOp, axis: int, size: int) -> bool:
    """Returns whether :class:`ResizePanelsPass` would change panels to ``size`` rows or columns."""
    try:
        return _plan(module, axis, size).old != size
    except NotResizedError:
        return False


def _plan(module: ModuleOp, axis: int, new: int) -> _Plan:
    """Returns what changes in a module. Raises :class:`NotResizedError`."""
    functions = [op for op in walk(module) if has_role(op, Role.FUNCTION) and op.regions[0].blocks]
    loops = [panels for function in functions for panels in panels_of(function, axis)]
    if not loops:
        raise NotResizedError(module, f"no loop over whole {_name(axis)} of an array, as many in each iteration")
    links, numbers = Links(axis), BlockNumbers()
    for panels in loops:
        function = panels.loop.parent_op()
        assert function is not None
        if ordered(function):
            raise NotResizedError(function, "flags and barriers are those of panels of this size")
        if panels.size != loops[0].size:
            raise NotResizedError(panels.loop, f"it has panels of {panels.size}, and others have {loops[0].size}")
        check_size(panels, new)
        check_scalars(panels, numbers)
        links.add(panels)
    old = loops[0].size
    for panels in loops:
        for op in check_tiles(panels, links, numbers):
            _check_tiles_of(op, links, old, new)
        for op in walk(panels.loop):
            _check_tiles_of(op, links, old, new)
    check_arrays(module, loops)
    return _Plan(loops, links, slots_of(module, links.queues(), loops), old, new)


def _check_tiles_of(op: Operation, links: Links, old: int, new: int) -> None:
    """Checks that tiles of a panel have its size, and may have another one."""
    for value in (*op.operands, *op.results):
        kind = value.type
        if not isinstance(kind, TileBufType) or not links.is_panel(value):
            continue
        tile_of(value, op)
        if (kind.rows if links.axis == ROWS else kind.cols) != old:
            raise NotResizedError(op, f"a tile of the panel has other {_name(links.axis)} than {old}")
        if links.axis == COLUMNS and (kind.blayout, kind.slayout) == ("col_major", "none_box"):
            raise NotResizedError(op, "a tile of the panel lies in columns")
        if kind.slayout != "none_box" and new % _BLOCK:
            raise NotResizedError(
                op, f"a tile of the panel consists of blocks of {_BLOCK}, which {new} is no multiple of"
            )
        if links.axis == COLUMNS and new * bytes_of(kind.element) % ROW_BYTES:
            raise NotResizedError(op, f"{new} columns of a tile of the panel are no multiple of {ROW_BYTES} bytes")


# ---------------------------------------------------------------- changes


def _resize(plan: _Plan, engine: DiagnosticEngine) -> None:
    axis, new = plan.links.axis, plan.new
    for value in plan.links.tiles():
        kind = value.type
        assert isinstance(kind, TileBufType)
        _retype(value, flat(kind, new) if axis == ROWS else _wide(kind, new))
    for panels in plan.loops:
        _resize_loop(panels, plan)
    for loop in plan.links.row_loops:
        loop.operands = [loop.lb, index_constant(new, loop), loop.step, *loop.iter_args]
    for op in plan.slots.inits:
        scale(op, "slot_size", new, plan.old)
    for op in plan.slots.buffers:
        scale(op, "size", new, plan.old)
    if new > plan.old:
        _spread(plan.slots, new // plan.old, engine)


def _wide(kind: TileBufType, columns: int) -> TileBufType:
    layout = {name: getattr(kind, name) for name in ("blayout", "slayout", "fractal", "pad", "compact")}
    return TileBufType(kind.loc, kind.rows, columns, kind.element, (kind.valid_rows, columns), **layout)


def _retype(value: SSAValue, kind: Attribute) -> None:
    """Replaces the operation that makes a tile or a part by one of another type."""
    op = value.owner
    assert isinstance(op, Operation)
    attributes = dict(op.attributes)
    if isinstance(op, SubviewOp):
        assert isinstance(kind, TileBufType)
        attributes["sizes"] = ArrayAttr(IntegerAttr(number, i64) for number in (kind.rows, kind.cols))
    made = type(op).create(
        operands=list(op.operands), result_types=[kind], attributes=attributes, properties=dict(op.properties)
    )
    put(made, InsertPoint.before(op), op)
    made.results[0].name_hint = value.name_hint
    value.replace_all_uses_with(made.results[0])
    op.detach()
    op.erase()


def _resize_loop(panels: Panels, plan: _Plan) -> None:
    """Changes the bounds of a loop and the parts of arrays in it."""
    loop, axis = panels.loop, plan.links.axis
    size = index_constant(plan.new, loop)
    first, bound, step = loop.lb, loop.ub, size
    if panels.shared:
        first, step = (_times(value, size, loop) for value in (loop.lb, loop.step))
    if panels.extent() is None:
        # The last panel may have reached beyond the bound: so do the smaller ones that it consists of.
        old = index_constant(plan.old, loop)
        whole = put(CeilDivSIOp(bound, old), InsertPoint.before(loop), loop).results[0]
        bound = put(MuliOp(whole, old), InsertPoint.before(loop), loop).results[0]
    unused = [value.owner for value in (loop.lb, loop.step) if isinstance(value.owner, MuliOp)]
    loop.operands = [first, bound, step]
    for product in dict.fromkeys(unused):
        if not product.result.uses:
            product.detach()
            product.erase()
    for part in panels.parts:
        kind = part.result.type
        assert isinstance(kind, PartitionViewType)
        shape = list(kind.shape)
        shape[axis] = plan.new
        sizes = [*part.sizes]
        sizes[axis] = size
        _replace_part(part, sizes, PartitionViewType(tuple(shape), kind.element))


def _times(value: SSAValue, size: SSAValue, loop: ForOp) -> SSAValue:
    """Returns a number of panels, which ``value`` is the size of, times another size."""
    product = value.owner
    assert isinstance(product, MuliOp)
    number = product.rhs if isinstance(product.lhs.owner, ConstantOp) else product.lhs
    made = put(MuliOp(number, size), InsertPoint.before(loop), loop).results[0]
    made.name_hint = value.name_hint
    return made


def _replace_part(part: PartitionViewOp, sizes: list[SSAValue], kind: PartitionViewType) -> None:
    made = PartitionViewOp.create(
        operands=[part.source, *part.offsets, *sizes],
        result_types=[kind],
        attributes=dict(part.attributes),
        properties=dict(part.properties),
    )
    put(made, InsertPoint.before(part), part)
    made.result.name_hint = part.result.name_hint
    part.result.replace_all_uses_with(made.result)
    part.detach()
    part.erase()


def _spread(slots: Slots, factor: int, engine: DiagnosticEngine) -> None:
    """Puts slots in global memory further apart. Remarks say so: their arrays have to have room for them."""
    for op in slots.pointers:
        offset = put(MuliOp(op.offset, index_constant(factor, op)), InsertPoint.before(op), op).results[0]
        op.operands = [op.ptr, offset]
    for op in slots.inits:
        if op.gm_slot_buffer is not None:
            array = label_of(array_of_slots(op.gm_slot_buffer), "an array")
            message = f"the slots of queue {queue_id(op)} take {factor} times as many bytes of {array}"
            engine.report(SLOTS.at(op, message))
