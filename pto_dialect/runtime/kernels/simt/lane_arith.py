"""``arith``, ``math`` and bit casts on values that differ between work-items."""

from __future__ import annotations

import numpy as np
from xdsl.dialects import builtin
from xdsl.ir import Operation

from pto_dialect.ir.core import types as t
from pto_dialect.ir.core.operands import named
from pto_dialect.ir.core_dialects.words import CMPF, CMPI
from pto_dialect.runtime.compile.generator import Generator
from pto_dialect.runtime.memory.spaces import Array
from pto_dialect.runtime.numerics.decode import decode
from pto_dialect.runtime.numerics.encode import encode
from pto_dialect.runtime.simt import integers
from pto_dialect.runtime.simt.access import Element
from pto_dialect.runtime.simt.floats import (
    ARITHMETIC,
    FloatComparison,
    FloatFunction,
    FromInteger,
    FusedMultiplyAdd,
    MathFunction,
    ToInteger,
    computes_in,
)
from pto_dialect.runtime.simt.scope import element_of, is_number, number_format
from pto_dialect.runtime.simt.selection import choose

from ..core.math import COUNTS, fused_double
from ..core.math import FUNCTIONS as MATH
from ..registry import kernel, lane_kernel
from .lane_values import ITEMS, define_result, invoke, lane, mask_of


@lane_kernel("arith.constant")
def constant(op: Operation, g: Generator) -> None:
    """Numbers that all work-items share, shape [1] or [1, parts]."""
    value, result = op.properties["value"], op.results[0]
    fmt, element = number_format(result.type, g), element_of(result.type, g)
    if isinstance(value, builtin.DenseIntOrFPElementsAttr):
        numbers = list(value.get_values())
    elif isinstance(value, (builtin.IntegerAttr, builtin.FloatAttr)):
        numbers = [value.value.data]
    else:
        raise g.error("unmodelled", f"a constant {value} cannot be executed", op)
    count = max(element.parts, 1)
    array = np.array(numbers * (count if len(numbers) == 1 else 1))
    stored = array.astype(np.bool_) if element.dtype == np.bool_ else encode(array, fmt, saturate=False)
    stored = stored.reshape(element.shape(1))
    stored.flags.writeable = False
    g.define(result, g.emitter.constant(stored, "constant"))


@lane_kernel(*(f"arith.{name}" for name in integers.PLAIN))
def integer_binary(op: Operation, g: Generator) -> None:
    """Arithmetic, bit operations and shifts of integers, wrapped at their width."""
    single = element_of(op.results[0].type, g).dtype == np.bool_
    define_result(op, g, (integers.SINGLE_BITS if single else integers.PLAIN)[op.name.removeprefix("arith.")])


@lane_kernel(*(f"arith.{name}" for name in integers.DIVISIONS))
def division(op: Operation, g: Generator) -> None:
    """Quotients and remainders of integers. Raises ``Fault`` (``division-by-zero``) at run time, with the first running
    work-item that divides by 0."""
    function = integers.DIVISIONS[op.name.removeprefix("arith.")]
    a, b = (lane(value, g) for value in op.operands)
    g.define(op.results[0], invoke(g, function, ITEMS, mask_of(g), a, b))


@lane_kernel(*(f"arith.{name}" for name in ARITHMETIC))
def float_arithmetic(op: Operation, g: Generator) -> None:
    """Arithmetic of floats, rounded to their type."""
    name, fmt = op.name.removeprefix("arith."), number_format(op.results[0].type, g)
    define_result(op, g, ARITHMETIC[name] if computes_in(fmt) else FloatFunction(ARITHMETIC[name], name, fmt))


@lane_kernel("arith.cmpi")
def compare_integers(op: Operation, g: Generator) -> None:
    """Which integers compare according to the predicate, signed or unsigned."""
    define_result(op, g, integers.compare(CMPI[op.properties["predicate"].value.data]))  # pyright: ignore[reportAttributeAccessIssue]


@lane_kernel("arith.cmpf")
def compare_floats(op: Operation, g: Generator) -> None:
    """Which floats compare according to the predicate; ordered predicates are false for NaN, unordered ones true."""
    predicate = CMPF[op.properties["predicate"].value.data]  # pyright: ignore[reportAttributeAccessIssue]
    define_result(op, g, FloatComparison(predicate, number_format(named(op, "lhs").type, g)))


@lane_kernel("arith.select")
def select(op: Operation, g: Generator) -> None:
    """One of two values for each work-item, selected by its condition."""
    define_result(op, g, choose)


@lane_kernel("arith.index_cast", "arith.extsi", "arith.trunci")
def resize_signed(op: Operation, g: Generator) -> None:
    """Signed integers in another width."""
    define_result(op, g, integers.Resize(element_of(op.results[0].type, g).dtype, True))


@lane_kernel("arith.index_castui", "arith.extui")
def resize_unsigned(op: Operation, g: Generator) -> None:
    """Unsigned integers in another width."""
    define_result(op, g, integers.Resize(element_of(op.results[0].type, g).dtype, False))


@lane_kernel("arith.sitofp")
def signed_to_float(op: Operation, g: Generator) -> None:
    """Signed integers as the nearest numbers of a float type."""
    define_result(op, g, FromInteger(number_format(op.results[0].type, g), True))


