"""How long the answer to an open condition matters: until the last place of the text that may ask it again."""

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
"""Operations that a condition decides about, and their operand with it; affine ones have no operand that is one."""
_FORWARDS = Role.YIELD | Role.CONDITION | Role.RETURN | Role.CALL | Role.LOOP | Role.SELECT
"""Operations through which a value goes on under another name."""

ConditionId = int
"""What a condition is computed from, whatever it is compared for: the number of its text."""


def case_index(switch: Operation, number: AbstractValue) -> AbstractValue:
    """The region of ``scf.index_switch`` that a known number chooses, the first where no case has it; else a question
    of its own."""
    if not isinstance(number, int):
        return ("case", number)
    cases = switch.properties["cases"]
    assert isinstance(cases, DenseArrayBase)
    values = list(cases.iter_values())
    return 1 + values.index(number) if number in values else 0


class PathConditions:
    """The conditions of a function. Operations are numbered in the order of the text."""

    def __init__(self, function: Operation) -> None:
        self.positions: dict[Operation, int] = {}
        self.last_uses: dict[ConditionId, int] = {}
        self.ids: dict[SSAValue, ConditionId] = {}
        self.interned: dict[Hashable, ConditionId] = {}
        """Numbers of texts, which have those of their operands in them: a text itself may be longer than any file."""
        self.forwarded: dict[SSAValue, bool] = {}
        asked: list[tuple[Operation, SSAValue]] = []
        for number, op in enumerate(walk(function)):
            self.positions[op] = number
            decides = _condition_of(op)
            if decides is not None:
                asked.append((op, decides))
        ends = self._loop_ends(function)
        for op, value in asked:
            shape = self.id_of(value)
            place = self._outermost_loop(op)
            end = ends[place] if place is not None else self.positions[op]
            self.last_uses[shape] = max(self.last_uses.get(shape, 0), NEVER if self._is_forwarded(value) else end)

    def last_use(self, op: Operation) -> int:
        """The number of the last operation that may ask again what ``op`` asks, which a condition decides."""
        decides = _condition_of(op)
        assert decides is not None
        return self.last_uses.get(self.id_of(decides), NEVER)

    def id_of(self, value: SSAValue, depth: int = _DEPTH) -> ConditionId:
        """Equal for conditions that may be one question: the same values behind the same arithmetic."""
        known = self.ids.get(value)
        if known is None:
            op = value.owner
            turned = negated_operand(op) if isinstance(op, Operation) else None
            if depth and turned is not None:
                known = self.ids[value] = self.id_of(turned, depth - 1)
                return known
            if depth and isinstance(op, Operation) and has_role(op, Role.SCALAR):
                parts = [self.id_of(operand, depth - 1) for operand in op.operands]
                same = has_role(op, Role.COMPARISON)
                text: Hashable = (op.name, frozenset(parts) if same else tuple(parts), _constant(op))
            else:
                text = value
            known = self.ids[value] = self.interned.setdefault(text, len(self.interned))
        return known

    def _is_forwarded(self, value: SSAValue, depth: int = _DEPTH) -> bool:
        known = self.forwarded.get(value)
        if known is None:
            self.forwarded[value] = known = not depth or any(has_role(use.operation, _FORWARDS) for use in value.uses)
            op = value.owner
            if (
                not known
                and isinstance(op, Operation)
                and (has_role(op, Role.COMPARISON) or negated_operand(op) is not None)
            ):
                known = any(self._is_forwarded(operand, depth - 1) for operand in op.operands if _is_truth(operand))
                self.forwarded[value] = known
        return known

    def _outermost_loop(self, op: Operation) -> Operation | None:
        found: Operation | None = None
        place = op.parent_op()
        while place is not None:
            if has_role(place, Role.LOOP):
                found = place
            place = place.parent_op()
        return found

    def _loop_ends(self, function: Operation) -> dict[Operation, int]:
        """The number of the last operation inside each outermost loop."""
        ends: dict[Operation, int] = {}
        for op, number in self.positions.items():
            loop = self._outermost_loop(op)
            if loop is not None:
                ends[loop] = number
        return ends


def _condition_of(op: Operation) -> SSAValue | None:
    """The operand that decides what ``op`` runs or gives; ``None`` for other operations."""
    name = _CONDITION_OPERANDS.get(op.name)
    return None if name is None else named(op, name)


def _is_truth(value: SSAValue) -> bool:
    return str(value.type) == "i1"


def _constant(op: Operation) -> object:
    return op.properties.get("value") if has_role(op, Role.CONSTANT) else None
