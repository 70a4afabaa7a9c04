"""Cube multiply-accumulate on L0 pointers: sizes and modes as operands or packed in a configuration word.

The kinds of buffers and sizes are wide; the rules ``mad-typed-ptr`` and ``mad-mnk-type`` narrow them.

Source: docs/reference/numerics.md, "Matrix products".
"""

from __future__ import annotations

from xdsl.irdl import operand_def, opt_attr_def

from ..core.base import Pipe, PtoOp, Shape
from ..core.facts.unexecuted import CONTROL_WORD
from ..core.kinds import I64, PTR, PTR_OR_MEMREF, SCALAR, UNIT, enum
from ..core.roles import Role
from .clauses import MAD


class ClausedMadOp(
    PtoOp,
    shape=Shape.MAD,
    pipe=Pipe.M,
    writes=("dst",),
    clauses=MAD,
    roles=Role.ADDRESSES,
):
    """The operands after the buffers of all multiply-adds with clauses: sizes m, n, k in elements."""

    m = n = k = operand_def(SCALAR)
    unit_flag_mode = opt_attr_def(enum("mad_unit_flag_mode"))
    disable_gemv = opt_attr_def(UNIT)
    sat_mode = opt_attr_def(enum("mad_sat_mode"))
    n_dir = opt_attr_def(UNIT)


class PlainMadOp(ClausedMadOp):
    """``lhs`` in L0A, ``rhs`` in L0B, ``dst`` in L0C."""

    lhs = rhs = dst = operand_def(PTR_OR_MEMREF)
    tf32_mode = opt_attr_def(enum("tf32_mode"))


class MadOp(PlainMadOp, name="pto.mad", reads=("lhs", "rhs")):
    """dst = lhs·rhs (m x k times k x n)."""


class MadAccOp(PlainMadOp, name="pto.mad_acc", reads=("lhs", "rhs", "dst"), roles=Role.ADDRESSES | Role.ACCUMULATES):
    """dst += lhs·rhs."""


class MadBiasOp(ClausedMadOp, name="pto.mad_bias", reads=("lhs", "rhs", "bias")):
    """dst = bias[n] + lhs·rhs, one bias per column from the bias table."""

    lhs = rhs = dst = bias = operand_def(PTR_OR_MEMREF)
    tf32_mode = opt_attr_def(enum("tf32_mode"))


class ScaledMadOp(ClausedMadOp, state_reads=("mx_scale",)):
    """Operands have one power-of-two scale per 32 elements along k, in the scale area of L0A and L0B."""


class UnbiasedScaledMadOp(ScaledMadOp):
    """``lhs`` in L0A, ``rhs`` in L0B, ``dst`` in L0C."""

    lhs = rhs = dst = operand_def(PTR_OR_MEMREF)


class MadMxOp(UnbiasedScaledMadOp, name="pto.mad_mx", reads=("lhs", "rhs")):
    """dst = the scaled product of lhs and rhs."""


class MadMxAccOp(
    UnbiasedScaledMadOp, name="pto.mad_mx_acc", reads=("lhs", "rhs", "dst"), roles=Role.ADDRESSES | Role.ACCUMULATES
):
    """dst += the scaled product of lhs and rhs."""


class MadMxBiasOp(ScaledMadOp, name="pto.mad_mx_bias", reads=("lhs", "rhs", "bias")):
    """dst = bias[n] + the scaled product of lhs and rhs; one scale per 32 elements along k."""

    lhs = rhs = dst = bias = operand_def(PTR_OR_MEMREF)


class PackedMadOp(PtoOp, shape=Shape.FLAT_VOID, pipe=Pipe.M, writes=("dst",), unexecuted=CONTROL_WORD):
    """Sizes and modes are bit fields of the configuration word ``xt``."""

    xt = operand_def(I64)


class RawMadOp(PackedMadOp, reads=("lhs", "rhs", "dst")):
    """Operands and result in L0."""

    lhs = rhs = dst = operand_def(PTR)


class MadRawOp(RawMadOp, name="pto.mad_raw"):
    """dst = lhs·rhs; without bit 62 or 63 of xt the product is added to dst (docs/reference/execution.md, "Control
    words").
    """


class MadMxRawOp(RawMadOp, name="pto.mad_mx_raw", state_reads=("mx_scale",)):
    """dst = the scaled product of lhs and rhs; without bit 62 or 63 of xt it is added to dst
    (docs/reference/execution.md, "Control words").
    """


class BiasedRawMadOp(PackedMadOp, reads=("lhs", "rhs", "bias", "dst")):
    """As the other raw forms, with the address of the bias table."""

    lhs = rhs = dst = bias = operand_def(PTR)


class MadBiasRawOp(BiasedRawMadOp, name="pto.mad_bias_raw"):
    """dst = bias[n] + lhs·rhs; without bit 62 or 63 of xt the product is added to dst instead
    (docs/reference/execution.md, "Control words").
    """


class MadMxBiasRawOp(BiasedRawMadOp, name="pto.mad_mx_bias_raw", state_reads=("mx_scale",)):
    """dst = bias[n] + the scaled product; without bit 62 or 63 of xt it is added to dst instead
    (docs/reference/execution.md, "Control words").
    """
