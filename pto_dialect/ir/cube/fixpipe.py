"""Write-back of L0C accumulators: quantise, relu, clip, convert, lay out, combine atomically in memory.

Source: docs/reference/numerics.md, "Write-back"; docs/reference/layouts.md, "Write-back addresses".
"""

from __future__ import annotations

from xdsl.irdl import attr_def, operand_def, opt_attr_def, opt_operand_def

from ..core.base import Pipe, PtoOp, Shape
from ..core.facts.unexecuted import CONTROL_WORD
from ..core.forms import CopyOp, TransferOp
from ..core.kinds import I64, INT_OR_FLOAT, PAYLOAD, PTR, PTR_OR_MEMREF, enum
from ..core.roles import Role
from .clauses import ACC_STORE

_FIRST = ("source", "destination", "m", "n", "src_stride", "dst_stride")
_LOOP3 = ("loop3_count", "loop3_src_stride", "loop3_dst_stride")


def _in_text(*own: str) -> tuple[str, ...]:
    """Returns the operands in text order; ``own`` are those that only one destination has."""
    return (*_FIRST, *own, "pre_quant", "pre_relu", "clip_value", "loop0_src_stride", "split", *_LOOP3)


def _typed(*own: str) -> tuple[str, ...]:
    """Returns the operands in the order of their types."""
    return (*_FIRST, *own, "pre_quant", "pre_relu", "clip_value", "split", "loop0_src_stride", *_LOOP3)


class WriteBackOp(
    TransferOp,
    shape=Shape.ACC_STORE,
    pipe=Pipe.FIX,
    reads=("source", "pre_quant", "pre_relu"),
    text=_in_text(),
    typed=_typed(),
    clauses=ACC_STORE,
    roles=Role.ADDRESSES,
):
    """What the write-backs with clauses begin with. Operands follow each other in the order of the base classes."""

    source = destination = operand_def(PTR_OR_MEMREF)
    m = n = src_stride = dst_stride = operand_def(I64)
    pre_quant = pre_relu = opt_operand_def(PAYLOAD)
    clip_value = opt_operand_def(INT_OR_FLOAT)
    mode = opt_attr_def(enum("acc_store_mode"))
    unit_flag = opt_attr_def(enum("unit_flag_ctrl"))
    pre_quant_mode = opt_attr_def(enum("quant_pre_mode"))
    pre_relu_mode = opt_attr_def(enum("relu_pre_mode"))
    sat_mode = opt_attr_def(enum("acc_store_sat_mode"))


class RepeatedWriteBackOp(PtoOp):
    """What the write-backs with clauses end with."""

    split = loop0_src_stride = loop3_count = loop3_src_stride = loop3_dst_stride = opt_operand_def(I64)


class SidedWriteBackOp(PtoOp):
    """What only the write-back to global memory has."""

    sid = l2_cache_ctrl = operand_def(I64)


class SplitWriteBackOp(PtoOp):
    """What only the write-back to vector cores has."""

    sub_blockid = opt_operand_def(I64)


class MteL0cGmOp(
    WriteBackOp,
    SidedWriteBackOp,
    RepeatedWriteBackOp,
    name="pto.mte_l0c_gm",
    reads=("source", "pre_quant", "pre_relu", "destination"),
    text=_in_text("sid", "l2_cache_ctrl"),
    typed=_typed("sid", "l2_cache_ctrl"),
):
    """destination = source (L0C to global memory), converted and arranged as the clauses say, or combined with it."""

    atomic_type = opt_attr_def(enum("acc_store_atomic_type"))
    atomic_op = opt_attr_def(enum("acc_store_atomic_op"))


class MteL0cL1Op(WriteBackOp, RepeatedWriteBackOp, name="pto.mte_l0c_l1", in_braces=("atomic_type", "atomic_op")):
    """destination = source (L0C to L1), converted and arranged as the clauses say."""

    atomic_type = opt_attr_def(enum("acc_store_atomic_type"))
    atomic_op = opt_attr_def(enum("acc_store_atomic_op"))


class MteL0cUbOp(
    WriteBackOp,
    SplitWriteBackOp,
    RepeatedWriteBackOp,
    name="pto.mte_l0c_ub",
    text=_in_text("sub_blockid"),
    typed=_typed("sub_blockid"),
):
    """destination = source (L0C to the unified buffer of one vector core, ``sub_blockid``, or split over both)."""

    dst_mode = attr_def(enum("acc_store_ub_dst_mode"))


class PackedWriteBackOp(CopyOp, pipe=Pipe.FIX, unexecuted=CONTROL_WORD):
    """Write-back whose sizes and modes are bit fields of two configuration words."""

    source = destination = operand_def(PTR)
    config0 = config1 = operand_def(I64)


class CopyMatrixCcToCbufOp(PackedWriteBackOp, name="pto.copy_matrix_cc_to_cbuf"):
    """L0C to L1, sizes and modes in two control words (docs/reference/execution.md, "Control words")."""


class CopyMatrixCcToUbOp(PackedWriteBackOp, name="pto.copy_matrix_cc_to_ub"):
    """L0C to the UB, sizes and modes in two control words (docs/reference/execution.md, "Control words")."""


class CopyMatrixCcToGmOp(CopyOp, name="pto.copy_matrix_cc_to_gm", pipe=Pipe.FIX, unexecuted=CONTROL_WORD):
    """L0C to global memory, sizes and modes in the control words xm and xt
    (docs/reference/execution.md, "Control words").
    """

    source = destination = operand_def(PTR)
    xm = xt = operand_def(I64)
