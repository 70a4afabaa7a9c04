"""How long the answer to an open condition matters: until the last place of the text that may ask it again."""

from __future__ import annotations

from collections.abc import Hashable

from xdsl.dialects.builtin import DenseArrayBase
from xdsl.ir import Operation, SSAValue

from pto_dialect.ir.core.operands import named
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.walk import walk

from .numbers import Number, negated

FOREVER = 1 << 60
_DEPTH = 16
_ASKED = {"scf.if": "cond", "scf.index_switch": "arg", "arith.select": "cond"}
"""Operations that a condition decides about, and their operand with it; affine ones have no operand that is one."""
_CARRIES = Role.YIELD | Role.CONDITION | Role.RETURN | Role.CALL | Role.LOOP | Role.SELECT
"""Operations through which a value goes on under another name."""

Shape = int
"""What a condition is computed from, whatever it is compared for: the number of its text."""


def case_of(switch: Operation, number: Number) -> Number:
    """The region of ``scf.index_switch`` that a known number chooses, the first where no case has it; else a question
    of its own."""
    if not isinstance(number, int):
        return ("case", number)
    cases = switch.properties["cases"]
    assert isinstance(cases, DenseArrayBase)
    values = list(cases.iter_values())
    return 1 + values.index(number) if number in values else 0


class Questions:
    """The conditions of a function. Operations are numbered in the order of the text."""

    def __init__(self, function: Operation) -> None:
        self.position: dict[Operation, int] = {}
        self.last: dict[Shape, int] = {}
        self.shapes: dict[SSAValue, Shape] = {}
        self.alike: dict[Hashable, Shape] = {}
        """Numbers of texts, which have those of their operands in them: a text itself may be longer than any file."""
        self.carried: dict[SSAValue, bool] = {}
        asked: list[tuple[Operation, SSAValue]] = []
        for number, op in enumerate(walk(function)):
            self.position[op] = number
            decides = _condition(op)
            if decides is not None:
                asked.append((op, decides))
        ends = self._ends(function)
        for op, value in asked:
            shape = self.shape(value)
            place = self._outermost(op)
            end = ends[place] if place is not None else self.position[op]
            self.last[shape] = max(self.last.get(shape, 0), FOREVER if self._passes_on(value) else end)

    def expiry(self, op: Operation) -> int:
        """The number of the last operation that may ask again what ``op`` asks, which a condition decides."""
        decides = _condition(op)
        assert decides is not None
        return self.last.get(self.shape(decides), FOREVER)

    def shape(self, value: SSAValue, depth: int = _DEPTH) -> Shape:
        """Equal for conditions that may be one question: the same values behind the same arithmetic."""
        known = self.shapes.get(value)
        if known is None:
            op = value.owner
            turned = negated(op) if isinstance(op, Operation) else None
            if depth and turned is not None:
                known = self.shapes[value] = self.shape(turned, depth - 1)
                return known
            if depth and isinstance(op, Operation) and has_role(op, Role.SCALAR):
                parts = [self.shape(operand, depth - 1) for operand in op.operands]
                same = has_role(op, Role.COMPARISON)
                text: Hashable = (op.name, frozenset(parts) if same else tuple(parts), _constant(op))
            else:
                text = value
            known = self.shapes[value] = self.alike.setdefault(text, len(self.alike))
        return known

    def _passes_on(self, value: SSAValue, depth: int = _DEPTH) -> bool:
        known = self.carried.get(value)
        if known is None:
            self.carried[value] = known = not depth or any(has_role(use.operation, _CARRIES) for use in value.uses)
            op = value.owner
            if not known and isinstance(op, Operation) and (has_role(op, Role.COMPARISON) or negated(op) is not None):
                known = any(self._passes_on(operand, depth - 1) for operand in op.operands if _is_truth(operand))
                self.carried[value] = known
        return known

    def _outermost(self, op: Operation) -> Operation | None:
        found: Operation | None = None
        place = op.parent_op()
        while place is not None:
            if has_role(place, Role.LOOP):
                found = place
            place = place.parent_op()
        return found

    def _ends(self, function: Operation) -> dict[Operation, int]:
        """The number of the last operation inside each outermost loop."""
        ends: dict[Operation, int] = {}
        for op, number in self.position.items():
            loop = self._outermost(op)
            if loop is not None:
                ends[loop] = number
        return ends


def _condition(op: Operation) -> SSAValue | None:
    """The operand that decides what ``op`` runs or gives; ``None`` for other operations."""
    name = _ASKED.get(op.name)
    return None if name is None else named(op, name)


def _is_truth(value: SSAValue) -> bool:
    return str(value.type) == "i1"


def _constant(op: Operation) -> object:
    return op.properties.get("value") if has_role(op, Role.CONSTANT) else None
