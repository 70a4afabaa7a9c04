"""Integers divided toward zero, for which registers have no operation: by way of quotients of floats.

Source: docs/reference/tiles.md, "Elementwise"; docs/reference/vectors.md, "Conversion".
"""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerType, StringAttr, f16, f32, i16, i32
from xdsl.ir import Attribute, SSAValue

from pto_dialect.ir.core.base import PtoOp
from pto_dialect.ir.core.types import VRegType
from pto_dialect.ir.vector.arith import VAddOp, VDivOp, VMulOp, VMulsOp, VOrOp, VShrsOp, VSubOp, VXorOp
from pto_dialect.ir.vector.compare import VCmpsOp, VSelOp
from pto_dialect.ir.vector.convert import VBitcastOp, VCvtOp
from pto_dialect.passes.instructions.writer import Writer

from .registers import Registers

# ------------------------------------------------------------ halves


PARTS = ("EVEN", "ODD")


def scaled_halves(writer: Writer, mask: SSAValue, value: SSAValue, factor: SSAValue) -> SSAValue:
    """Returns the lanes of a register of f16 times a number of f32, rounded to f32 and then to f16."""
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


_NEAREST = {"rnd": StringAttr("R")}
_TO_ZERO = {"rnd": StringAttr("Z"), "sat": StringAttr("SAT")}
_LOW_BITS = {"sat": StringAttr("NOSAT")}


def quotient(writer: Writer, mask: SSAValue, a: SSAValue, b: SSAValue, zero: SSAValue, one: SSAValue) -> SSAValue:
    """Returns the lanes of ``a`` divided by those of ``b``, of i16 or i32, toward zero; division by 0 gives 0. ``zero``
    and ``one`` are registers with these numbers."""
    kind = a.type
    assert isinstance(kind, VRegType)
    division = Division(writer, kind, mask)
    divisible = division.compared("ne", b)
    a, b = division.chosen(a, zero, divisible), division.chosen(b, one, divisible)
    return division.halves(a, b) if kind.element == i16 else division.words(a, b, one)


class Division:
    """What writes the operations of one division of registers of a type, under a mask."""

    def __init__(self, writer: Writer, kind: VRegType, mask: SSAValue) -> None:
        self.writer = writer
        self.kind = kind
        self.mask = mask
        self.element = kind.element
        self.floats = Registers(writer, f32).type
        self.integers = Registers(writer, i32).type

    def _pair(self, cls: type[PtoOp], one: SSAValue, other: SSAValue, mask: SSAValue | None = None) -> SSAValue:
        return self.writer.pto(cls, {"lhs": one, "rhs": other, "mask": mask or self.mask}, result=one.type)

    def chosen(self, one: SSAValue, other: SSAValue, mask: SSAValue) -> SSAValue:
        """Returns the lanes of one register where ``mask`` has them, else those of the other."""
        return self.writer.pto(VSelOp, {"src0": one, "src1": other, "mask": mask}, result=one.type)

    def compared(self, mode: str, value: SSAValue, mask: SSAValue | None = None) -> SSAValue:
        """Returns the active lanes that are less than 0, or differ from it."""
        zero = self.writer.function.constant(0, self.element)
        groups = {"src": value, "scalar": zero, "mask": mask or self.mask}
        return self.writer.pto(VCmpsOp, groups, {"cmp_mode": StringAttr(mode)}, self.mask.type)

    def _converted(self, value: SSAValue, mask: SSAValue, kind: VRegType, clauses: dict[str, StringAttr]) -> SSAValue:
        attributes: dict[str, Attribute] = {**clauses}
        return self.writer.pto(VCvtOp, {"input": value, "mask": mask}, attributes, kind)

    def words(self, a: SSAValue, b: SSAValue, one: SSAValue) -> SSAValue:
        """Of 32 bits. The quotient of floats is off by a 2^22th of itself, that of what is left by less than 1; then at
        most one is too much, which what is left shows by its sign."""
        quotient, left = self._estimate(a, b)
        more, left = self._estimate(left, b)
        quotient = self._pair(VAddOp, quotient, more)
        wrong = self.compared("lt", self._pair(VXorOp, left, a), self.compared("ne", left))
        last = self.writer.function.constant(8 * 4 - 1, i16)
        signs = {"input": self._pair(VXorOp, a, b), "scalar": last, "mask": self.mask}
        away = self._pair(VOrOp, self.writer.pto(VShrsOp, signs, result=self.kind), one)
        return self.chosen(self._pair(VSubOp, quotient, away), quotient, wrong)

    def _estimate(self, a: SSAValue, b: SSAValue) -> tuple[SSAValue, SSAValue]:
        """Returns a quotient that is nearly right, and what is left of ``a``."""
        left, right = (self._converted(value, self.mask, self.floats, _NEAREST) for value in (a, b))
        quotient = self._converted(self._pair(VDivOp, left, right), self.mask, self.kind, _TO_ZERO)
        return quotient, self._pair(VSubOp, a, self._pair(VMulOp, quotient, b))

    def halves(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """Of 16 bits: quotients of floats are never rounded up to the next integer."""
        all_lanes, word_registers = Registers(self.writer, i16).whole(), Registers(self.writer, i32).whole()
        parts: list[SSAValue] = []
        for part in PARTS:
            which = {"part": StringAttr(part)}
            left, right = (self._converted(value, all_lanes, self.floats, which) for value in (a, b))
            divided = self._pair(VDivOp, left, right, word_registers)
            quotient = self._converted(divided, word_registers, self.integers, _TO_ZERO)
            parts.append(self._converted(quotient, word_registers, self.kind, {**_LOW_BITS, **which}))
        return self._pair(VOrOp, parts[0], parts[1])
