"""Loops over panels: iterations that compute rows or columns of arrays, so many each.

Source: docs/resize-panels.md, "What is a panel".
"""

from __future__ import annotations

from typing import NamedTuple

from xdsl.dialects.arith import IndexCastOp, MuliOp
from xdsl.dialects.scf import ForOp
from xdsl.ir import Block, Operation, SSAValue

from pto_dialect.analysis.constants import constant_of
from pto_dialect.ir.buffers.views import MakeTensorViewOp, PartitionViewOp
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.types import PartitionViewType
from pto_dialect.ir.core.walk import walk
from pto_dialect.ir.scalar.query import GetBlockIdxOp, GetBlockNumOp
from pto_dialect.passes.base import ObstacleError

ROWS, COLUMNS = -2, -1
"""Dimensions along which panels lie, as positions in the sizes of a view."""


class NotResizedError(ObstacleError):
    """Why a panel keeps its size."""


class Panels(NamedTuple):
    """A loop over panels of ``size`` rows or columns; ``parts`` are their parts of arrays. ``shared``: the blocks of a
    launch share the panels."""

    loop: ForOp
    size: int
    parts: tuple[PartitionViewOp, ...]
    shared: bool

    @property
    def counter(self) -> SSAValue:
        """Where the panel of an iteration begins."""
        return self.loop.body.block.args[0]

    def extent(self) -> int | None:
        """Rows or columns of all panels, where the text states them."""
        found = constant_of(self.loop.ub)
        return found if isinstance(found, int) else None


def panels_of(function: Operation, axis: int) -> list[Panels]:
    """Returns the loops over panels along ``axis`` in a function. Raises :class:`NotResizedError` for one that is not
    understood."""
    blocks = function.regions[0].blocks
    if len(blocks) != 1:
        return []
    loops = [op for op in blocks[0].ops if isinstance(op, ForOp)]
    return [found for loop in loops if (found := _panels(loop, axis)) is not None]


def _panels(loop: ForOp, axis: int) -> Panels | None:
    counter = loop.body.block.args[0]
    users = dict.fromkeys(use.operation for use in counter.uses)
    parts = [op for op in users if isinstance(op, PartitionViewOp) and op.offsets[axis] is counter]
    sizes = {constant_of(part.sizes[axis]) for part in parts}
    size = next(iter(sizes), None)
    if not isinstance(size, int):
        return None
    if len(sizes) > 1:
        raise NotResizedError(loop, "its iterations use parts of several sizes")
    if loop.iter_args:
        raise NotResizedError(loop, "its iterations hand on values")
    for op in users:
        if op not in parts or list(op.operands).count(counter) > 1:
            raise NotResizedError(op, "it uses the position of the panel for something else than a part of an array")
    for part in parts:
        _check_part(part, axis)
    return Panels(loop, size, tuple(parts), _is_shared(loop, size))


def _check_part(part: PartitionViewOp, axis: int) -> None:
    """Checks that parts at other positions share no element with it."""
    view, kind = part.source.owner, part.result.type
    if not isinstance(view, MakeTensorViewOp) or not isinstance(kind, PartitionViewType) or len(kind.shape) < 2:
        raise NotResizedError(part, "nobody knows how its array lies in memory")
    height, width = view.shape[ROWS], view.shape[COLUMNS]
    outer, inner = view.strides[ROWS], view.strides[COLUMNS]
    stride, columns = constant_of(outer), constant_of(width)
    apart = outer is width or (isinstance(stride, int) and isinstance(columns, int) and stride >= columns)
    if constant_of(inner) != 1 or not (apart or constant_of(height) == 1) or "layout" in view.attributes:
        raise NotResizedError(part, "nobody knows that the rows of its array are apart")
    if any(constant_of(size) != 1 for size in list(part.sizes)[:-2]):
        raise NotResizedError(part, "it has more than two dimensions")


def _is_shared(loop: ForOp, size: int) -> bool:
    """Returns whether blocks share the panels; otherwise all of them are computed one after the other."""
    if constant_of(loop.lb) == 0 and constant_of(loop.step) == size:
        return False
    first, step = (_panel_number(value, size) for value in (loop.lb, loop.step))
    if not isinstance(first, GetBlockIdxOp) or not isinstance(step, GetBlockNumOp):
        raise NotResizedError(loop, "it takes neither all panels, nor those of a block of the launch")
    return True


def _panel_number(value: SSAValue, size: int) -> object:
    """Returns what is multiplied by the size of a panel."""
    product = value.owner
    if not isinstance(product, MuliOp):
        return None
    for one, other in ((product.lhs, product.rhs), (product.rhs, product.lhs)):
        if constant_of(other) == size:
            return one.owner.input.owner if isinstance(one.owner, IndexCastOp) else one.owner
    return None


def check_size(panels: Panels, size: int) -> None:
    """Checks that panels of another size are all of the array as well."""
    extent = panels.extent()
    if size % panels.size and panels.size % size:
        raise NotResizedError(panels.loop, f"panels of {panels.size} and of {size} do not fill each other")
    if extent is not None and (extent % size or extent % panels.size):
        raise NotResizedError(panels.loop, f"{extent} is no multiple of {size}")
    if extent is None and panels.size % size:
        raise NotResizedError(panels.loop, "nobody knows that whole panels of this size fill the array")


class BlockNumbers:
    """Which values depend on the number of the block."""

    def __init__(self) -> None:
        self._known: dict[SSAValue, bool] = {}

    def reach(self, value: SSAValue) -> bool:
        """Returns whether ``value`` does."""
        if value not in self._known:
            self._known[value] = False
            owner = value.owner
            if not isinstance(owner, Block):
                here = isinstance(owner, (GetBlockIdxOp, GetBlockNumOp))
                self._known[value] = here or any(map(self.reach, owner.operands))
        return self._known[value]


def check_scalars(panels: Panels, numbers: BlockNumbers) -> None:
    """Checks that every block computes panels in the same way, and that nothing but tiles, parts of arrays
    and queues is used."""
    for op in walk(panels.loop):
        if op is not panels.loop and any(map(numbers.reach, op.operands)):
            raise NotResizedError(op, "it depends on the number of the block")
        if has_role(op, Role.CALL):
            raise NotResizedError(op, "it calls a function")
