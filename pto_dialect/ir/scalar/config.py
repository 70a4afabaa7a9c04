"""Registers that later transfers, stores and conversions use. Source: docs/reference/execution.md, "Control words"."""

from __future__ import annotations

from xdsl.irdl import attr_def, operand_def, result_def

from ..core.base import Effect, Pipe, PtoOp, Shape
from ..core.kinds import I16, I64, PAD_VALUE
from ..core.words import SPECIAL_REGISTER


class GetCtrlOp(PtoOp, name="pto.get_ctrl", shape=Shape.NULLARY_TYPED, pipe=Pipe.S, state_reads=("ctrl",)):
    """The CTRL register."""

    result = result_def(I64)


class RegisterWordOp(PtoOp, shape=Shape.FLAT_VOID, pipe=Pipe.S):
    """One register, one 64-bit word."""

    value = operand_def(I64)


class SetCtrlOp(RegisterWordOp, name="pto.set_ctrl", state_writes=("ctrl",)):
    """CTRL = value."""


class BitOp(PtoOp, shape=Shape.FLAT_VALUE, pipe=Pipe.S, effect=Effect.PURE):
    """One bit of a 64-bit value."""

    first = second = operand_def(I64)
    result = result_def(I64)


class Sbitset0Op(BitOp, name="pto.sbitset0"):
    """First with bit ``second`` cleared."""


class Sbitset1Op(BitOp, name="pto.sbitset1"):
    """First with bit ``second`` set."""


class GetVms4SrOp(PtoOp, name="pto.get_vms4_sr", shape=Shape.NULLARY_TYPED, pipe=Pipe.S, state_reads=("vms4_sr",)):
    """How many elements of each list the last ``vmrgsort4`` consumed (docs/reference/vectors.md, "Reductions and
    rearrangement").
    """

    list0 = list1 = list2 = list3 = result_def(I16)


class AtomicModeOp(PtoOp, shape=Shape.NULLARY, pipe=Pipe.S, state_writes=("atomic",)):
    """Mode of the later writes to global memory."""


class SetAtomicNoneOp(AtomicModeOp, name="pto.set_atomic_none", since="august"):
    """Later stores replace the element (docs/reference/execution.md, "Registers of a core")."""


class SetAtomicAddOp(AtomicModeOp, name="pto.set_atomic_add", since="august"):
    """Later stores add to the element (docs/reference/execution.md, "Registers of a core")."""


class SetAtomicMaxOp(AtomicModeOp, name="pto.set_atomic_max", since="august"):
    """Later stores keep the larger element (docs/reference/execution.md, "Registers of a core")."""


class SetAtomicMinOp(AtomicModeOp, name="pto.set_atomic_min", since="august"):
    """Later stores keep the smaller element (docs/reference/execution.md, "Registers of a core")."""


class SetAtomicF32Op(AtomicModeOp, name="pto.set_atomic_f32", since="august"):
    """Later atomic stores combine f32 elements (docs/reference/execution.md, "Registers of a core")."""


class SetAtomicF16Op(AtomicModeOp, name="pto.set_atomic_f16", since="august"):
    """Later atomic stores combine f16 elements (docs/reference/execution.md, "Registers of a core")."""


class SetAtomicBf16Op(AtomicModeOp, name="pto.set_atomic_bf16", since="august"):
    """Later atomic stores combine bf16 elements (docs/reference/execution.md, "Registers of a core")."""


class SetAtomicS16Op(AtomicModeOp, name="pto.set_atomic_s16", since="august"):
    """Later atomic stores combine i16 elements (docs/reference/execution.md, "Registers of a core")."""


class SetAtomicS32Op(AtomicModeOp, name="pto.set_atomic_s32"):
    """Later atomic stores combine i32 elements (docs/reference/execution.md, "Registers of a core")."""


class SetAtomicS8Op(AtomicModeOp, name="pto.set_atomic_s8"):
    """Later atomic stores combine i8 elements (docs/reference/execution.md, "Registers of a core")."""


class SetStoreAtomicCfgOp(
    RegisterWordOp,
    name="pto.set_store_atomic_cfg",
    state_writes=("store_atomic_cfg",),
    since="august",
    unexecuted="no page defines the fields of its control word; the set_atomic operations do the same",
):
    """Atomic type and operation of later accumulator stores as one integer."""


