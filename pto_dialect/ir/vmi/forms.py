"""Operand forms that the logical-vector families share."""

from __future__ import annotations

from xdsl.irdl import operand_def, opt_attr_def, opt_operand_def, result_def, var_operand_def

from ..core.base import Effect, Pipe, PtoOp, Shape
from ..core.kinds import ANY, I16, I64_ATTR, INDEX, VMI_ANY, VMI_MASK, VMI_VREG
from ..core.words import VMI_PMODE


class VmiLanewiseOp(PtoOp, shape=Shape.FLAT_VALUE, pipe=Pipe.V, effect=Effect.PURE, since="august"):
    """Computes logical vectors or predicates from such."""


class VmiVectorOp(VmiLanewiseOp):
    """Computes a logical vector."""

    result = result_def(VMI_VREG)


class VmiMaskedOp(VmiVectorOp):
    """Computes a logical vector under a mask, which is the last operand; ``pmode`` states the result of the other
    lanes."""

    mask = operand_def(VMI_MASK)
    pmode = opt_attr_def(VMI_PMODE)


class VmiUnaryOp(VmiVectorOp):
    """One logical vector."""

    source = operand_def(VMI_VREG)


class VmiBinaryOp(VmiVectorOp):
    """Two logical vectors."""

    lhs = rhs = operand_def(VMI_VREG)


class VmiOptionalMaskOp(PtoOp):
    """Works under a mask where one is given; ``pmode`` states the result of the other lanes."""

    mask = var_operand_def(VMI_MASK)
    pmode = opt_attr_def(VMI_PMODE)


class VmiMaskableOp(VmiVectorOp, VmiOptionalMaskOp):
    """Computes a logical vector, under a mask where one is given."""


class VmiMaskedUnaryOp(VmiMaskableOp):
    """One logical vector, optional mask."""

    source = operand_def(VMI_VREG)


class VmiMaskedBinaryOp(VmiMaskableOp):
    """Two logical vectors, optional mask."""

    lhs = rhs = operand_def(VMI_VREG)


class VmiBitwiseOp(VmiMaskableOp):
    """Computes a logical vector or a predicate."""

    result = result_def(VMI_ANY)


class VmiMaskedBitwiseOp(VmiBitwiseOp):
    """Two logical vectors or predicates, optional mask."""

    lhs = rhs = operand_def(VMI_ANY)


class VmiMaskedScalarOp(VmiMaskedOp):
    """Logical vector, scalar and a mask."""

    src = operand_def(VMI_VREG)
    scalar = operand_def(ANY)


class VmiReductionOp(VmiVectorOp):
    """Logical vector and the mask of the lanes that count."""

    source = operand_def(VMI_VREG)
    mask = operand_def(VMI_MASK)


class VmiMaskOperandOp(PtoOp):
    """Accesses memory for the active lanes."""

    mask = operand_def(VMI_MASK)


class VmiSpacedBlocksOp(VmiMaskOperandOp):
    """Goes along blocks of 32 bytes that are ``block_stride`` blocks apart."""

    block_stride = repeat_stride = operand_def(I16)


class VmiDistributedOp(PtoOp):
    """One vector or two, as a mode, groups or block strides say."""

    stride = opt_operand_def(INDEX)
    block_stride = repeat_stride = opt_operand_def(I16)
    group = opt_attr_def(I64_ATTR)
    pmode = opt_attr_def(VMI_PMODE)


class VmiScatteredOp(PtoOp, pipe=Pipe.V, since="august"):
    """Accesses an address of its own for each active lane."""

    offsets = operand_def(VMI_VREG)
    mask = operand_def(VMI_MASK)
    pmode = opt_attr_def(VMI_PMODE)
