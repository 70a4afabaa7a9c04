"""The arrays in global memory whose parts an operation moves.

Source: docs/reference/execution.md, "Pointers, tiles and views".
"""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.ir import BlockArgument, Operation, SSAValue

from pto_dialect.analysis.affine import AffineAnalysis
from pto_dialect.diagnostics.diagnostic import Diagnostic
from pto_dialect.ir.buffers.views import MakeTensorViewOp, PartitionViewOp
from pto_dialect.ir.core.location import label_of
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.passes.accesses.locations import covers_itself
from pto_dialect.passes.accesses.overlap import is_argument
from pto_dialect.passes.accesses.program import MEMORY
from pto_dialect.verify.engine.rule import Rule

Apart = dict[frozenset[SSAValue], None]
"""Pairs of arguments that have to be different memory, in the order in which they were found."""

_VIEWS = Role.VIEW | Role.PART | Role.DISPLACEMENT | Role.ADDRESS


def part_of(op: Operation) -> PartitionViewOp | None:
    """Returns the part of an array that an operation loads from or stores to."""
    return next((value.owner for value in op.operands if isinstance(value.owner, PartitionViewOp)), None)


def array_of(value: SSAValue) -> SSAValue | None:
    """Returns the argument of the function whose memory a pointer, a view or a part shows; ``None`` where nobody knows
    which one it is, as of pointers that a run selects."""
    while isinstance(value.type, MEMORY):
        owner = value.owner
        if not isinstance(owner, Operation):
            return value if is_argument(value) else None
        if not (has_role(owner, _VIEWS) or isinstance(owner, MakeTensorViewOp)):
            return None
        value, *_ = owner.operands
    return None


def may_share(one: SSAValue | None, other: SSAValue | None) -> bool:
    """Returns whether two results of :func:`array_of` may be the same memory."""
    return one is None or other is None or one is other


def is_at_same_place(one: PartitionViewOp, other: PartitionViewOp) -> bool:
    """Returns whether two parts of the views of different arguments would be the same bytes if these were one array."""
    sums = AffineAnalysis()
    first, second = (part.source.owner for part in (one, other))
    if not isinstance(first, MakeTensorViewOp) or not isinstance(second, MakeTensorViewOp):
        return False
    if not all(array_of(view.ptr) is view.ptr for view in (first, second)) or one.result.type != other.result.type:
        return False
    pairs = ((first.strides, second.strides), (one.offsets, other.offsets), (one.sizes, other.sizes))
    return all([*map(sums.expression_of, left)] == [*map(sums.expression_of, right)] for left, right in pairs)


def apart_remark(rule: Rule, what: str, arguments: Iterable[SSAValue], op: Operation) -> Diagnostic:
    """Returns the remark that ``what`` is right because two arguments of a function count as different memory."""
    named = [value for value in arguments if isinstance(value, BlockArgument)]
    first, second = sorted(named, key=lambda value: value.index)
    names = f"{label_of(first, 'an argument')} and {label_of(second, 'another one')}"
    message = f"{what} is right only where {names} are different memory, as arguments are"
    return rule.at(op, message)


def has_own_elements(part: PartitionViewOp) -> bool:
    """Returns whether elements of a view with different indices have addresses of their own, by the sizes and strides
    that are constant."""
    view, sums = part.source.owner, AffineAnalysis()
    if not isinstance(view, MakeTensorViewOp):
        return True
    return not covers_itself(*(map(sums.expression_of, values) for values in (view.shape, view.strides)))
