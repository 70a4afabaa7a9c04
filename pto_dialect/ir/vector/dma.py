"""Transfers between global memory and the unified buffer of a vector core.

Source: docs/reference/layouts.md, "Transfers".
"""

from __future__ import annotations

from xdsl.irdl import operand_def, opt_operand_def

from ..core.base import Pipe
from ..core.forms import BurstStridesOp, CopyOp, LoopsOp, NumberedCopyOp, PaddingOp, PlainBurstOp
from ..core.kinds import I1, I64, PTR_OR_MEMREF


class MteGmUbOp(BurstStridesOp, LoopsOp, PaddingOp, name="pto.mte_gm_ub", pipe=Pipe.MTE2):
    """Global memory to the unified buffer: bursts of ``len_burst`` bytes, outer loops, optional padding of each
    burst."""

    source = destination = operand_def(PTR_OR_MEMREF)
    l2_cache_ctl = len_burst = operand_def(I64)


class MteUbGmOp(LoopsOp, name="pto.mte_ub_gm", pipe=Pipe.MTE3):
    """Unified buffer to global memory: bursts of ``len_burst`` bytes, outer loops."""

    source = destination = operand_def(PTR_OR_MEMREF)
    len_burst = n_burst = nburst_src_stride = nburst_dst_stride = operand_def(I64)
    l2_cache_ctl = opt_operand_def(I64)


class MteUbUbOp(PlainBurstOp, name="pto.mte_ub_ub", pipe=Pipe.V):
    """Copy inside the unified buffer, ``n_burst`` strided bursts."""


class CopyGmToUbufOp(CopyOp, name="pto.copy_gm_to_ubuf", pipe=Pipe.MTE2):
    """Global memory to the unified buffer; outer loops come from the loop registers."""

    source = destination = operand_def(PTR_OR_MEMREF)
    sid = n_burst = len_burst = left_padding_count = right_padding_count = operand_def(I64)
    data_select_bit = operand_def(I1)
    l2_cache_ctl = gm_stride = ub_stride = operand_def(I64)


class CopyUbufToGmOp(CopyOp, name="pto.copy_ubuf_to_gm", pipe=Pipe.MTE3):
    """Unified buffer to global memory; outer loops come from the loop registers."""

    source = destination = operand_def(PTR_OR_MEMREF)
    sid = n_burst = len_burst = l2_cache_ctl = burst_dst_stride = burst_src_stride = operand_def(I64)


class CopyUbufToUbufOp(NumberedCopyOp, name="pto.copy_ubuf_to_ubuf", pipe=Pipe.V):
    """Copy inside the unified buffer, ``n_burst`` strided bursts."""
