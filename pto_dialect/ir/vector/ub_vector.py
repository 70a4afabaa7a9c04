"""Vector instructions of the older chips: unified buffer to unified buffer under the mask register.

``repeat`` runs of 256 bytes; block strides separate the 32-byte blocks of a run, repeat strides the runs.

Source: docs/reference/language.md, "Versions".
"""

from __future__ import annotations

from xdsl.irdl import operand_def

from ..core.base import Pipe, PtoOp, Shape
from ..core.kinds import I64, PTR


class MaskedRunsOp(PtoOp, shape=Shape.FLAT_VOID, pipe=Pipe.V, writes=("dst",), state_reads=("mask",), since="august"):
    """Runs along vectors in the unified buffer under the mask register."""


class StridedOp(MaskedRunsOp):
    """Goes along both vectors in repeats; strides in blocks of 32 bytes."""

    repeat = dstBlockStride = srcBlockStride = dstRepeatStride = srcRepeatStride = operand_def(I64)


class UbSetMaskOp(
    PtoOp, name="pto.ub.set_mask", shape=Shape.FLAT_VOID, pipe=Pipe.V, state_writes=("mask",), since="august"
):
    """mask register = mask1:mask0."""

    mask0 = mask1 = operand_def(I64)


class MaskModeOp(PtoOp, shape=Shape.NULLARY, pipe=Pipe.V, state_writes=("mask",), since="august"):
    """What the mask register holds."""


class UbSetMaskNormOp(MaskModeOp, name="pto.ub.set_mask_norm"):
    """Mask bits select lanes."""


class UbSetMaskCountOp(MaskModeOp, name="pto.ub.set_mask_count"):
    """Mask value counts elements."""


class UbUnaryOp(StridedOp, reads=("src",)):
    """One source."""

    dst = src = operand_def(PTR)


class UbVAbsOp(UbUnaryOp, name="pto.ub.vabs"):
    """dst = |src|."""


class UbVExpOp(UbUnaryOp, name="pto.ub.vexp"):
    """dst = e^src."""


class UbVLnOp(UbUnaryOp, name="pto.ub.vln"):
    """dst = natural logarithm of src."""


class UbVNotOp(UbUnaryOp, name="pto.ub.vnot"):
    """dst = bitwise complement of src."""


class UbVReluOp(UbUnaryOp, name="pto.ub.vrelu"):
    """dst = max(src, 0)."""


class UbVRsqrtOp(UbUnaryOp, name="pto.ub.vrsqrt"):
    """dst = 1 / square root of src."""


class UbVSqrtOp(UbUnaryOp, name="pto.ub.vsqrt"):
    """dst = square root of src."""


class UbVDupOp(StridedOp, name="pto.ub.vdup"):
    """dst = scalar."""

    dst = operand_def(PTR)
    scalar = operand_def(I64)


class UbBinaryOp(MaskedRunsOp, reads=("src0", "src1")):
    """Two sources."""

    dst = src0 = src1 = operand_def(PTR)
    repeat = dstBlockStride = src0BlockStride = src1BlockStride = dstRepeatStride = operand_def(I64)
    src0RepeatStride = src1RepeatStride = operand_def(I64)


class UbVAddOp(UbBinaryOp, name="pto.ub.vadd"):
    """dst = src0 + src1."""


class UbVAddreluOp(UbBinaryOp, name="pto.ub.vaddrelu"):
    """dst = max(src0 + src1, 0)."""


class UbVSubOp(UbBinaryOp, name="pto.ub.vsub"):
    """dst = src0 − src1."""


class UbVMulOp(UbBinaryOp, name="pto.ub.vmul"):
    """dst = src0 · src1."""


class UbVDivOp(UbBinaryOp, name="pto.ub.vdiv"):
    """dst = src0 / src1."""


class UbVMaxOp(UbBinaryOp, name="pto.ub.vmax"):
    """dst = max(src0, src1)."""


class UbVMinOp(UbBinaryOp, name="pto.ub.vmin"):
    """dst = min(src0, src1)."""


class UbVAndOp(UbBinaryOp, name="pto.ub.vand"):
    """dst = src0 & src1."""


class UbVOrOp(UbBinaryOp, name="pto.ub.vor"):
    """dst = src0 | src1."""


class UbScalarOp(StridedOp, reads=("src",)):
    """One source and a scalar in a 64-bit register."""

    dst = src = operand_def(PTR)
    shiftDist = operand_def(I64)


class UbVAddsOp(UbScalarOp, name="pto.ub.vadds"):
    """dst = src + shiftDist (the scalar)."""


class UbVMulsOp(UbScalarOp, name="pto.ub.vmuls"):
    """dst = src · shiftDist (the scalar)."""


class UbVMaxsOp(UbScalarOp, name="pto.ub.vmaxs"):
    """dst = max(src, shiftDist), shiftDist being the scalar."""


class UbVMinsOp(UbScalarOp, name="pto.ub.vmins"):
    """dst = min(src, shiftDist), shiftDist being the scalar."""


class UbVShlOp(UbScalarOp, name="pto.ub.vshl"):
    """dst = src << shiftDist."""


class UbVShrOp(UbScalarOp, name="pto.ub.vshr"):
    """dst = src >> shiftDist."""
