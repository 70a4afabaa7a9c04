"""Scalar arithmetic of SIMT work items. Source: docs/reference/work-items.md, "Operations"."""

from __future__ import annotations

from xdsl.irdl import attr_def, operand_def, opt_attr_def, result_def

from ..core.base import Shape
from ..core.kinds import CONVERTIBLE, F32, FLOAT, I32, I32_OR_I64, I64, SIMT_FLOAT, SIMT_FLOAT_ABS, SIMT_FLOAT_FMA, enum
from ..core.rows import rows
from .forms import WorkItemValueOp


class AbsfOp(WorkItemValueOp, name="pto.absf"):
    """|value|."""

    value = operand_def(SIMT_FLOAT_ABS)
    result = result_def(SIMT_FLOAT_ABS)


class SimtFunctionOp(WorkItemValueOp):
    """Function of f16, f32 or a pair of f16."""

    value = operand_def(SIMT_FLOAT)
    result = result_def(SIMT_FLOAT)


rows(__name__, SimtFunctionOp)("""
ExpOp pto.exp: E^value.
LogOp pto.log: Natural logarithm of value.
SqrtOp pto.sqrt: Square root of value.
""")


class SimtAngleOp(WorkItemValueOp, since="august"):
    """Function of an f32 angle in radians."""

    value = operand_def(F32)
    result = result_def(F32)


class SinOp(SimtAngleOp, name="pto.sin"):
    """Sine of value."""


class CosOp(SimtAngleOp, name="pto.cos"):
    """Cosine of value."""


class PowOp(WorkItemValueOp, name="pto.pow"):
    """Lhs raised to rhs."""

    lhs = rhs = operand_def(SIMT_FLOAT)
    result = result_def(SIMT_FLOAT)


class SimtRoundingOp(WorkItemValueOp):
    """Integral float next to a float."""

    value = operand_def(FLOAT)
    result = result_def(FLOAT)


rows(__name__, SimtRoundingOp)("""
CeilOp pto.ceil: Value rounded toward +inf.
FloorOp pto.floor: Value rounded toward −inf.
RintOp pto.rint: Value rounded to the nearest integer, ties to even.
RoundOp pto.round: Value rounded to the nearest integer, ties away from zero.
""")


class SimtExtremumOp(WorkItemValueOp):
    """Larger or smaller of two floats."""

    lhs = rhs = operand_def(SIMT_FLOAT_FMA)
    result = result_def(SIMT_FLOAT_FMA)


class FmaxOp(SimtExtremumOp, name="pto.fmax"):
    """Max(lhs, rhs)."""


class FminOp(SimtExtremumOp, name="pto.fmin"):
    """Min(lhs, rhs)."""


class FmaOp(WorkItemValueOp, name="pto.fma"):
    """Lhs·rhs + acc with one rounding."""

    lhs = rhs = acc = operand_def(SIMT_FLOAT_FMA)
    result = result_def(SIMT_FLOAT_FMA)


class ConvertOp(WorkItemValueOp, name="pto.convert", shape=Shape.FLAT_SUFFIX):
    """Src in the result type, rounded and saturated as the clauses say (docs/reference/numerics.md, "Rounding")."""

    src = operand_def(CONVERTIBLE)
    rounding = attr_def(enum("rounding"))
    saturation = attr_def(enum("saturation"))
    signedness = opt_attr_def(enum("signedness"))
    dst = result_def(CONVERTIBLE)


class MulhiOp(WorkItemValueOp, name="pto.mulhi", shape=Shape.FLAT_SUFFIX):
    """High half of the product."""

    lhs = rhs = operand_def(I32_OR_I64)
    signedness = attr_def(enum("signedness"))
    result = result_def(I32_OR_I64)


class MulI32toi64Op(WorkItemValueOp, name="pto.mul_i32toi64", shape=Shape.FLAT_SUFFIX):
    """Full 64-bit product."""

    lhs = rhs = operand_def(I32)
    signedness = attr_def(enum("signedness"))
    result = result_def(I64)


class PrmtOp(WorkItemValueOp, name="pto.prmt"):
    """Four bytes picked by the nibbles of selector from the eight bytes of rhs:lhs."""

    lhs = rhs = selector = operand_def(I32)
    result = result_def(I32)
