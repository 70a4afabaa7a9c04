"""Registers that later transfers, stores and conversions use."""

from __future__ import annotations

from xdsl.irdl import attr_def, operand_def, result_def

from ..core.base import Effect, Pipe, PtoOp, Shape
from ..core.kinds import I16, I64, PAD_VALUE
from ..core.words import SPECIAL_REGISTER


class GetCtrlOp(PtoOp, shape=Shape.NULLARY_TYPED, pipe=Pipe.S, state_reads=("ctrl",)):
    """The CTRL register (docs/reference/execution.md, "Control words")."""

    name = "pto.get_ctrl"
    result = result_def(I64)


class SetCtrlOp(PtoOp, shape=Shape.FLAT_VOID, pipe=Pipe.S, state_writes=("ctrl",)):
    """CTRL = value (docs/reference/execution.md, "Control words")."""

    name = "pto.set_ctrl"
    value = operand_def(I64)


class BitOp(PtoOp, shape=Shape.FLAT_VALUE, pipe=Pipe.S, effect=Effect.PURE):
    """One bit of a 64-bit value."""

    first = second = operand_def(I64)
    result = result_def(I64)


class Sbitset0Op(BitOp):
    """First with bit ``second`` cleared (docs/reference/execution.md, "Control words")."""

    name = "pto.sbitset0"


class Sbitset1Op(BitOp):
    """First with bit ``second`` set (docs/reference/execution.md, "Control words")."""

    name = "pto.sbitset1"


class GetVms4SrOp(PtoOp, shape=Shape.NULLARY_TYPED, pipe=Pipe.S, state_reads=("vms4_sr",)):
    """How many elements of each list the last ``vmrgsort4`` consumed (docs/reference/vectors.md, "Reductions and
    rearrangement").
    """

    name = "pto.get_vms4_sr"
    list0 = list1 = list2 = list3 = result_def(I16)


class AtomicModeOp(PtoOp, shape=Shape.NULLARY, pipe=Pipe.S, state_writes=("atomic",)):
    """Mode of the later writes to global memory."""


class SetAtomicNoneOp(AtomicModeOp, since="august"):
    """Later stores replace the element (docs/reference/execution.md, "Registers of a core")."""

    name = "pto.set_atomic_none"


class SetAtomicAddOp(AtomicModeOp, since="august"):
    """Later stores add to the element (docs/reference/execution.md, "Registers of a core")."""

    name = "pto.set_atomic_add"


class SetAtomicMaxOp(AtomicModeOp, since="august"):
    """Later stores keep the larger element (docs/reference/execution.md, "Registers of a core")."""

    name = "pto.set_atomic_max"


class SetAtomicMinOp(AtomicModeOp, since="august"):
    """Later stores keep the smaller element (docs/reference/execution.md, "Registers of a core")."""

    name = "pto.set_atomic_min"


class SetAtomicF32Op(AtomicModeOp, since="august"):
    """Later atomic stores combine f32 elements (docs/reference/execution.md, "Registers of a core")."""

    name = "pto.set_atomic_f32"


class SetAtomicF16Op(AtomicModeOp, since="august"):
    """Later atomic stores combine f16 elements (docs/reference/execution.md, "Registers of a core")."""

    name = "pto.set_atomic_f16"


class SetAtomicBf16Op(AtomicModeOp, since="august"):
    """Later atomic stores combine bf16 elements (docs/reference/execution.md, "Registers of a core")."""

    name = "pto.set_atomic_bf16"


class SetAtomicS16Op(AtomicModeOp, since="august"):
    """Later atomic stores combine i16 elements (docs/reference/execution.md, "Registers of a core")."""

    name = "pto.set_atomic_s16"


class SetAtomicS32Op(AtomicModeOp):
    """Later atomic stores combine i32 elements (docs/reference/execution.md, "Registers of a core")."""

    name = "pto.set_atomic_s32"


class SetAtomicS8Op(AtomicModeOp):
    """Later atomic stores combine i8 elements (docs/reference/execution.md, "Registers of a core")."""

    name = "pto.set_atomic_s8"


class SetStoreAtomicCfgOp(
    PtoOp,
    shape=Shape.FLAT_VOID,
    pipe=Pipe.S,
    state_writes=("store_atomic_cfg",),
    since="august",
    unexecuted="no page defines the fields of its word; the set_atomic operations do the same",
):
    """Atomic type and operation of later accumulator stores as one word (docs/reference/execution.md, "Control
    words").
    """

    name = "pto.set_store_atomic_cfg"
    value = operand_def(I64)


class RegisterWordOp(PtoOp, shape=Shape.FLAT_VOID, pipe=Pipe.S):
    """One register, one word."""

    value = operand_def(I64)


class SetFixClipReluOp(RegisterWordOp, state_writes=("fix_clip_relu",)):
    """Clip value of the next accumulator store (docs/reference/execution.md, "Control words")."""

    name = "pto.set_fix_clip_relu"


