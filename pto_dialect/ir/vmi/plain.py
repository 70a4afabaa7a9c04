"""Logical-vector arithmetic without masks. Source: docs/reference/vectors.md, "Arithmetic", "Logical vectors"."""

from __future__ import annotations

from xdsl.irdl import operand_def

from ..core.kinds import VMI_VREG
from .forms import VmiBinaryOp, VmiUnaryOp, VmiVectorOp


class VmiAbsfOp(VmiUnaryOp, name="pto.vmi.absf"):
    """lane i = |source[i]|, floats."""


class VmiAbsiOp(VmiUnaryOp, name="pto.vmi.absi"):
    """lane i = |source[i]|, integers."""


class VmiNegfOp(VmiUnaryOp, name="pto.vmi.negf"):
    """lane i = −source[i], floats."""


class VmiNegiOp(VmiUnaryOp, name="pto.vmi.negi"):
    """lane i = −source[i], integers."""


class VmiNotOp(VmiUnaryOp, name="pto.vmi.not"):
    """lane i = bitwise complement of source[i]."""


class VmiExpOp(VmiUnaryOp, name="pto.vmi.exp"):
    """lane i = e^source[i]."""


class VmiLnOp(VmiUnaryOp, name="pto.vmi.ln"):
    """lane i = natural logarithm of source[i]."""


class VmiSqrtOp(VmiUnaryOp, name="pto.vmi.sqrt"):
    """lane i = square root of source[i]."""


class VmiReluOp(VmiUnaryOp, name="pto.vmi.relu"):
    """lane i = max(source[i], 0)."""


class VmiAddfOp(VmiBinaryOp, name="pto.vmi.addf"):
    """lane i = lhs[i] + rhs[i], floats."""


class VmiAddiOp(VmiBinaryOp, name="pto.vmi.addi"):
    """lane i = lhs[i] + rhs[i], integers."""


class VmiSubfOp(VmiBinaryOp, name="pto.vmi.subf"):
    """lane i = lhs[i] − rhs[i], floats."""


class VmiSubiOp(VmiBinaryOp, name="pto.vmi.subi"):
    """lane i = lhs[i] − rhs[i], integers."""


class VmiMulfOp(VmiBinaryOp, name="pto.vmi.mulf"):
    """lane i = lhs[i] · rhs[i], floats."""


class VmiMuliOp(VmiBinaryOp, name="pto.vmi.muli"):
    """lane i = lhs[i] · rhs[i], integers."""


class VmiDivfOp(VmiBinaryOp, name="pto.vmi.divf"):
    """lane i = lhs[i] / rhs[i]."""


class VmiMaxfOp(VmiBinaryOp, name="pto.vmi.maxf"):
    """lane i = max(lhs[i], rhs[i]), floats."""


class VmiMaxiOp(VmiBinaryOp, name="pto.vmi.maxi"):
    """lane i = max(lhs[i], rhs[i]), integers."""


class VmiMinfOp(VmiBinaryOp, name="pto.vmi.minf"):
    """lane i = min(lhs[i], rhs[i]), floats."""


class VmiMiniOp(VmiBinaryOp, name="pto.vmi.mini"):
    """lane i = min(lhs[i], rhs[i]), integers."""


class VmiAndiOp(VmiBinaryOp, name="pto.vmi.andi"):
    """lane i = lhs[i] & rhs[i]."""


class VmiOriOp(VmiBinaryOp, name="pto.vmi.ori"):
    """lane i = lhs[i] | rhs[i]."""


class VmiXoriOp(VmiBinaryOp, name="pto.vmi.xori"):
    """lane i = lhs[i] ^ rhs[i]."""


class VmiShliOp(VmiBinaryOp, name="pto.vmi.shli"):
    """lane i = lhs[i] << rhs[i]."""


class VmiShrsiOp(VmiBinaryOp, name="pto.vmi.shrsi"):
    """lane i = lhs[i] >> rhs[i], arithmetic."""


class VmiShruiOp(VmiBinaryOp, name="pto.vmi.shrui"):
    """lane i = lhs[i] >> rhs[i], logical."""


class VmiFmaOp(VmiVectorOp, name="pto.vmi.fma"):
    """lane i = lhs[i]·rhs[i] + acc[i] with one rounding."""

    lhs = rhs = acc = operand_def(VMI_VREG)
