"""Conversion, broadcast and reinterpretation of vector registers."""

from __future__ import annotations

from xdsl.irdl import attr_def, operand_def, opt_attr_def, result_def

from ..core.base import Effect, Pipe, PtoOp, Shape
from ..core.kinds import ANY, INT_OR_FLOAT, MASK, VREG
from ..core.words import CONVERSION_PART, ORDER, POSITION, ROUND, ROUND_TO_INTEGRAL, SATURATE_ANY_SPELLING


class VCvtOp(PtoOp, shape=Shape.FLAT_VALUE, pipe=Pipe.V, effect=Effect.PURE):
    """Lanes in the element type of the result; ``part`` says which lanes of the wider register take part
    (docs/reference/vectors.md, "Conversion").
    """

    name = "pto.vcvt"
    input = operand_def(VREG)
    mask = operand_def(MASK)
    rnd = opt_attr_def(ROUND)
    sat = opt_attr_def(SATURATE_ANY_SPELLING)
    part = opt_attr_def(CONVERSION_PART)
    result = result_def(VREG)


class VTrcOp(PtoOp, shape=Shape.FLAT_TOKEN, pipe=Pipe.V, effect=Effect.PURE, tokens=("round_mode",)):
    """lane i = input[i] rounded to an integral value of the same type (docs/reference/vectors.md, "Conversion")."""

    name = "pto.vtrc"
    input = operand_def(VREG)
    mask = operand_def(MASK)
    round_mode = attr_def(ROUND_TO_INTEGRAL)
    result = result_def(VREG)


class VBitcastOp(PtoOp, shape=Shape.FLAT_VALUE, pipe=Pipe.V, effect=Effect.PURE):
    """The same 256 bytes as another element type (docs/reference/vectors.md, "Arithmetic")."""

    name = "pto.vbitcast"
    input = operand_def(VREG)
    result = result_def(VREG)


class VBrOp(PtoOp, shape=Shape.FLAT_VALUE, pipe=Pipe.V, effect=Effect.PURE):
    """every lane = value (docs/reference/vectors.md, "Arithmetic")."""

    name = "pto.vbr"
    value = operand_def(ANY)
    result = result_def(VREG)


class VDupOp(PtoOp, shape=Shape.FLAT_VALUE, pipe=Pipe.V, effect=Effect.PURE):
    """active lanes = the scalar, or the lowest or highest lane of a register (docs/reference/vectors.md,
    "Arithmetic").
    """

    name = "pto.vdup"
    input = operand_def(ANY)
    mask = operand_def(MASK)
    position = opt_attr_def(POSITION)
    result = result_def(VREG)


class VCiOp(PtoOp, shape=Shape.FLAT_VALUE, pipe=Pipe.V, effect=Effect.PURE):
    """lane i = index + i, or index − i for order DESC (docs/reference/vectors.md, "Arithmetic")."""

    name = "pto.vci"
    index = operand_def(INT_OR_FLOAT)
    order = opt_attr_def(ORDER)
    result = result_def(VREG)
