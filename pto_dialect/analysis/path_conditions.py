"""How long the decision on an unknown condition matters: until the last operation that may read the condition again."""

from __future__ import annotations

from collections.abc import Hashable

from xdsl.dialects.builtin import DenseArrayBase
from xdsl.ir import Operation, SSAValue

from pto_dialect.ir.core.operands import named
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.walk import walk

from .abstract_values import AbstractValue, negated_operand

NEVER = 1 << 60
_DEPTH = 16
_CONDITION_OPERANDS = {"scf.if": "cond", "scf.index_switch": "arg", "arith.select": "cond"}
"""Operations that depend on a condition, and the name of that operand; affine operations have no such operand."""
_FORWARDS = Role.YIELD | Role.CONDITION | Role.RETURN | Role.CALL | Role.LOOP | Role.SELECT
"""Operations that forward a value under another name."""

ConditionId = int
"""Identifies the values that a condition is computed from, whatever the predicate."""


def case_index(switch: Operation, number: AbstractValue) -> AbstractValue:
    """Returns the index of the region of ``scf.index_switch`` that a known value selects, 0 where no case matches; a
    condition for unknown values."""
    if not isinstance(number, int):
        return ("case", number)
    cases = switch.properties["cases"]
    assert isinstance(cases, DenseArrayBase)
    values = list(cases.iter_values())
    return 1 + values.index(number) if number in values else 0


class PathConditions:
    """The conditions of a function, and the position of their last use. Positions number operations in the order of the
    text."""

    def __init__(self, function: Operation) -> None:
        self.positions: dict[Operation, int] = {}
        self.last_uses: dict[ConditionId, int] = {}
        self.ids: dict[SSAValue, ConditionId] = {}
        self.interned: dict[Hashable, ConditionId] = {}
        """Ids of conditions by structure. A structure refers to operands by id: nested structures may be exponentially
        large."""
        self.forwarded: dict[SSAValue, bool] = {}
        reads: list[tuple[Operation, SSAValue]] = []
        for number, op in enumerate(walk(function)):
            self.positions[op] = number
            condition = _condition_of(op)
            if condition is not None:
                reads.append((op, condition))
        ends = self._loop_ends(function)
        for op, value in reads:
            shape = self.id_of(value)
            loop = self._outermost_loop(op)
            end = ends[loop] if loop is not None else self.positions[op]
            self.last_uses[shape] = max(self.last_uses.get(shape, 0), NEVER if self._is_forwarded(value) else end)

    def last_use(self, op: Operation) -> int:
        """Returns the position of the last operation that may read the condition of ``op`` again."""
        condition = _condition_of(op)
        assert condition is not None
        return self.last_uses.get(self.id_of(condition), NEVER)

    def id_of(self, value: SSAValue, depth: int = _DEPTH) -> ConditionId:
        """Returns an id that is equal for conditions that may be equal: the same arithmetic on the same values."""
        result = self.ids.get(value)
        if result is None:
            op = value.owner
            negated = negated_operand(op) if isinstance(op, Operation) else None
            if depth and negated is not None:
                result = self.ids[value] = self.id_of(negated, depth - 1)
                return result
            if depth and isinstance(op, Operation) and has_role(op, Role.SCALAR):
                parts = [self.id_of(operand, depth - 1) for operand in op.operands]
                is_commutative = has_role(op, Role.COMPARISON)
                structure: Hashable = (op.name, frozenset(parts) if is_commutative else tuple(parts), _constant(op))
            else:
                structure = value
            result = self.ids[value] = self.interned.setdefault(structure, len(self.interned))
        return result

    def _is_forwarded(self, value: SSAValue, depth: int = _DEPTH) -> bool:
        result = self.forwarded.get(value)
        if result is None:
            self.forwarded[value] = result = not depth or any(has_role(use.operation, _FORWARDS) for use in value.uses)
            op = value.owner
            if (
                not result
                and isinstance(op, Operation)
                and (has_role(op, Role.COMPARISON) or negated_operand(op) is not None)
            ):
                result = any(self._is_forwarded(operand, depth - 1) for operand in op.operands if _is_truth(operand))
                self.forwarded[value] = result
        return result

    def _outermost_loop(self, op: Operation) -> Operation | None:
        outermost: Operation | None = None
        loop = op.parent_op()
        while loop is not None:
            if has_role(loop, Role.LOOP):
                outermost = loop
            loop = loop.parent_op()
        return outermost

    def _loop_ends(self, function: Operation) -> dict[Operation, int]:
        """Returns the position of the last operation inside each outermost loop."""
        ends: dict[Operation, int] = {}
        for op, number in self.positions.items():
            loop = self._outermost_loop(op)
            if loop is not None:
                ends[loop] = number
        return ends


def _condition_of(op: Operation) -> SSAValue | None:
    """Returns the operand that selects what ``op`` executes or returns; ``None`` for other operations."""
    name = _CONDITION_OPERANDS.get(op.name)
    return None if name is None else named(op, name)


def _is_truth(value: SSAValue) -> bool:
    return str(value.type) == "i1"


def _constant(op: Operation) -> object:
    return op.properties.get("value") if has_role(op, Role.CONSTANT) else None
