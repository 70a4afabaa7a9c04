"""Vector instructions of the older chips: unified buffer to unified buffer under the mask register.

``repeat`` runs of 256 bytes; block strides separate the 32-byte blocks of a run, repeat strides the runs.

Source: docs/reference/language.md, "Versions".
"""

from __future__ import annotations

from xdsl.irdl import operand_def

from ..core.base import Pipe, PtoOp, Shape
from ..core.kinds import I64, PTR
from ..core.rows import rows


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


rows(__name__, UbUnaryOp)("""
UbVAbsOp pto.ub.vabs: dst = |src|.
UbVExpOp pto.ub.vexp: dst = e^src.
UbVLnOp pto.ub.vln: dst = natural logarithm of src.
UbVNotOp pto.ub.vnot: dst = bitwise complement of src.
UbVReluOp pto.ub.vrelu: dst = max(src, 0).
UbVRsqrtOp pto.ub.vrsqrt: dst = 1 / square root of src.
UbVSqrtOp pto.ub.vsqrt: dst = square root of src.
""")


class UbVDupOp(StridedOp, name="pto.ub.vdup"):
    """dst = scalar."""

    dst = operand_def(PTR)
    scalar = operand_def(I64)


class UbBinaryOp(MaskedRunsOp, reads=("src0", "src1")):
    """Two sources."""

    dst = src0 = src1 = operand_def(PTR)
    repeat = dstBlockStride = src0BlockStride = src1BlockStride = dstRepeatStride = operand_def(I64)
    src0RepeatStride = src1RepeatStride = operand_def(I64)


rows(__name__, UbBinaryOp)("""
UbVAddOp pto.ub.vadd: dst = src0 + src1.
UbVAddreluOp pto.ub.vaddrelu: dst = max(src0 + src1, 0).
UbVSubOp pto.ub.vsub: dst = src0 − src1.
UbVMulOp pto.ub.vmul: dst = src0 · src1.
UbVDivOp pto.ub.vdiv: dst = src0 / src1.
UbVMaxOp pto.ub.vmax: dst = max(src0, src1).
UbVMinOp pto.ub.vmin: dst = min(src0, src1).
UbVAndOp pto.ub.vand: dst = src0 & src1.
UbVOrOp pto.ub.vor: dst = src0 | src1.
""")


class UbScalarOp(StridedOp, reads=("src",)):
    """One source and a scalar in a 64-bit register."""

    dst = src = operand_def(PTR)
    shiftDist = operand_def(I64)


rows(__name__, UbScalarOp)("""
UbVAddsOp pto.ub.vadds: dst = src + shiftDist (the scalar).
UbVMulsOp pto.ub.vmuls: dst = src · shiftDist (the scalar).
UbVMaxsOp pto.ub.vmaxs: dst = max(src, shiftDist), shiftDist being the scalar.
UbVMinsOp pto.ub.vmins: dst = min(src, shiftDist), shiftDist being the scalar.
UbVShlOp pto.ub.vshl: dst = src << shiftDist.
UbVShrOp pto.ub.vshr: dst = src >> shiftDist.
""")
