"""The operations of a function that matter to what is followed: those that it looks at, all that these stand in, and
where the numbers come from that either of them uses."""

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
    """The operations that matter, and among them those that stand around or are operations that are ``concerned``.

    ``uses`` gives the operands of such an operation whose numbers count. Calls are followed, with all operands.
    """
    found: set[Operation] = set()
    values: list[SSAValue] = []

    def keep(op: Operation) -> None:
        """``op`` is followed: what decides about its regions and what these pass on counts."""
        found.add(op)
        if op.regions:
            values.extend(op.operands)
            for region in op.regions:
                for block in region.blocks:
                    if block.last_op is not None:
                        found.add(block.last_op)
                        values.extend(block.last_op.operands)

    around: set[Operation] = set()
    for op in walk(function):
        calls = has_role(op, Role.CALL)
        if calls or (not op.regions and is_relevant(op)):
            keep(op)
            values.extend(op.operands if calls else relevant_operands(op))
            place: Operation | None = op
            while place is not None and place not in around:
                around.add(place)
                keep(place)
                place = place.parent_op()
    while values:
        op = values.pop().owner
        if isinstance(op, Operation) and op not in found:
            keep(op)
            values.extend(op.operands)
    return found, around
