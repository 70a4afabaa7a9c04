"""Elementwise tile arithmetic. Source: docs/reference/tiles.md, "Elementwise"."""

from __future__ import annotations

from xdsl.ir import SSAValue

from pto_dialect.ir.core.base import PtoOp
from pto_dialect.runtime.compile.generator import Generator

from ..registry import kernel
from .apply import apply_formula
from .formulas import BINARY, TERNARY, UNARY
from .operands import tile_operand

FORMULAS = {**UNARY, **BINARY, **TERNARY}
_SOURCES = ("src", "src0", "src1", "src2", "base", "exp")


def sources(op: PtoOp, g: Generator) -> list[SSAValue]:
    """Returns the source tiles in order, without scratch."""
    operands = g.operands(op)
    return [tile_operand(op, g, name) for name in _SOURCES if operands.get(name)]


@kernel(*FORMULAS)
def elementwise(op: PtoOp, g: Generator) -> None:
    """dst(r,c) = the formula of the operation applied to the elements (r,c) of its sources."""
    apply_formula(op, g, FORMULAS[op.name], sources(op, g), g.destination(op))
