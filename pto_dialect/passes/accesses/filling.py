"""Whether an operation leaves nothing of what a tile held before.

Source: docs/reference/memory-planning.md, "Live ranges"; docs/reference/layouts.md, "Views of global memory".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from math import prod

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


def fills(op: Operation, tile: SSAValue) -> bool:
    """Returns whether ``op`` writes all valid elements of ``tile``, one of its destinations, in every run. A load does
    if its view has as many elements; otherwise it moves the part that both have."""
    if not isinstance(op, PtoOp) or has_role(op, Role.PARTIAL):
        return False
    groups, spec = operand_groups(op), op_spec(type(op))
    if any(tile in groups.get(name, ()) for name in spec.in_place):
        return False
    source = find(op, "src") if has_role(op, Role.TILE_LOAD) else None
    return source is None or _has_as_many(source, tile)


def shows_all(tile: SSAValue) -> bool:
    """Returns whether no operation reads or writes elements of the memory of ``tile`` that are outside of its valid
    region: all of them are valid, or it is an allocation, no other handle shows it, and its sizes stay as they are."""
    kind = tile.type
    if isinstance(kind, TileBufType) and (kind.valid_rows, kind.valid_cols) == (kind.rows, kind.cols):
        return True
    return isinstance(tile.owner, AllocTileOp) and all(_keeps_valid(use.operation) for use in tile.uses)


def _keeps_valid(op: Operation) -> bool:
    """Returns whether an operation accesses valid elements of its tiles only, and gives no handle for one."""
    if not isinstance(op, PtoOp) or op.results or op_spec(type(op)).state_writes:
        return False
    return OPS[op.name][0] not in _COUNTING and find(op, "offset") is None


def _sets_sizes(op: Operation) -> bool:
    """Returns whether an operation may change the valid sizes of a tile, itself or through another handle."""
    return not isinstance(op, PtoOp) or bool(op_spec(type(op)).state_writes)


def _has_as_many(view: SSAValue, tile: SSAValue) -> bool:
    """Returns whether a view has as many elements as the valid region of a tile; where both are packed, others are
    errors."""
    if isinstance(tile.type, TileBufType) and element_name(tile.type.element) in FP4:
        return True
    sums = AffineAnalysis()
    sizes, valid = _sizes_of_view(view, sums), _valid_sizes(tile, sums)
    return sizes is not None and valid is not None and _product(sizes) == _product(valid)


def _product(sizes: Iterable[AffineExpr]) -> tuple[int, Counter[AffineExpr]]:
    """Returns the product of sizes: its constant factor, and the others."""
    some = list(sizes)
    numbers = [number for size in some if (number := size.constant_value) is not None]
    return prod(numbers), Counter(size for size in some if size.constant_value is None)


def _sizes_of_view(view: SSAValue, sums: AffineAnalysis) -> list[AffineExpr] | None:
    kind, owner = view.type, view.owner
    if isinstance(kind, (PartitionViewType, TensorViewType)):
        stated: Sequence[SSAValue] = ()
        if isinstance(owner, PartitionViewOp):
            stated = owner.sizes
        elif isinstance(owner, MakeTensorViewOp):
            stated = owner.shape
        return _sizes(kind.shape, stated if len(stated) == len(kind.shape) else (), sums)
    if isinstance(kind, MemRefType):
        return _sizes([size.data for size in kind.shape], (), sums)
    return _valid_sizes(view, sums) if isinstance(kind, TileBufType) else None


def _valid_sizes(tile: SSAValue, sums: AffineAnalysis) -> list[AffineExpr] | None:
    """Returns the valid rows and columns of a tile whose sizes nothing sets later."""
    kind, owner = tile.type, tile.owner
    if not isinstance(kind, TileBufType):
        return None
    stated: list[SSAValue | None] = [None, None]
    if isinstance(owner, AllocTileOp) and not any(_sets_sizes(use.operation) for use in tile.uses):
        stated = [owner.valid_row, owner.valid_col]
    return _sizes([kind.valid_rows, kind.valid_cols], stated, sums)


def _sizes(shape: Iterable[int], stated: Sequence[SSAValue | None], sums: AffineAnalysis) -> list[AffineExpr] | None:
    """Returns the sizes that a type states, or else values; ``None`` where one is in neither."""
    found: list[AffineExpr] = []
    for number, size in enumerate(shape):
        value = stated[number] if number < len(stated) else None
        if size >= 0 and size != DYNAMIC:
            found.append(AffineExpr(size))
        elif value is not None:
            found.append(sums.expression_of(value))
        else:
            return None
    return found
