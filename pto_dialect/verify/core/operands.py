"""Operands of core operations by the names in the table of constraints."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xdsl.dialects.builtin import DenseArrayBase
from xdsl.ir import Operation, SSAValue

from .table import CORE_NAMES, constraints_of


def split_groups(values: Sequence[SSAValue], sizes: Iterable[int]) -> list[Sequence[SSAValue]]:
    """Returns ``values`` divided into consecutive groups of the given sizes."""
    groups: list[Sequence[SSAValue]] = []
    start = 0
    for size in sizes:
        groups.append(values[start : start + size])
        start += size
    return groups


def groups_of(op: Operation) -> dict[str, Sequence[SSAValue]]:
    """Returns the operands of a core operation by name; empty for an operation without a row in the table, or whose
    operand count does not fit its declaration."""
    # Matched by name, because the operations in the table have no class in common.
    if op.name not in CORE_NAMES:
        return {}
    row = constraints_of(op.name)
    single = sum(slot.arity == "1" for slot in row.operands)
    # Slicing xDSL's tuple of operands costs ten times as much as slicing a plain tuple.
    operands = tuple(op._operands)
    total = len(operands)
    numbers = [1 if slot.arity == "1" else total - single for slot in row.operands]
    if row.segmented:
        sizes = op.properties.get("operandSegmentSizes")
        numbers = [int(number) for number in sizes.get_values()] if isinstance(sizes, DenseArrayBase) else []
    if len(numbers) != len(row.operands) or sum(numbers) != total or min(numbers, default=0) < 0:
        return {}
    return dict(zip((slot.name for slot in row.operands), split_groups(operands, numbers), strict=True))


def group(op: Operation, name: str) -> Sequence[SSAValue]:
    """Returns the operand group ``name`` of ``op``, whose operands fit its declaration; raises KeyError for an unknown
    name."""
    return groups_of(op)[name]


def named(op: Operation, name: str) -> SSAValue:
    """Returns the single operand ``name`` of ``op``, whose operands fit its declaration; raises KeyError for an unknown
    name."""
    (value,) = groups_of(op)[name]
    return value
