"""Numbers of a path: known ones are integers, others expressions, so that equal questions get equal answers."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects.builtin import IntegerAttr, i1
from xdsl.ir import Attribute, Operation, SSAValue

from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.types import PtrType, byte_width

from .arithmetic import CASTS, FOLDS, WIDEST
from .constants import constant_of

Symbolic = tuple[object, ...]
"""A number that only a run knows, as the expression it comes from."""
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
"""Predicates of comparisons by number: the answer for known numbers, and the question behind it with its negation."""
_COMPARISONS = {question: holds for holds, question, turned in _PREDICATES.values() if not turned}


def evaluate_comparison(question: str, a: int, b: int) -> int | None:
    """The answer to the question behind a comparison of known numbers; ``None`` for what is none."""
    holds = _COMPARISONS.get(question)
    return None if holds is None else int(holds(a, b))


_NEGATION = "arith.xori"


def negated_operand(op: Operation) -> SSAValue | None:
    """The truth value that ``op`` turns round, as an exclusive or with the constant true does; ``None`` for others."""
    match [*op.operands]:
        # By name, as the table of arithmetic is: no role says that an operation computes with bits.
        case [one, other] if op.name == _NEGATION and one.type == i1:
            return one if constant_of(other) else other if constant_of(one) else None
        case _:
            return None


def fresh_unknown(source: object, instance: int) -> Symbolic:
    """What the execution number ``instance`` of an operation gives and nobody knows."""
    return ("new", id(source), instance)


class InternedExpression(tuple[object, ...]):
    """An unknown number of ``Expressions``. A number that is used twice at each of many operations stands in the last
    one more often than a program could count, so its hash is computed once, and equal ones are mostly one object."""

    hash: int
    leaves: frozenset[tuple[int, int]] | None

    def __new__(cls, parts: Symbolic) -> InternedExpression:
        """``parts`` as an object of its own."""
        made = super().__new__(cls, parts)
        made.hash = hash(parts)
        made.leaves = None
        return made

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
    """The unknown numbers of one walk, equal ones as one object."""

    def __init__(self) -> None:
        self._known: dict[Symbolic, InternedExpression] = {}

    def intern(self, number: AbstractValue) -> AbstractValue:
        """The number itself, or the expression that is equal to it."""
        return number if isinstance(number, (int, InternedExpression)) else self.intern_parts(number)

    def intern_parts(self, parts: Symbolic) -> InternedExpression:
        """The expression of ``parts``."""
        known = self._known.get(parts)
        if known is None:
            known = self._known[parts] = InternedExpression(parts)
        return known


def unknown_leaves(number: AbstractValue) -> frozenset[tuple[int, int]]:
    """The values of executed operations that a number depends on, each with the number of the execution."""
    if isinstance(number, InternedExpression) and number.leaves is not None:
        return number.leaves
    found: set[tuple[int, int]] = set()
    seen: set[int] = set()
    pending: list[object] = [number]
    while pending:
        part = pending.pop()
        if not isinstance(part, tuple) or id(part) in seen:
            continue
        seen.add(id(part))
        if part[0] == "new":
            found.add(part[1:])
        elif isinstance(part, InternedExpression) and part.leaves is not None:
            found |= part.leaves
        else:
            pending += part
    result = frozenset(found)
    if isinstance(number, InternedExpression):
        number.leaves = result
    return result


def evaluate(op: Operation, operands: list[AbstractValue], instance: int) -> AbstractValue:
    """The first result of a scalar operation; ``instance`` tells executions of the same text apart."""
    name = op.name
    if has_role(op, Role.CONSTANT):
        known = constant_of(op.results[0])
        return known if isinstance(known, int) else (id(op),)
    # By name, as the table of arithmetic is.
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
        # A number that is multiplied by itself again and again has more digits than any file.
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
    """The place of a pointer that is made from a number or another pointer; ``None`` for other operations."""
    if has_role(op, Role.ADDRESS):
        (source,) = operands
        return ("at", type_.space, source) if isinstance(type_, PtrType) and isinstance(source, int) else source
    if has_role(op, Role.DISPLACEMENT) and isinstance(type_, PtrType):
        return offset_pointer(operands[0], operands[1], type_)
    return None


def offset_pointer(base: AbstractValue, distance: AbstractValue, type_: PtrType) -> AbstractValue | None:
    """The place ``distance`` elements behind the one that a pointer of ``type_`` has; ``None`` if only a run knows."""
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
        # ``index.cmp`` says its predicate in words of its own.
        return fresh_unknown(op, instance)
    number = predicate.value.data if isinstance(predicate, IntegerAttr) else -1
    if number not in _PREDICATES:
        return (id(op), a, b)
    holds, question, turned = _PREDICATES[number]
    if isinstance(a, int) and isinstance(b, int):
        return int(holds(a, b))
    asked: Symbolic = (question, a, b)
    return ("not", asked) if turned else asked
