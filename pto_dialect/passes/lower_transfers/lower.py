"""``lower-transfers``: loads and stores of the unified buffer become bursts, accesses to elements those of pointers.

Source: docs/reference/layouts.md, "Transfers".
"""

from __future__ import annotations

from collections.abc import Callable
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

from .bursts import load, store
from .elements import count, get, put

_RULES = read_rules("passes")
NOT_LOWERED = _RULES["lower-transfers-unsupported"]

_LOWERINGS: dict[str, tuple[str, Callable[[Writer], None]]] = {
    "pto.tload": ("dst", load),
    "pto.tstore": ("src", store),
    "pto.tgetval": ("src", get),
    "pto.tsetval": ("dst", put),
    "pto.tci": ("dst", count),
}
"""Which operand of an operation lies in the unified buffer, and what lowers it."""


@dataclass(frozen=True)
class LowerTransfersPass(InstructionPass):
    """Replaces loads and stores of vector cores by transfers, and accesses to single elements of tiles by accesses
    through pointers."""

    name: ClassVar[str] = "lower-transfers"
    unsupported: ClassVar[Rule] = NOT_LOWERED

    def owns(self, op: Operation) -> bool:
        """Returns whether ``op`` moves elements of a tile in the unified buffer."""
        side, _ = _LOWERINGS.get(op.name, ("", None))
        if not side:
            return False
        assert isinstance(op, PtoOp)
        return any(location(one) == "vec" for one in operand_groups(op)[side])

    def lower(self, op: Operation, function: Function) -> NotLoweredError | None:
        """Writes the transfer of ``op`` before it; returns what prevents the lowering."""
        profile = profile_of(op, self.target)
        if profile.arch != "a5":
            return NotLoweredError(op, f"{profile.arch} has no transfers with sizes as operands", "a5 has")
        try:
            _LOWERINGS[op.name][1](Writer(function, op))
        except NotLoweredError as error:
            return error
        return None
