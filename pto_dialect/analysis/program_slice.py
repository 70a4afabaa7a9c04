"""Backward slice of a function: the operations relevant to an analysis, their ancestors, and the definitions that
either of them use."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from xdsl.ir import Operation, SSAValue

from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.walk import walk


def compute_slice(
    function: Operation,
    is_relevant: Callable[[Operation], bool],
    relevant_operands: Callable[[Operation], Iterable[SSAValue]],
) -> tuple[set[Operation], set[Operation]]:
    """Returns the slice, and the subset of relevant operations and their ancestors.

    ``relevant_operands`` returns the operands of a relevant operation whose values matter. Calls are relevant, with all
    operands.
    """
    selected: set[Operation] = set()
    values: list[SSAValue] = []

    def add(op: Operation) -> None:
        """Adds ``op``, the terminators of its regions, and the values that control them, to the worklist."""
        selected.add(op)
        if op.regions:
            values.extend(op.operands)
            for region in op.regions:
                for block in region.blocks:
                    if block.last_op is not None:
                        selected.add(block.last_op)
                        values.extend(block.last_op.operands)

    around: set[Operation] = set()
    for op in walk(function):
        calls = has_role(op, Role.CALL)
        if calls or (not op.regions and is_relevant(op)):
            add(op)
            values.extend(op.operands if calls else relevant_operands(op))
            ancestor: Operation | None = op
            while ancestor is not None and ancestor not in around:
                around.add(ancestor)
                add(ancestor)
                ancestor = ancestor.parent_op()
    while values:
        op = values.pop().owner
        if isinstance(op, Operation) and op not in selected:
            add(op)
            values.extend(op.operands)
    return selected, around
