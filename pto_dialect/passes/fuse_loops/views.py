"""Views whose elements must have addresses of their own.

Source: docs/reference/synchronisation.md, "Dependences".
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.scf import ForOp
from xdsl.ir import Operation, SSAValue

from pto_dialect.analysis.affine import AffineAnalysis
from pto_dialect.ir.buffers.views import MakeTensorViewOp
from pto_dialect.ir.core.location import label_of
from pto_dialect.ir.core.walk import walk

from .bodies import NotFusedError


def check_views(first: ForOp, second: ForOp) -> None:
    """Raises :class:`NotFusedError` for a view whose rows may overlap because only a run knows how far apart
    they begin: then rectangles with different rows may overlap."""
    for view in dict.fromkeys((*_views(first), *_views(second))):
        if not _has_own_elements(view):
            name = label_of(view.results[0], "a view")
            raise NotFusedError(view, f"rows of {name} may overlap, because a run decides their distance")


def _views(loop: ForOp) -> Iterator[MakeTensorViewOp]:
    """Yields the views whose parts the operations of a loop use."""
    waiting: list[SSAValue] = [operand for op in walk(loop) for operand in op.operands]
    seen: set[Operation] = set()
    for value in waiting:
        owner = value.owner
        if not isinstance(owner, Operation) or owner in seen:
            continue
        seen.add(owner)
        if isinstance(owner, MakeTensorViewOp):
            yield owner
        else:
            waiting += owner.operands


def _has_own_elements(view: MakeTensorViewOp) -> bool:
    """Returns whether each stride is constant, or is the size of the next dimension times its constant stride."""
    sums = AffineAnalysis()
    shape = [sums.expression_of(value) for value in view.shape]
    strides = [sums.expression_of(value) for value in view.strides]
    inner = [(size, stride.constant_value) for size, stride in zip(shape, strides, strict=False)][1:]
    for stride, following in zip(strides, [*inner, None], strict=True):
        if stride.constant_value is not None:
            continue
        if following is None or following[1] is None or stride != following[0].times(following[1]):
            return False
    return True
