"""Write-back of L0C accumulators: quantise, relu, clip, convert, lay out, combine atomically in memory."""

from __future__ import annotations

from xdsl.irdl import attr_def, operand_def, opt_attr_def, opt_operand_def

from ..core.base import Pipe, PtoOp, Shape
from ..core.kinds import I64, INT_OR_FLOAT, PAYLOAD, PTR, PTR_OR_MEMREF, enum
from ..core.roles import Role


class MteL0cGmOp(
    PtoOp,
    shape=Shape.ACC_STORE,
    pipe=Pipe.FIX,
    reads=("source", "pre_quant", "pre_relu", "destination"),
    writes=("destination",),
    text=(
        "source",
        "destination",
        "m",
        "n",
        "src_stride",
        "dst_stride",
        "sid",
        "l2_cache_ctrl",
        "pre_quant",
        "pre_relu",
        "clip_value",
        "loop0_src_stride",
        "split",
        "loop3_count",
        "loop3_src_stride",
        "loop3_dst_stride",
    ),
    typed=(
        "source",
        "destination",
        "m",
        "n",
        "src_stride",
        "dst_stride",
        "sid",
        "l2_cache_ctrl",
        "pre_quant",
        "pre_relu",
        "clip_value",
        "split",
        "loop0_src_stride",
        "loop3_count",
        "loop3_src_stride",
        "loop3_dst_stride",
    ),
    tokens=("unit_flag", "pre_quant_mode", "pre_relu_mode", "mode", "sat_mode", "atomic_type", "atomic_op"),
    roles=Role.ADDRESSES,
):
    """L0C to global memory; ``destination`` is read as well when an atomic clause is given
    (docs/reference/numerics.md, "Write-back"; docs/reference/layouts.md, "Write-back addresses").
    """

    name = "pto.mte_l0c_gm"
    source = operand_def(PTR_OR_MEMREF)
    destination = operand_def(PTR_OR_MEMREF)
    m = operand_def(I64)
    n = operand_def(I64)
    src_stride = operand_def(I64)
    dst_stride = operand_def(I64)
    pre_quant = opt_operand_def(PAYLOAD)
    pre_relu = opt_operand_def(PAYLOAD)
    clip_value = opt_operand_def(INT_OR_FLOAT)
    sid = operand_def(I64)
    l2_cache_ctrl = operand_def(I64)
    split = opt_operand_def(I64)
    loop0_src_stride = opt_operand_def(I64)
    loop3_count = opt_operand_def(I64)
    loop3_src_stride = opt_operand_def(I64)
    loop3_dst_stride = opt_operand_def(I64)
    mode = opt_attr_def(enum("acc_store_mode"))
    unit_flag = opt_attr_def(enum("unit_flag_ctrl"))
    pre_quant_mode = opt_attr_def(enum("quant_pre_mode"))
    pre_relu_mode = opt_attr_def(enum("relu_pre_mode"))
    atomic_type = opt_attr_def(enum("acc_store_atomic_type"))
    atomic_op = opt_attr_def(enum("acc_store_atomic_op"))
    sat_mode = opt_attr_def(enum("acc_store_sat_mode"))


class MteL0cL1Op(
    PtoOp,
    shape=Shape.ACC_STORE,
    pipe=Pipe.FIX,
    reads=("source", "pre_quant", "pre_relu"),
    writes=("destination",),
    text=(
        "source",
        "destination",
        "m",
        "n",
        "src_stride",
        "dst_stride",
        "pre_quant",
        "pre_relu",
        "clip_value",
        "loop0_src_stride",
        "split",
        "loop3_count",
        "loop3_src_stride",
        "loop3_dst_stride",
    ),
    typed=(
        "source",
        "destination",
        "m",
        "n",
        "src_stride",
        "dst_stride",
        "pre_quant",
        "pre_relu",
        "clip_value",
        "split",
        "loop0_src_stride",
        "loop3_count",
        "loop3_src_stride",
        "loop3_dst_stride",
    ),
    tokens=("unit_flag", "pre_quant_mode", "pre_relu_mode", "mode", "sat_mode"),
    roles=Role.ADDRESSES,
):
    """L0C to L1 (docs/reference/numerics.md, "Write-back"; docs/reference/layouts.md, "Write-back addresses")."""

    name = "pto.mte_l0c_l1"
    source = operand_def(PTR_OR_MEMREF)
    destination = operand_def(PTR_OR_MEMREF)
    m = operand_def(I64)
    n = operand_def(I64)
    src_stride = operand_def(I64)
    dst_stride = operand_def(I64)
    pre_quant = opt_operand_def(PAYLOAD)
    pre_relu = opt_operand_def(PAYLOAD)
    clip_value = opt_operand_def(INT_OR_FLOAT)
    split = opt_operand_def(I64)
    loop0_src_stride = opt_operand_def(I64)
    loop3_count = opt_operand_def(I64)
    loop3_src_stride = opt_operand_def(I64)
    loop3_dst_stride = opt_operand_def(I64)
    mode = opt_attr_def(enum("acc_store_mode"))
    unit_flag = opt_attr_def(enum("unit_flag_ctrl"))
    pre_quant_mode = opt_attr_def(enum("quant_pre_mode"))
    pre_relu_mode = opt_attr_def(enum("relu_pre_mode"))
    atomic_type = opt_attr_def(enum("acc_store_atomic_type"))
    atomic_op = opt_attr_def(enum("acc_store_atomic_op"))
    sat_mode = opt_attr_def(enum("acc_store_sat_mode"))


