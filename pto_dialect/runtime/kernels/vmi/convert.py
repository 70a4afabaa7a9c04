"""Conversion of logical vectors. Source: docs/reference/vectors.md, "Conversion", "Logical vectors"."""

from __future__ import annotations

from pto_dialect.analysis.type_facts import enumerator
from pto_dialect.ir.core.base import PtoOp
from pto_dialect.ir.core.operands import named
from pto_dialect.runtime.compile.generator import Generator
from pto_dialect.runtime.numerics.formats import Format, format_of
from pto_dialect.runtime.vector.logical_convert import Conversion

from ..registry import kernel, kernels
from ..vector.values import define_result
from .values import lane_format


def _with_sign(fmt: Format, sign: str) -> Format:
    """Returns an integer format with another sign; floats are unchanged."""
    return fmt if fmt.is_float else format_of(f"{sign}{fmt.bits}")


def _convert(op: PtoOp, g: Generator, source: Format, target: Format) -> None:
    if source.is_packed != target.is_packed:
        raise g.error("unmodelled", f"no page defines how {source.name} lanes become {target.name} lanes", op)
    letter = enumerator(op, "rounding") or "R"
    if letter == "H":
        raise g.error("unmodelled", "no page defines what rounding H rounds to", op)
    define_result(op, g, Conversion(source, target, letter, enumerator(op, "saturate") == "SAT"), named(op, "source"))


@kernel("pto.vmi.vcvt", "pto.vmi.extf", "pto.vmi.truncf", "pto.vmi.trunci", "pto.vmi.sitofp")
def convert(op: PtoOp, g: Generator) -> None:
    """Lanes in another type, with the signs that the types state. Raises ``ProgramError`` where no rule defines the
    result."""
    _convert(op, g, lane_format(named(op, "source"), g), lane_format(op.results[0], g))


@kernels({"pto.vmi.extsi": "si", "pto.vmi.fptosi": "si", "pto.vmi.extui": "ui", "pto.vmi.fptoui": "ui"})
def convert_with_sign(op: PtoOp, g: Generator, sign: str) -> None:
    """Lanes in another type, integers read and written as signed or unsigned ones."""
    source, target = (_with_sign(lane_format(value, g), sign) for value in (named(op, "source"), op.results[0]))
    _convert(op, g, source, target)


@kernel("pto.vmi.bitcast", "pto.vmi.vinterpret_cast")
def reinterpret(op: PtoOp, g: Generator) -> None:
    """The bits of a vector as lanes of another type."""
    target = g.argument(lane_format(op.results[0], g).storage)
    g.define(op.results[0], f"{g.name(named(op, 'source'))}.view({target})")
