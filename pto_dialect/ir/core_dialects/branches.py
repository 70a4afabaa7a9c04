"""Successors of a branch between blocks, and the values that it passes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr
from xdsl.ir import Block, Operation, SSAValue

from ..core.roles import Role, has_role


class BranchEdge(NamedTuple):
    """One edge of a branch: it is taken when the flag is ``case``, ``None`` for the default edge."""

    case: int | bool | None
    block: Block
    values: Sequence[SSAValue]


def flag_of(op: Operation) -> SSAValue | None:
    """Returns the value that selects the successor of a branch; ``None`` without a choice, and for other operations."""
    if not has_role(op, Role.BRANCH):
        return None
    # A program with branches has loaded their dialect.
    from xdsl.dialects.cf import ConditionalBranchOp, SwitchOp  # deferred: start-up

    if isinstance(op, ConditionalBranchOp):
        return op.cond
    return op.flag if isinstance(op, SwitchOp) else None


def branch_edges(op: Operation) -> list[BranchEdge]:
    """Returns the edges of a branch in the order in which they are tried, the one without a case last."""
    from xdsl.dialects.cf import ConditionalBranchOp, SwitchOp  # deferred: start-up

    if isinstance(op, ConditionalBranchOp):
        return [BranchEdge(True, op.then_block, op.then_arguments), BranchEdge(None, op.else_block, op.else_arguments)]
    if not isinstance(op, SwitchOp):
        (block,) = op.successors
        return [BranchEdge(None, block, tuple(op.operands))]
    default, *targets = op.successors
    numbers = op.properties.get("case_values")
    cases = [int(case) for case in numbers.get_values()] if isinstance(numbers, DenseIntOrFPElementsAttr) else []
    # The operands of all cases are consecutive.
    rest = iter(op.case_operands)
    found = [
        BranchEdge(case, block, tuple(next(rest) for _ in block.args))
        for case, block in zip(cases, targets, strict=True)
    ]
    return [*found, BranchEdge(None, default, op.default_operands)]