@lane_kernel("arith.uitofp")
def unsigned_to_float(op: Operation, g: Generator) -> None:
    """Unsigned integers as the nearest numbers of a float type."""
    define_result(op, g, FromInteger(number_format(op.results[0].type, g), False))


@lane_kernel("arith.fptosi", "arith.fptoui")
def to_integer(op: Operation, g: Generator) -> None:
    """Floats rounded toward zero, as integers of the type of the result."""
    define_result(op, g, ToInteger(number_format(named(op, "input").type, g), number_format(op.results[0].type, g)))


@lane_kernel("arith.extf", "arith.truncf")
def resize_float(op: Operation, g: Generator) -> None:
    """Floats rounded to another float type."""
    define_result(op, g, FromFloat(op, g))


class FromFloat:
    """Floats of one format in another, rounded once."""

    def __init__(self, op: Operation, g: Generator) -> None:
        self.source = number_format(named(op, "input").type, g)
        self.target = number_format(op.results[0].type, g)
        self.label = f"to_{self.target.name}"

    def __call__(self, value: Array) -> Array:
        """Returns the results in the storage of the target."""
        return encode(decode(value, self.source), self.target, saturate=False)


class Reinterpretation:
    """The bits of a value as another type of the same size."""

    label = "bitcast"

    def __init__(self, target: Element) -> None:
        self.target = target

    def __call__(self, value: Array) -> Array:
        """Returns the same bits."""
        count = value.shape[0]
        bits = np.ascontiguousarray(value).reshape(count, -1).view(self.target.dtype)
        return bits.reshape(self.target.shape(count))


@kernel("llvm.bitcast")
@lane_kernel("llvm.bitcast", "arith.bitcast")
def bitcast(op: Operation, g: Generator) -> None:
    """The bits of values as values of another type of the same size."""
    (source,), result = op.operands, op.results[0]
    for value in (source, result):
        if not is_number(value.type):
            raise g.error("unmodelled", f"{op.name} of {t.type_text(value.type)} cannot be executed", op)
    if element_of(source.type, g).nbytes != element_of(result.type, g).nbytes:
        raise g.error("unmodelled", f"{op.name} between types of different sizes", op)
    define_result(op, g, Reinterpretation(element_of(result.type, g)))


@lane_kernel("builtin.unrealized_conversion_cast")
def convert_unchanged(op: Operation, g: Generator) -> None:
    """The same values under other types: numbers keep their bits."""
    if len(op.operands) != len(op.results):
        raise g.error("unmodelled", "this conversion changes the number of values", op)
    for source, result in zip(op.operands, op.results, strict=True):
        if is_number(source.type) and is_number(result.type):
            of, to = element_of(source.type, g), element_of(result.type, g)
            if of.nbytes != to.nbytes:
                raise g.error("unmodelled", f"{op.name} between types of different sizes", op)
            g.define(result, invoke(g, Reinterpretation(to), lane(source, g)))
        else:
            g.define(result, g.name(source))


# ------------------------------------------------------------ math


@lane_kernel(*(f"math.{name}" for name in MATH))
def math_function(op: Operation, g: Generator) -> None:
    """A function of floats, rounded once to the type of the result."""
    name = op.name.removeprefix("math.")
    formats = [number_format(value.type, g) for value in op.operands]
    define_result(op, g, MathFunction(MATH[name], formats, number_format(op.results[0].type, g), name))


@lane_kernel("math.fma")
def fused_multiply_add(op: Operation, g: Generator) -> None:
    """a·b + c of floats with one rounding."""
    fmt = number_format(op.results[0].type, g)
    define_result(op, g, fused_doubles if fmt.name == "f64" else FusedMultiplyAdd(fmt))


def fused_doubles(a: Array, b: Array, c: Array) -> Array:
    """a * b + c of doubles with one rounding."""
    return np.vectorize(fused_double, otypes=[np.float64])(a, b, c)


@lane_kernel(*(f"math.{name}" for name in COUNTS))
def count_bits(op: Operation, g: Generator) -> None:
    """Numbers of leading zeros, trailing zeros or set bits."""
    define_result(op, g, integers.BitCount(COUNTS[op.name.removeprefix("math.")]))


@lane_kernel("math.ipowi")
def power_of_integers(op: Operation, g: Generator) -> None:
    """Integers to the power of integers, wrapped at their width."""
    a, b = (lane(value, g) for value in op.operands)
    g.define(op.results[0], invoke(g, integers.power, ITEMS, mask_of(g), a, b))


@lane_kernel("arith.addui_extended", "arith.mulsi_extended", "arith.mului_extended")
def two_results(op: Operation, g: Generator) -> None:
    """Sum and carry of integers, or low and high half of their product."""
    function = integers.EXTENDED[op.name.removeprefix("arith.")]
    a, b = (lane(value, g) for value in op.operands)
    both = g.define_local("both", invoke(g, function, a, b))
    for number, result in enumerate(op.results):
        g.define(result, f"{both}[{number}]")


@lane_kernel("math.absi")
def absolute(op: Operation, g: Generator) -> None:
    """Absolute values of integers."""
    define_result(op, g, np.abs)
