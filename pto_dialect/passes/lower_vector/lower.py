"""``lower-vector``: elementwise tile operations become vector functions.

Source: docs/reference/vectors.md, "Arithmetic".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.ir import Operation

from pto_dialect.analysis.target import profile_of
from pto_dialect.passes.instructions.geometry import NotLoweredError
from pto_dialect.passes.instructions.rewrite import InstructionPass
from pto_dialect.passes.instructions.writer import Function, Writer
from pto_dialect.verify.engine.rule import ERROR, LOWER_VECTOR, Rule, rule

from .elementwise import lower_row
from .table import row_of

_TILE = "!pto.tile_buf<vec, 16x16xf32>"
_GOOD = f"""module attributes {{pto.target_arch = "a5"}} {{
  func.func @f(%one: f32) {{
    %c0 = arith.constant 0 : i64
    %a = pto.alloc_tile addr = %c0 : {_TILE}
    pto.texpands ins(%one : f32) outs(%a : {_TILE})
    return
  }}
}}
"""

NOT_LOWERED = rule(
    "lower-vector-unsupported",
    ERROR,
    LOWER_VECTOR,
    "elementwise tile operations have addresses, and vector functions that compute the same bits",
    source='docs/reference/vectors.md, "Arithmetic"',
    bad=_GOOD.replace(" addr = %c0", ""),
    good=_GOOD,
)


@dataclass(frozen=True)
class LowerVectorPass(InstructionPass):
    """Puts vector functions in the place of elementwise tile operations; other operations stay."""

    name: ClassVar[str] = "lower-vector"
    unsupported: ClassVar[Rule] = NOT_LOWERED

    def owns(self, op: Operation) -> bool:
        """Whether ``op`` is an elementwise operation on tiles of a vector core."""
        return row_of(op) is not None

    def lower(self, op: Operation, function: Function) -> NotLoweredError | None:
        """Writes the vector function of ``op`` in front of it; returns what stands in the way."""
        profile, row = profile_of(op, self.target), row_of(op)
        assert row is not None
        if profile.arch != "a5":
            return NotLoweredError(op, f"{profile.arch} has no vector registers", "a5 has")
        try:
            lower_row(Writer(function, op), row)
        except NotLoweredError as error:
            return error
        return None
