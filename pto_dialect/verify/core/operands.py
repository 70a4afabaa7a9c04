"""Operands of core operations by the names that the table of constraints gives them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xdsl.dialects.builtin import DenseArrayBase
from xdsl.ir import Operation, SSAValue

from .table import CORE_NAMES, constraints_of


def divided(values: Sequence[SSAValue], sizes: Iterable[int]) -> list[Sequence[SSAValue]]:
    """``values`` in groups of the given sizes, one behind the other."""
    groups: list[Sequence[SSAValue]] = []
    start = 0
    for size in sizes:
        groups.append(values[start : start + size])
        start += size
    return groups


def groups_of(op: Operation) -> dict[str, Sequence[SSAValue]]:
    """The operands of a core operation by name; empty for one without a line in the table, or whose operands do not
    divide into what is declared there."""
    # The table has a line for each name; its operations have no class in common.
    if op.name not in CORE_NAMES:
        return {}
    row = constraints_of(op.name)
    single = sum(slot.arity == "1" for slot in row.operands)
    # A part of xDSL's own tuple costs ten times as much as one of a plain tuple.
    operands = tuple(op._operands)
    total = len(operands)
    numbers = [1 if slot.arity == "1" else total - single for slot in row.operands]
    if row.segmented:
        sizes = op.properties.get("operandSegmentSizes")
        numbers = [int(number) for number in sizes.get_values()] if isinstance(sizes, DenseArrayBase) else []
    if len(numbers) != len(row.operands) or sum(numbers) != total or min(numbers, default=0) < 0:
        return {}
    return dict(zip((slot.name for slot in row.operands), divided(operands, numbers), strict=True))


def group(op: Operation, name: str) -> Sequence[SSAValue]:
    """The operands that ``op``, which has its declared operands, calls ``name``; KeyError for an unknown name."""
    return groups_of(op)[name]


def named(op: Operation, name: str) -> SSAValue:
    """The one operand that ``op``, which has its declared operands, calls ``name``; KeyError for an unknown name."""
    (value,) = groups_of(op)[name]
    return value
