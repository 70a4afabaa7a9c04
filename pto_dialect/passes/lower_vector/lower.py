"""``lower-vector``: tile operations of vector cores become vector functions.

Source: docs/reference/vectors.md, "Arithmetic".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.ir import Operation

from pto_dialect.analysis.target import profile_of
from pto_dialect.ir.core.base import PtoOp, operand_groups
from pto_dialect.ir.core.placement import location
from pto_dialect.passes.instructions.geometry import NotLoweredError
from pto_dialect.passes.instructions.rewrite import InstructionPass
from pto_dialect.passes.instructions.writer import Function, Writer
from pto_dialect.verify.engine.rule import Rule, read_rules

from . import gather, reduce, select, sort
from .convert import lower_conversion
from .elementwise import Loops, Step, lower_row, read_step
from .fuse import Memory, consecutive_operations, runs, stored
from .table import row_of

_RULES = read_rules("passes")
NOT_LOWERED = _RULES["lower-vector-unsupported"]

_OTHERS: dict[str, Callable[[Writer], None]] = {
    "pto.tcvt": lower_conversion,
    **reduce.LOWERINGS,
    **select.LOWERINGS,
    **gather.LOWERINGS,
    **sort.LOWERINGS,
}
"""What lowers an operation that is no formula for each element."""


@dataclass(frozen=True)
class LowerVectorPass(InstructionPass):
    """Lowers tile operations that compute, compare, choose, convert, spread, reduce, move or sort to vector functions;
    others stay. ``fuse`` ("true" or "false") makes one function of adjacent operations that can be fused."""

    fuse: str = "true"

    name: ClassVar[str] = "lower-vector"
    unsupported: ClassVar[Rule] = NOT_LOWERED

    def owns(self, op: Operation) -> bool:
        """Returns whether ``op`` is an operation on tiles of a vector core that the tables have."""
        if row_of(op) is not None:
            return True
        if _OTHERS.get(op.name) is None:
            return False
        assert isinstance(op, PtoOp)
        groups = operand_groups(op)
        return any(location(value) == "vec" for value in (*groups.get("dst", ()), *groups.get("dsts", ())))

    def lower(self, op: Operation, function: Function) -> NotLoweredError | None:
        """Writes the vector function of ``op`` before it; returns what prevents the lowering."""
        profile, row = profile_of(op, self.target), row_of(op)
        if profile.arch != "a5":
            return NotLoweredError(op, f"{profile.arch} has no vector registers", "a5 has")
        try:
            if row is not None:
                lower_row(Writer(function, op), row)
            else:
                _OTHERS[op.name](Writer(function, op))
        except NotLoweredError as error:
            return error
        return None

    def lower_all(self, ops: Sequence[Operation], function: Function) -> list[NotLoweredError]:
        """Writes the vector functions of operations, with ``fuse`` one for neighbours that go together."""
        if self.fuse != "true":
            return super().lower_all(ops, function)
        errors: list[NotLoweredError] = []
        memory = Memory(function.op)
        for stretch in consecutive_operations(ops):
            if len(stretch) == 1 or profile_of(stretch[0], self.target).arch != "a5":
                errors += super().lower_all(stretch, function)
                continue
            errors += _lower_stretch(Writer(function, stretch[-1]), stretch, memory)
        return errors


def _lower_stretch(writer: Writer, stretch: Sequence[Operation], memory: Memory) -> list[NotLoweredError]:
    steps: list[Step] = []
    errors: list[NotLoweredError] = []
    for op in stretch:
        row = row_of(op)
        assert row is not None
        try:
            steps.append(read_step(writer, op, row))
        except NotLoweredError as error:
            errors.append(error)
    for run in runs(writer, steps) if not errors else ():
        if needed := stored(run, memory):
            Loops(writer, needed).write()
    return errors
