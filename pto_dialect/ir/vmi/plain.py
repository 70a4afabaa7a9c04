"""Logical-vector arithmetic without masks."""

from __future__ import annotations

from xdsl.irdl import operand_def

from ..core.kinds import VMI_VREG
from .forms import VmiBinaryOp, VmiUnaryOp, VmiVectorOp


class VmiAbsfOp(VmiUnaryOp):
    """lane i = |source[i]|, floats (docs/reference/vectors.md, "Arithmetic", "Logical vectors")."""

    name = "pto.vmi.absf"


class VmiAbsiOp(VmiUnaryOp):
    """lane i = |source[i]|, integers (docs/reference/vectors.md, "Arithmetic", "Logical vectors")."""

    name = "pto.vmi.absi"


class VmiNegfOp(VmiUnaryOp):
    """lane i = −source[i], floats (docs/reference/vectors.md, "Arithmetic", "Logical vectors")."""

    name = "pto.vmi.negf"


class VmiNegiOp(VmiUnaryOp):
    """lane i = −source[i], integers (docs/reference/vectors.md, "Arithmetic", "Logical vectors")."""

    name = "pto.vmi.negi"


class VmiNotOp(VmiUnaryOp):
    """lane i = bitwise complement of source[i] (docs/reference/vectors.md, "Arithmetic", "Logical vectors")."""

    name = "pto.vmi.not"


class VmiExpOp(VmiUnaryOp):
    """lane i = e^source[i] (docs/reference/vectors.md, "Arithmetic", "Logical vectors")."""

    name = "pto.vmi.exp"


class VmiLnOp(VmiUnaryOp):
    """lane i = natural logarithm of source[i] (docs/reference/vectors.md, "Arithmetic", "Logical vectors")."""

    name = "pto.vmi.ln"


class VmiSqrtOp(VmiUnaryOp):
    """lane i = square root of source[i] (docs/reference/vectors.md, "Arithmetic", "Logical vectors")."""

    name = "pto.vmi.sqrt"


class VmiReluOp(VmiUnaryOp):
    """lane i = max(source[i], 0) (docs/reference/vectors.md, "Arithmetic", "Logical vectors")."""

    name = "pto.vmi.relu"


class VmiAddfOp(VmiBinaryOp):
    """lane i = lhs[i] + rhs[i], floats (docs/reference/vectors.md, "Arithmetic", "Logical vectors")."""

    name = "pto.vmi.addf"


class VmiAddiOp(VmiBinaryOp):
    """lane i = lhs[i] + rhs[i], integers (docs/reference/vectors.md, "Arithmetic", "Logical vectors")."""

    name = "pto.vmi.addi"


class VmiSubfOp(VmiBinaryOp):
    """lane i = lhs[i] − rhs[i], floats (docs/reference/vectors.md, "Arithmetic", "Logical vectors")."""

    name = "pto.vmi.subf"


class VmiSubiOp(VmiBinaryOp):
    """lane i = lhs[i] − rhs[i], integers (docs/reference/vectors.md, "Arithmetic", "Logical vectors")."""

    name = "pto.vmi.subi"


class VmiMulfOp(VmiBinaryOp):
    """lane i = lhs[i] · rhs[i], floats (docs/reference/vectors.md, "Arithmetic", "Logical vectors")."""

    name = "pto.vmi.mulf"


class VmiMuliOp(VmiBinaryOp):
    """lane i = lhs[i] · rhs[i], integers (docs/reference/vectors.md, "Arithmetic", "Logical vectors")."""

    name = "pto.vmi.muli"


class VmiDivfOp(VmiBinaryOp):
    """lane i = lhs[i] / rhs[i] (docs/reference/vectors.md, "Arithmetic", "Logical vectors")."""

    name = "pto.vmi.divf"


class VmiMaxfOp(VmiBinaryOp):
    """lane i = max(lhs[i], rhs[i]), floats (docs/reference/vectors.md, "Arithmetic", "Logical vectors")."""

    name = "pto.vmi.maxf"


class VmiMaxiOp(VmiBinaryOp):
    """lane i = max(lhs[i], rhs[i]), integers (docs/reference/vectors.md, "Arithmetic", "Logical vectors")."""

    name = "pto.vmi.maxi"


class VmiMinfOp(VmiBinaryOp):
    """lane i = min(lhs[i], rhs[i]), floats (docs/reference/vectors.md, "Arithmetic", "Logical vectors")."""

    name = "pto.vmi.minf"


class VmiMiniOp(VmiBinaryOp):
    """lane i = min(lhs[i], rhs[i]), integers (docs/reference/vectors.md, "Arithmetic", "Logical vectors")."""

    name = "pto.vmi.mini"


class VmiAndiOp(VmiBinaryOp):
    """lane i = lhs[i] & rhs[i] (docs/reference/vectors.md, "Arithmetic", "Logical vectors")."""

    name = "pto.vmi.andi"


class VmiOriOp(VmiBinaryOp):
    """lane i = lhs[i] | rhs[i] (docs/reference/vectors.md, "Arithmetic", "Logical vectors")."""

    name = "pto.vmi.ori"


class VmiXoriOp(VmiBinaryOp):
    """lane i = lhs[i] ^ rhs[i] (docs/reference/vectors.md, "Arithmetic", "Logical vectors")."""

    name = "pto.vmi.xori"


class VmiShliOp(VmiBinaryOp):
    """lane i = lhs[i] << rhs[i] (docs/reference/vectors.md, "Arithmetic", "Logical vectors")."""

    name = "pto.vmi.shli"


class VmiShrsiOp(VmiBinaryOp):
    """lane i = lhs[i] >> rhs[i], arithmetic (docs/reference/vectors.md, "Arithmetic", "Logical vectors")."""

    name = "pto.vmi.shrsi"


class VmiShruiOp(VmiBinaryOp):
    """lane i = lhs[i] >> rhs[i], logical (docs/reference/vectors.md, "Arithmetic", "Logical vectors")."""

    name = "pto.vmi.shrui"


class VmiFmaOp(VmiVectorOp):
    """lane i = lhs[i]·rhs[i] + acc[i] with one rounding (docs/reference/vectors.md, "Arithmetic", "Logical
    vectors").
    """

    name = "pto.vmi.fma"
    lhs = rhs = acc = operand_def(VMI_VREG)
