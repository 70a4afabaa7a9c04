"""Logical vectors to memory; offsets and strides in elements. Source: docs/reference/vectors.md, "Logical vectors"."""

from __future__ import annotations

from xdsl.irdl import attr_def, operand_def, opt_attr_def, var_operand_def

from ..core.base import Shape
from ..core.forms import IndexedStoreOp, OffsetStoreOp
from ..core.kinds import I16, I64_ATTR, INDEX, PTR_OR_MEMREF, VMI_MASK, VMI_VREG
from ..core.words import VMI_PMODE, VMI_STORE_DIST
from .forms import VmiDistributedOp, VmiMaskOperandOp, VmiOptionalMaskOp, VmiScatteredOp, VmiSpacedBlocksOp


class VmiOffsetStoreOp(OffsetStoreOp, typed=("value", "destination"), since="august"):
    """A logical vector, or several, to a pointer and an offset."""


class VmiStoreOp(VmiOffsetStoreOp, name="pto.vmi.store"):
    """Destination[offset + i] = value[i]."""

    value = operand_def(VMI_VREG)


class VmiInterleaveStoreOp(VmiOffsetStoreOp, name="pto.vmi.interleave_store", typed=("low", "high", "destination")):
    """Lanes of low and high alternating from destination + offset."""

    low = high = operand_def(VMI_VREG)


class VmiActiveLaneStoreOp(VmiOffsetStoreOp, VmiMaskOperandOp, typed=("value", "destination", "mask")):
    """Store under a mask."""

    value = operand_def(VMI_VREG)


class VmiMaskedStoreOp(VmiActiveLaneStoreOp, name="pto.vmi.masked_store"):
    """Destination[offset + i] = value[i] where active."""


class VmiCompressStoreOp(VmiActiveLaneStoreOp, name="pto.vmi.compress_store"):
    """The active lanes, consecutively from destination + offset."""


class VmiScatterOp(IndexedStoreOp, name="pto.vmi.scatter", since="august"):
    """destination[indices[i]] = value[i] where active."""

    value = operand_def(VMI_VREG)
    destination = operand_def(PTR_OR_MEMREF)
    indices = operand_def(VMI_VREG)
    mask = operand_def(VMI_MASK)


class VmiGroupStoreOp(VmiOffsetStoreOp, name="pto.vmi.group_store"):
    """Group g to destination + offset + g·row_stride."""

    value = operand_def(VMI_VREG)
    destination = operand_def(PTR_OR_MEMREF)
    offset = row_stride = operand_def(INDEX)
    num_groups = attr_def(I64_ATTR)


class VmiStrideStoreOp(
    VmiOffsetStoreOp,
    VmiSpacedBlocksOp,
    name="pto.vmi.stride_store",
    typed=("value", "destination", "block_stride", "repeat_stride", "mask"),
):
    """32-byte blocks ``block_stride`` blocks apart."""

    value = operand_def(VMI_VREG)


class VmiVStoreOp(
    VmiOffsetStoreOp,
    VmiDistributedOp,
    VmiOptionalMaskOp,
    name="pto.vmi.vstore",
    typed=("values", "destination", "mask"),
    by_type=True,
):
    """One vector, or two interleaved ones, as ``dist_mode``, ``group`` or the block strides say."""

    values = var_operand_def(VMI_VREG)
    dist_mode = opt_attr_def(VMI_STORE_DIST)


class VmiVSstbOp(VmiOffsetStoreOp, name="pto.vmi.vsstb", typed=("value", "destination", "mask")):
    """32-byte blocks ``block_stride`` blocks apart."""

    value = operand_def(VMI_VREG)
    destination = operand_def(PTR_OR_MEMREF)
    offset = operand_def(INDEX)
    block_stride = operand_def(I16)
    mask = operand_def(VMI_MASK)
    pmode = opt_attr_def(VMI_PMODE)


class VmiVScatterOp(VmiScatteredOp, name="pto.vmi.vscatter", shape=Shape.FLAT_VOID, writes=("destination",)):
    """destination[offsets[i]] = value[i] where active, offsets in elements."""

    value = operand_def(VMI_VREG)
    destination = operand_def(PTR_OR_MEMREF)
