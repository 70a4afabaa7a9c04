"""Logical-vector arithmetic without masks. Source: docs/reference/vectors.md, "Arithmetic", "Logical vectors"."""

from __future__ import annotations

from xdsl.irdl import operand_def

from ..core.kinds import VMI_VREG
from ..core.rows import rows
from .forms import VmiBinaryOp, VmiUnaryOp, VmiVectorOp

rows(__name__, VmiUnaryOp)("""
VmiAbsfOp pto.vmi.absf: lane i = |source[i]|, floats.
VmiAbsiOp pto.vmi.absi: lane i = |source[i]|, integers.
VmiNegfOp pto.vmi.negf: lane i = −source[i], floats.
VmiNegiOp pto.vmi.negi: lane i = −source[i], integers.
VmiNotOp pto.vmi.not: lane i = bitwise complement of source[i].
VmiExpOp pto.vmi.exp: lane i = e^source[i].
VmiLnOp pto.vmi.ln: lane i = natural logarithm of source[i].
VmiSqrtOp pto.vmi.sqrt: lane i = square root of source[i].
VmiReluOp pto.vmi.relu: lane i = max(source[i], 0).
""")


rows(__name__, VmiBinaryOp)("""
VmiAddfOp pto.vmi.addf: lane i = lhs[i] + rhs[i], floats.
VmiAddiOp pto.vmi.addi: lane i = lhs[i] + rhs[i], integers.
VmiSubfOp pto.vmi.subf: lane i = lhs[i] − rhs[i], floats.
VmiSubiOp pto.vmi.subi: lane i = lhs[i] − rhs[i], integers.
VmiMulfOp pto.vmi.mulf: lane i = lhs[i] · rhs[i], floats.
VmiMuliOp pto.vmi.muli: lane i = lhs[i] · rhs[i], integers.
VmiDivfOp pto.vmi.divf: lane i = lhs[i] / rhs[i].
VmiMaxfOp pto.vmi.maxf: lane i = max(lhs[i], rhs[i]), floats.
VmiMaxiOp pto.vmi.maxi: lane i = max(lhs[i], rhs[i]), integers.
VmiMinfOp pto.vmi.minf: lane i = min(lhs[i], rhs[i]), floats.
VmiMiniOp pto.vmi.mini: lane i = min(lhs[i], rhs[i]), integers.
VmiAndiOp pto.vmi.andi: lane i = lhs[i] & rhs[i].
VmiOriOp pto.vmi.ori: lane i = lhs[i] | rhs[i].
VmiXoriOp pto.vmi.xori: lane i = lhs[i] ^ rhs[i].
VmiShliOp pto.vmi.shli: lane i = lhs[i] << rhs[i].
VmiShrsiOp pto.vmi.shrsi: lane i = lhs[i] >> rhs[i], arithmetic.
VmiShruiOp pto.vmi.shrui: lane i = lhs[i] >> rhs[i], logical.
""")


class VmiFmaOp(VmiVectorOp, name="pto.vmi.fma"):
    """lane i = lhs[i]·rhs[i] + acc[i] with one rounding."""

    lhs = rhs = acc = operand_def(VMI_VREG)
