"""Operand forms that the logical-vector families share."""

from __future__ import annotations

from xdsl.irdl import operand_def, opt_attr_def, result_def, var_operand_def

from ..core.base import Effect, Pipe, PtoOp, Shape
from ..core.kinds import ANY, VMI_ANY, VMI_MASK, VMI_VREG
from ..core.words import VMI_PMODE


class VmiLanewiseOp(PtoOp, shape=Shape.FLAT_VALUE, pipe=Pipe.V, effect=Effect.PURE, since="august"):
    """Computes logical vectors or predicates from such."""


class VmiVectorOp(VmiLanewiseOp):
    """Computes a logical vector."""

    result = result_def(VMI_VREG)


class VmiMaskedOp(VmiVectorOp):
    """Computes a logical vector under a mask, which is the last operand; ``pmode`` says what the other lanes become."""

    mask = operand_def(VMI_MASK)
    pmode = opt_attr_def(VMI_PMODE)


class VmiUnaryOp(VmiVectorOp):
    """One logical vector."""

    source = operand_def(VMI_VREG)


class VmiBinaryOp(VmiVectorOp):
    """Two logical vectors."""

    lhs = rhs = operand_def(VMI_VREG)


class VmiMaskedUnaryOp(VmiVectorOp):
    """One logical vector, optional mask."""

    source = operand_def(VMI_VREG)
    mask = var_operand_def(VMI_MASK)
    pmode = opt_attr_def(VMI_PMODE)


class VmiMaskedBinaryOp(VmiVectorOp):
    """Two logical vectors, optional mask."""

    lhs = rhs = operand_def(VMI_VREG)
    mask = var_operand_def(VMI_MASK)
    pmode = opt_attr_def(VMI_PMODE)


class VmiMaskedBitwiseOp(VmiLanewiseOp):
    """Two logical vectors or predicates, optional mask."""

    lhs = rhs = operand_def(VMI_ANY)
    mask = var_operand_def(VMI_MASK)
    pmode = opt_attr_def(VMI_PMODE)
    result = result_def(VMI_ANY)


class VmiMaskedScalarOp(VmiMaskedOp):
    """Logical vector, scalar and a mask."""

    src = operand_def(VMI_VREG)
    scalar = operand_def(ANY)


class VmiReductionOp(VmiVectorOp):
    """Logical vector and the mask of the lanes that count."""

    source = operand_def(VMI_VREG)
    mask = operand_def(VMI_MASK)