class MteL0cUbOp(
    PtoOp,
    shape=Shape.ACC_STORE,
    pipe=Pipe.FIX,
    reads=("source", "pre_quant", "pre_relu"),
    writes=("destination",),
    text=(
        "source",
        "destination",
        "m",
        "n",
        "src_stride",
        "dst_stride",
        "sub_blockid",
        "pre_quant",
        "pre_relu",
        "clip_value",
        "loop0_src_stride",
        "split",
        "loop3_count",
        "loop3_src_stride",
        "loop3_dst_stride",
    ),
    typed=(
        "source",
        "destination",
        "m",
        "n",
        "src_stride",
        "dst_stride",
        "sub_blockid",
        "pre_quant",
        "pre_relu",
        "clip_value",
        "split",
        "loop0_src_stride",
        "loop3_count",
        "loop3_src_stride",
        "loop3_dst_stride",
    ),
    tokens=("dst_mode", "unit_flag", "pre_quant_mode", "pre_relu_mode", "mode", "sat_mode"),
    roles=Role.ADDRESSES,
):
    """L0C to the unified buffer of one vector core (``sub_blockid``) or split over both
    (docs/reference/numerics.md, "Write-back"; docs/reference/layouts.md, "Write-back addresses").
    """

    name = "pto.mte_l0c_ub"
    source = operand_def(PTR_OR_MEMREF)
    destination = operand_def(PTR_OR_MEMREF)
    m = operand_def(I64)
    n = operand_def(I64)
    src_stride = operand_def(I64)
    dst_stride = operand_def(I64)
    pre_quant = opt_operand_def(PAYLOAD)
    pre_relu = opt_operand_def(PAYLOAD)
    clip_value = opt_operand_def(INT_OR_FLOAT)
    sub_blockid = opt_operand_def(I64)
    split = opt_operand_def(I64)
    loop0_src_stride = opt_operand_def(I64)
    loop3_count = opt_operand_def(I64)
    loop3_src_stride = opt_operand_def(I64)
    loop3_dst_stride = opt_operand_def(I64)
    dst_mode = attr_def(enum("acc_store_ub_dst_mode"))
    mode = opt_attr_def(enum("acc_store_mode"))
    unit_flag = opt_attr_def(enum("unit_flag_ctrl"))
    pre_quant_mode = opt_attr_def(enum("quant_pre_mode"))
    pre_relu_mode = opt_attr_def(enum("relu_pre_mode"))
    sat_mode = opt_attr_def(enum("acc_store_sat_mode"))


class PackedWriteBackOp(
    PtoOp,
    shape=Shape.FLAT_VOID,
    pipe=Pipe.FIX,
    reads=("source",),
    writes=("destination",),
):
    """Write-back whose sizes and modes are bit fields of two configuration words."""

    source = operand_def(PTR)
    destination = operand_def(PTR)
    config0 = operand_def(I64)
    config1 = operand_def(I64)


class CopyMatrixCcToCbufOp(PackedWriteBackOp):
    """L0C to L1, sizes and modes packed in two words (docs/reference/execution.md, "Control words")."""

    name = "pto.copy_matrix_cc_to_cbuf"


class CopyMatrixCcToUbOp(PackedWriteBackOp):
    """L0C to the unified buffer, sizes and modes packed in two words (docs/reference/execution.md, "Control words")."""

    name = "pto.copy_matrix_cc_to_ub"


class CopyMatrixCcToGmOp(
    PtoOp,
    shape=Shape.FLAT_VOID,
    pipe=Pipe.FIX,
    reads=("source",),
    writes=("destination",),
):
    """L0C to global memory, sizes and modes packed in the words xm and xt (docs/reference/execution.md, "Control
    words").
    """

    name = "pto.copy_matrix_cc_to_gm"
    source = operand_def(PTR)
    destination = operand_def(PTR)
    xm = operand_def(I64)
    xt = operand_def(I64)
