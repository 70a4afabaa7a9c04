"""``arith`` and ``builtin``: scalar arithmetic as Python expressions.

Integers are signed Python ints that wrap at their width (unsigned types hold non-negative ones), floats are rounded to
their type after every operation. Products and shifts of ``index`` wrap at 64 bits; sums of ``index``, which form all
addresses, are exact.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from xdsl.dialects import builtin
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, IntegerType
from xdsl.ir import Attribute, Operation

from pto_dialect.ir.core.operands import named
from pto_dialect.ir.core.types import is_float, type_text
from pto_dialect.ir.core_dialects.words import CMPF, CMPI
from pto_dialect.runtime.compile.generator import Generator, integer_width
from pto_dialect.runtime.faults import Fault
from pto_dialect.runtime.numerics.decode import decode
from pto_dialect.runtime.numerics.encode import encode

from ..registry import kernel, kernels

_SYMBOLS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}


def is_unsigned(type_: Attribute) -> bool:
    """Returns whether a type is ``uiN``."""
    return isinstance(type_, IntegerType) and type_.signedness.data is builtin.Signedness.UNSIGNED


def wrapped(expression: str, type_: Attribute) -> str:
    """Returns ``expression`` reduced to the range of an integer type."""
    width = integer_width(type_)
    if width is None:
        return expression
    mask = (1 << width) - 1
    if width == 1:
        return f"((({expression}) & 1) == 1)"
    if is_unsigned(type_):
        return f"({expression}) & {mask}"
    half = 1 << (width - 1)
    return f"(({expression}) + {half} & {mask}) - {half}"


def wrapped_bits(expression: str, type_: Attribute) -> str:
    """Returns ``expression``, a number of bits, in the range of an integer type or of the 64 bits of an index."""
    return wrapped(expression, _I64 if isinstance(type_, builtin.IndexType) else type_)


_I64 = IntegerType(64)


def signed(expression: str, type_: Attribute) -> str:
    """Returns a value as the signed number that arithmetic uses: a set single bit is -1."""
    return f"-int({expression})" if integer_width(type_) == 1 else expression


def unsigned(expression: str, type_: Attribute) -> str:
    """Returns the bits of a value as a non-negative number."""
    width = integer_width(type_)
    return f"({expression} & {(1 << (width if width is not None else 64)) - 1})"


def f32(value: float) -> float:
    """Returns ``value`` rounded to f32."""
    with np.errstate(over="ignore"):
        return float(np.float32(value))


def rounder(type_: Attribute) -> Callable[[float], float] | None:
    """Returns the function that rounds a Python float to a float type; ``None`` for f64."""
    name = str(type_)
    if name == "f64":
        return None
    if name == "f32":
        return f32

    def narrow(value: float) -> float:
        array = encode(np.array([value], np.float64), name, saturate=False)
        return float(decode(array, name)[0])

    return narrow


def rounded(expression: str, type_: Attribute, g: Generator) -> str:
    """Returns ``expression`` rounded to a float type."""
    function = rounder(type_)
    return expression if function is None else f"{g.argument(function)}({expression})"


def divide(a: int, b: int) -> int:
    """Division toward zero."""
    if b == 0:
        raise Fault("division-by-zero", "integer division by zero")
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def remainder(a: int, b: int) -> int:
    """Remainder with the sign of the dividend."""
    return a - divide(a, b) * b


def floor_divide(a: int, b: int) -> int:
    """Division toward minus infinity."""
    if b == 0:
        raise Fault("division-by-zero", "integer division by zero")
    return a // b


def ceil_divide(a: int, b: int) -> int:
    """Division toward plus infinity."""
    return -floor_divide(-a, b)


def float_divide(a: float, b: float) -> float:
    """IEEE division."""
    with np.errstate(all="ignore"):
        return float(np.float64(a) / np.float64(b))


def float_remainder(a: float, b: float) -> float:
    """Remainder with the sign of the dividend."""
    with np.errstate(all="ignore"):
        return float(np.fmod(a, b))


@kernel("arith.constant")
def constant(op: Operation, g: Generator) -> None:
    """The number, or the list of numbers, that the operation states."""
    value = op.properties["value"]
    result = op.results[0]
    if isinstance(value, IntegerAttr):
        number = value.value.data
        g.define(result, repr(bool(number)) if integer_width(result.type) == 1 else repr(number))
    elif isinstance(value, FloatAttr):
        number = value.value.data
        g.define(result, f"float({str(number)!r})" if number != number or abs(number) == float("inf") else repr(number))
    elif isinstance(value, builtin.DenseIntOrFPElementsAttr):
        g.define(result, g.argument(np.array(value.get_values())))
    else:
        raise g.error("unmodelled", f"a constant {value} cannot be executed", op)


_PLAIN = {"addi": "+", "subi": "-", "muli": "*", "andi": "&", "ori": "|", "xori": "^"}
_GROWING = ("addi", "subi", "muli")
"""Operations whose result may not fit into the bits of an index."""
_FLOAT = {"addf": "+", "subf": "-", "mulf": "*"}
_CALLS = {
    "divsi": divide,
    "remsi": remainder,
    "floordivsi": floor_divide,
    "ceildivsi": ceil_divide,
    "minsi": min,
    "maxsi": max,
}
_UNSIGNED = {"divui": "//", "remui": "%"}
_OTHERS = ("ceildivui", "minui", "maxui", "shli", "shrsi", "shrui")


@kernel(*(f"arith.{name}" for name in (*_PLAIN, *_CALLS, *_UNSIGNED, *_OTHERS)))
def integer_binary(op: Operation, g: Generator) -> None:
    """Arithmetic, bit operations and shifts of two integers, wrapped at their width. Raises ``Fault``
    (``division-by-zero``) at run time."""
    short = op.name.removeprefix("arith.")
    a, b = (str(g.name(v)) for v in op.operands)
    type_ = op.results[0].type
    if short in _GROWING and isinstance(type_, builtin.IndexType):
        # Nearly all numbers fit, and to ask costs less than to wrap them.
        number = str(g.define_local("number", f"{a} {_PLAIN[short]} {b}"))
        fits = f"{-1 << 63} <= {number} < {1 << 63}"
        g.define(op.results[0], f"{number} if {fits} else {wrapped_bits(number, type_)}")
        return
    if short in _PLAIN:
        g.define(op.results[0], wrapped(f"{a} {_PLAIN[short]} {b}", type_))
        return
    if short in _CALLS:
        text = f"{g.argument(_CALLS[short])}({signed(a, type_)}, {signed(b, type_)})"
        g.define(op.results[0], wrapped(text, type_))
        return
    if short in _UNSIGNED:
        operation = {"//": floor_divide, "%": remainder}[_UNSIGNED[short]]
        text = f"{g.argument(operation)}({unsigned(a, type_)}, {unsigned(b, type_)})"
    elif short == "ceildivui":
        text = f"{g.argument(ceil_divide)}({unsigned(a, type_)}, {unsigned(b, type_)})"
    elif short in ("minui", "maxui"):
        text = f"{short[:3]}({unsigned(a, type_)}, {unsigned(b, type_)})"
    elif short == "shli":
        text = f"{a} << min({unsigned(b, type_)}, 64)"
    elif short == "shrsi":
        text = f"{signed(a, type_)} >> min({unsigned(b, type_)}, 64)"
    else:
        text = f"{unsigned(a, type_)} >> min({unsigned(b, type_)}, 64)"
    g.define(op.results[0], wrapped_bits(text, type_))


@kernel("arith.addui_extended")
def add_with_carry(op: Operation, g: Generator) -> None:
    """The sum of two unsigned integers and whether it exceeds their width."""
    type_ = op.results[0].type
    a, b = (unsigned(str(g.name(v)), type_) for v in op.operands)
    total = g.define_local("total", f"{a} + {b}")
    g.define(op.results[0], wrapped_bits(str(total), type_))
    g.define(op.results[1], f"{total} >> {integer_width(type_) or 64} != 0")


@kernels({"arith.mulsi_extended": signed, "arith.mului_extended": unsigned})
def multiply_wide(op: Operation, g: Generator, read: Callable[[str, Attribute], str]) -> None:
    """Low and high half of the product of two integers."""
    type_ = op.results[0].type
    a, b = (read(str(g.name(v)), type_) for v in op.operands)
    product = g.define_local("product", f"({a}) * ({b})")
    g.define(op.results[0], wrapped_bits(str(product), type_))
    g.define(op.results[1], wrapped_bits(f"{product} >> {integer_width(type_) or 64}", type_))


def float_max(a: float, b: float) -> float:
    """Returns the maximum, which propagates NaN and orders -0 below +0."""
    return float(np.maximum(a, b)) if a != b or a else (a if np.copysign(1.0, a) > 0 else b)


def float_min(a: float, b: float) -> float:
    """Returns the minimum, which propagates NaN and orders -0 below +0."""
    return float(np.minimum(a, b)) if a != b or a else (a if np.copysign(1.0, a) < 0 else b)


def number_max(a: float, b: float) -> float:
    """Returns the maximum, which prefers a number to NaN."""
    return float(np.fmax(a, b))


def number_min(a: float, b: float) -> float:
    """Returns the minimum, which prefers a number to NaN."""
    return float(np.fmin(a, b))


_FLOAT_CALLS = {
    "divf": float_divide,
    "remf": float_remainder,
    "maximumf": float_max,
    "minimumf": float_min,
    "maxnumf": number_max,
    "minnumf": number_min,
}


@kernel(*(f"arith.{name}" for name in (*_FLOAT, *_FLOAT_CALLS)))
def float_binary(op: Operation, g: Generator) -> None:
    """Arithmetic of two floats, rounded to their type."""
    short = op.name.removeprefix("arith.")
    a, b = (str(g.name(v)) for v in op.operands)
    text = f"{a} {_FLOAT[short]} {b}" if short in _FLOAT else f"{g.argument(_FLOAT_CALLS[short])}({a}, {b})"
    g.define(op.results[0], rounded(text, op.results[0].type, g))


@kernel("arith.negf")
def negate(op: Operation, g: Generator) -> None:
    """A float with the opposite sign."""
    g.define(op.results[0], f"-{g.name(named(op, 'operand'))}")


@kernel("arith.select")
def select(op: Operation, g: Generator) -> None:
    """One of two values, selected by a condition."""
    condition, a, b = (g.name(v) for v in op.operands)
    g.define(op.results[0], f"{a} if {condition} else {b}")


@kernel("arith.cmpi")
def compare_integers(op: Operation, g: Generator) -> None:
    """Whether two integers compare according to the predicate, signed or unsigned."""
    predicate = CMPI[op.properties["predicate"].value.data]  # pyright: ignore[reportAttributeAccessIssue]
    a, b = (str(g.name(v)) for v in op.operands)
    if predicate[0] == "u":
        a, b = (unsigned(x, named(op, "lhs").type) for x in (a, b))
    elif predicate[0] == "s":
        a, b = (signed(x, named(op, "lhs").type) for x in (a, b))
    g.define(op.results[0], f"{a} {_SYMBOLS[predicate.lstrip('us') if len(predicate) == 3 else predicate]} {b}")


@kernel("arith.cmpf")
def compare_floats(op: Operation, g: Generator) -> None:
    """Whether two floats compare according to the predicate; ordered predicates are false for NaN,
    unordered ones true."""
    predicate = CMPF[op.properties["predicate"].value.data]  # pyright: ignore[reportAttributeAccessIssue]
    a, b = (str(g.name(v)) for v in op.operands)
    ordered = f"{a} == {a} and {b} == {b}"
    if predicate in ("true", "false"):
        text = predicate.capitalize()
    elif predicate == "ord":
        text = ordered
    elif predicate == "uno":
        text = f"not ({ordered})"
    else:
        symbol = _SYMBOLS[predicate[1:]]
        joined = f"{a} {symbol} {b}"
        text = f"({ordered}) and {joined}" if predicate[0] == "o" else f"not ({ordered}) or {joined}"
    g.define(op.results[0], text)


@kernel("arith.index_cast", "arith.extsi", "arith.trunci")
def cast_signed(op: Operation, g: Generator) -> None:
    """A signed integer in another width."""
    source, result = named(op, "input"), op.results[0]
    g.define(result, wrapped(signed(str(g.name(source)), source.type), result.type))


@kernel("arith.index_castui", "arith.extui")
def cast_unsigned(op: Operation, g: Generator) -> None:
    """An unsigned integer in another width."""
    source, result = named(op, "input"), op.results[0]
    text = str(g.name(source))
    text = f"int({text})" if integer_width(source.type) == 1 else unsigned(text, source.type)
    g.define(result, wrapped_bits(text, result.type))


@kernels({"arith.sitofp": signed, "arith.uitofp": unsigned})
def to_float(op: Operation, g: Generator, read: Callable[[str, Attribute], str]) -> None:
    """An integer as the nearest number of a float type."""
    source, result = named(op, "input"), op.results[0]
    text = str(g.name(source))
    name = str(result.type)

    def convert(value: int) -> float:
        return float(decode(encode(np.array([value]), name, saturate=False), name)[0])

    g.define(result, f"{g.argument(convert if name != 'f64' else float)}({read(text, source.type)})")


def truncate(value: float) -> int:
    """Rounds toward zero; NaN gives 0, infinities the widest integer."""
    if value != value:
        return 0
    return int(max(min(value, 2.0**64), -(2.0**64)))


@kernel("arith.fptosi", "arith.fptoui")
def to_integer(op: Operation, g: Generator) -> None:
    """A float rounded toward zero and wrapped at the width of the result."""
    text = f"{g.argument(truncate)}({g.name(named(op, 'input'))})"
    g.define(op.results[0], wrapped(text, op.results[0].type))


@kernel("arith.extf", "arith.truncf")
def resize_float(op: Operation, g: Generator) -> None:
    """A float rounded to another float type."""
    g.define(op.results[0], rounded(str(g.name(named(op, "input"))), op.results[0].type, g))


def _to_bits(type_: Attribute) -> Callable[[float], int]:
    """Returns the bits of a number of a type as a non-negative number."""
    width = integer_width(type_)
    if width is not None:
        return lambda value: int(value) & ((1 << width) - 1)
    name = str(type_)

    def bits(value: float) -> int:
        raw = encode(np.array([value], np.float64), name, saturate=False)
        return int(raw.view(f"u{raw.dtype.itemsize}")[0])

    return bits


def _from_bits(type_: Attribute, g: Generator) -> Callable[[int], float]:
    """Returns the number of a type with the given bits."""
    width = integer_width(type_)
    if width is not None:
        offset = 0 if is_unsigned(type_) or width == 1 else 1 << (width - 1)
        made = bool if width == 1 else int
        return lambda bits: made(((bits + offset) & ((1 << width) - 1)) - offset)
    fmt = g.format(type_)
    return lambda bits: float(decode(np.array([bits], f"u{fmt.storage.itemsize}").view(fmt.storage), fmt)[0])


@kernel("arith.bitcast")
def bitcast(op: Operation, g: Generator) -> None:
    """The bits of a number as a number of another type of the same width."""
    source, result = named(op, "input").type, op.results[0].type
    if not all(integer_width(type_) or is_float(type_) for type_ in (source, result)):
        raise g.error("unmodelled", f"arith.bitcast of {type_text(source)} cannot be executed", op)
    to_bits, from_bits = _to_bits(source), _from_bits(result, g)

    def reinterpret(value: float) -> float:
        return from_bits(to_bits(value))

    g.define(op.results[0], f"{g.argument(reinterpret)}({g.name(named(op, 'input'))})")


@kernel("builtin.unrealized_conversion_cast")
def conversion(op: Operation, g: Generator) -> None:
    """The operands under the types of the results; integers keep their bits."""
    for operand, result in zip(op.operands, op.results, strict=False):
        both = integer_width(operand.type) and integer_width(result.type)
        g.define(result, wrapped(g.name(operand), result.type) if both else str(g.name(operand)))
    if len(op.operands) != len(op.results):
        raise g.error("unmodelled", "this conversion changes the number of values", op)
