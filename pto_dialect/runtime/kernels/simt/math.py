"""Scalar arithmetic of work-items, and of cores that use it. Source: docs/reference/numerics.md, "Rounding";
docs/reference/work-items.md, "Operations".
"""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerType

from pto_dialect.analysis.type_facts import enumerator
from pto_dialect.ir.core.base import PtoOp
from pto_dialect.ir.core.operands import named
from pto_dialect.runtime.compile.generator import Generator
from pto_dialect.runtime.numerics.formats import Format, format_of
from pto_dialect.runtime.simt import integers
from pto_dialect.runtime.simt.floats import FUNCTIONS, Converter, FloatFunction, FusedMultiplyAdd, computes_in
from pto_dialect.runtime.simt.scope import element_of, number_format

from ..registry import kernel, lane_kernel
from .lane_values import define_result

_FUNCTIONS = tuple(f"pto.{name}" for name in FUNCTIONS)


@kernel(*_FUNCTIONS)
@lane_kernel(*_FUNCTIONS)
def function(op: PtoOp, g: Generator) -> None:
    """A function of one or two floats, rounded to their type."""
    name, fmt = op.name.removeprefix("pto."), number_format(op.results[0].type, g)
    define_result(op, g, FUNCTIONS[name] if computes_in(fmt) else FloatFunction(FUNCTIONS[name], name, fmt))


@kernel("pto.fma")
@lane_kernel("pto.fma")
def fused(op: PtoOp, g: Generator) -> None:
    """a·b + c with one rounding."""
    define_result(op, g, FusedMultiplyAdd(number_format(op.results[0].type, g)))


def _format(op: PtoOp, value_type: object, g: Generator) -> Format:
    """Returns the format that a conversion reads or writes: the sign of integers is a clause."""
    if isinstance(value_type, IntegerType):
        return format_of(f"{'ui' if enumerator(op, 'signedness') == 'unsigned' else 'i'}{value_type.width.data}")
    return number_format(value_type, g)  # pyright: ignore[reportArgumentType]


@kernel("pto.convert")
@lane_kernel("pto.convert")
def convert(op: PtoOp, g: Generator) -> None:
    """A number in another type, rounded and saturated according to the clauses. Raises ``ProgramError`` for hybrid
    rounding."""
    letter = (enumerator(op, "rounding") or "r").upper()
    if letter == "H":
        raise g.error("unmodelled", "hybrid rounding cannot be executed: no page defines it", op)
    source, target = (_format(op, value.type, g) for value in (named(op, "src"), op.results[0]))
    result = element_of(op.results[0].type, g).dtype
    define_result(op, g, Converter(source, target, letter, enumerator(op, "saturation") == "sat", result))


@kernel("pto.mulhi")
@lane_kernel("pto.mulhi")
def high_half(op: PtoOp, g: Generator) -> None:
    """The upper half of the product of two integers."""
    define_result(op, g, integers.high_half(enumerator(op, "signedness") == "signed"))


@kernel("pto.mul_i32toi64")
@lane_kernel("pto.mul_i32toi64")
def wide_product(op: PtoOp, g: Generator) -> None:
    """The 64-bit product of two 32-bit integers."""
    define_result(op, g, integers.wide_product(enumerator(op, "signedness") == "signed"))


@kernel("pto.prmt")
@lane_kernel("pto.prmt")
def permute(op: PtoOp, g: Generator) -> None:
    """Four bytes of two 32-bit numbers, selected by the digits of a selector."""
    define_result(op, g, integers.permute_bytes)
