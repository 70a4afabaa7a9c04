"""``lower-cube``: tile operations of the cube core become the instructions that carry them out.

Source: docs/reference/layouts.md, "Moves between tiles".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.ir import Operation

from pto_dialect.analysis.target import profile_of
from pto_dialect.passes.instructions.geometry import NotLoweredError
from pto_dialect.passes.instructions.rewrite import InstructionPass
from pto_dialect.passes.instructions.writer import Function, Writer
from pto_dialect.verify.engine.rule import Rule, read_rules

from .table import is_cube, places, row_of

_RULES = read_rules("passes")
NOT_LOWERED = _RULES["lower-cube-unsupported"]


@dataclass(frozen=True)
class LowerCubePass(InstructionPass):
    """Lowers all tile operations of the cube core to instructions."""

    name: ClassVar[str] = "lower-cube"
    unsupported: ClassVar[Rule] = NOT_LOWERED

    def owns(self, op: Operation) -> bool:
        """Returns whether ``op`` is a tile operation of the cube core."""
        return is_cube(op)

    def lower(self, op: Operation, function: Function) -> NotLoweredError | None:
        """Writes the instructions of ``op`` before it; returns what prevents the lowering."""
        return lower(op, function, self.target)


def lower(op: Operation, function: Function, target: str | None) -> NotLoweredError | None:
    """Writes the instructions of ``op`` before it; returns what prevents the lowering."""
    profile = profile_of(op, target)
    if profile.arch != "a5":
        return NotLoweredError(op, f"{profile.arch} has no instructions with sizes as operands", "a5 has")
    row = row_of(op)
    if row is None:
        source, dst = places(op)
        way = f" from {source} to {dst}" if source and dst else f" to {dst}" if dst else ""
        return NotLoweredError(op, f"no instruction does {op.name}{way}")
    try:
        row.lower(Writer(function, op), profile)
    except NotLoweredError as error:
        return error
    return None
