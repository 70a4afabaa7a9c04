"""Transfers between global memory, L1, L0, the bias table and the fixpipe buffer, as written by programs.

Source: docs/reference/layouts.md, "Transfers".
"""

from __future__ import annotations

from xdsl.irdl import attr_def, operand_def, opt_attr_def, opt_operand_def

from ..core.base import Pipe, PtoOp, Shape
from ..core.forms import BurstOp, LoopedBurstOp, PlainBurstOp, TransferOp
from ..core.kinds import BOOL, I1, I64, PTR_OR_MEMREF, enum
from ..core.roles import Role


class MteGmL1Op(LoopedBurstOp, name="pto.mte_gm_l1", pipe=Pipe.MTE2):
    """Global memory to L1 in strided bursts."""


class MteL1UbOp(LoopedBurstOp, name="pto.mte_l1_ub", pipe=Pipe.MTE1):
    """L1 to the unified buffer in strided bursts."""


class TableBurstOp(BurstOp):
    """Bursts whose gaps are counted between the end of one burst and the start of the next."""

    source = destination = operand_def(PTR_OR_MEMREF)
    len_burst = n_burst = nburst_src_gap = nburst_dst_gap = operand_def(I64)


class MteL1BtOp(TableBurstOp, name="pto.mte_l1_bt", pipe=Pipe.MTE1):
    """L1 to the bias table."""


class MteL1FbOp(TableBurstOp, name="pto.mte_l1_fb", pipe=Pipe.FIX):
    """L1 to the fixpipe buffer (quantisation parameters)."""


class MteUbL1Op(PlainBurstOp, name="pto.mte_ub_l1", pipe=Pipe.MTE3):
    """Unified buffer to L1 in strided bursts."""


class MteGmL1FracOp(
    TransferOp,
    name="pto.mte_gm_l1_frac",
    shape=Shape.FRAC_LOAD,
    pipe=Pipe.MTE2,
    text=(
        "source",
        "destination",
        "n_value",
        "d_value",
        "src_inner_stride",
        "src_outer_stride",
        "group_count",
        "dst_loop2_stride",
        "dst_loop3_stride",
        "dst_loop4_stride",
        "l2_cache_ctrl",
        "smallc0_en",
    ),
    roles=Role.ADDRESSES,
):
    """Global memory matrix to L1 fractals: row-major (nd2nz) or column-major (dn2nz) source to NZ blocks
    (docs/reference/layouts.md, "Loads with a change of layout").
    """

    source = destination = operand_def(PTR_OR_MEMREF)
    n_value = d_value = src_inner_stride = group_count = dst_loop2_stride = dst_loop3_stride = operand_def(I64)
    dst_loop4_stride = l2_cache_ctrl = operand_def(I64)
    smallc0_en = operand_def(I1)
    src_outer_stride = opt_operand_def(I64)
    mode = attr_def(enum("cube_load_frac_mode"))


class L0LoadOp(TransferOp, shape=Shape.L0_LOAD, pipe=Pipe.MTE1, roles=Role.ADDRESSES):
    """L1 fractals to L0. Operands follow each other in the order of the base classes."""


class LeftLoadOp(L0LoadOp):
    """Image of m x k elements from a start position."""

    source = destination = operand_def(PTR_OR_MEMREF)
    m = k = start_row = start_col = opt_operand_def(I64)


class RightLoadOp(L0LoadOp):
    """Image of k x n elements from a start position."""

    source = destination = operand_def(PTR_OR_MEMREF)
    k = n = start_row = start_col = opt_operand_def(I64)


class FractalWindowOp(PtoOp):
    """Window of fractals."""

    m_start = k_start = m_step = k_step = src_stride = dst_stride = opt_operand_def(I64)
    transpose = opt_attr_def(BOOL.by_default("false"))


class ScaleWindowOp(PtoOp):
    """Window of scales."""

    x_start = y_start = x_step = y_step = src_stride = dst_stride = opt_operand_def(I64)


class MteL1L0aOp(LeftLoadOp, FractalWindowOp, name="pto.mte_l1_l0a"):
    """L1 fractals to L0A: m x k elements from a start position, or an explicit window of fractals
    (docs/reference/layouts.md, "Loads into L0").
    """


class MteL1L0bOp(RightLoadOp, FractalWindowOp, name="pto.mte_l1_l0b"):
    """L1 fractals to L0B: k x n elements from a start position, or an explicit window of fractals
    (docs/reference/layouts.md, "Loads into L0").
    """


class MteL1L0aMxOp(LeftLoadOp, ScaleWindowOp, name="pto.mte_l1_l0a_mx", state_writes=("mx_scale",)):
    """MX scales to the scale area of L0A (docs/reference/layouts.md, "MX scales")."""


class MteL1L0bMxOp(RightLoadOp, ScaleWindowOp, name="pto.mte_l1_l0b_mx", state_writes=("mx_scale",)):
    """MX scales to the scale area of L0B (docs/reference/layouts.md, "MX scales")."""