class SetFixClipReluOp(RegisterWordOp, name="pto.set_fix_clip_relu", state_writes=("fix_clip_relu",)):
    """Clip value of the next accumulator store."""


class SetFpcOp(RegisterWordOp, name="pto.set_fpc", state_writes=("fpc",)):
    """Addresses of the relu and quantisation tables in the fixpipe buffer."""


class SetQuantPreOp(RegisterWordOp, name="pto.set_quant_pre", state_writes=("quant_pre",)):
    """Quantisation parameter of the next accumulator store."""


class SetReluAlphaOp(RegisterWordOp, name="pto.set_relu_alpha", state_writes=("relu_alpha",)):
    """Negative slope of the next accumulator store."""


class SetMte2NzParaOp(RegisterWordOp, name="pto.set_mte2_nz_para", state_writes=("mte2_nz_para",)):
    """Group count and destination strides of the next fractal load."""


class SetPadValOuttol1Op(RegisterWordOp, name="pto.set_pad_val_outtol1", state_writes=("pad_val_outtol1",)):
    """Pad value of the next load into L1."""


class SetLoop1StrideOuttol1Op(
    RegisterWordOp, name="pto.set_loop1_stride_outtol1", state_writes=("loop1_stride_outtol1",)
):
    """Source and destination stride of the inner loop of loads into L1."""


class SetLoop2StrideOuttol1Op(
    RegisterWordOp, name="pto.set_loop2_stride_outtol1", state_writes=("loop2_stride_outtol1",)
):
    """Source and destination stride of the outer loop of loads into L1."""


class SetLoopSizeOuttol1Op(RegisterWordOp, name="pto.set_loop_size_outtol1", state_writes=("loop_size_outtol1",)):
    """Counts of both loops of loads into L1."""


class SetMovPadValOp(RegisterWordOp, name="pto.set_mov_pad_val", state_writes=("mov_pad_val",)):
    """Pad element of the next padded load into the unified buffer."""

    value = operand_def(PAD_VALUE)


class RegisterPairOp(PtoOp, shape=Shape.FLAT_VOID, pipe=Pipe.S):
    """One register, two 64-bit operands."""

    first = second = operand_def(I64)


class SetLoop1StrideOuttoubOp(
    RegisterPairOp, name="pto.set_loop1_stride_outtoub", state_writes=("loop1_stride_outtoub",)
):
    """Source and destination stride (bytes) of the inner loop of loads into the unified buffer."""


class SetLoop2StrideOuttoubOp(
    RegisterPairOp, name="pto.set_loop2_stride_outtoub", state_writes=("loop2_stride_outtoub",)
):
    """Source and destination stride (bytes) of the outer loop of loads into the unified buffer."""


class SetLoopSizeOuttoubOp(RegisterPairOp, name="pto.set_loop_size_outtoub", state_writes=("loop_size_outtoub",)):
    """Outer and inner loop count of loads into the unified buffer."""


class SetLoop1StrideUbtooutOp(
    RegisterPairOp, name="pto.set_loop1_stride_ubtoout", state_writes=("loop1_stride_ubtoout",)
):
    """Source and destination stride (bytes) of the inner loop of stores from the unified buffer."""


class SetLoop2StrideUbtooutOp(
    RegisterPairOp, name="pto.set_loop2_stride_ubtoout", state_writes=("loop2_stride_ubtoout",)
):
    """Source and destination stride (bytes) of the outer loop of stores from the unified buffer."""


class SetLoopSizeUbtooutOp(RegisterPairOp, name="pto.set_loop_size_ubtoout", state_writes=("loop_size_ubtoout",)):
    """Outer and inner loop count of stores from the unified buffer."""


class SetChannelParaOp(RegisterPairOp, name="pto.set_channel_para", state_writes=("channel_para",)):
    """Source stride of the inner loop of the next accumulator store."""


class SetLoop3ParaOp(RegisterPairOp, name="pto.set_loop3_para", state_writes=("loop3_para",)):
    """Count and strides of the outer loop of the next accumulator store."""


class SprclrOp(PtoOp, name="pto.sprclr", shape=Shape.LEAD_STRING, pipe=Pipe.S, state_writes=("ar",)):
    """special register = 0 (docs/reference/vectors.md, "Loads and stores")."""

    spr = attr_def(SPECIAL_REGISTER)
