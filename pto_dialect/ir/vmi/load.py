"""Logical vectors from memory; offsets and strides in elements.

Source: docs/reference/vectors.md, "Logical vectors".
"""

from __future__ import annotations

from xdsl.irdl import attr_def, operand_def, opt_attr_def, result_def, var_result_def

from ..core.base import PtoOp, Shape
from ..core.forms import IndexedLoadOp, OffsetLoadOp
from ..core.kinds import I64_ATTR, INDEX, PTR_OR_MEMREF, VMI_MASK, VMI_VREG
from ..core.words import VMI_LOAD_DIST
from .forms import VmiDistributedOp, VmiScatteredOp, VmiSpacedBlocksOp


class VmiOffsetLoadOp(OffsetLoadOp, typed=("source",), since="august"):
    """A logical vector, or several, from a pointer and an offset."""


class VmiLoadOp(VmiOffsetLoadOp, name="pto.vmi.load"):
    """lane i = source[offset + i]."""

    result = result_def(VMI_VREG)


class VmiDeinterleaveLoadOp(VmiOffsetLoadOp, name="pto.vmi.deinterleave_load"):
    """low = even elements, high = odd elements from source + offset."""

    low = high = result_def(VMI_VREG)


class PassthruOp(PtoOp):
    """Loads under a mask; inactive lanes come from ``passthru``."""

    mask = operand_def(VMI_MASK)
    passthru = operand_def(VMI_VREG)
    result = result_def(VMI_VREG)


class VmiPassthruLoadOp(VmiOffsetLoadOp, PassthruOp, typed=("source", "mask", "passthru")):
    """Load from consecutive addresses under a mask."""


class VmiMaskedLoadOp(VmiPassthruLoadOp, name="pto.vmi.masked_load"):
    """lane i = source[offset + i] where active, else passthru[i]."""


class VmiExpandLoadOp(VmiPassthruLoadOp, name="pto.vmi.expand_load"):
    """active lanes = consecutive elements from source + offset, other lanes = passthru."""


class VmiGatherOp(IndexedLoadOp, PassthruOp, name="pto.vmi.gather", since="august"):
    """lane i = source[indices[i]] where active, else passthru[i]."""

    source = operand_def(PTR_OR_MEMREF)
    indices = operand_def(VMI_VREG)


class VmiGroupLoadOp(VmiOffsetLoadOp, name="pto.vmi.group_load"):
    """Group g from source + offset + g·row_stride."""

    source = operand_def(PTR_OR_MEMREF)
    offset = row_stride = operand_def(INDEX)
    num_groups = attr_def(I64_ATTR)
    result = result_def(VMI_VREG)


class VmiGroupElementLoadOp(VmiOffsetLoadOp):
    """One element per group."""

    source = operand_def(PTR_OR_MEMREF)
    offset = source_group_stride = operand_def(INDEX)
    num_groups = attr_def(I64_ATTR)
    result = result_def(VMI_VREG)


class VmiGroupBroadcastLoadOp(VmiGroupElementLoadOp, name="pto.vmi.group_broadcast_load"):
    """Every lane of group g = source[offset + g·source_group_stride]."""


class VmiGroupSlotLoadOp(VmiGroupElementLoadOp, name="pto.vmi.group_slot_load"):
    """slot g = source[offset + g·source_group_stride]."""


class VmiStrideLoadOp(
    VmiOffsetLoadOp,
    VmiSpacedBlocksOp,
    name="pto.vmi.stride_load",
    typed=("source", "block_stride", "repeat_stride", "mask"),
):
    """32-byte blocks ``block_stride`` blocks apart."""

    result = result_def(VMI_VREG)


class VmiVLoadOp(VmiOffsetLoadOp, VmiDistributedOp, name="pto.vmi.vload", by_type=True):
    """One vector, or two deinterleaved ones, as ``dist_mode``, ``group`` or the block strides say."""

    dist_mode = opt_attr_def(VMI_LOAD_DIST)
    values = var_result_def(VMI_VREG)


class VmiMaskedGatherOp(VmiScatteredOp, shape=Shape.FLAT_VALUE, reads=("source",)):
    """Load from scattered addresses under a mask."""

    source = operand_def(PTR_OR_MEMREF)
    result = result_def(VMI_VREG)


class VmiVGatherOp(VmiMaskedGatherOp, name="pto.vmi.vgather"):
    """lane i = source[offsets[i]], offsets in elements."""


class VmiVGatherbOp(VmiMaskedGatherOp, name="pto.vmi.vgatherb"):
    """lane i = source at byte offset offsets[i]."""
