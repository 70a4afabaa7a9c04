"""Abstract values: integers where a value is known, symbolic expressions elsewhere, so that equal conditions compare
equal."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects.builtin import IntegerAttr, i1
from xdsl.ir import Attribute, Operation, SSAValue

from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.types import PtrType, byte_width

from .arithmetic import CASTS, FOLDS, WIDEST
from .constants import constant_of

Symbolic = tuple[object, ...]
"""An unknown value, as the expression that computes it."""
AbstractValue = int | Symbolic

_PREDICATES: dict[int, tuple[Callable[[int, int], bool], str, bool]] = {
    0: (lambda a, b: a == b, "eq", False),
    1: (lambda a, b: a != b, "eq", True),
    2: (lambda a, b: a < b, "lt", False),
    3: (lambda a, b: a <= b, "gt", True),
    4: (lambda a, b: a > b, "gt", False),
    5: (lambda a, b: a >= b, "lt", True),
    6: (lambda a, b: a < b, "ltu", False),
    7: (lambda a, b: a <= b, "gtu", True),
    8: (lambda a, b: a > b, "gtu", False),
    9: (lambda a, b: a >= b, "ltu", True),
}
"""By number of the predicate: the comparison of known values, the condition in normal form, and whether that is
negated."""
_COMPARISONS = {condition: holds for holds, condition, negated in _PREDICATES.values() if not negated}


def evaluate_comparison(condition: str, a: int, b: int) -> int | None:
    """Returns the truth value of a normalized comparison of integers; ``None`` for other names."""
    holds = _COMPARISONS.get(condition)
    return None if holds is None else int(holds(a, b))


_NEGATION = "arith.xori"


def negated_operand(op: Operation) -> SSAValue | None:
    """Returns the truth value that ``op`` negates, as an exclusive or with the constant true does; ``None`` for other
    operations."""
    match [*op.operands]:
        # By name, as in the table of arithmetic: no role marks bitwise operations.
        case [one, other] if op.name == _NEGATION and one.type == i1:
            return one if constant_of(other) else other if constant_of(one) else None
        case _:
            return None


def fresh_unknown(source: object, instance: int) -> Symbolic:
    """Returns a fresh symbol for the result of execution number ``instance`` of an operation."""
    return ("new", id(source), instance)


class InternedExpression(tuple[object, ...]):
    """An expression with a cached hash. Nested expressions share operands, so that recomputing the hash or comparing
    structurally takes exponential time."""

    hash: int
    leaves: frozenset[tuple[int, int]] | None

    def __new__(cls, parts: Symbolic) -> InternedExpression:
        """Wraps ``parts``."""
        expression = super().__new__(cls, parts)
        expression.hash = hash(parts)
        expression.leaves = None
        return expression

    def __hash__(self) -> int:
        return self.hash

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if isinstance(other, InternedExpression) and self.hash != other.hash:
            return False
        return tuple.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        return not self == other


class ExpressionTable:
    """Interns the expressions of one analysis: equal ones are one object."""

    def __init__(self) -> None:
        self._known: dict[Symbolic, InternedExpression] = {}

    def intern(self, number: AbstractValue) -> AbstractValue:
        """Returns the integer itself, or the interned expression."""
        return number if isinstance(number, (int, InternedExpression)) else self.intern_parts(number)

    def intern_parts(self, parts: Symbolic) -> InternedExpression:
        """Returns the interned expression of ``parts``."""
        known = self._known.get(parts)
        if known is None:
            known = self._known[parts] = InternedExpression(parts)
        return known


def unknown_leaves(number: AbstractValue) -> frozenset[tuple[int, int]]:
    """Returns the symbols in a value: each an operation and the number of its execution."""
    if isinstance(number, InternedExpression) and number.leaves is not None:
        return number.leaves
    leaves: set[tuple[int, int]] = set()
    seen: set[int] = set()
    pending: list[object] = [number]
    while pending:
        part = pending.pop()
        if not isinstance(part, tuple) or id(part) in seen:
            continue
        seen.add(id(part))
        if part[0] == "new":
            leaves.add(part[1:])
        elif isinstance(part, InternedExpression) and part.leaves is not None:
            leaves |= part.leaves
        else:
            pending += part
    result = frozenset(leaves)
    if isinstance(number, InternedExpression):
        number.leaves = result
    return result


def evaluate(op: Operation, operands: list[AbstractValue], instance: int) -> AbstractValue:
    """Returns the abstract value of the first result of a scalar operation; ``instance`` distinguishes executions of
    one operation."""
    name = op.name
    if has_role(op, Role.CONSTANT):
        known = constant_of(op.results[0])
        return known if isinstance(known, int) else (id(op),)
    # By name, as in the table of arithmetic.
    if name in CASTS:
        return operands[0]
    if not operands:
        return fresh_unknown(op, instance)
    a, b = operands[0], operands[1] if len(operands) > 1 else operands[0]
    fold = FOLDS.get(name)
    if fold is not None:
        if not (isinstance(a, int) and isinstance(b, int)):
            return (name, a, b) if negated_operand(op) is None else _negate(b if isinstance(a, int) else a)
        known = fold(a, b)
        if known is None:
            return fresh_unknown(op, instance)
        # Bounds the integers: repeated squaring would produce arbitrarily long ones.
        return known if known.bit_length() <= WIDEST else (name, a, b)
    if has_role(op, Role.COMPARISON):
        return _compare(op, a, b, instance)
    if has_role(op, Role.SELECT) and isinstance(a, int):
        return operands[1] if a else operands[2]
    return fresh_unknown(op, instance)


def _negate(number: AbstractValue) -> AbstractValue:
    negation = isinstance(number, tuple) and number[0] == "not"
    return number[1] if negation else ("not", number)  # pyright: ignore


def pointer_value(op: Operation, type_: Attribute, operands: tuple[AbstractValue, ...]) -> AbstractValue | None:
    """Returns the value of a pointer that is made from an integer or another pointer; ``None`` for other operations."""
    if has_role(op, Role.ADDRESS):
        (source,) = operands
        return ("at", type_.space, source) if isinstance(type_, PtrType) and isinstance(source, int) else source
    if has_role(op, Role.DISPLACEMENT) and isinstance(type_, PtrType):
        return offset_pointer(operands[0], operands[1], type_)
    return None


def offset_pointer(base: AbstractValue, distance: AbstractValue, type_: PtrType) -> AbstractValue | None:
    """Returns the address ``distance`` elements after ``base``, a pointer of ``type_``; ``None`` where the distance is
    unknown."""
    size = byte_width(type_.element)
    if isinstance(base, int) or not isinstance(distance, int) or size is None:
        return None
    if distance == 0:
        return base
    kind, under, start = base if base[0] in ("at", "behind") else ("behind", base, 0)
    return (kind, under, start + distance * size)  # pyright: ignore[reportOperatorIssue]


def _compare(op: Operation, a: AbstractValue, b: AbstractValue, instance: int) -> AbstractValue:
    predicate = op.properties.get("predicate")
    if predicate is None:
        # ``index.cmp`` has predicates of its own.
        return fresh_unknown(op, instance)
    number = predicate.value.data if isinstance(predicate, IntegerAttr) else -1
    if number not in _PREDICATES:
        return (id(op), a, b)
    holds, relation, negated = _PREDICATES[number]
    if isinstance(a, int) and isinstance(b, int):
        return int(holds(a, b))
    condition: Symbolic = (relation, a, b)
    return ("not", condition) if negated else condition
