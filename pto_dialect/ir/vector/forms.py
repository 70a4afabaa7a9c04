"""Operand forms that the vector register families share. Inactive lanes of a result are 0."""

from __future__ import annotations

from xdsl.irdl import operand_def, result_def

from ..core.base import Effect, Pipe, PtoOp, Shape
from ..core.kinds import ANY, MASK, VREG


class LanewiseOp(PtoOp, shape=Shape.FLAT_VALUE, pipe=Pipe.V, effect=Effect.PURE):
    """Computes registers or predicates from such."""


class RegisterOp(LanewiseOp):
    """Computes a register."""

    result = result_def(VREG)


class MaskedRegisterOp(RegisterOp):
    """Computes a register under a mask, which is the last operand."""

    mask = operand_def(MASK)


class PredicateOp(LanewiseOp):
    """Computes a predicate."""

    result = result_def(MASK)


class MaskedUnaryOp(MaskedRegisterOp):
    """One register and a mask."""

    input = operand_def(VREG)


class MaskedBinaryOp(MaskedRegisterOp):
    """Two registers and a mask."""

    lhs = rhs = operand_def(VREG)


class MaskedScalarOp(MaskedRegisterOp):
    """Register, scalar and a mask."""

    input = operand_def(VREG)
    scalar = operand_def(ANY)
