"""Conversion of vector registers. Source: docs/reference/vectors.md, "Conversion"."""

from __future__ import annotations

from pto_dialect.analysis.type_facts import enumerator
from pto_dialect.ir.core.base import PtoOp
from pto_dialect.ir.core.operands import named
from pto_dialect.runtime.compile.generator import Generator
from pto_dialect.runtime.vector.convert import Conversion, scaled

from ..registry import kernel
from .values import define_result, register_format, required_enumerator

PARTS = {"EVEN": 0, "ODD": 1, "P0": 0, "P1": 1, "P2": 2, "P3": 3}


@kernel("pto.vcvt")
def vcvt(op: PtoOp, g: Generator) -> None:
    """Active lanes in another type; between widths one part of the lanes is read or written."""
    part = PARTS[enumerator(op, "part") or "EVEN"]
    letter = enumerator(op, "rnd") or "R"
    saturate = enumerator(op, "sat") == "SAT"
    source, target = register_format(named(op, "input"), g), register_format(op.results[0], g)
    define_result(op, g, Conversion(source, target, letter, saturate, part), *op.operands)


@kernel("pto.vbitcast")
def vbitcast(op: PtoOp, g: Generator) -> None:
    """The bytes of a register as lanes of another type."""
    target = g.argument(register_format(op.results[0], g).storage)
    g.define(op.results[0], f"{g.name(named(op, 'input'))}.view({target})")


@kernel("pto.vmulscvt")
def vmulscvt(op: PtoOp, g: Generator) -> None:
    """Active lanes times a number, in a type of half the width, in the even or odd lanes. Raises ``ProgramError`` for
    other widths."""
    values, scalar, mask = (named(op, name) for name in ("input", "scalar", "mask"))
    source, target = register_format(values, g), register_format(op.results[0], g)
    if source.bytes != 2 * target.bytes:
        raise g.error("unmodelled", f"{source.name} cannot be scaled to {target.name}", op)
    letter = required_enumerator(op, g, "rnd")
    odd = PARTS[required_enumerator(op, g, "part")]
    define_result(op, g, scaled, values, scalar, mask, target, letter, odd)
