"""Vector instructions of the older chips: unified buffer to unified buffer under the mask register.

``repeat`` runs of 256 bytes; block strides separate the 32-byte blocks of a run, repeat strides the runs.
"""

from __future__ import annotations

from xdsl.irdl import operand_def

from ..core.base import Pipe, PtoOp, Shape
from ..core.kinds import I64, PTR


class MaskedRunsOp(PtoOp, shape=Shape.FLAT_VOID, pipe=Pipe.V, writes=("dst",), state_reads=("mask",), since="august"):
    """Goes along vectors in the unified buffer, as the mask register says."""


class StridedOp(MaskedRunsOp):
    """Goes along both vectors in repeats; strides in blocks of 32 bytes."""

    repeat = dstBlockStride = srcBlockStride = dstRepeatStride = srcRepeatStride = operand_def(I64)


class UbSetMaskOp(PtoOp, shape=Shape.FLAT_VOID, pipe=Pipe.V, state_writes=("mask",), since="august"):
    """mask register = mask1:mask0 (docs/reference/language.md, "Versions")."""

    name = "pto.ub.set_mask"
    mask0 = mask1 = operand_def(I64)


class MaskModeOp(PtoOp, shape=Shape.NULLARY, pipe=Pipe.V, state_writes=("mask",), since="august"):
    """What the mask register holds."""


class UbSetMaskNormOp(MaskModeOp):
    """Mask bits select lanes (docs/reference/language.md, "Versions")."""

    name = "pto.ub.set_mask_norm"


class UbSetMaskCountOp(MaskModeOp):
    """Mask value counts elements (docs/reference/language.md, "Versions")."""

    name = "pto.ub.set_mask_count"


class UbUnaryOp(StridedOp, reads=("src",)):
    """One source."""

    dst = src = operand_def(PTR)


class UbVAbsOp(UbUnaryOp):
    """dst = |src| (docs/reference/language.md, "Versions")."""

    name = "pto.ub.vabs"


class UbVExpOp(UbUnaryOp):
    """dst = e^src (docs/reference/language.md, "Versions")."""

    name = "pto.ub.vexp"


class UbVLnOp(UbUnaryOp):
    """dst = natural logarithm of src (docs/reference/language.md, "Versions")."""

    name = "pto.ub.vln"


class UbVNotOp(UbUnaryOp):
    """dst = bitwise complement of src (docs/reference/language.md, "Versions")."""

    name = "pto.ub.vnot"


class UbVReluOp(UbUnaryOp):
    """dst = max(src, 0) (docs/reference/language.md, "Versions")."""

    name = "pto.ub.vrelu"


class UbVRsqrtOp(UbUnaryOp):
    """dst = 1 / square root of src (docs/reference/language.md, "Versions")."""

    name = "pto.ub.vrsqrt"


class UbVSqrtOp(UbUnaryOp):
    """dst = square root of src (docs/reference/language.md, "Versions")."""

    name = "pto.ub.vsqrt"


class UbVDupOp(StridedOp):
    """dst = scalar (docs/reference/language.md, "Versions")."""

    name = "pto.ub.vdup"
    dst = operand_def(PTR)
    scalar = operand_def(I64)


class UbBinaryOp(MaskedRunsOp, reads=("src0", "src1")):
    """Two sources."""

    dst = src0 = src1 = operand_def(PTR)
    repeat = dstBlockStride = src0BlockStride = src1BlockStride = dstRepeatStride = operand_def(I64)
    src0RepeatStride = src1RepeatStride = operand_def(I64)


class UbVAddOp(UbBinaryOp):
    """dst = src0 + src1 (docs/reference/language.md, "Versions")."""

    name = "pto.ub.vadd"


class UbVAddreluOp(UbBinaryOp):
    """dst = max(src0 + src1, 0) (docs/reference/language.md, "Versions")."""

    name = "pto.ub.vaddrelu"


class UbVSubOp(UbBinaryOp):
    """dst = src0 − src1 (docs/reference/language.md, "Versions")."""

    name = "pto.ub.vsub"


class UbVMulOp(UbBinaryOp):
    """dst = src0 · src1 (docs/reference/language.md, "Versions")."""

    name = "pto.ub.vmul"


class UbVDivOp(UbBinaryOp):
    """dst = src0 / src1 (docs/reference/language.md, "Versions")."""

    name = "pto.ub.vdiv"


class UbVMaxOp(UbBinaryOp):
    """dst = max(src0, src1) (docs/reference/language.md, "Versions")."""

    name = "pto.ub.vmax"


class UbVMinOp(UbBinaryOp):
    """dst = min(src0, src1) (docs/reference/language.md, "Versions")."""

    name = "pto.ub.vmin"


class UbVAndOp(UbBinaryOp):
    """dst = src0 & src1 (docs/reference/language.md, "Versions")."""

    name = "pto.ub.vand"


class UbVOrOp(UbBinaryOp):
    """dst = src0 | src1 (docs/reference/language.md, "Versions")."""

    name = "pto.ub.vor"


class UbScalarOp(StridedOp, reads=("src",)):
    """One source and a scalar in a 64-bit register."""

    dst = src = operand_def(PTR)
    shiftDist = operand_def(I64)


class UbVAddsOp(UbScalarOp):
    """dst = src + shiftDist (the scalar) (docs/reference/language.md, "Versions")."""

    name = "pto.ub.vadds"


class UbVMulsOp(UbScalarOp):
    """dst = src · shiftDist (the scalar) (docs/reference/language.md, "Versions")."""

    name = "pto.ub.vmuls"


class UbVMaxsOp(UbScalarOp):
    """dst = max(src, shiftDist), shiftDist being the scalar (docs/reference/language.md, "Versions")."""

    name = "pto.ub.vmaxs"


class UbVMinsOp(UbScalarOp):
    """dst = min(src, shiftDist), shiftDist being the scalar (docs/reference/language.md, "Versions")."""

    name = "pto.ub.vmins"


class UbVShlOp(UbScalarOp):
    """dst = src << shiftDist (docs/reference/language.md, "Versions")."""

    name = "pto.ub.vshl"


class UbVShrOp(UbScalarOp):
    """dst = src >> shiftDist (docs/reference/language.md, "Versions")."""

    name = "pto.ub.vshr"