class SetFpcOp(RegisterWordOp, state_writes=("fpc",)):
    """Addresses of the relu and quantisation tables in the fixpipe buffer (docs/reference/execution.md, "Control
    words").
    """

    name = "pto.set_fpc"


class SetQuantPreOp(RegisterWordOp, state_writes=("quant_pre",)):
    """Quantisation parameter of the next accumulator store (docs/reference/execution.md, "Control words")."""

    name = "pto.set_quant_pre"


class SetReluAlphaOp(RegisterWordOp, state_writes=("relu_alpha",)):
    """Negative slope of the next accumulator store (docs/reference/execution.md, "Control words")."""

    name = "pto.set_relu_alpha"


class SetMte2NzParaOp(RegisterWordOp, state_writes=("mte2_nz_para",)):
    """Group count and destination strides of the next fractal load (docs/reference/execution.md, "Control words")."""

    name = "pto.set_mte2_nz_para"


class SetPadValOuttol1Op(RegisterWordOp, state_writes=("pad_val_outtol1",)):
    """Pad value of the next load into L1 (docs/reference/execution.md, "Control words")."""

    name = "pto.set_pad_val_outtol1"


class SetLoop1StrideOuttol1Op(RegisterWordOp, state_writes=("loop1_stride_outtol1",)):
    """Source and destination stride of the inner loop of loads into L1 (docs/reference/execution.md, "Control
    words").
    """

    name = "pto.set_loop1_stride_outtol1"


class SetLoop2StrideOuttol1Op(RegisterWordOp, state_writes=("loop2_stride_outtol1",)):
    """Source and destination stride of the outer loop of loads into L1 (docs/reference/execution.md, "Control
    words").
    """

    name = "pto.set_loop2_stride_outtol1"


class SetLoopSizeOuttol1Op(RegisterWordOp, state_writes=("loop_size_outtol1",)):
    """Counts of both loops of loads into L1 (docs/reference/execution.md, "Control words")."""

    name = "pto.set_loop_size_outtol1"


class SetMovPadValOp(PtoOp, shape=Shape.FLAT_VOID, pipe=Pipe.S, state_writes=("mov_pad_val",)):
    """Pad element of the next padded load into the unified buffer (docs/reference/execution.md, "Control words")."""

    name = "pto.set_mov_pad_val"
    value = operand_def(PAD_VALUE)


class RegisterPairOp(PtoOp, shape=Shape.FLAT_VOID, pipe=Pipe.S):
    """One register, two words."""

    first = second = operand_def(I64)


class SetLoop1StrideOuttoubOp(RegisterPairOp, state_writes=("loop1_stride_outtoub",)):
    """Source and destination stride (bytes) of the inner loop of loads into the unified buffer
    (docs/reference/execution.md, "Control words").
    """

    name = "pto.set_loop1_stride_outtoub"


class SetLoop2StrideOuttoubOp(RegisterPairOp, state_writes=("loop2_stride_outtoub",)):
    """Source and destination stride (bytes) of the outer loop of loads into the unified buffer
    (docs/reference/execution.md, "Control words").
    """

    name = "pto.set_loop2_stride_outtoub"


class SetLoopSizeOuttoubOp(RegisterPairOp, state_writes=("loop_size_outtoub",)):
    """Outer and inner loop count of loads into the unified buffer (docs/reference/execution.md, "Control words")."""

    name = "pto.set_loop_size_outtoub"


class SetLoop1StrideUbtooutOp(RegisterPairOp, state_writes=("loop1_stride_ubtoout",)):
    """Source and destination stride (bytes) of the inner loop of stores from the unified buffer
    (docs/reference/execution.md, "Control words").
    """

    name = "pto.set_loop1_stride_ubtoout"


class SetLoop2StrideUbtooutOp(RegisterPairOp, state_writes=("loop2_stride_ubtoout",)):
    """Source and destination stride (bytes) of the outer loop of stores from the unified buffer
    (docs/reference/execution.md, "Control words").
    """

    name = "pto.set_loop2_stride_ubtoout"


class SetLoopSizeUbtooutOp(RegisterPairOp, state_writes=("loop_size_ubtoout",)):
    """Outer and inner loop count of stores from the unified buffer (docs/reference/execution.md, "Control words")."""

    name = "pto.set_loop_size_ubtoout"


class SetChannelParaOp(RegisterPairOp, state_writes=("channel_para",)):
    """Source stride of the inner loop of the next accumulator store (docs/reference/execution.md, "Control words")."""

    name = "pto.set_channel_para"


class SetLoop3ParaOp(RegisterPairOp, state_writes=("loop3_para",)):
    """Count and strides of the outer loop of the next accumulator store (docs/reference/execution.md, "Control
    words").
    """

    name = "pto.set_loop3_para"


class SprclrOp(PtoOp, shape=Shape.LEAD_STRING, pipe=Pipe.S, state_writes=("ar",)):
    """special register = 0 (docs/reference/vectors.md, "Loads and stores")."""

    name = "pto.sprclr"
    spr = attr_def(SPECIAL_REGISTER)
