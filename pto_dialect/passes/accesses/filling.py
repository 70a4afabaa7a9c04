"""Whether an operation leaves nothing of what a tile held before.

Source: docs/reference/memory-planning.md, "Live ranges"; docs/reference/layouts.md, "Views of global memory".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from math import prod
from typing import TypeAlias

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Operation, SSAValue

from pto_dialect.analysis.affine import AffineAnalysis, AffineExpr
from pto_dialect.ir.buffers.views import AllocTileOp, MakeTensorViewOp, PartitionViewOp
from pto_dialect.ir.core.base import PtoOp, op_spec, operand_groups
from pto_dialect.ir.core.index import OPS
from pto_dialect.ir.core.operands import find
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.types import DYNAMIC, PartitionViewType, TensorViewType, TileBufType, element_name
from pto_dialect.targets.element_types import FP4

_COUNTING = frozenset(("tile_irregular",))
"""Families whose operations find elements of a tile by their number."""


_Sizes: TypeAlias = list[AffineExpr] | None
"""Rows and columns; ``None`` where a size is not known."""


class Filling:
    """Answers for operations and their tiles. Each tile is looked at once: the program may not change meanwhile."""

    def __init__(self) -> None:
        self._sums = AffineAnalysis()
        self._valid: dict[SSAValue, _Sizes] = {}
        self._shown: dict[SSAValue, bool] = {}

    def fills(self, op: Operation, tile: SSAValue) -> bool:
        """Returns whether ``op`` writes all valid elements of ``tile``, one of its destinations, in every run. A load
        does if its view has as many elements; otherwise it moves the part that both have."""
        if not isinstance(op, PtoOp) or has_role(op, Role.PARTIAL):
            return False
        groups, spec = operand_groups(op), op_spec(type(op))
        if any(tile in groups.get(name, ()) for name in spec.in_place):
            return False
        source = find(op, "src") if has_role(op, Role.TILE_LOAD) else None
        return source is None or self._has_as_many(source, tile)

    def shows_all(self, tile: SSAValue) -> bool:
        """Returns whether no operation reads or writes elements of the memory of ``tile`` that are outside of its valid
        region: all of them are valid, or it is an allocation, no other handle shows it, and its sizes stay as they
        are."""
        kind = tile.type
        if isinstance(kind, TileBufType) and (kind.valid_rows, kind.valid_cols) == (kind.rows, kind.cols):
            return True
        if tile not in self._shown:
            own = isinstance(tile.owner, AllocTileOp)
            self._shown[tile] = own and all(_keeps_valid(use.operation) for use in tile.uses)
        return self._shown[tile]

    def replaces(self, op: Operation, tile: SSAValue) -> bool:
        """Returns whether nothing that ``tile`` held is read after ``op`` has written it."""
        return self.fills(op, tile) and self.shows_all(tile)

    def only_replaces(self, op: Operation, tile: SSAValue) -> bool:
        """Returns whether ``op`` reads nothing of ``tile`` either, its only destination."""
        if not isinstance(op, PtoOp) or not self.replaces(op, tile):
            return False
        return operand_groups(op).get("dst") == (tile,) and list(op.operands).count(tile) == 1

    def _has_as_many(self, view: SSAValue, tile: SSAValue) -> bool:
        """Returns whether a view has as many elements as the valid region of a tile; where both are packed, others are
        errors."""
        if isinstance(tile.type, TileBufType) and element_name(tile.type.element) in FP4:
            return True
        sizes, valid = self._sizes_of_view(view), self._valid_sizes(tile)
        return sizes is not None and valid is not None and _product(sizes) == _product(valid)

    def _sizes_of_view(self, view: SSAValue) -> _Sizes:
        kind, owner = view.type, view.owner
        if isinstance(kind, (PartitionViewType, TensorViewType)):
            stated: Sequence[SSAValue] = ()
            if isinstance(owner, PartitionViewOp):
                stated = owner.sizes
            elif isinstance(owner, MakeTensorViewOp):
                stated = owner.shape
            return self._sizes(kind.shape, stated if len(stated) == len(kind.shape) else ())
        if isinstance(kind, MemRefType):
            return self._sizes([size.data for size in kind.shape], ())
        return self._valid_sizes(view) if isinstance(kind, TileBufType) else None

    def _valid_sizes(self, tile: SSAValue) -> _Sizes:
        """Returns the valid rows and columns of a tile whose sizes nothing sets later."""
        if tile not in self._valid:
            self._valid[tile] = self._computed_sizes(tile)
        return self._valid[tile]

    def _computed_sizes(self, tile: SSAValue) -> _Sizes:
        kind, owner = tile.type, tile.owner
        if not isinstance(kind, TileBufType):
            return None
        stated: list[SSAValue | None] = [None, None]
        if isinstance(owner, AllocTileOp) and not any(_sets_sizes(use.operation) for use in tile.uses):
            stated = [owner.valid_row, owner.valid_col]
        return self._sizes([kind.valid_rows, kind.valid_cols], stated)

    def _sizes(self, shape: Iterable[int], stated: Sequence[SSAValue | None]) -> _Sizes:
        """Returns the sizes that a type states, or else values; ``None`` where one is in neither."""
        found: list[AffineExpr] = []
        for number, size in enumerate(shape):
            value = stated[number] if number < len(stated) else None
            if size >= 0 and size != DYNAMIC:
                found.append(AffineExpr(size))
            elif value is not None:
                found.append(self._sums.expression_of(value))
            else:
                return None
        return found


def _keeps_valid(op: Operation) -> bool:
    """Returns whether an operation accesses valid elements of its tiles only, and gives no handle for one."""
    if not isinstance(op, PtoOp) or op.results or op_spec(type(op)).state_writes:
        return False
    return OPS[op.name][0] not in _COUNTING and find(op, "offset") is None


def _sets_sizes(op: Operation) -> bool:
    """Returns whether an operation may change the valid sizes of a tile, itself or through another handle."""
    return not isinstance(op, PtoOp) or bool(op_spec(type(op)).state_writes)


def _product(sizes: Iterable[AffineExpr]) -> tuple[int, Counter[AffineExpr]]:
    """Returns the product of sizes: its constant factor, and the others."""
    some = list(sizes)
    numbers = [number for size in some if (number := size.constant_value) is not None]
    return prod(numbers), Counter(size for size in some if size.constant_value is None)
