"""The arrays in global memory whose parts an operation moves.

Source: docs/reference/execution.md, "Pointers, tiles and views".
"""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from pto_dialect.analysis.affine import AffineAnalysis
from pto_dialect.ir.buffers.views import MakeTensorViewOp, PartitionViewOp
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.passes.accesses.locations import covers_itself
from pto_dialect.passes.accesses.program import MEMORY

_VIEWS = Role.VIEW | Role.PART | Role.DISPLACEMENT | Role.ADDRESS


def part_of(op: Operation) -> PartitionViewOp | None:
    """The part of an array that an operation loads from or stores to."""
    return next((value.owner for value in op.operands if isinstance(value.owner, PartitionViewOp)), None)


def array_of(value: SSAValue) -> SSAValue | None:
    """The argument of the function whose memory a pointer, a view or a part shows; ``None`` where nobody knows which
    one it is, as of pointers that a run selects."""
    while isinstance(value.type, MEMORY):
        owner = value.owner
        if not isinstance(owner, Operation):
            parent = owner.parent_op()
            return value if parent is not None and has_role(parent, Role.FUNCTION) else None
        if not (has_role(owner, _VIEWS) or isinstance(owner, MakeTensorViewOp)):
            return None
        value, *_ = owner.operands
    return None


def may_share(one: SSAValue | None, other: SSAValue | None) -> bool:
    """Whether two results of :func:`array_of` may be the same memory."""
    return one is None or other is None or one is other


def has_own_elements(part: PartitionViewOp) -> bool:
    """Whether elements of a view with different indices have addresses of their own, by the sizes and strides that are
    constant."""
    view, sums = part.source.owner, AffineAnalysis()
    if not isinstance(view, MakeTensorViewOp):
        return True
    return not covers_itself(*(map(sums.expression_of, values) for values in (view.shape, view.strides)))
