"""Conversion, broadcast and reinterpretation of vector registers. Source: docs/reference/vectors.md, "Arithmetic"."""

from __future__ import annotations

from xdsl.irdl import attr_def, operand_def, opt_attr_def

from ..core.base import Shape
from ..core.kinds import ANY, INT_OR_FLOAT, VREG
from ..core.words import CONVERSION_PART, ORDER, POSITION, ROUND, ROUND_TO_INTEGRAL, SATURATE_ANY_SPELLING
from .forms import MaskedRegisterOp, RegisterOp


class VCvtOp(MaskedRegisterOp, name="pto.vcvt"):
    """Lanes in the element type of the result; ``part`` says which lanes of the wider register take part
    (docs/reference/vectors.md, "Conversion").
    """

    input = operand_def(VREG)
    rnd = opt_attr_def(ROUND)
    sat = opt_attr_def(SATURATE_ANY_SPELLING)
    part = opt_attr_def(CONVERSION_PART)


class VTrcOp(MaskedRegisterOp, name="pto.vtrc", shape=Shape.FLAT_TOKEN):
    """lane i = input[i] rounded to an integral value of the same type (docs/reference/vectors.md, "Conversion")."""

    input = operand_def(VREG)
    round_mode = attr_def(ROUND_TO_INTEGRAL)


class VBitcastOp(RegisterOp, name="pto.vbitcast"):
    """The same 256 bytes as another element type."""

    input = operand_def(VREG)


class VBrOp(RegisterOp, name="pto.vbr"):
    """every lane = value."""

    value = operand_def(ANY)


class VDupOp(MaskedRegisterOp, name="pto.vdup"):
    """active lanes = the scalar, or the lowest or highest lane of a register."""

    input = operand_def(ANY)
    position = opt_attr_def(POSITION)


class VCiOp(RegisterOp, name="pto.vci"):
    """lane i = index + i, or index − i for order DESC."""

    index = operand_def(INT_OR_FLOAT)
    order = opt_attr_def(ORDER)
