"""Operand forms that the vector register families share. Inactive lanes of a result are 0."""

from __future__ import annotations

from xdsl.irdl import operand_def, result_def

from ..core.base import Effect, Pipe, PtoOp, Shape
from ..core.kinds import ANY, MASK, VREG


class MaskedUnaryOp(PtoOp, shape=Shape.FLAT_VALUE, pipe=Pipe.V, effect=Effect.PURE):
    """One register and a mask."""

    input = operand_def(VREG)
    mask = operand_def(MASK)
    result = result_def(VREG)


class MaskedBinaryOp(PtoOp, shape=Shape.FLAT_VALUE, pipe=Pipe.V, effect=Effect.PURE):
    """Two registers and a mask."""

    lhs = rhs = operand_def(VREG)
    mask = operand_def(MASK)
    result = result_def(VREG)


class MaskedScalarOp(PtoOp, shape=Shape.FLAT_VALUE, pipe=Pipe.V, effect=Effect.PURE):
    """Register, scalar and a mask."""

    input = operand_def(VREG)
    scalar = operand_def(ANY)
    mask = operand_def(MASK)
    result = result_def(VREG)
