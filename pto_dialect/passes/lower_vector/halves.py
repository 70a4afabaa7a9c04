"""Halves that are multiplied as f32: both parts of a register by themselves.

Source: docs/reference/vectors.md, "Conversion".
"""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerType, StringAttr, f16, f32
from xdsl.ir import SSAValue

from pto_dialect.ir.vector.arith import VMulsOp, VOrOp
from pto_dialect.ir.vector.convert import VBitcastOp, VCvtOp
from pto_dialect.passes.instructions.writer import Writer

from .registers import Registers

PARTS = ("EVEN", "ODD")


def scaled_halves(writer: Writer, mask: SSAValue, value: SSAValue, factor: SSAValue) -> SSAValue:
    """The lanes of a register of f16 times a number of f32, rounded to f32 and then to f16."""
    del mask  # Lanes that are not active are not stored.
    halves, floats, bits = (Registers(writer, element) for element in (f16, f32, IntegerType(16)))
    all_halves, all_floats = halves.whole(), floats.whole()
    converted: list[SSAValue] = []
    for part in PARTS:
        which = {"part": StringAttr(part)}
        wide = writer.pto(VCvtOp, {"input": value, "mask": all_halves}, which, floats.type)
        wide = writer.pto(VMulsOp, {"input": wide, "scalar": factor, "mask": all_floats}, result=floats.type)
        attributes = {"rnd": StringAttr("R"), "sat": StringAttr("NOSAT"), **which}
        half = writer.pto(VCvtOp, {"input": wide, "mask": all_floats}, attributes, halves.type)
        converted.append(writer.pto(VBitcastOp, {"input": half}, result=bits.type))
    joined = writer.pto(VOrOp, {"lhs": converted[0], "rhs": converted[1], "mask": all_halves}, result=bits.type)
    return writer.pto(VBitcastOp, {"input": joined}, result=halves.type)
