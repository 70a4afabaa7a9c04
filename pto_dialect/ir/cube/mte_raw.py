"""Transfers into L1, L0 and the parameter tables in hardware encoding, outer loops in registers.

Source: docs/reference/layouts.md, "Transfers".
"""

from __future__ import annotations

from xdsl.irdl import attr_def, operand_def, opt_attr_def, var_operand_def

from ..core.base import Pipe, PtoOp, Shape
from ..core.facts.unexecuted import FILLED_BYTES, RAW_LOAD
from ..core.forms import CopyOp, NumberedCopyOp, StridedCopyOp
from ..core.kinds import BOOL, I1, I32, I64, I64_ATTR, PTR, PTR_OR_MEMREF


class CopyGmToCbufOp(StridedCopyOp, name="pto.copy_gm_to_cbuf", pipe=Pipe.MTE2):
    """Global memory to L1, ``n_burst`` strided bursts."""

    source = destination = operand_def(PTR)


class CopyCbufToUbufOp(NumberedCopyOp, name="pto.copy_cbuf_to_ubuf", pipe=Pipe.MTE1):
    """L1 to the unified buffer."""


class CopyUbufToCbufOp(NumberedCopyOp, name="pto.copy_ubuf_to_cbuf", pipe=Pipe.MTE3):
    """Unified buffer to L1."""


class TableCopyOp(CopyOp):
    """Bursts into a parameter table, with gaps."""

    n_burst = len_burst = source_gap = dst_gap = operand_def(I64)


class CopyCbufToBtOp(TableCopyOp, name="pto.copy_cbuf_to_bt", pipe=Pipe.MTE1):
    """L1 to the bias table; ``conv_control`` converts f16 to f32."""

    source = destination = operand_def(PTR)
    conv_control = operand_def(I1)


class CopyCbufToFbufOp(TableCopyOp, name="pto.copy_cbuf_to_fbuf", pipe=Pipe.FIX):
    """L1 to the fixpipe buffer."""

    source = destination = operand_def(PTR)


class FractalLoadOp(CopyOp, pipe=Pipe.MTE2, unexecuted=RAW_LOAD):
    """Global matrix to L1 fractals; destination strides come from the ``set_mte2_nz_para`` register."""

    source = destination = operand_def(PTR)
    sid = loop1_src_stride = l2_cache_ctrl = n_value = d_value = loop4_src_stride = operand_def(I64)
    smallc0_en = operand_def(I1)


class CopyGmToCbufMultiDn2nzOp(FractalLoadOp, name="pto.copy_gm_to_cbuf_multi_dn2nz"):
    """Column-major matrices to NZ fractals (docs/reference/layouts.md, "Loads with a change of layout")."""


class CopyGmToCbufMultiNd2nzOp(FractalLoadOp, name="pto.copy_gm_to_cbuf_multi_nd2nz"):
    """Row-major matrices to NZ fractals (docs/reference/layouts.md, "Loads with a change of layout")."""


class RawWindowOp(CopyOp, pipe=Pipe.MTE1):
    """Copies a window of 512-byte fractals."""

    source = destination = operand_def(PTR)
    m_start = k_start = m_step = k_step = src_stride = dst_stride = operand_def(I64)


class TransposedOp(PtoOp):
    """Says with its last operand whether 4-bit integers are transposed."""

    transpose = operand_def(I64)


class FractalCopyOp(RawWindowOp):
    """Copies a window of fractals, transposed or not."""

    transpose = opt_attr_def(BOOL.by_default("false"))


class LoadCbufToCaOp(FractalCopyOp, name="pto.load_cbuf_to_ca"):
    """L1 fractals to L0A (docs/reference/layouts.md, "Fractal copies")."""


class LoadCbufToCbOp(FractalCopyOp, name="pto.load_cbuf_to_cb"):
    """L1 fractals to L0B (docs/reference/layouts.md, "Fractal copies")."""


class Int4FractalCopyOp(RawWindowOp, TransposedOp):
    """Copies a window of fractals of 4-bit integers."""


class LoadCbufToCaS4Op(Int4FractalCopyOp, name="pto.load_cbuf_to_ca_s4"):
    """L1 fractals of 4-bit integers to L0A (docs/reference/layouts.md, "Fractal copies")."""


class LoadCbufToCbS4Op(Int4FractalCopyOp, name="pto.load_cbuf_to_cb_s4"):
    """L1 fractals of 4-bit integers to L0B (docs/reference/layouts.md, "Fractal copies")."""


class LoadCbufToCaMxOp(CopyOp, name="pto.load_cbuf_to_ca_mx", pipe=Pipe.MTE1, unexecuted=RAW_LOAD):
    """MX scales to L0A; controls are x and y start, x and y step, source and destination stride, or m and k
    only (docs/reference/layouts.md, "MX scales").
    """

    source = destination = operand_def(PTR)
    controls = var_operand_def(I64)


class LoadCbufToCbMxOp(CopyOp, name="pto.load_cbuf_to_cb_mx", pipe=Pipe.MTE1, unexecuted=RAW_LOAD):
    """MX scales to L0B (docs/reference/layouts.md, "MX scales")."""

    source = destination = operand_def(PTR)
    x_start_position = y_start_position = x_step = y_step = src_stride = dst_stride = operand_def(I64)


class FillOp(PtoOp, shape=Shape.FLAT_VOID, pipe=Pipe.MTE2, writes=("dst",), since="august", unexecuted=FILLED_BYTES):
    """Fills runs of blocks of L1 with a constant word."""

    raw_value = operand_def(I32)
    repeat_times = block_num_32b = dst_gap_32b = operand_def(I64)
    fill_word_bits = attr_def(I64_ATTR)


class CreateCbufMatrixOp(FillOp, name="pto.create_cbuf_matrix"):
    """Fills ``repeat_times`` runs of ``block_num_32b`` 32-byte blocks of L1 with a constant word
    (docs/reference/execution.md, "Registers of a core").
    """

    dst = operand_def(PTR)


class RawFillL1Op(FillOp, name="pto.raw_fill_l1"):
    """As ``create_cbuf_matrix``, starting at a byte offset (docs/reference/execution.md, "Registers of a core")."""

    dst = operand_def(PTR_OR_MEMREF)
    byte_offset = operand_def(I64)
