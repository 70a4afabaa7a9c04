"""How long the answer to an open condition matters: until the last place of the text that may ask it again."""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.walk import walk

FOREVER = 1 << 60
_DEPTH = 16
_LOOPS = frozenset(("scf.for", "scf.while"))
_CARRIES = frozenset(("scf.yield", "scf.condition", "func.return", "func.call", "scf.for", "scf.while", "arith.select"))
"""Operations through which a value goes on under another name."""

Shape = object
"""What a condition is computed from, whatever it is compared for."""


class Questions:
    """The conditions of a function. Operations are numbered in the order of the text."""

    def __init__(self, function: Operation) -> None:
        self.position: dict[Operation, int] = {}
        self.last: dict[Shape, int] = {}
        self.shapes: dict[SSAValue, Shape] = {}
        self.carried: dict[SSAValue, bool] = {}
        asked: list[tuple[Operation, SSAValue]] = []
        for number, op in enumerate(walk(function)):
            self.position[op] = number
            if op.name in ("scf.if", "scf.index_switch", "arith.select"):
                asked.append((op, op.operands[0]))
        ends = self._ends(function)
        for op, value in asked:
            shape = self.shape(value)
            place = self._outermost(op)
            end = ends[place] if place is not None else self.position[op]
            self.last[shape] = max(self.last.get(shape, 0), FOREVER if self._passes_on(value) else end)

    def expiry(self, op: Operation) -> int:
        """The number of the last operation that may ask again what ``op`` asks."""
        return self.last.get(self.shape(op.operands[0]), FOREVER)

    def shape(self, value: SSAValue, depth: int = _DEPTH) -> Shape:
        """Equal for conditions that may be one question: the same values behind the same arithmetic."""
        known = self.shapes.get(value)
        if known is None:
            op = value.owner
            if depth and isinstance(op, Operation) and has_role(op, Role.SCALAR):
                parts = [self.shape(operand, depth - 1) for operand in op.operands]
                same = op.name in ("arith.cmpi", "index.cmp")
                known = (op.name, frozenset(parts) if same else tuple(parts), _constant(op))
            else:
                known = id(value)
            self.shapes[value] = known
        return known

    def _passes_on(self, value: SSAValue, depth: int = _DEPTH) -> bool:
        known = self.carried.get(value)
        if known is None:
            self.carried[value] = known = not depth or any(use.operation.name in _CARRIES for use in value.uses)
            op = value.owner
            if (
                not known
                and isinstance(op, Operation)
                and op.name.startswith(("arith.cmpi", "index.cmp", "arith.xori"))
            ):
                known = any(self._passes_on(operand, depth - 1) for operand in op.operands if _is_truth(operand))
                self.carried[value] = known
        return known

    def _outermost(self, op: Operation) -> Operation | None:
        found: Operation | None = None
        place = op.parent_op()
        while place is not None:
            if place.name in _LOOPS:
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


def _is_truth(value: SSAValue) -> bool:
    return str(value.type) == "i1"


def _constant(op: Operation) -> object:
    return op.properties.get("value") if has_role(op, Role.CONSTANT) else None
