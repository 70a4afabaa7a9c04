"""Values of SSA values that are compile-time constants, followed through simple arithmetic."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects.builtin import FloatAttr, IntegerAttr, IntegerType
from xdsl.ir import Operation, SSAValue

from pto_dialect.ir.core.roles import Role, has_role

_BINARY: dict[str, Callable[[int, int], int | None]] = {
    "arith.addi": lambda a, b: a + b,
    "arith.subi": lambda a, b: a - b,
    "arith.muli": lambda a, b: a * b,
    "arith.divsi": lambda a, b: None if b == 0 else int(a / b) if abs(a) < 2**52 else None,
    "arith.divui": lambda a, b: None if b <= 0 or a < 0 else a // b,
    "arith.remsi": lambda a, b: None if b <= 0 or a < 0 else a % b,
    "arith.remui": lambda a, b: None if b <= 0 or a < 0 else a % b,
    "arith.floordivsi": lambda a, b: None if b == 0 else a // b,
    "arith.ceildivsi": lambda a, b: None if b == 0 else -(-a // b),
    "arith.minsi": min,
    "arith.maxsi": max,
    "arith.shli": lambda a, b: a << b if 0 <= b < 64 else None,
    "arith.andi": lambda a, b: a & b,
    "arith.ori": lambda a, b: a | b,
}
_CASTS = frozenset(("arith.index_cast", "arith.index_castui", "arith.extsi", "arith.extui", "arith.trunci"))


def constant_of(value: SSAValue, depth: int = 8) -> int | float | None:
    """The number ``value`` always has, or ``None`` when it is not a constant this analysis can follow."""
    op = value.owner
    if not isinstance(op, Operation) or depth == 0:
        return None
    if has_role(op, Role.CONSTANT):
        attr = op.properties.get("value")
        return attr.value.data if isinstance(attr, (IntegerAttr, FloatAttr)) else None
    if op.name in _CASTS and len(op.operands) == 1:
        inner = constant_of(op.operands[0], depth - 1)
        return _wrapped(inner, value) if isinstance(inner, int) else None
    combine = _BINARY.get(op.name)
    if combine is None or len(op.operands) != 2:
        return None
    left = constant_of(op.operands[0], depth - 1)
    right = constant_of(op.operands[1], depth - 1) if isinstance(left, int) else None
    if not isinstance(left, int) or not isinstance(right, int):
        return None
    result = combine(left, right)
    return None if result is None else _wrapped(result, value)


def _wrapped(number: int, value: SSAValue) -> int:
    """``number`` modulo the width of the value's integer type, as a signed number."""
    if not isinstance(value.type, IntegerType):
        return number
    width = value.type.width.data
    number &= (1 << width) - 1
    return number - (1 << width) if number >> (width - 1) and width > 1 else number
