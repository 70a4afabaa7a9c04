"""Accumulators whose unit flags alternate, so that products and write-backs of them need no other order.

All operations with a unit flag on such an accumulator name the same value. Those that set it and those that clear it
alternate in one block, and the others before or between them wait for the state that is there. Products write, and
write-backs read, all of it.
"""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from pto_dialect.ir.buffers.views import SetValidshapeOp
from pto_dialect.ir.core.base import PtoOp, operand_groups
from pto_dialect.ir.core.facts.unit_flags import unit_check
from pto_dialect.ir.core.types import DYNAMIC, TileBufType
from pto_dialect.ir.core.walk import walk

from .constants import constant_of

_PRODUCTS = ("accPhase", "unit_flag_mode")


class HandOvers:
    """The accumulators of a function whose unit flags alternate."""

    def __init__(self, function: Operation) -> None:
        groups: dict[SSAValue, list[Operation]] = {}
        for op in walk(function):
            accumulator = _accumulator(op) if isinstance(op, PtoOp) and unit_check(op) else None
            if accumulator is not None:
                groups.setdefault(accumulator, []).append(op)
        self._found = {op: one for one, ops in groups.items() if _alternate(one, ops) for op in ops}

    def of(self, op: Operation) -> SSAValue | None:
        """Returns the accumulator that an operation hands over, if its unit flags alternate."""
        return self._found.get(op)


def _accumulator(op: PtoOp) -> SSAValue | None:
    groups = operand_groups(op)
    names = ("dst",) if _is_product(op) else ("src", "source")
    return next((groups[name][0] for name in names if groups.get(name)), None)


def _is_product(op: Operation) -> bool:
    return any(name in op.attributes for name in _PRODUCTS)


def _alternate(accumulator: SSAValue, ops: list[Operation]) -> bool:
    """Returns whether ``ops``, in the order of the text, find the flag as each of them requires, in every iteration."""
    changing = [op for op in ops if unit_check(op) != "check_only"]
    block = changing[0].parent if changing else None
    if block is None or any(op.parent is not block for op in changing) or not _move_all(accumulator, ops):
        return False
    full = False
    for op in ops:
        if block.find_ancestor_op_in_block(op) is None or _is_product(op) == full:
            return False
        if op in changing:
            full = not full
    return not full


def _move_all(accumulator: SSAValue, ops: list[Operation]) -> bool:
    """Returns whether the operations of an accumulator all move the same elements of it."""
    if isinstance(accumulator.type, TileBufType):
        return _has_fixed_region(accumulator) and all(_fills(op, accumulator.type) for op in ops if _is_product(op))
    sizes = {_sizes(op) for op in ops}
    return len(sizes) == 1 and None not in sizes.pop()


def _has_fixed_region(accumulator: SSAValue) -> bool:
    return not any(isinstance(use.operation, SetValidshapeOp) for use in accumulator.uses)


def _fills(op: Operation, whole: TileBufType) -> bool:
    """Returns whether a product computes all valid elements of its destination."""
    assert isinstance(op, PtoOp)
    groups = operand_groups(op)
    left, right = (groups.get(one) or groups.get(other) for one, other in (("lhs", "a"), ("rhs", "b")))
    types = [one[0].type for one in (left, right) if one]
    if len(types) != 2 or not all(isinstance(one, TileBufType) for one in types):
        return False
    rows, cols = (getattr(one, name) for one, name in zip(types, ("valid_rows", "valid_cols"), strict=True))
    return DYNAMIC not in (rows, cols) and (rows, cols) == (whole.valid_rows, whole.valid_cols)


def _sizes(op: Operation) -> tuple[object, object]:
    assert isinstance(op, PtoOp)
    groups = operand_groups(op)
    m, n = (constant_of(groups[name][0]) if groups.get(name) else None for name in ("m", "n"))
    return m, n
