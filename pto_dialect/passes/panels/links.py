"""Which tiles have the rows or columns of a panel, and which are the same for all panels.

Each operation on tiles says which of its operands grow together. Source: docs/reference/tiles.md, "Elementwise",
"Broadcasts and reductions".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from xdsl.dialects.scf import ForOp, IfOp, YieldOp
from xdsl.ir import Block, Operation, SSAValue

from pto_dialect.analysis.constants import constant_of
from pto_dialect.analysis.queues import action_of, queue_id
from pto_dialect.analysis.type_facts import enumerator, integer_attribute
from pto_dialect.ir.buffers.views import AllocTileOp, PartitionViewOp, SubviewOp
from pto_dialect.ir.core.base import PtoOp, operand_groups
from pto_dialect.ir.core.types import PartitionViewType, TileBufType
from pto_dialect.ir.core.walk import walk
from pto_dialect.ir.cube.matmul import AccumulatingProductOp, BiasedProductOp, PhasedProductOp, ProductOp
from pto_dialect.ir.tile.elementwise import TCvtOp
from pto_dialect.ir.tile.irregular import TGatherOp, TSort32Op
from pto_dialect.ir.tile.memory import TLoadOp, TStoreOp
from pto_dialect.ir.tile.move import TMovOp
from pto_dialect.passes.instructions.writer import is_handle
from pto_dialect.passes.loops.stretches import once_for_all_rows, works_row_by_row
from pto_dialect.passes.lower_vector.table import row_of

from .loops import COLUMNS, ROWS, NotResizedError, Panels

Queue = tuple[int, int]
"""The direction and the id of a queue."""
_Node = object
_FIXED, _PANEL = "fixed", "panel"

_FACTORS = {ProductOp: ("lhs", "rhs"), AccumulatingProductOp: ("lhs", "rhs"), BiasedProductOp: ("a", "b")}
"""The factors of products, whose rows and columns are those of the result."""
_BY_COLUMNS = (2, 4)
"""Ways to split an entry by columns."""


class Links:
    """The tiles and queues of some loops over panels: those that are linked have the size of a panel, or none has."""

    def __init__(self, axis: int) -> None:
        self.axis = axis
        self.row_loops: list[ForOp] = []
        """Loops over the single rows of a panel."""
        self._above: dict[_Node, _Node] = {}
        self._nodes: dict[_Node, None] = {}

    def add(self, panels: Panels) -> None:
        """Links what the operations of a loop connect. Raises :class:`NotResizedError`."""
        for op in walk(panels.loop):
            for node in self._connect(op, panels):
                self._nodes[node] = None
            if self._top(_FIXED) == self._top(_PANEL):
                raise NotResizedError(op, "it uses a tile of the panel together with one that is the same for all")

    def tiles(self) -> list[SSAValue]:
        """Returns the tiles of panels."""
        return [node for node in self._nodes if isinstance(node, SSAValue) and self.is_panel(node)]

    def queues(self) -> list[Queue]:
        """Returns the queues whose entries are tiles of panels."""
        return [node for node in self._nodes if isinstance(node, tuple)]

    def is_panel(self, node: _Node) -> bool:
        """Returns whether a tile has the size of a panel."""
        return self._top(node) == self._top(_PANEL)

    # ------------------------------------------------------------ operations

    def _connect(self, op: Operation, panels: Panels) -> Iterator[_Node]:
        """Yields the tiles and queues of an operation, which become linked."""
        values = [value for value in (*op.operands, *op.results) if isinstance(value.type, TileBufType)]
        parts = [value for value in op.operands if isinstance(value.type, PartitionViewType)]
        yield from values
        if isinstance(op, PartitionViewOp):
            self._join(op.result, _PANEL if op in panels.parts else _FIXED)
        elif isinstance(op, SubviewOp):
            self._connect_rows(op, panels)
        elif (action := action_of(op)) is not None:
            if not action.core or not action.transfers:
                raise NotResizedError(op, "its queue is known by a handle, or made in the loop")
            if self.axis == ROWS or integer_attribute(op, "split") in _BY_COLUMNS:
                raise NotResizedError(op, "entries of the queue are split along the panels")
            queue = (action.direction, queue_id(op))
            self._link((*values, queue, _PANEL))
            yield queue
        elif not isinstance(op, PtoOp):
            self._check_control(op)
        elif isinstance(op, AllocTileOp) or (is_handle(op) and not values):
            return
        else:
            if not values:
                raise NotResizedError(op, "nobody knows whether it depends on the panel")
            same = [*self._same_for_all(op, [*values, *parts])]
            self._link((*same, _FIXED))
            self._link([value for value in (*values, *parts) if value not in same])

    @staticmethod
    def _check_control(op: Operation) -> None:
        if not is_handle(op) and not isinstance(op, (ForOp, IfOp, YieldOp)):
            raise NotResizedError(op, "nobody knows whether it depends on the panel")

    def _same_for_all(self, op: PtoOp, values: Sequence[SSAValue]) -> Iterable[SSAValue]:
        """Returns the tiles of an operation that are the same for all panels, if its rows or columns are those of
        panels."""
        groups = operand_groups(op)
        if op.results:
            return values
        for cls, factors in _FACTORS.items():
            if isinstance(op, cls):
                return [*groups[factors[self.axis == ROWS]], *(groups.get("bias", ()) if self.axis == ROWS else ())]
        if isinstance(op, PhasedProductOp):
            return values
        if isinstance(op, (TLoadOp, TStoreOp)):
            extra = [*groups.get("fp", ())] if isinstance(op, TStoreOp) else []
            known = 2 + len(extra)
            return (extra if self.axis == ROWS else ()) if len(op.operands) == known else values
        if isinstance(op, TMovOp) and groups.get("fp"):
            return values
        if self.axis == COLUMNS:
            row = row_of(op)
            if row is not None:
                return groups[row.column] if row.column else ()
            return () if isinstance(op, (TCvtOp, TMovOp)) else values
        if works_row_by_row(op):
            return [value for value in values if once_for_all_rows(op, value)]
        return () if isinstance(op, TMovOp) or _sorts_rows(op) else values

    def _connect_rows(self, op: SubviewOp, panels: Panels) -> None:
        """Parts of a tile have all rows of the panel, or one of them in a loop over its rows."""
        source, result = op.source, op.result
        first = op.offsets[0]
        loop = first.owner.parent_op() if isinstance(first.owner, Block) else None
        assert isinstance(source.type, TileBufType)
        assert isinstance(result.type, TileBufType)
        if self.axis == ROWS and constant_of(first) == 0 and source.type.rows == result.type.rows:
            self._link((source, result))
        elif self.axis == ROWS and isinstance(loop, ForOp) and result.type.rows == 1 and loop is not panels.loop:
            if (constant_of(loop.lb), constant_of(loop.ub), constant_of(loop.step)) != (0, panels.size, 1):
                raise NotResizedError(op, "it takes single rows, but not those of the panel")
            self._link((source, _PANEL))
            self._link((result, _FIXED))
            if loop not in self.row_loops:
                self.row_loops.append(loop)
        else:
            self._link((source, result, _FIXED))

    # ------------------------------------------------------------ sets

    def _link(self, nodes: Iterable[_Node]) -> None:
        first, *others = [*nodes] or [None]
        for node in others:
            self._join(node, first)

    def _join(self, node: _Node, other: _Node) -> None:
        one, two = self._top(node), self._top(other)
        if one != two:
            self._above[one] = two

    def _top(self, node: _Node) -> _Node:
        while node in self._above:
            node = self._above[node]
        return node


def _sorts_rows(op: PtoOp) -> bool:
    """Returns whether an operation sorts each row, or packs some elements of each."""
    if isinstance(op, TSort32Op):
        return op.tmp is None
    if not isinstance(op, TGatherOp):
        return False
    alone = op.indices is None and op.kValue is None and op.tmp is None and op.cdst is None
    return alone and enumerator(op, "maskPattern") != "" and enumerator(op, "axis") in ("", "row")
