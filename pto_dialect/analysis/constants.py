"""Constant propagation through simple integer arithmetic."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import FloatAttr, IntegerAttr, IntegerType
from xdsl.ir import Block, SSAValue

from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core_dialects.structured import is_unsigned

from .arithmetic import CASTS, FOLDS

if TYPE_CHECKING:
    from xdsl.dialects.scf import ForOp


def constant_of(value: SSAValue, depth: int = 8) -> int | float | None:
    """Returns the constant ``value``; ``None`` where it is not a constant, or beyond ``depth`` operations."""
    op: Any = value.owner
    # Compares classes: ``Block`` has no subclasses, and ``isinstance`` is slower on a path taken for every index.
    if type(op) is Block or depth == 0:
        return None
    if has_role(op, Role.CONSTANT):
        attr = op.properties.get("value")
        return attr.value.data if isinstance(attr, (IntegerAttr, FloatAttr)) else None
    name = op.name
    fold, signed = FOLDS.get(name), CASTS.get(name)
    if fold is None and signed is None:
        return None
    # Unverified operations may have any number of operands.
    match [*op.operands]:
        case [first, second] if fold is not None:
            left = constant_of(first, depth - 1)
            right = constant_of(second, depth - 1) if isinstance(left, int) else None
            result = fold(left, right) if isinstance(left, int) and isinstance(right, int) else None
        case [source] if fold is None:
            result = constant_of(source, depth - 1)
            if not signed and isinstance(result, int) and isinstance(source.type, IntegerType):
                result &= (1 << source.type.width.data) - 1
        case _:
            return None
    return _wrapped(result, value) if isinstance(result, int) else None


def _wrapped(number: int, value: SSAValue) -> int:
    """Returns ``number`` wrapped to the signed range of the value's integer type."""
    if not isinstance(value.type, IntegerType):
        return number
    width = value.type.width.data
    number &= (1 << width) - 1
    return number - (1 << width) if number >> (width - 1) and width > 1 else number


def trip_count(first: object, last: object, step: object) -> int | None:
    """Returns how often a loop with these bounds runs; ``None`` for bounds that are no integers, or a step that is not
    positive."""
    if isinstance(first, int) and isinstance(last, int) and isinstance(step, int) and step > 0:
        return max(0, -(-(last - first) // step))
    return None


def _bounds(loop: ForOp) -> list[int | float | None]:
    """Returns the constants among the bounds and the step of a loop. Unverified loops may lack operands."""
    return [constant_of(value) for value in loop.operands[:3]]


def constant_trip_count(loop: ForOp) -> int | None:
    """Returns how often ``loop`` runs; ``None`` where the text does not say it."""
    bounds = _bounds(loop)
    return trip_count(*bounds) if len(bounds) == 3 and not is_read_unsigned(loop) else None


def is_read_unsigned(loop: ForOp) -> bool:
    """Returns whether a loop reads a negative constant as a large bound, because it compares bounds as unsigned
    numbers."""
    negative = [isinstance(one, int) and one < 0 for one in _bounds(loop)]
    return is_unsigned(loop) and any(negative[:2])
